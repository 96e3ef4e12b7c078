#include "late.h"

/* Values below 8 have a bucket each; above, the three bits after the first. */
static unsigned bucket_of(uint64_t v)
{
	unsigned log;

	if (v < 8)
		return (unsigned)v;
	log = 63 - (unsigned)__builtin_clzll(v);
	return (log - 2) * 8 + (unsigned)(v >> (log - 3) & 7);
}

static int64_t bucket_end(unsigned b)
{
	unsigned log = b / 8 + 2;

	if (b < 8)
		return b;
	return (int64_t)(((8ull + b % 8 + 1) << (log - 3)) - 1);
}

void late_add(struct late *l, int64_t ns)
{
	if (ns < 0)
		ns = 0;
	l->n++;
	l->bucket[bucket_of((uint64_t)ns)]++;
	if (ns > l->worst)
		l->worst = ns;
}

int64_t late_quantile(const struct late *l, double q)
{
	uint64_t below = 0;

	for (unsigned b = 0; b < LATE_BUCKETS; b++) {
		below += l->bucket[b];
		if (below && (double)below >= q * (double)l->n)
			return bucket_end(b) < l->worst ? bucket_end(b) :
							  l->worst;
	}
	return 0;
}
