#include "measure.h"

#include <stdlib.h>
#include <string.h>

#include "protocol.h"

/* Large enough for any drive and any patience, small enough for a double to
 * hold it exactly. */
#define MAX_NUMBER 1000000000000000LL

enum state { BEFORE, OUTSIDE, INSIDE };

/* What is being read. */
struct parser {
	struct trial t;
	enum state state;
	char *workload; /* of the sample being read */
	unsigned seen;	/* head: keys seen; in a workload: its numbers */
	unsigned head;
	long long number[16];
	char *error; /* the guest's own */
	long line;
};

/* Keys outside workloads. */
enum head_key {
	HEAD_RELEASE,
	HEAD_CLOCK,
	HEAD_CLOCK_RES,
	HEAD_MEM,
	HEAD_DRIVE,
	HEAD_READY,
};
static const struct {
	const char *name;
	bool number;
} head_keys[] = {
	[HEAD_RELEASE] = { "guest.release", false },
	[HEAD_CLOCK] = { "guest.clock", false },
	[HEAD_CLOCK_RES] = { "guest.clock_res_ns", true },
	[HEAD_MEM] = { "guest.mem_bytes", true },
	[HEAD_DRIVE] = { "drive.path", false },
	[HEAD_READY] = { "drive.ready_ms", true },
};

/* Keys of a workload, numbers all. */
enum sample_key {
	SAMPLE_ELAPSED,
	SAMPLE_USER,
	SAMPLE_SYS,
	SAMPLE_SYNC,
	SAMPLE_WRITTEN,
	SAMPLE_PROBE_N,
	SAMPLE_PROBE_MEDIAN,
	SAMPLE_PROBE_P99,
	SAMPLE_PROBE_WORST,
	SAMPLE_SETTLE,
};
static const char *const sample_keys[] = {
	[SAMPLE_ELAPSED] = "elapsed_us",
	[SAMPLE_USER] = "user_us",
	[SAMPLE_SYS] = "sys_us",
	[SAMPLE_SYNC] = "sync_us",
	[SAMPLE_WRITTEN] = "written_bytes",
	[SAMPLE_PROBE_N] = "probe_n",
	[SAMPLE_PROBE_MEDIAN] = "probe_median_us",
	[SAMPLE_PROBE_P99] = "probe_p99_us",
	[SAMPLE_PROBE_WORST] = "probe_worst_us",
	[SAMPLE_SETTLE] = "settle_us",
};

static void parser_release(struct parser *p)
{
	trial_release(&p->t);
	free(p->workload);
	free(p->error);
}

