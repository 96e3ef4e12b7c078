/* Pure: requests in with their arrival times, completions out with theirs. No
 * I/O, clock or randomness. Times are nanoseconds on the drive's own clock, from
 * its power-on; slow motion is the caller's division. Sectors are 512 bytes. */
#ifndef DISK_MODEL_H
#define DISK_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"

enum disk_op { DISK_READ, DISK_WRITE, DISK_FLUSH, DISK_TRIM, DISK_ZERO };

struct disk_request {
	uint64_t id;      /* the caller's */
	enum disk_op op;
	bool fua;         /* done only when on the medium */
	uint64_t sector;  /* within the drive; 0 for a flush */
	uint32_t sectors; /* 0 for a flush */
	int64_t arrival;  /* never less than any earlier arrival */
};

/* What the drive was busy with for one request, ns: not more than done - start,
 * as waiting for others is nothing. Work that a write cache puts off is charged to
 * the request that waits for it, else to model_idle_cost. What a flush makes the
 * drive write is seek, rotation and transfer; flush is what it costs by itself. */
struct disk_cost {
	int64_t overhead, transfer, seek, rotation, flush, eviction;
};

struct disk_done {
	uint64_t id;
	int64_t start; /* when the drive turned to it: >= arrival */
	int64_t done;  /* >= start */
	struct disk_cost cost;
};

struct profile;
struct model;

/* sectors: the size that the guest sees; the profile's addresses are used from 0
 * on. -1: it is larger than the drive. The profile must outlive the model. */
int model_new(struct model **out, const struct profile *p, uint64_t sectors,
	      struct err *e);
void model_free(struct model *m);
/* Not before what model_next was asked about: then it counts as arriving then.
 * The request must lie within the drive. */
void model_submit(struct model *m, const struct disk_request *r);
/* When something happens next without another request (a completion, a step of
 * destaging), or -1: nothing will. */
int64_t model_wake(const struct model *m);
/* Moves the drive on to now, event by event at their own times: being called late
 * changes no result. Gives the next completion at or before now, in order of done;
 * false: no more. */
bool model_next(struct disk_done *out, struct model *m, int64_t now);
/* Costs of destaging that no request waited for, so far. */
struct disk_cost model_idle_cost(const struct model *m);

#endif
