#include "extents.h"

#include <stdlib.h>
#include <string.h>

#include "str.h"

void extents_release(struct extents *x)
{
	free(x->v);
	*x = (struct extents){ .v = NULL };
}

size_t extents_find(const struct extents *x, uint64_t sector)
{
	size_t lo = 0, hi = x->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (x->v[mid].end > sector)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* Puts one extent (or none, with e NULL) in the place of `old` ones. */
static void replace(struct extents *x, size_t at, size_t old,
		    const struct extent *e, size_t n)
{
	if (x->n + n - old > x->cap) {
		x->cap = 2 * x->cap + 16;
		x->v = xrealloc(x->v, x->cap * sizeof(*x->v));
	}
	for (size_t i = at; i < at + old; i++)
		x->sectors -= x->v[i].end - x->v[i].first;
	memmove(x->v + at + n, x->v + at + old,
		(x->n - at - old) * sizeof(*x->v));
	x->n += n - old;
	for (size_t i = 0; i < n; i++) {
		x->v[at + i] = e[i];
		x->sectors += e[i].end - e[i].first;
	}
}

void extents_add(struct extents *x, uint64_t first, uint64_t end, int64_t since)
{
	struct extent e = { first, end, since };
	/* One that ends where this begins touches it too. */
	size_t at = extents_find(x, first ? first - 1 : 0), old = 0;

	while (at + old < x->n && x->v[at + old].first <= end) {
		const struct extent *o = &x->v[at + old++];

		e.first = o->first < e.first ? o->first : e.first;
		e.end = o->end > e.end ? o->end : e.end;
		e.since = o->since < e.since ? o->since : e.since;
	}
	replace(x, at, old, &e, 1);
}

void extents_cut(struct extents *x, uint64_t first, uint64_t end)
{
	size_t at = extents_find(x, first), old = 0, n = 0;
	struct extent left[2];

	while (at + old < x->n && x->v[at + old].first < end) {
		const struct extent *o = &x->v[at + old++];

		if (o->first < first)
			left[n++] =
				(struct extent){ o->first, first, o->since };
		if (o->end > end)
			left[n++] = (struct extent){ end, o->end, o->since };
	}
	if (old)
		replace(x, at, old, left, n);
}

uint64_t extents_covered(const struct extents *x, uint64_t sector)
{
	size_t at = extents_find(x, sector);

	if (at < x->n && x->v[at].first <= sector)
		return x->v[at].end;
	return sector;
}
