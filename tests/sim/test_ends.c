#include "test.h"

#include <math.h>

#include "verdict.h"

#define RUNS	  3
#define WORKLOADS 3
#define BOOTS	  (RUNS * VERDICT_LOOKS)

/* Box and Muller over a fixed stream. */
static double normal(void)
{
	static unsigned seed = 1;
	double u = (rand_r(&seed) + 1.0) / (RAND_MAX + 2.0);
	double v = (rand_r(&seed) + 1.0) / (RAND_MAX + 2.0);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* One session's ends as bisect_rule looks at them: more boots as long as it is
 * unsure, any of the workloads may decide. */
static enum verdict_gap session(double slowdown, double noise)
{
	double g[WORKLOADS][BOOTS], b[WORKLOADS][BOOTS];

	for (int w = 0; w < WORKLOADS; w++)
		for (int i = 0; i < BOOTS; i++) {
			g[w][i] = exp(noise * normal());
			b[w][i] = slowdown * exp(noise * normal());
		}
	for (int n = RUNS; n <= BOOTS; n += RUNS) {
		bool unsure = false;

		for (int w = 0; w < WORKLOADS; w++) {
			struct verdict_ends ends = {
				.good = g[w], .bad = b[w], .ngood = n,
				.nbad = n, .runs = RUNS,
				.comparisons = WORKLOADS * VERDICT_LOOKS
			};
			struct verdict_rule r = { 0 };
			struct err e;
			enum verdict_gap gap = verdict_between(&r, &ends, &e);

			if (gap == GAP_CLEAR)
				return gap;
			unsure = unsure || gap == GAP_UNSURE;
		}
		if (!unsure)
			break;
	}
	return GAP_NONE;
}

static int clear_of(int sessions, double slowdown, double noise)
{
	int n = 0;

	for (int i = 0; i < sessions; i++)
		n += session(slowdown, noise) == GAP_CLEAR;
	printf("# slowdown %.2f, noise %2.0f%%: %d of %d sessions begin\n",
	       slowdown, noise * 100, n, sessions);
	return n;
}

/* The rate that the header promises is 1 in 1000; 5000 sessions of it give 5 on
 * average, and more than 15 in less than one case in 10 000. */
TEST(ends__equal_kernels_do_not_start_a_search)
{
	EXPECT(clear_of(5000, 1, 0.20) <= 15);
	EXPECT(clear_of(5000, 1, 0.05) <= 15);
}

TEST(ends__a_real_slowdown_does)
{
	EXPECT(clear_of(1000, 2, 0.20) >= 970);
	EXPECT(clear_of(1000, 1.3, 0.05) >= 970);
	EXPECT(clear_of(1000, 1.1, 0.01) >= 970);
}
