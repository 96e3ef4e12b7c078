#include "verdict.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGMA_FLOOR  0.02 /* three boots that agree better are luck */
#define CLEAR        3.0  /* standard errors for one candidate */
#define CLEAR_ENDS   4.0  /* for the endpoints, on which all else rests */
#define LEAST_GAP    0.05
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

/* Sum of squares of log x about its mean. */
static double squares(const double *x, int n)
{
	double mean = 0, sum = 0;

	for (int i = 0; i < n; i++)
		mean += log(x[i]) / n;
	for (int i = 0; i < n; i++)
		sum += (log(x[i]) - mean) * (log(x[i]) - mean);
	return sum;
}

enum verdict_gap verdict_between(struct verdict_rule *out, const double *good,
				 int ngood, const double *bad, int nbad,
				 const struct verdict_limit *limit,
				 struct err *why)
{
	struct verdict_summary g, b;
	double sigma = SIGMA_FLOOR, gap, error;
	int n = ngood + nbad;

	verdict_summarize(&g, good, ngood);
	verdict_summarize(&b, bad, nbad);
	if (n > 2)
		sigma = sqrt((squares(good, ngood) + squares(bad, nbad)) /
			     (n - 2));
	sigma = fmax(sigma, SIGMA_FLOOR);
	gap = log(b.median) - log(g.median);
	error = sigma * sqrt(1.0 / ngood + 1.0 / nbad);
	if (gap < -LEAST_GAP && gap < -CLEAR_ENDS * error) {
		err_set(why, "the good kernel is the slower one (%.3g s, the "
			     "bad one %.3g s): good and bad are swapped",
			g.median, b.median);
		return GAP_SWAPPED;
	}
	if (gap < LEAST_GAP || gap < CLEAR_ENDS * error) {
		double seen = fmax(exp(CLEAR_ENDS * error), 1 + LEAST_GAP);
		double need = gap > 0.001 ? 2 * pow(CLEAR_ENDS * sigma / gap, 2)
					  : 0;

		err_set(why, "good and bad do not differ: %.3g s +-%.0f%% and "
			     "%.3g s +-%.0f%%; with %d boots each a slowdown "
			     "of %.0f%% would be seen",
			g.median, g.spread * 100, b.median, b.spread * 100,
			ngood < nbad ? ngood : nbad, (seen - 1) * 100);
		if (gap >= LEAST_GAP && need < 100) {
			size_t at = strlen(why->msg);

			snprintf(why->msg + at, sizeof(why->msg) - at,
				 ", and this one with about %.0f (--runs)",
				 ceil(need));
		}
		return gap >= LEAST_GAP ? GAP_UNSURE : GAP_NONE;
	}
	out->good = g.median;
	out->bad = b.median;
	out->sigma = sigma;
	out->threshold = sqrt(g.median * b.median);
	if (limit && limit->seconds > 0)
		out->threshold = limit->seconds;
	if (limit && limit->percent > 0)
		out->threshold = g.median * (1 + limit->percent / 100);
	if (out->threshold <= g.median || out->threshold >= b.median) {
		err_set(why, "the threshold %.3g s does not lie between good "
			     "(%.3g s) and bad (%.3g s)",
			out->threshold, g.median, b.median);
		return GAP_NONE;
	}
	return GAP_CLEAR;
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
