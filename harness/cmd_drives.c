/* drives and trace: the modelled drives, and what reached one. */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

#include "blktrace.h"
#include "drives.h"
#include "lab.h"
#include "place.h"
#include "record.h"
#include "stats.h"

static int one_drive(struct ctx *c, const char *share, const char *name,
		     struct err *e)
{
	CLEANUP(drives_entry_release) struct drives_entry d = { 0 };
	AUTOFREE char *path = NULL;

	if (drives_find(&path, &d, share, name, e))
		return -1;
	if (c->o.json) {
		AUTOFREE char *text = record_drive(&d);

		fprintf(c->out, "%s\n", text);
	} else if (d.rated > 0) {
		fprintf(c->out, "%-14s %6.4g MB/s  %s\n", d.name, d.rated,
			d.description);
	} else {
		fprintf(c->out, "%-14s %11s  %s\n", d.name, "", d.description);
	}
	return 0;
}

int cmd_drives(struct ctx *c, struct err *e)
{
	CLEANUP(strv_release) struct strv names = STRV_INIT;
	AUTOFREE char *share = NULL;

	if (lab_share_dir(&share, e) || drives_list(&names, share, e))
		return -1;
	for (size_t i = 0; i < names.n; i++)
		if (one_drive(c, share, names.v[i], e))
			return -1;
	return 0;
}

/* trace */

static void say_stream(FILE *f, const char *name, const struct stream *s)
{
	if (!s->requests)
		return;
	fprintf(f, "# %s: %llu requests, %.1f MB, %.1f kB each, %llu seeks, "
		   "%.0f%% sequential, half in runs of %.0f kB or more\n",
		name, (unsigned long long)s->requests, (double)s->bytes / 1e6,
		stream_mean(s) / 1e3, (unsigned long long)s->seeks,
		stream_sequential(s) * 100, (double)s->run_median / 1e3);
}

static double share(int64_t part, const struct stats *s)
{
	return s->span > 0 ? (double)part / (double)s->span * 100 : 0;
}

static void say_stats(FILE *f, const struct trace *t)
{
	struct stats s;

	stats_of(&s, t);
	fprintf(f, "# %s, slow motion %u, %.3f s of the drive's time\n",
		t->head.profile, t->head.slow, (double)s.span / 1e9);
	say_stream(f, "reads", &s.reads);
	say_stream(f, "writes", &s.writes);
	fprintf(f, "# flushes %llu, FUA %llu, trims %llu, failed %llu, "
		   "rewritten %.1f MB\n",
		(unsigned long long)s.flushes, (unsigned long long)s.fuas,
		(unsigned long long)s.trims, (unsigned long long)s.failed,
		(double)s.rewritten / 1e6);
	fprintf(f, "# of the time: transfer %.1f%%, seek %.1f%%, rotation "
		   "%.1f%%, flush %.1f%%, eviction %.1f%%, overhead %.1f%%; "
		   "without a request %.1f%%\n",
		share(s.busy.transfer, &s), share(s.busy.seek, &s),
		share(s.busy.rotation, &s), share(s.busy.flush, &s),
		share(s.busy.eviction, &s), share(s.busy.overhead, &s),
		share(s.idle, &s));
	fprintf(f, "# answers late by %.0f us at most in 99%%, %.0f us at "
		   "worst\n",
		(double)s.late_p99 / 1e3, (double)s.late_worst / 1e3);
}

static void say_requests(FILE *f, const struct trace *t)
{
	fprintf(f, "# number arrival_us start_us done_us op sector sectors\n");
	for (size_t i = 0; i < t->n; i++) {
		const struct trace_record *r = &t->records[i];

		if (r->op == TRACE_IDLE)
			continue;
		fprintf(f, "%u %.1f %.1f %.1f %s%s%s %llu %u\n", r->number,
			(double)r->arrival / 1e3, (double)r->start / 1e3,
			(double)r->done / 1e3, trace_op_name(r->op),
			r->flags & TRACE_FUA ? "+fua" : "",
			r->flags & TRACE_FAILED ? "+failed" : "",
			(unsigned long long)r->sector, r->sectors);
	}
}

/* A number is a boot of the session that is under way. */
static int find_trace(char **path, struct ctx *c, const char *arg,
		      struct err *e)
{
	CLEANUP(place_release) struct place pl = { 0 };

	if (arg[strspn(arg, "0123456789")]) {
		*path = xstrdup(arg);
		return 0;
	}
	if (place_open(&pl, c, e))
		return -1;
	*path = xfmt("%s/trials/%s.trace", pl.dir, arg);
	if (file_exists(*path))
		return 0;
	return err_set(e, "boot %s has no trace: %s is not there (only boots "
			  "with --drive have one)",
		       arg, *path);
}

int cmd_trace(struct ctx *c, struct err *e)
{
	CLEANUP(trace_release) struct trace t = { .n = 0 };
	CLEANUP(str_release) struct str s = STR_INIT;
	AUTOFREE char *path = NULL;

	if (c->o.args.n != 1)
		return err_set(e, "trace takes one boot's number, or a file");
	if (find_trace(&path, c, c->o.args.v[0], e) || trace_read(&t, path, e))
		return -1;
	if (c->o.blktrace) {
		blktrace_write(&s, &t);
		return file_write(c->o.blktrace, str_c(&s), s.len, e);
	}
	say_stats(c->out, &t);
	say_requests(c->out, &t);
	return 0;
}
