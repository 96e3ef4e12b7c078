#include "test.h"

#include <math.h>

#include "record.h"

static struct sample sound(void)
{
	return (struct sample){ .elapsed = 1.5, .user = 0.2, .sys = 0.3,
				.sync = 0.4, .written = 4096, .probe_n = 3,
				.probe_median = 0.1, .probe_p99 = 0.2,
				.probe_worst = 0.3 };
}

/* The journal line of a trial with that sample, read again. */
static int again(const struct sample *s, struct err *e)
{
	struct event ev = { .kind = EVENT_TRIAL }, back;
	struct sample copy = *s;
	AUTOFREE char *line = NULL;

	copy.workload = (char *)"seqwrite";
	ev.trial.number = 1;
	ev.trial.samples = &copy;
	ev.trial.nsamples = 1;
	line = record_event(&ev);
	if (record_event_parse(&back, line, e))
		return -1;
	event_release(&back);
	return 0;
}

/* The journal takes exactly what measure_parse would: both ask sample_fault. */
TEST(record__samples_are_checked)
{
	static const size_t at[] = {
		offsetof(struct sample, elapsed),
		offsetof(struct sample, user),
		offsetof(struct sample, sys),
		offsetof(struct sample, sync),
		offsetof(struct sample, written),
		offsetof(struct sample, probe_median),
		offsetof(struct sample, probe_p99),
		offsetof(struct sample, probe_worst),
	};
	static const double absurd[] = { -1, -1e-9, 1e300, NAN, INFINITY };
	struct sample s = sound();
	struct err e = { "" };

	EXPECT(!sample_fault(&s));
	EXPECT_INT(again(&s, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(absurd); k++) {
			s = sound();
			memcpy((char *)&s + at[i], &absurd[k], sizeof(double));
			EXPECT(sample_fault(&s));
			EXPECT_INT(again(&s, &e), -1);
		}
	}
	s = sound();
	s.elapsed = 0;
	EXPECT_STR(sample_fault(&s), "elapsed_s");
	s = sound();
	s.probe_n = -1;
	EXPECT_STR(sample_fault(&s), "probe_n");
	EXPECT_INT(again(&s, &e), -1);
}

TEST(record__numbers_that_are_no_ints_are_refused)
{
	static const char *const lines[] = {
		"{\"event\":\"rule\",\"time\":1,\"workload\":\"w\",\"threshold_s\":1.0,"
		"\"sigma\":0.1,\"good_s\":1.0,\"bad_s\":2.0,\"min_bad\":2,"
		"\"max\":4294967297}",
		"{\"event\":\"rule\",\"time\":1,\"workload\":\"w\",\"threshold_s\":1.0,"
		"\"sigma\":0.1,\"good_s\":0.0,\"bad_s\":2.0,\"min_bad\":2,"
		"\"max\":9}",
		"{\"event\":\"rule\",\"time\":1,\"workload\":\"w\",\"threshold_s\":1.0,"
		"\"sigma\":0.1,\"good_s\":1.0,\"bad_s\":2.0,\"min_bad\":-2,"
		"\"max\":9}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct event ev;
		struct err e = { "" };

		if (record_event_parse(&ev, lines[i], &e) == 0) {
			TEST_FAIL("%s", lines[i]);
			event_release(&ev);
		}
	}
}
