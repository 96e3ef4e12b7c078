/* The mechanics of a disk: where a sector is, and how long it takes to be
 * there. Pure, in whole nanoseconds, so that a stream goes from one sector to
 * the next without a gap, and never misses a revolution by rounding. */
#ifndef DISK_MECH_H
#define DISK_MECH_H

#include "profile.h"

/* Sectors that pass under the head one after the other. */
struct run {
	const struct disk_zone *zone;
	uint64_t lba, sectors;
	int64_t cylinder, head;
	int64_t sector;	   /* in the track */
	int64_t from, spt; /* angle, thousandths of a sector; a whole track */
};

/* Where the arm is, and since when it is free. */
struct arm {
	int64_t cylinder, head;
	int64_t free;
};

/* The place in its zone of the zone's index-th data sector, and how many of the
 * next ones are beside it (at least 1). */
uint64_t zone_place(const struct disk_zone *z, uint64_t index,
		    uint64_t *beside);

/* The run from lba on, of at most `sectors`. */
void mech_run(struct run *out, const struct profile *p, uint64_t lba,
	      uint64_t sectors);
int64_t mech_seek(const struct disk_profile *d, const struct arm *a,
		  const struct run *r, bool write);
/* How long until the start of the run comes by after the time t. */
int64_t mech_wait(const struct disk_profile *d, const struct run *r, int64_t t);
/* Of the first n sectors of the run. */
int64_t mech_transfer(const struct disk_profile *d, const struct run *r,
		      uint64_t n);
/* How many whole sectors pass in a time. */
uint64_t mech_passed(const struct disk_profile *d, const struct run *r,
		     int64_t time);

#endif
