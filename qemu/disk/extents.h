/* A sorted set of sector ranges that never touch: the dirty part of a cache. */
#ifndef DISK_EXTENTS_H
#define DISK_EXTENTS_H

#include <stddef.h>
#include <stdint.h>

struct extent {
	uint64_t first, end;
	int64_t since;
};

struct extents {
	struct extent *v;
	size_t n, cap;
	uint64_t sectors; /* in all */
};

void extents_release(struct extents *x);
/* The first extent that ends behind a sector; n: none. */
size_t extents_find(const struct extents *x, uint64_t sector);
/* Merges with what it touches; the older time stays. */
void extents_add(struct extents *x, uint64_t first, uint64_t end,
		 int64_t since);
void extents_cut(struct extents *x, uint64_t first, uint64_t end);
/* The end of the extent that holds a sector, or the sector itself. */
uint64_t extents_covered(const struct extents *x, uint64_t sector);

#endif
