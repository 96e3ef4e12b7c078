#include "test.h"

#include <linux/blktrace_api.h>
#include <unistd.h>

#include "blktrace.h"
#include "late.h"
#include "stats.h"
#include "str.h"
#include "trace.h"

#define HEAD 128
#define RECORD 96

static char *file_name(void)
{
	return xfmt("/tmp/iobisect-test-trace.%d", (int)getpid());
}

static struct trace_record record(uint32_t number, unsigned op, uint64_t sector,
				  uint32_t sectors, int64_t arrival,
				  int64_t done)
{
	return (struct trace_record){ .number = number, .op = (uint8_t)op,
				      .sector = sector, .sectors = sectors,
				      .arrival = arrival, .start = arrival,
				      .done = done, .depth = 1 };
}

/* The bytes of a trace of these. */
static void written(struct str *out, const struct trace_record *r, size_t n)
{
	AUTOFREE char *path = file_name();
	struct trace_head h = { .profile = "wd-10k-sata", .slow = 6,
				.sectors = 1 << 20, .started = 1234567890123 };
	struct trace_writer *w;
	struct err e;

	ASSERT(!trace_create(&w, path, &h, &e));
	for (size_t i = 0; i < n; i++)
		trace_add(w, &r[i]);
	trace_relax(w);
	ASSERT(!trace_close(w, &e));
	ASSERT(!file_read(out, path, &e));
	unlink(path);
}

static void parsed(struct trace *t, const struct trace_record *r, size_t n)
{
	CLEANUP(str_release) struct str s = STR_INIT;
	struct err e;

	*t = (struct trace){ .n = 0 };
	written(&s, r, n);
	if (trace_parse(t, s.buf, s.len, &e))
		TEST_FAIL("%s", e.msg);
}

TEST(trace__comes_back_as_it_went)
{
	CLEANUP(trace_release) struct trace t;
	struct trace_record r[2] = { record(1, DISK_FLUSH, 0, 0, 20, 900),
				     record(0, DISK_WRITE, 77, 8, 10, 1000) };

	r[1].flags = TRACE_FUA | TRACE_FAILED;
	r[1].late = UINT32_MAX;
	r[1].start = 15;
	r[1].depth = 16;
	r[1].cost = (struct disk_cost){ 1, 2, 3, 4, 5, 1ll << 40 };
	parsed(&t, r, 2);
	EXPECT_STR(t.head.profile, "wd-10k-sata");
	EXPECT_INT(t.head.slow, 6);
	EXPECT_INT((long long)t.head.sectors, 1 << 20);
	EXPECT_INT(t.head.started, 1234567890123);
	ASSERT(t.n == 2 && !t.torn);
	/* In order of arrival, and not of completion. */
	EXPECT(!memcmp(&t.records[0], &r[1], sizeof(r[1])));
	EXPECT(!memcmp(&t.records[1], &r[0], sizeof(r[0])));
}

/* The layout is the file's, not the compiler's. */
TEST(trace__bytes_are_as_documented)
{
	CLEANUP(str_release) struct str s = STR_INIT;
	struct trace_record r = record(3, DISK_WRITE, 0x1122334455, 8, 10, 12);

	r.sector = 0x12345;
	r.late = 0x04030201;
	r.cost.eviction = 9;
	written(&s, &r, 1);
	EXPECT_INT((long long)s.len, HEAD + RECORD);
	EXPECT(!memcmp(s.buf, "iobtrace\1\0\0\0\x80\0\x60\0\6\0\0\0", 20));
	EXPECT_STR(s.buf + 40, "wd-10k-sata");
	EXPECT_INT(s.buf[HEAD], 10);
	EXPECT_INT(s.buf[HEAD + 16], 12);
	EXPECT(!memcmp(s.buf + HEAD + 24, "\x45\x23\1\0\0\0\0\0\x8\0\0\0", 12));
	EXPECT(!memcmp(s.buf + HEAD + 36, "\1\2\3\4\3\0\0\0\1\0\1\0", 12));
	EXPECT_INT(s.buf[HEAD + 88], 9);
}

