/* For the scripts: what is in a drive's trace.
 *	trace table FILE       one line a request, in order of arrival
 *	trace stats FILE       NAME VALUE lines
 *	trace blktrace FILE    on stdout */
#include <stdio.h>
#include <string.h>

#include "blktrace.h"
#include "stats.h"
#include "str.h"
#include "trace.h"

static void table(const struct trace *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct trace_record *r = &t->records[i];

		printf("%u %s%s%s %llu %u %lld %lld %lld %u %u\n", r->number,
		       trace_op_name(r->op), r->flags & TRACE_FUA ? "+fua" : "",
		       r->flags & TRACE_FAILED ? "+failed" : "",
		       (unsigned long long)r->sector, r->sectors,
		       (long long)r->arrival, (long long)r->start,
		       (long long)r->done, r->depth, r->late);
	}
}

static void print_stream(const char *name, const struct stream *s)
{
	printf("%s.requests %llu\n%s.bytes %llu\n%s.seeks %llu\n", name,
	       (unsigned long long)s->requests, name,
	       (unsigned long long)s->bytes, name,
	       (unsigned long long)s->seeks);
	printf("%s.sequential %.3f\n%s.run_longest %llu\n", name,
	       stream_sequential(s), name, (unsigned long long)s->run_longest);
}

static void print_stats(const struct trace *t)
{
	struct stats s;

	stats_of(&s, t);
	printf("profile %s\nslow %u\ntorn %d\n", t->head.profile, t->head.slow,
	       t->torn);
	print_stream("reads", &s.reads);
	print_stream("writes", &s.writes);
	printf("flushes %llu\nfuas %llu\ntrims %llu\nfailed %llu\n",
	       (unsigned long long)s.flushes, (unsigned long long)s.fuas,
	       (unsigned long long)s.trims, (unsigned long long)s.failed);
	printf("rewritten %llu\nspan_ns %lld\nidle_ns %lld\n",
	       (unsigned long long)s.rewritten, (long long)s.span,
	       (long long)s.idle);
	printf("late_p99_ns %lld\nlate_worst_ns %lld\n",
	       (long long)s.late_p99, (long long)s.late_worst);
}

int main(int argc, char **argv)
{
	CLEANUP(trace_release) struct trace t = { .n = 0 };
	CLEANUP(str_release) struct str s = STR_INIT;
	struct err e;

	if (argc != 3 || trace_read(&t, argv[2], &e)) {
		fprintf(stderr, "trace: %s\n", argc == 3 ? e.msg : "usage");
		return 1;
	}
	if (!strcmp(argv[1], "table"))
		table(&t);
	else if (!strcmp(argv[1], "stats"))
		print_stats(&t);
	else
		blktrace_write(&s, &t);
	fwrite(str_c(&s), 1, s.len, stdout);
	return 0;
}
