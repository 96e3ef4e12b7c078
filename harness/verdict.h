/* Pure: elapsed times and a threshold -> good, bad, weak, with the numbers.
 * Everything is done on y = log(elapsed): noise in a time is a factor. */
#ifndef VERDICT_H
#define VERDICT_H

#include "types.h"

/* Median and spread of some times (seconds). */
struct verdict_summary {
	int n;
	double median, min, max;
	double spread; /* half the range over the median: 0.05 is +-5 % */
};
void verdict_summarize(struct verdict_summary *out, const double *x, int n);

/* --threshold: "20s", "1.5", "800ms" is a time; "+30%" is relative to good. */
struct verdict_limit {
	double seconds; /* 0: relative or none */
	double percent; /* 0: absolute or none */
};
/* -1 for text, zero, a negative or a non-finite number. */
int verdict_limit_parse(struct verdict_limit *out, const char *text,
			struct err *e);

/* How candidates are judged. */
struct verdict_rule {
	char *workload;       /* whose elapsed decides */
	double threshold;     /* seconds; above is bad */
	double sigma;         /* standard deviation of y from boot to boot */
	double good, bad;     /* the endpoints' medians, s; 0: not measured */
	int min_bad, max;     /* boots: at least for "bad"; at most at all */
};
void verdict_rule_release(struct verdict_rule *r);

struct verdict {
	enum mark mark; /* NONE without samples, GOOD, BAD, WEAK, or SKIP when
			 * still undecided after the most boots */
	struct verdict_summary at;
	double z; /* distance of the median from the threshold in standard errors,
		   * positive is slower */
};
/* The noise of a time can only add to it, so one boot clearly below the
 * threshold is enough for good; bad takes min_bad boots. Clear is 3 standard
 * errors of the median (1.2533 sigma / sqrt(n): the asymptotic error of a normal
 * sample's median). */
void verdict_judge(struct verdict *out, const struct verdict_rule *r,
		   const double *elapsed, int n);

/* Sets a threshold between good's and bad's times, or explains. */
enum verdict_gap {
	GAP_CLEAR,   /* out is filled in but for workload */
	GAP_SWAPPED, /* good is the slower one */
	GAP_NONE,    /* they do not separate: why says what would be seen */
	GAP_UNSURE,  /* nor that, but the medians differ: more boots may tell */
};
struct verdict_ends {
	const double *good, *bad; /* s */
	int ngood, nbad;
	const struct verdict_limit *limit; /* NULL: none */
	int runs;        /* boots of each end that were asked for */
	int comparisons; /* how often luck gets its chance: workloads times
			  * the looks that may be taken at the samples */
};
/* The most boots of a candidate or an end, in multiples of --runs. */
#define VERDICT_LOOKS 3
/* Separated: the means of log time differ by 5 %, and by so much that Student's t
 * gives two equal kernels one chance in 1000 a session (one-sided, the pooled
 * deviation at least 2 %, divided by the comparisons: Bonferroni). The default
 * threshold is the geometric mean of the medians. With a limit given, good must
 * lie below it and bad above. Whatever the threshold, both ends must be told
 * from it within the most boots: else no kernel like them would be. */
enum verdict_gap verdict_between(struct verdict_rule *out,
				 const struct verdict_ends *ends,
				 struct err *why);
/* P(T > t) for t >= 0 with dof >= 1 degrees of freedom (Abramowitz and Stegun
 * 26.7.3 and 26.7.4). */
double verdict_student(double t, int dof);
/* A rule from a fixed time alone, with sigma from the samples themselves. */
void verdict_fixed(struct verdict_rule *out, double seconds,
		   const double *elapsed, int n);

#endif
