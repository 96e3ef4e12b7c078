/* How late replies were: a histogram of fixed size. Pure. */
#ifndef LATE_H
#define LATE_H

#include <stdint.h>

/* Eight buckets for each doubling: what late_quantile says is at most 1/8 too
 * much, never too little. */
#define LATE_BUCKETS (62 * 8)

struct late {
	uint64_t n, bucket[LATE_BUCKETS];
	int64_t worst; /* ns */
};

void late_add(struct late *l, int64_t ns); /* below 0 counts as 0 */
/* What the fraction q of all stays at or below, ns; 0 when there are none. */
int64_t late_quantile(const struct late *l, double q);

#endif
