#include "verdict.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGMA_FLOOR  0.02 /* three boots that agree better are luck */
#define CLEAR        3.0  /* standard errors for one candidate */
#define FALSE_ALARM  1e-3 /* of the endpoints, on which all else rests */
#define LEAST_GAP    0.05
#define SMALL_GAP    0.20 /* who would see this can say "do not differ" */
#define MANY         100  /* boots that nobody would make */
#define MEDIAN_ERROR 1.2533 /* sqrt(pi / 2) */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void verdict_summarize(struct verdict_summary *out, const double *x, int n)
{
	AUTOFREE double *v = xcalloc((size_t)n, sizeof(*v));

	*out = (struct verdict_summary){ .n = n };
	if (n <= 0)
		return;
	memcpy(v, x, (size_t)n * sizeof(*v));
	qsort(v, (size_t)n, sizeof(*v), by_value);
	out->min = v[0];
	out->max = v[n - 1];
	out->median = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
	if (out->median > 0)
		out->spread = (out->max - out->min) / 2 / out->median;
}

int verdict_limit_parse(struct verdict_limit *out, const char *text,
			struct err *e)
{
	char *end;
	double v;
	bool relative = *text == '+';
	const char *number = text + relative;

	*out = (struct verdict_limit){ 0 };
	errno = 0;
	v = strtod(number, &end);
	if (end == number || errno || !isfinite(v) ||
	    strspn(number, "0123456789.") != (size_t)(end - number))
		return err_set(e, "threshold '%s': not a time (20s, 800ms) and "
				  "not a share of the good one (+30%%)",
			       text);
	if (v <= 0)
		return err_set(e, "threshold '%s': must be more than zero",
			       text);
	if (relative && !strcmp(end, "%"))
		out->percent = v;
	else if (!relative && (!*end || !strcmp(end, "s")))
		out->seconds = v;
	else if (!relative && !strcmp(end, "ms"))
		out->seconds = v / 1000;
	else
		return err_set(e, "threshold '%s': the unit must be s, ms, or "
				  "+N%% of the good one",
			       text);
	return 0;
}

void verdict_rule_release(struct verdict_rule *r)
{
	free(r->workload);
	*r = (struct verdict_rule){ 0 };
}

void verdict_judge(struct verdict *out, const struct verdict_rule *r,
		   const double *elapsed, int n)
{
	*out = (struct verdict){ .mark = MARK_NONE };
	if (n <= 0)
		return;
	verdict_summarize(&out->at, elapsed, n);
	out->z = (log(out->at.median) - log(r->threshold)) /
		 (MEDIAN_ERROR * r->sigma / sqrt(n));
	if (out->z <= -CLEAR)
		out->mark = MARK_GOOD;
	else if (out->z >= CLEAR && n >= r->min_bad)
		out->mark = MARK_BAD;
	else
		out->mark = n >= r->max ? MARK_SKIP : MARK_WEAK;
}

static double mean_log(const double *x, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += log(x[i]);
	return n ? sum / n : 0;
}

/* Sum of squares of log x about its mean. */
static double squares(const double *x, int n)
{
	double mean = mean_log(x, n), sum = 0;

	for (int i = 0; i < n; i++)
		sum += (log(x[i]) - mean) * (log(x[i]) - mean);
	return sum;
}

double verdict_student(double t, int dof)
{
	double angle = atan(t / sqrt(dof)), c = cos(angle);
	double sum, term = dof % 2 ? c : 1;

	sum = dof == 1 ? 0 : term;
	for (int k = dof % 2 ? 3 : 2; k <= dof - 2; k += 2) {
		term *= c * c * (k - 1) / k;
		sum += term;
	}
	sum *= sin(angle);
	if (dof % 2)
		sum = (angle + sum) * M_2_PI;
	return fmax(0, (1 - sum) / 2);
}

/* The t that equal kernels pass with probability p. */
static double student_limit(double p, int dof)
{
	double low = 0, high = 1e4;

	for (int i = 0; i < 60; i++) {
		double mid = (low + high) / 2;

		if (verdict_student(mid, dof) > p)
			low = mid;
		else
			high = mid;
	}
	return high;
}

/* The least gap of log time that n and m boots show. */
static double least_gap(double sigma, int n, int m, double p)
{
	double error = sigma * sqrt(1.0 / n + 1.0 / m);

	return n + m < 3 ? INFINITY
			 : fmax(LEAST_GAP, error * student_limit(p, n + m - 2));
}

