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

static enum verdict_gap between(struct verdict_rule *r, const double *g,
				const double *b,
				const struct verdict_limit *limit,
				struct err *e)
{
	struct verdict_ends ends = { .good = g, .bad = b, .ngood = 3, .nbad = 3,
				     .limit = limit, .runs = 3,
				     .comparisons = 3 };

	return verdict_between(r, &ends, e);
}

TEST(verdict__between_puts_the_threshold_at_the_geometric_mean)
{
	double g[] = { 4, 4.02, 3.98 }, b[] = { 9, 9.05, 8.95 };
	struct verdict_rule r = { 0 };
	struct err e;

	EXPECT_INT(between(&r, g, b, NULL, &e), GAP_CLEAR);
	EXPECT(fabs(r.threshold - 6) < 1e-9);
	EXPECT(r.sigma == 0.02);
	EXPECT(r.good == 4 && r.bad == 9);
	EXPECT(r.min_bad == 2 && r.max == 9);
}

TEST(verdict__between_refuses_noise_and_says_what_would_be_seen)
{
	double g[] = { 4, 5, 4.5 }, b[] = { 4.4, 5.2, 5 };
	struct verdict_rule r = { 0 };
	struct err e;

	EXPECT_INT(between(&r, g, b, NULL, &e), GAP_UNSURE);
	EXPECT(strstr(e.msg, "would be seen"));
	EXPECT(strstr(e.msg, "--runs"));
	EXPECT_INT(between(&r, g, g, NULL, &e), GAP_NONE);
	EXPECT(strstr(e.msg, "would be seen"));
}

/* Quantiles from the tables of the t distribution. */
TEST(verdict__student_agrees_with_the_tables)
{
	static const struct {
		int dof;
		double t, p;
	} table[] = {
		{ 1, 6.3138, 0.05 },  { 2, 2.9200, 0.05 },
		{ 3, 5.8409, 0.005 }, { 4, 7.1732, 0.001 },
		{ 5, 4.0321, 0.005 }, { 10, 4.1437, 0.001 },
		{ 15, 2.6025, 0.01 }, { 30, 3.3852, 0.001 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		double p = verdict_student(table[i].t, table[i].dof);

		if (fabs(p / table[i].p - 1) > 1e-3)
			TEST_FAIL("t %.4f, dof %d: %.6f", table[i].t,
				  table[i].dof, p);
	}
	EXPECT(verdict_student(0, 7) == 0.5);
}

/* Three boots that agree by luck must not pass for a small deviation: with four
 * degrees of freedom 5 standard errors are nothing rare. */
TEST(verdict__between_knows_how_little_three_boots_say)
{
	double g[] = { 1.00, 1.05, 1.10 }, b[] = { 1.25, 1.30, 1.37 };
	struct verdict_rule r = { 0 };
	struct err e;

	EXPECT_INT(between(&r, g, b, NULL, &e), GAP_UNSURE);
}

TEST(verdict__between_sees_swapped_ends)
{
	double g[] = { 9, 9, 9 }, b[] = { 4, 4, 4 };
	struct verdict_rule r = { 0 };
	struct err e;

	EXPECT_INT(between(&r, g, b, NULL, &e), GAP_SWAPPED);
	EXPECT(strstr(e.msg, "swapped"));
}

TEST(verdict__between_honours_a_limit_that_lies_between)
{
	double g[] = { 4, 4, 4 }, b[] = { 9, 9, 9 };
	struct verdict_limit inside = { .percent = 30 };
	struct verdict_limit outside = { .seconds = 20 };
	struct verdict_rule r = { 0 };
	struct err e;

	EXPECT_INT(between(&r, g, b, &inside, &e), GAP_CLEAR);
	EXPECT(fabs(r.threshold - 5.2) < 1e-9);
	EXPECT_INT(between(&r, g, b, &outside, &e), GAP_NONE);
	EXPECT(strstr(e.msg, "does not lie between"));
}

/* No kernel like good could ever be called good with such a threshold. */
TEST(verdict__between_refuses_a_limit_too_near_an_end)
{
	double g[] = { 4, 4, 4 }, b[] = { 9, 9, 9 };
	struct verdict_limit low = { .percent = 1 };
	struct verdict_limit high = { .seconds = 8.95 };
	struct verdict_rule r = { 0 };
	struct err e;

	EXPECT_INT(between(&r, g, b, &low, &e), GAP_NONE);
	EXPECT(strstr(e.msg, "too near the good kernel's 4 s"));
	EXPECT_INT(between(&r, g, b, &high, &e), GAP_NONE);
	EXPECT(strstr(e.msg, "too near the bad kernel's 9 s"));
}
