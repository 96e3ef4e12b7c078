#include "test.h"

#include <math.h>

#include "verdict.h"

static struct verdict_rule rule(void)
{
	return (struct verdict_rule){ .threshold = 10, .sigma = 0.05,
				      .good = 7, .bad = 14, .min_bad = 2,
				      .max = 6 };
}

TEST(verdict__median_of_even_and_odd)
{
	double odd[] = { 3, 1, 2 }, even[] = { 4, 1, 2, 3 };
	struct verdict_summary s;

	verdict_summarize(&s, odd, 3);
	EXPECT(s.median == 2 && s.min == 1 && s.max == 3 && s.spread == 0.5);
	verdict_summarize(&s, even, 4);
	EXPECT(s.median == 2.5);
	verdict_summarize(&s, odd, 0);
	EXPECT(s.n == 0 && s.median == 0);
}

TEST(verdict__one_fast_boot_is_good)
{
	struct verdict_rule r = rule();
	struct verdict v;
	double x[] = { 7.1 };

	verdict_judge(&v, &r, x, 1);
	EXPECT_INT(v.mark, MARK_GOOD);
	verdict_judge(&v, &r, x, 0);
	EXPECT_INT(v.mark, MARK_NONE);
}

TEST(verdict__one_slow_boot_is_not_yet_bad)
{
	struct verdict_rule r = rule();
	struct verdict v;
	double x[] = { 14, 14.2, 7 };

	verdict_judge(&v, &r, x, 1);
	EXPECT_INT(v.mark, MARK_WEAK);
	verdict_judge(&v, &r, x, 2);
	EXPECT_INT(v.mark, MARK_BAD);
}

TEST(verdict__near_the_threshold_boots_again_then_skips)
{
	struct verdict_rule r = rule();
	struct verdict v;
	double x[] = { 10, 10.1, 9.9, 10, 10.2, 9.8 };

	verdict_judge(&v, &r, x, 3);
	EXPECT_INT(v.mark, MARK_WEAK);
	verdict_judge(&v, &r, x, 6);
	EXPECT_INT(v.mark, MARK_SKIP);
}

TEST(verdict__limit_accepts_times_and_shares_only)
{
	static const char *const bad[] = { "0",	  "-1",	 "0s",	"+0%", "text",
					   "",	  "nan", "inf", "1h",  "+5",
					   "5%",  "1e9", "20s ", "+",  "1.2.3",
					   "0x5" };
	struct verdict_limit l;
	struct err e;

	EXPECT_INT(verdict_limit_parse(&l, "20s", &e), 0);
	EXPECT(l.seconds == 20 && l.percent == 0);
	EXPECT_INT(verdict_limit_parse(&l, "800ms", &e), 0);
	EXPECT(fabs(l.seconds - 0.8) < 1e-12);
	EXPECT_INT(verdict_limit_parse(&l, "+30%", &e), 0);
	EXPECT(l.percent == 30 && l.seconds == 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (verdict_limit_parse(&l, bad[i], &e) == 0)
			TEST_FAIL("'%s' was accepted", bad[i]);
}

TEST(verdict__between_puts_the_threshold_at_the_geometric_mean)
{
	double g[] = { 4, 4.02, 3.98 }, b[] = { 9, 9.05, 8.95 };
	struct verdict_rule r = { 0 };
	struct err e;

	EXPECT_INT(verdict_between(&r, g, 3, b, 3, NULL, &e), GAP_CLEAR);
	EXPECT(fabs(r.threshold - 6) < 1e-9);
	EXPECT(r.sigma == 0.02);
	EXPECT(r.good == 4 && r.bad == 9);
}

TEST(verdict__between_refuses_noise_and_says_what_would_be_seen)
{
	double g[] = { 4, 5, 4.5 }, b[] = { 4.4, 5.2, 5 };
	struct verdict_rule r = { 0 };
	struct err e;

	EXPECT_INT(verdict_between(&r, g, 3, b, 3, NULL, &e), GAP_UNSURE);
	EXPECT(strstr(e.msg, "would be seen"));
	EXPECT(strstr(e.msg, "--runs"));
	EXPECT_INT(verdict_between(&r, g, 3, g, 3, NULL, &e), GAP_NONE);
	EXPECT(strstr(e.msg, "would be seen"));
}

TEST(verdict__between_sees_swapped_ends)
{
	double g[] = { 9, 9, 9 }, b[] = { 4, 4, 4 };
	struct verdict_rule r = { 0 };
	struct err e;

	EXPECT_INT(verdict_between(&r, g, 3, b, 3, NULL, &e), GAP_SWAPPED);
	EXPECT(strstr(e.msg, "swapped"));
}

TEST(verdict__between_honours_a_limit_that_lies_between)
{
	double g[] = { 4, 4, 4 }, b[] = { 9, 9, 9 };
	struct verdict_limit inside = { .percent = 30 };
	struct verdict_limit outside = { .seconds = 20 };
	struct verdict_rule r = { 0 };
	struct err e;

	EXPECT_INT(verdict_between(&r, g, 3, b, 3, &inside, &e), GAP_CLEAR);
	EXPECT(fabs(r.threshold - 5.2) < 1e-9);
	EXPECT_INT(verdict_between(&r, g, 3, b, 3, &outside, &e), GAP_NONE);
	EXPECT(strstr(e.msg, "does not lie between"));
}
