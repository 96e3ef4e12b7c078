/* A drive as data, qemu/drives/NAME.json: plain structs, each value checked.
 * Times are nanoseconds, addresses and sizes are sectors of 512 bytes.
 * docs/drives.md has the keys. */
#ifndef DISK_PROFILE_H
#define DISK_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "str.h"

enum profile_kind { PROFILE_NONE, PROFILE_FLAT, PROFILE_CARD, PROFILE_DISK };

/* Tracks of equal length. The zone's places are numbered from its first
 * cylinder on, along the tracks. Not every place holds data: not the `lead`
 * ones at the front, not the `spare` last (or first) ones of each `every`, not
 * the slipped ones, which are faulty. Slips push what is behind them, within
 * their `every` or through all. */
struct zone_slip {
	uint64_t first;
	uint64_t count;
	uint64_t before; /* slipped places before this one, in the zone */
};

struct disk_zone {
	int64_t cylinder, cylinders;
	int64_t spt; /* sectors per track */
	/* How far the first sector of a track is behind that of the track
	 * before it, within a cylinder and across cylinders; and of the zone's
	 * first track. Thousandths of a sector. */
	int64_t track_skew, cylinder_skew, offset;
	int64_t lead, every, spare;
	int64_t spare_first, slips_through; /* truth values */
	int64_t sectors;		    /* that hold data */
	uint64_t lba;			    /* of the first of them */
	struct zone_slip *slips;
	size_t nslips;
};

enum serpentine {
	SERPENTINE_NO,
	SERPENTINE_ZONE, /* odd cylinders of a zone run upwards */
	SERPENTINE_DISK, /* odd cylinders of the disk do */
};

enum ahead_until { AHEAD_COUNT, AHEAD_TRACK, AHEAD_CYLINDER, AHEAD_NEXT_TRACK };

/* Overheads depend on whether the command before was a read. */
struct disk_overhead {
	int64_t read_hit[2], read_miss[2], write[2]; /* after a write, a read */
	int64_t reselect; /* before data of what was not served at once */
	int64_t read_end, write_end, flush;
};

struct disk_profile {
	int64_t period; /* of one revolution */
	int64_t heads, cylinders;
	enum serpentine serpentine;
	int64_t head_switch, write_settle, seek_minimum;
	int64_t *seek; /* by distance in cylinders, 0 to cylinders - 1 */
	struct disk_zone *zones;
	size_t nzones;
	struct disk_overhead overhead;
	int64_t bus; /* a sector */
	/* Thousandths of a read that must be in the buffer before the bus
	 * begins. */
	int64_t watermark;
	int64_t queue_depth, age_limit;
	/* Read buffer. */
	int64_t segments, segment_sectors;
	int64_t keep_writes; /* what was written can be read from it */
	int64_t on_arrival;  /* a read may begin in its middle */
	int64_t free_reads;  /* what passes before the first wanted sector */
	int64_t ahead_sectors;
	int64_t ahead_on_hit; /* a hit makes read-ahead go on */
	enum ahead_until ahead_until;
	/* Write cache; 0 sectors: none. */
	int64_t cache_sectors, cache_extents, cache_hold;
};

struct card_profile {
	int64_t unit, open, page; /* allocation unit, page: sectors */
	int64_t eviction;	  /* of a whole unit */
	int64_t read_overhead, write_overhead, flush;
	int64_t bus, read, program; /* a sector */
};

struct flat_profile {
	int64_t sector, latency, flush;
};

struct profile {
	char *name, *description;
	enum profile_kind kind;
	double rated; /* sequential write, MB/s (10^6); 0: none */
	struct strv sources;
	uint64_t sectors; /* 0: any */
	struct disk_profile disk;
	struct card_profile card;
	struct flat_profile flat;
};

/* NAME is the file's, without directory and .json. The caller frees. */
int profile_read(struct profile **out, const char *path, struct err *e);
void profile_free(struct profile *p);

#endif
