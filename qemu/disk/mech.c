#include "mech.h"

#include <stdlib.h>

#define PARTS 1000 /* of a sector, in skews */

/* The first slip that ends behind a place. */
static size_t slip_behind(const struct disk_zone *z, uint64_t place)
{
	size_t lo = 0, hi = z->nslips;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (z->slips[mid].first + z->slips[mid].count > place)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

uint64_t zone_place(const struct disk_zone *z, uint64_t index, uint64_t *beside)
{
	uint64_t data = z->every - z->spare, at = index + z->lead;
	uint64_t unit = at / data * z->every;
	uint64_t place = unit + at % data + (z->spare_first ? z->spare : 0);
	size_t first, lo, hi = z->nslips;

	*beside = data - at % data;
	if (!z->nslips)
		return place;
	first = lo = z->slips_through ? 0 : slip_behind(z, unit);
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		uint64_t pushed = z->slips[mid].before - z->slips[first].before;

		if (z->slips[mid].first <= place + pushed)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo > first)
		place += z->slips[lo - 1].before + z->slips[lo - 1].count -
			 z->slips[first].before;
	if (lo < z->nslips && z->slips[lo].first - place < *beside)
		*beside = z->slips[lo].first - place;
	return place;
}

static const struct disk_zone *zone_of(const struct disk_profile *d,
				       uint64_t lba)
{
	size_t lo = 0, hi = d->nzones;

	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		if (d->zones[mid].lba <= lba)
			lo = mid;
		else
			hi = mid;
	}
	return &d->zones[lo];
}

void mech_run(struct run *out, const struct profile *p, uint64_t lba,
	      uint64_t sectors)
{
	const struct disk_profile *d = &p->disk;
	const struct disk_zone *z = zone_of(d, lba);
	uint64_t beside, place = zone_place(z, lba - z->lba, &beside);
	int64_t track = place / z->spt, cylinder = track / d->heads;
	int64_t order = track % d->heads, left = z->spt - place % z->spt;

	*out = (struct run){
		.zone = z,
		.lba = lba,
		.sectors = sectors,
		.cylinder = z->cylinder + cylinder,
		.head = order,
		.sector = place % z->spt,
		.spt = z->spt * PARTS,
	};
	if (out->sectors > beside)
		out->sectors = beside;
	if (out->sectors > (uint64_t)left)
		out->sectors = left;
	if (out->sectors > z->lba + z->sectors - lba)
		out->sectors = z->lba + z->sectors - lba;
	if ((d->serpentine == SERPENTINE_ZONE && cylinder % 2) ||
	    (d->serpentine == SERPENTINE_DISK && out->cylinder % 2))
		out->head = d->heads - 1 - order;
	out->from = (z->offset + (track - cylinder) * z->track_skew +
		     cylinder * z->cylinder_skew + out->sector * PARTS) %
		    out->spt;
}

int64_t mech_seek(const struct disk_profile *d, const struct arm *a,
		  const struct run *r, bool write)
{
	int64_t t = d->seek[llabs(r->cylinder - a->cylinder)];

	if (r->head != a->head && t < d->head_switch)
		t = d->head_switch;
	if (t && write)
		t += d->write_settle;
	return t;
}

static int64_t angle(const struct disk_profile *d, const struct run *r,
		     uint64_t n)
{
	return (r->from + (int64_t)n * PARTS) * d->period / r->spt;
}

int64_t mech_wait(const struct disk_profile *d, const struct run *r, int64_t t)
{
	int64_t wait = angle(d, r, 0) - t % d->period;

	return wait < 0 ? wait + d->period : wait;
}

int64_t mech_transfer(const struct disk_profile *d, const struct run *r,
		      uint64_t n)
{
	return angle(d, r, n) - angle(d, r, 0);
}

uint64_t mech_passed(const struct disk_profile *d, const struct run *r,
		     int64_t time)
{
	int64_t n = time * r->spt / d->period / PARTS;

	if (time <= 0)
		return 0;
	while (mech_transfer(d, r, n + 1) <= time)
		n++;
	while (n && mech_transfer(d, r, n) > time)
		n--;
	return n;
}