TEST(trace__a_torn_tail_is_left_out)
{
	CLEANUP(str_release) struct str s = STR_INIT;
	struct trace_record r[3];

	for (uint32_t i = 0; i < 3; i++)
		r[i] = record(i, DISK_READ, i, 1, i, i + 1);
	written(&s, r, 3);
	for (size_t n = 0; n < s.len; n++) {
		CLEANUP(trace_release) struct trace t = { .n = 0 };
		struct err e;
		int got = trace_parse(&t, s.buf, n, &e);

		if (n < HEAD) {
			EXPECT_INT(got, -1);
			continue;
		}
		EXPECT_INT(got, 0);
		EXPECT_INT((long long)t.n, (long long)(n - HEAD) / RECORD);
		EXPECT_INT(t.torn, (n - HEAD) % RECORD != 0);
	}
}

TEST(trace__what_contradicts_itself_is_refused)
{
	static const struct {
		size_t at;
		int value;
		const char *why;
	} cases[] = {
		{ 0, 'x', "not a trace" },
		{ 8, 2, "version 2" },
		{ 12, 1, "sizes" },
		{ 14, 1, "sizes" },
		{ 16, 0, "stands still" },
		{ 30, 1, "larger" },
		{ 40, 7, "name" },
		{ 103, 'x', "name" },
		{ HEAD + 7, 0x80, "record 0" },     /* arrival < 0 */
		{ HEAD + 15, 0x80, "record 0" },    /* start < arrival */
		{ HEAD + 23, 0x80, "record 0" },    /* done < start */
		{ HEAD + 31, 1, "record 0" },       /* past the end */
		{ HEAD + 35, 1, "record 0" },
		{ HEAD + 44, 6, "record 0" },       /* no such operation */
		{ HEAD + 55, 0x80, "record 0" },    /* a cost < 0 */
		{ HEAD + RECORD + 40, 0, "order" }, /* the same number twice */
		{ HEAD + 44, TRACE_IDLE, "order" }, /* idle, and not the last */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		CLEANUP(str_release) struct str s = STR_INIT;
		CLEANUP(trace_release) struct trace t = { .n = 0 };
		struct trace_record r[3];
		struct err e = { "accepted" };

		for (uint32_t k = 0; k < 3; k++)
			r[k] = record(k, DISK_READ, k, 1, 5 + k, 9 + k);
		r[2].op = TRACE_IDLE;
		written(&s, r, 3);
		s.buf[cases[i].at] = (char)cases[i].value;
		if (trace_parse(&t, s.buf, s.len, &e) != -1 ||
		    !strstr(e.msg, cases[i].why))
			TEST_FAIL("case %zu: %s", i, e.msg);
	}
}

TEST(trace__a_full_disk_is_told_at_the_end)
{
	struct trace_head h = { .profile = "none", .slow = 1, .sectors = 8 };
	struct trace_record r = record(0, DISK_READ, 0, 8, 0, 0);
	struct trace_writer *w;
	struct err e = { "" };

	ASSERT(!trace_create(&w, "/dev/full", &h, &e));
	for (int i = 0; i < 100000; i++)
		trace_add(w, &r);
	EXPECT_INT(trace_close(w, &e), -1);
	EXPECT(strstr(e.msg, "/dev/full") && strstr(e.msg, "No space"));
	EXPECT_INT(trace_close(NULL, &e), 0);
	EXPECT_INT(trace_create(&w, "/nonexistent/t", &h, &e), -1);
	EXPECT(strstr(e.msg, "/nonexistent/t"));
}

TEST(late__quantiles_are_never_too_low)
{
	struct late l = { .n = 0 };

	EXPECT_INT(late_quantile(&l, 0.99), 0);
	for (int i = 1; i <= 1000; i++)
		late_add(&l, i * 1000);
	late_add(&l, -5);
	EXPECT_INT(l.worst, 1000000);
	EXPECT_INT((long long)l.n, 1001);
	for (double q = 0.1; q < 1; q += 0.1) {
		double got = (double)late_quantile(&l, q), want = q * 1001000;

		if (got < want - 1001 || got > want * 1.13)
			TEST_FAIL("quantile %g: %g", q, got);
	}
	EXPECT_INT(late_quantile(&l, 1), 1000000);
	late_add(&l, INT64_MAX);
	EXPECT(late_quantile(&l, 1) == INT64_MAX);
}

TEST(stats__of_nothing_are_nothing)
{
	CLEANUP(trace_release) struct trace t;
	struct stats s;

	parsed(&t, NULL, 0);
	stats_of(&s, &t);
	EXPECT_INT((long long)s.writes.requests, 0);
	EXPECT(stream_mean(&s.writes) == 0 && stream_sequential(&s.reads) == 0);
	EXPECT_INT(s.span, 0);
}