/* As in zlib; the guest has its own, and musl has none. */
static uint32_t crc32_of(const char *p, size_t n)
{
	uint32_t crc = ~0u;

	while (n--) {
		crc ^= (unsigned char)*p++;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

static int number(long long *out, const char *text)
{
	return *text == '-' ? -1 : parse_int(out, text, 0, MAX_NUMBER);
}

static int bad_line(const struct parser *p, const char *what, const char *line,
		    struct err *e)
{
	return err_set(e, "result line %ld, \"%.100s\": %s", p->line, line,
		       what);
}

static int take_head(struct parser *p, int key, const char *value,
		     const char *line, struct err *e)
{
	long long v;

	if (p->head & 1u << key)
		return bad_line(p, "given twice", line, e);
	p->head |= 1u << key;
	if (head_keys[key].number && number(&v, value))
		return bad_line(p, "not a number", line, e);
	if (!*value)
		return bad_line(p, "no value", line, e);
	if (key == HEAD_RELEASE)
		p->t.release = xstrdup(value);
	if (key == HEAD_CLOCK)
		p->t.clock = xstrdup(value);
	return 0;
}

static int begin_workload(struct parser *p, const char *value, const char *line,
			  struct err *e)
{
	if (p->state != OUTSIDE)
		return bad_line(p, "the one before has no end", line, e);
	if (!*value)
		return bad_line(p, "no workload named", line, e);
	if (trial_sample(&p->t, value))
		return bad_line(p, "a second result for it", line, e);
	p->state = INSIDE;
	p->workload = xstrdup(value);
	p->seen = 0;
	return 0;
}

static double seconds(const struct parser *p, enum sample_key key)
{
	return (double)p->number[key] / 1e6;
}

static int end_workload(struct parser *p, const char *value, const char *line,
			struct err *e)
{
	struct sample *s;
	const char *fault;

	if (p->state != INSIDE || strcmp(p->workload, value))
		return bad_line(p, "it was not begun", line, e);
	for (size_t i = 0; i < ARRAY_SIZE(sample_keys); i++)
		if (!(p->seen & 1u << i))
			return err_set(e, "the result of %s lacks %s",
				       p->workload, sample_keys[i]);
	p->t.samples = xrealloc(p->t.samples,
				(size_t)(p->t.nsamples + 1) * sizeof(*s));
	s = &p->t.samples[p->t.nsamples++];
	*s = (struct sample){
		.workload = take_ptr(p->workload),
		.elapsed = seconds(p, SAMPLE_ELAPSED),
		.user = seconds(p, SAMPLE_USER),
		.sys = seconds(p, SAMPLE_SYS),
		.sync = seconds(p, SAMPLE_SYNC),
		.written = (double)p->number[SAMPLE_WRITTEN],
		.probe_n = (int)p->number[SAMPLE_PROBE_N],
		.probe_median = seconds(p, SAMPLE_PROBE_MEDIAN),
		.probe_p99 = seconds(p, SAMPLE_PROBE_P99),
		.probe_worst = seconds(p, SAMPLE_PROBE_WORST),
	};
	p->state = OUTSIDE;
	fault = sample_fault(s);
	return fault ? err_set(e, "the result of %s cannot be true: see its %s",
			       s->workload, fault)
		     : 0;
}

static int take_number(struct parser *p, int key, const char *value,
		       const char *line, struct err *e)
{
	if (p->state != INSIDE)
		return bad_line(p, "outside of a workload", line, e);
	if (p->seen & 1u << key)
		return bad_line(p, "given twice", line, e);
	p->seen |= 1u << key;
	if (number(&p->number[key], value) ||
	    (key == SAMPLE_PROBE_N && p->number[key] > INT32_MAX))
		return bad_line(p, "not a number", line, e);
	return 0;
}

static int take(struct parser *p, const char *key, const char *value,
		const char *line, struct err *e)
{
	if (!strcmp(key, "error")) {
		p->error = p->error ? p->error : xstrdup(value);
		return 0;
	}
	if (!strcmp(key, "workload.begin"))
		return begin_workload(p, value, line, e);
	if (!strcmp(key, "workload.end"))
		return end_workload(p, value, line, e);
	for (size_t i = 0; i < ARRAY_SIZE(sample_keys); i++)
		if (!strcmp(key, sample_keys[i]))
			return take_number(p, (int)i, value, line, e);
	for (size_t i = 0; i < ARRAY_SIZE(head_keys); i++)
		if (!strcmp(key, head_keys[i].name) && p->state == OUTSIDE)
			return take_head(p, (int)i, value, line, e);
	return bad_line(p, "unknown here", line, e);
}

static int take_line(struct parser *p, char *line, struct err *e)
{
	char *value = strchr(line, ' ');
	AUTOFREE char *key =
		value ? xstrndup(line, (size_t)(value - line)) : xstrdup(line);
	AUTOFREE char *version = xfmt("%d", PROTOCOL_VERSION);

	p->line++;
	if (p->state != BEFORE)
		return take(p, key, value ? value + 1 : "", line, e);
	p->state = OUTSIDE;
	if (strcmp(key, PROTOCOL_BEGIN))
		return bad_line(p, "not the beginning of a result", line, e);
	if (!value || strcmp(value + 1, version))
		return bad_line(p,
				"another protocol than ours; the guest is "
				"of another iobisect",
				line, e);
	return 0;
}

/* "LINES CRC\n" and nothing after it. */
static int check_end(const char *end, long lines, uint32_t crc, struct err *e)
{
	AUTOFREE char *want =
		xfmt(PROTOCOL_END " %ld %08x\n", lines, (unsigned)crc);

	if (strcmp(end, want))
		return err_set(e,
			       "damaged results: the guest's last line is "
			       "\"%.60s\" where \"%.*s\" would be right",
			       end, (int)strlen(want) - 1, want);
	return 0;
}

static int check_whole(const struct parser *p, struct err *e)
{
	if (p->error)
		return err_set(e, "the guest says: %s", p->error);
	for (size_t i = 0; i < ARRAY_SIZE(head_keys); i++)
		if (!(p->head & 1u << i))
			return err_set(e, "the results lack %s",
				       head_keys[i].name);
	if (p->state == INSIDE)
		return err_set(e, "the result of %s has no end", p->workload);
	if (!p->t.nsamples)
		return err_set(e, "no workload in the results");
	return 0;
}

/* The checksum first: damaged text must not be taken for the guest's word. */
int measure_parse(struct trial *out, const char *text, struct err *e)
{
	CLEANUP(parser_release) struct parser p = { 0 };
	const char *end = str_starts(text, PROTOCOL_END " ")
				  ? text
				  : strstr(text, "\n" PROTOCOL_END " ");
	CLEANUP(str_release) struct str body = STR_INIT;
	CLEANUP(strv_release) struct strv lines = STRV_INIT;

	if (!*text)
		return err_set(e, "no results");
	if (!end)
		return err_set(e, "the results have no end");
	end += *end == '\n';
	str_add(&body, text, (size_t)(end - text));
	strv_split(&lines, str_c(&body), '\n');
	if (check_end(end, (long)lines.n - 1, crc32_of(str_c(&body), body.len),
		      e))
		return -1;
	for (size_t i = 0; i + 1 < lines.n; i++)
		if (take_line(&p, lines.v[i], e))
			return -1;
	if (check_whole(&p, e))
		return -1;
	free(out->release);
	free(out->clock);
	out->release = take_ptr(p.t.release);
	out->clock = take_ptr(p.t.clock);
	for (int i = 0; i < out->nsamples; i++)
		free(out->samples[i].workload);
	free(out->samples);
	out->samples = take_ptr(p.t.samples);
	out->nsamples = p.t.nsamples;
	p.t.nsamples = 0;
	return 0;
}