static void explain(struct err *why, const struct verdict_summary *g,
		    const struct verdict_summary *b, double gap, double sigma,
		    double p)
{
	double seen = least_gap(sigma, g->n, b->n, p);
	size_t at;
	int need = g->n < b->n ? g->n : b->n;

	err_set(why, "good and bad %s: %.3g s +-%.0f%% and %.3g s +-%.0f%%",
		seen < log(1 + SMALL_GAP) ? "do not differ"
					  : "cannot be told apart",
		g->median, g->spread * 100, b->median, b->spread * 100);
	at = strlen(why->msg);
	if (isfinite(seen))
		snprintf(why->msg + at, sizeof(why->msg) - at,
			 "; with %d boots each a slowdown of %.0f%% would be "
			 "seen, with more (--runs) or on a quieter machine a "
			 "smaller one", need, (exp(seen) - 1) * 100);
	for (int low = need - 1, high = MANY; high - low > 1;) {
		int mid = (low + high) / 2;

		if (least_gap(sigma, mid, mid, p) > gap)
			low = mid;
		else
			high = mid;
		need = high;
	}
	at = strlen(why->msg);
	if (gap >= LEAST_GAP && need < MANY)
		snprintf(why->msg + at, sizeof(why->msg) - at,
			 ", and this one with about %d (--runs)", need);
}

/* How far from the threshold in log time a kernel must be to end on its side of it
 * before the most boots are used up. */
static double margin(const struct verdict_rule *r)
{
	return CLEAR * MEDIAN_ERROR * r->sigma / sqrt(r->max);
}

static bool decidable(const struct verdict_rule *r, double seconds)
{
	return fabs(log(r->threshold) - log(seconds)) >= margin(r);
}

static enum verdict_gap set_threshold(struct verdict_rule *r,
				      const struct verdict_limit *limit,
				      struct err *why)
{
	r->threshold = sqrt(r->good * r->bad);
	if (limit && limit->seconds > 0)
		r->threshold = limit->seconds;
	if (limit && limit->percent > 0)
		r->threshold = r->good * (1 + limit->percent / 100);
	if (r->threshold <= r->good || r->threshold >= r->bad) {
		err_set(why, "the threshold %.3g s does not lie between good "
			     "(%.3g s) and bad (%.3g s)",
			r->threshold, r->good, r->bad);
		return GAP_NONE;
	}
	if (decidable(r, r->good) && decidable(r, r->bad))
		return GAP_CLEAR;
	err_set(why, "the threshold %.3g s is too near the %s kernel's %.3g s: "
		     "with a noise of %.1f%% and %d boots at most it must be "
		     "%.1f%% away (another --threshold, or more --runs)",
		r->threshold, decidable(r, r->good) ? "bad" : "good",
		decidable(r, r->good) ? r->bad : r->good, r->sigma * 100,
		r->max, (exp(margin(r)) - 1) * 100);
	return GAP_NONE;
}

enum verdict_gap verdict_between(struct verdict_rule *out,
				 const struct verdict_ends *ends,
				 struct err *why)
{
	struct verdict_summary g, b;
	double p = FALSE_ALARM / ends->comparisons, gap, least;
	int n = ends->ngood + ends->nbad;

	verdict_summarize(&g, ends->good, ends->ngood);
	verdict_summarize(&b, ends->bad, ends->nbad);
	out->good = g.median;
	out->bad = b.median;
	out->sigma = SIGMA_FLOOR;
	if (n > 2)
		out->sigma = fmax(SIGMA_FLOOR,
				  sqrt((squares(ends->good, ends->ngood) +
					squares(ends->bad, ends->nbad)) /
				       (n - 2)));
	out->min_bad = ends->runs < 2 ? 1 : 2;
	out->max = ends->runs * VERDICT_LOOKS;
	gap = mean_log(ends->bad, b.n) - mean_log(ends->good, g.n);
	least = least_gap(out->sigma, g.n, b.n, p);
	if (gap <= -least) {
		err_set(why, "the good kernel is the slower one (%.3g s, the "
			     "bad one %.3g s): good and bad are swapped",
			g.median, b.median);
		return GAP_SWAPPED;
	}
	if (gap < least) {
		explain(why, &g, &b, gap, out->sigma, p);
		return gap >= LEAST_GAP ? GAP_UNSURE : GAP_NONE;
	}
	return set_threshold(out, ends->limit, why);
}

void verdict_fixed(struct verdict_rule *out, double seconds,
		   const double *elapsed, int n)
{
	out->threshold = seconds;
	out->sigma = SIGMA_FLOOR;
	if (n > 1)
		out->sigma = fmax(SIGMA_FLOOR,
				  sqrt(squares(elapsed, n) / (n - 1)));
}