TEST(stats__tell_runs_from_seeks)
{
	CLEANUP(trace_release) struct trace t;
	struct stats s;
	const struct trace_record r[] = {
		record(0, DISK_WRITE, 0, 8, 0, 10),
		record(1, DISK_WRITE, 8, 8, 0, 20),   /* goes on */
		record(2, DISK_READ, 500, 4, 5, 30),  /* another stream */
		record(3, DISK_FLUSH, 0, 0, 6, 40),
		record(4, DISK_ZERO, 16, 16, 50, 60), /* still goes on */
		record(5, DISK_WRITE, 100, 2, 60, 70),
		record(6, DISK_WRITE, 0, 8, 80, 90),  /* again */
		record(7, DISK_WRITE, 6, 4, 80, 85),  /* partly again, all of it */
		record(8, DISK_TRIM, 0, 64, 95, 96),
	};

	parsed(&t, r, 9);
	stats_of(&s, &t);
	EXPECT_INT((long long)s.reads.requests, 1);
	EXPECT_INT((long long)s.reads.bytes, 4 * 512);
	EXPECT_INT((long long)s.reads.seeks, 1);
	EXPECT_INT((long long)s.writes.requests, 6);
	EXPECT_INT((long long)s.writes.bytes, 46 * 512);
	EXPECT_INT((long long)s.writes.seeks, 4);
	EXPECT_INT((long long)s.writes.sequential, 24 * 512);
	EXPECT_INT((long long)s.writes.run_longest, 32 * 512);
	EXPECT_INT((long long)s.writes.run_median, 32 * 512);
	EXPECT_INT((long long)s.rewritten, 12 * 512);
	EXPECT_INT((long long)s.seeks, 6);
	EXPECT_INT((long long)s.flushes, 1);
	EXPECT_INT((long long)s.trims, 1);
	EXPECT_INT((long long)s.trimmed, 64 * 512);
	EXPECT_INT(s.span, 96);
	EXPECT_INT(s.idle, 10 + 10 + 5);
	EXPECT_INT(s.writes.response, 10 + 20 + 10 + 10 + 10 + 5);
}

TEST(stats__add_up_where_the_time_went)
{
	CLEANUP(trace_release) struct trace t;
	struct stats s;
	struct trace_record r[200];

	for (uint32_t i = 0; i < 200; i++) {
		r[i] = record(i, DISK_WRITE, i, 1, i, i + 1);
		r[i].cost = (struct disk_cost){ 1, 2, 3, 4, 5, 6 };
		r[i].late = 1000 - i;
	}
	r[199].op = TRACE_IDLE;
	r[199].sectors = 0;
	parsed(&t, r, 200);
	stats_of(&s, &t);
	EXPECT_INT(s.busy.overhead, 200);
	EXPECT_INT(s.busy.seek, 600);
	EXPECT_INT(s.busy.eviction, 1200);
	EXPECT_INT(s.own.rotation, 4);
	EXPECT_INT(s.late_worst, 1000);
	EXPECT_INT(s.late_p99, 999); /* the 198th of 199 */
	EXPECT_INT((long long)s.writes.requests, 199);
}

TEST(blktrace__has_four_events_a_request_in_order_of_time)
{
	CLEANUP(trace_release) struct trace t;
	CLEANUP(str_release) struct str s = STR_INIT;
	struct trace_record r[3] = { record(0, DISK_WRITE, 64, 8, 100, 900),
				     record(1, DISK_FLUSH, 0, 0, 200, 300),
				     record(2, TRACE_IDLE, 0, 0, 950, 950) };
	struct blk_io_trace b;
	uint64_t last = 0;

	r[0].flags = TRACE_FUA | TRACE_FAILED;
	r[0].start = 250;
	parsed(&t, r, 3);
	blktrace_write(&s, &t);
	EXPECT_INT((long long)s.len, 9 * (long long)sizeof(b) + 8);
	for (size_t i = 0; i < 8; i++) {
		memcpy(&b, s.buf + sizeof(b) + 8 + i * sizeof(b), sizeof(b));
		EXPECT(b.magic == 0x65617407 && b.sequence == i + 1);
		EXPECT(b.time >= last);
		last = b.time;
	}
	EXPECT_INT((long long)b.time, 900);
	EXPECT_INT((long long)b.sector, 64);
	EXPECT_INT(b.bytes, 4096);
	EXPECT_INT(b.error, 5);
	EXPECT((b.action & 0xffff) == 8 &&
	       b.action >> 16 & BLK_TC_FUA && b.action >> 16 & BLK_TC_WRITE);
}
