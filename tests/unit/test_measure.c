#include "test.h"

#include <stdint.h>

#include "measure.h"
#include "protocol.h"

/* The head of every good frame, and a workload's result. */
#define HEAD                                                                   \
	"iobisect-begin 1\nguest.release 6.1.0\n"                              \
	"guest.clock tsc, kernel tsc-early\n"                                  \
	"guest.clock_res_ns 1\nguest.mem_bytes 128\n"                          \
	"drive.path /dev/sda\ndrive.ready_ms 830\n"
#define NUMBERS                                                                \
	"elapsed_us 1500000\nuser_us 20\nsys_us 30\nsync_us 400000\n"          \
	"written_bytes 4096\nprobe_n 3\nprobe_median_us 10\n"                  \
	"probe_p99_us 20\nprobe_worst_us 2500000\nsettle_us 5\n"
#define RESULT(name)                                                           \
	"workload.begin " name "\n" NUMBERS "workload.end " name "\n"
#define GOOD HEAD RESULT("smallfiles")

/* The text with a right end line; the caller frees. */
static char *frame(const char *body)
{
	uint32_t crc = ~0u;
	long lines = 0;

	for (const char *p = body; *p; p++) {
		crc ^= (unsigned char)*p;
		for (int i = 0; i < 8; i++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
		lines += *p == '\n';
	}
	return xfmt("%s" PROTOCOL_END " %ld %08x\n", body, lines,
		    (unsigned)~crc);
}

/* Parses the body with a right end line; the message, or "" when it is good.
 * The caller frees. */
static char *verdict_on(const char *body)
{
	AUTOFREE char *text = frame(body);
	struct trial t = { 0 };
	struct err e = { "" };
	int bad = measure_parse(&t, text, &e);

	trial_release(&t);
	return xstrdup(bad ? e.msg : "");
}

#define EXPECT_REFUSED(body, part)                                             \
	do {                                                                   \
		AUTOFREE char *m_ = verdict_on(body);                          \
		if (!strstr(m_, part) || !*m_)                                 \
			TEST_FAIL("\"%s\" lacks \"%s\"", m_, part);            \
	} while (0)

static void read_data(struct str *out, const char *name)
{
	AUTOFREE char *dir =
		xstrndup(__FILE__, (size_t)(strrchr(__FILE__, '/') - __FILE__));
	AUTOFREE char *path = xfmt("%s/../data/%s", dir, name);
	struct err e;

	if (file_read(out, path, &e))
		TEST_FAIL("%s", e.msg);
}

TEST(measure__reads_a_recorded_guest)
{
	CLEANUP(str_release) struct str text = STR_INIT;
	CLEANUP(trial_release) struct trial t = { 0 };
	struct err e = { "" };
	const struct sample *s;

	read_data(&text, "results-good.txt");
	ASSERT(measure_parse(&t, str_c(&text), &e) == 0);
	EXPECT_STR(t.release, "6.1.192");
	EXPECT_STR(t.clock, "tsc, kernel tsc-early");
	ASSERT(t.nsamples == 2);
	EXPECT_STR(t.samples[0].workload, "smallfiles:files=20,spawn=0");
	s = trial_sample(&t, "seqwrite:total=8M");
	ASSERT(s);
	EXPECT_INT(s->elapsed * 1e6 + 0.5, 48625);
	EXPECT_INT(s->user * 1e6 + 0.5, 10049);
	EXPECT_INT(s->sys * 1e6 + 0.5, 35171);
	EXPECT_INT(s->sync * 1e6 + 0.5, 14318);
	EXPECT_INT(s->written, 8388608);
	EXPECT_INT(s->probe_n, 1);
	EXPECT_INT(s->probe_worst * 1e6 + 0.5, 1404);
}

TEST(measure__keeps_what_the_trial_had)
{
	CLEANUP(trial_release) struct trial t = { .number = 7 };
	AUTOFREE char *text = frame(GOOD);
	struct err e;

	t.reason = xstrdup("kept");
	ASSERT(measure_parse(&t, text, &e) == 0);
	EXPECT_INT(t.number, 7);
	EXPECT_STR(t.reason, "kept");
	/* and again, over an older result */
	ASSERT(measure_parse(&t, text, &e) == 0);
	EXPECT_INT(t.nsamples, 1);
	EXPECT_INT(t.samples[0].probe_worst * 1000, 2500);
}

TEST(measure__bad_text_leaves_the_trial_alone)
{
	CLEANUP(trial_release) struct trial t = { 0 };
	struct err e;

	EXPECT_INT(measure_parse(&t, GOOD, &e), -1);
	EXPECT(!t.release && !t.clock && !t.samples && !t.nsamples);
}

TEST(measure__each_dropped_line_is_noticed)
{
	CLEANUP(strv_release) struct strv lines = STRV_INIT;
	AUTOFREE char *good = frame(GOOD);

	strv_split(&lines, good, '\n');
	for (size_t drop = 0; drop + 1 < lines.n; drop++) {
		CLEANUP(str_release) struct str s = STR_INIT;
		struct trial t = { 0 };
		struct err e = { "" };

		for (size_t i = 0; i + 1 < lines.n; i++)
			if (i != drop)
				str_fmt(&s, "%s\n", lines.v[i]);
		if (measure_parse(&t, str_c(&s), &e) == 0)
			TEST_FAIL("without \"%s\" it was good", lines.v[drop]);
		EXPECT(*e.msg);
		trial_release(&t);
	}
}

/* The same with the sum and the count made right again. */
TEST(measure__an_incomplete_frame_is_refused)
{
	CLEANUP(strv_release) struct strv lines = STRV_INIT;

	strv_split(&lines, GOOD, '\n');
	for (size_t drop = 0; drop + 1 < lines.n; drop++) {
		CLEANUP(str_release) struct str s = STR_INIT;
		AUTOFREE char *why = NULL;

		for (size_t i = 0; i + 1 < lines.n; i++)
			if (i != drop)
				str_fmt(&s, "%s\n", lines.v[i]);
		why = verdict_on(str_c(&s));
		if (!*why)
			TEST_FAIL("without \"%s\" it was good", lines.v[drop]);
	}
	EXPECT_REFUSED(HEAD, "no workload");
}

TEST(measure__each_flipped_bit_is_noticed)
{
	AUTOFREE char *good = frame(GOOD);
	size_t n = strlen(good);

	for (size_t i = 0; i < n; i++) {
		for (int bit = 0; bit < 8; bit++) {
			struct trial t = { 0 };
			struct err e = { "" };

			good[i] = (char)(good[i] ^ 1 << bit);
			if (measure_parse(&t, good, &e) == 0)
				TEST_FAIL("byte %zu, bit %d", i, bit);
			trial_release(&t);
			good[i] = (char)(good[i] ^ 1 << bit);
		}
	}
}

TEST(measure__each_torn_frame_is_refused)
{
	AUTOFREE char *good = frame(GOOD);

	for (size_t n = strlen(good); n-- > 0;) {
		struct trial t = { 0 };
		struct err e;

		good[n] = '\0';
		if (measure_parse(&t, good, &e) == 0)
			TEST_FAIL("good after %zu bytes", n);
		trial_release(&t);
	}
}

TEST(measure__hands_on_the_guests_own_error)
{
	CLEANUP(str_release) struct str text = STR_INIT;
	struct trial t = { 0 };
	struct err e = { "" };

	read_data(&text, "results-error.txt");
	EXPECT_INT(measure_parse(&t, str_c(&text), &e), -1);
	EXPECT(strstr(e.msg, "write big: No space left on device"));
	EXPECT_REFUSED("iobisect-begin 1\nerror mount: no\n", "mount: no");
	/* even beside a whole result */
	EXPECT_REFUSED(GOOD "error late\n", "late");
}

TEST(measure__numbers_are_strict)
{
	static const char *const wrong[] = {
		"",
		" 1",
		"-1",
		"+1",
		"1.5",
		"0x10",
		"1 ",
		"12a",
		"9223372036854775808",
		"18446744073709551617",
		"9223372036854775807",
		"1000000000000001",
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		AUTOFREE char *text =
			xfmt(HEAD "workload.begin w\nelapsed_us %s\n" NUMBERS,
			     wrong[i]);

		EXPECT_REFUSED(text, "not a number");
	}
	EXPECT_REFUSED("iobisect-begin 1\nguest.mem_bytes many\n",
		       "not a number");
	EXPECT_REFUSED(HEAD "workload.begin w\nprobe_n 2147483648\n",
		       "not a number");
}

TEST(measure__nothing_comes_twice)
{
	EXPECT_REFUSED(HEAD "workload.begin w\nuser_us 1\nuser_us 1\n",
		       "twice");
	EXPECT_REFUSED("iobisect-begin 1\nguest.release a\nguest.release a\n",
		       "twice");
	EXPECT_REFUSED(HEAD RESULT("w") RESULT("w"), "second result");
	EXPECT_REFUSED(HEAD "workload.begin a\nworkload.begin b\n", "no end");
	EXPECT_REFUSED("iobisect-begin 1\niobisect-begin 1\n", "unknown");
}

TEST(measure__only_known_lines_in_their_place)
{
	EXPECT_REFUSED("iobisect-begin 2\n", "protocol");
	EXPECT_REFUSED("hello\n" GOOD, "beginning");
	EXPECT_REFUSED(HEAD "elapsed_us 1\n", "outside");
	EXPECT_REFUSED(HEAD "workload.begin w\nguest.clock x\n", "unknown");
	EXPECT_REFUSED(HEAD "workload.end w\n", "not begun");
	EXPECT_REFUSED(HEAD "workload.begin w\n" NUMBERS "workload.end v\n",
		       "not begun");
	EXPECT_REFUSED(HEAD "colour red\n", "unknown");
	EXPECT_REFUSED(GOOD "\n", "unknown");
}

TEST(measure__nothing_follows_the_end)
{
	AUTOFREE char *good = frame(GOOD);
	AUTOFREE char *more = xfmt("%smore\n", good);
	AUTOFREE char *twice = xfmt("%s%s", good, good);
	struct trial t = { 0 };
	struct err e;

	EXPECT_INT(measure_parse(&t, more, &e), -1);
	EXPECT_INT(measure_parse(&t, twice, &e), -1);
	EXPECT_INT(measure_parse(&t, "", &e), -1);
	EXPECT_STR(e.msg, "no results");
}

/* Whatever is taken here must be taken again when the journal is read. */
TEST(measure__absurd_numbers_are_refused)
{
	static const struct {
		const char *key, *value;
	} absurd[] = {
		{ "elapsed_us", "0" },
		{ "elapsed_us", "1000000000000001" },
		{ "user_us", "1000000000000" },
		{ "sys_us", "1000000000000" },
		{ "sync_us", "90000000" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(absurd); i++) {
		CLEANUP(str_release) struct str s = STR_INIT;
		CLEANUP(strv_release) struct strv lines = STRV_INIT;

		strv_split(&lines, GOOD, '\n');
		for (size_t k = 0; k + 1 < lines.n; k++) {
			bool it = str_starts(lines.v[k], absurd[i].key);

			str_fmt(&s, "%s%s%s\n", it ? absurd[i].key : lines.v[k],
				it ? " " : "", it ? absurd[i].value : "");
		}
		if (i == 1)
			EXPECT_REFUSED(str_c(&s), "not a number");
		else
			EXPECT_REFUSED(str_c(&s), "cannot be true: see its");
	}
}
