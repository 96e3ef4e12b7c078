/* Drives for tests: a shipped profile, and requests kept in flight. */
#ifndef TEST_DRIVE_H
#define TEST_DRIVE_H

#include "model.h"
#include "profile.h"
#include "str.h"

#define DRIVES IOBISECT_SOURCE "/qemu/drives/"

struct drive {
	struct profile *profile;
	struct model *model;
	uint64_t ids;
	int64_t now;
};

static inline void drive_open(struct drive *d, const char *path)
{
	struct err e = { "" };

	*d = (struct drive){ .ids = 0 };
	if (profile_read(&d->profile, path, &e) ||
	    model_new(&d->model, d->profile, 0, &e)) {
		printf("Bail out! %s\n", e.msg);
		exit(1);
	}
}

static inline void drive_open_shipped(struct drive *d, const char *name)
{
	AUTOFREE char *path = xfmt(DRIVES "%s.json", name);

	drive_open(d, path);
}

static inline void drive_close(struct drive *d)
{
	model_free(d->model);
	profile_free(d->profile);
}

static inline void drive_send(struct drive *d, enum disk_op op, uint64_t sector,
			      uint32_t sectors)
{
	struct disk_request r = { .id = d->ids++,
				  .op = op,
				  .sector = sector,
				  .sectors = sectors,
				  .arrival = d->now };

	model_submit(d->model, &r);
}

/* The next completion, whenever it is; the clock is then there. */
static inline struct disk_done drive_wait(struct drive *d)
{
	struct disk_done done = { .id = UINT64_MAX, .done = -1 };
	int64_t t;

	while (!model_next(&done, d->model, d->now)) {
		t = model_wake(d->model);
		if (t < 0)
			return done;
		d->now = t > d->now ? t : d->now;
	}
	return done;
}

/* One request alone. */
static inline struct disk_done drive_do(struct drive *d, enum disk_op op,
					uint64_t sector, uint32_t sectors)
{
	drive_send(d, op, sector, sectors);
	return drive_wait(d);
}

/* Lets the drive finish what it has put off. */
static inline void drive_rest(struct drive *d)
{
	struct disk_done done;
	int64_t t;

	while ((t = model_wake(d->model)) >= 0) {
		d->now = t > d->now ? t : d->now;
		model_next(&done, d->model, d->now);
	}
}

/* MB/s of n requests of some sectors in a row, `depth` of them in flight. */
static inline double drive_stream(struct drive *d, enum disk_op op,
				  uint64_t sector, uint32_t sectors, int n,
				  int depth)
{
	int64_t begin = d->now;

	for (int i = 0; i < n + depth; i++) {
		if (i >= depth)
			drive_wait(d);
		if (i < n)
			drive_send(d, op, sector + (uint64_t)i * sectors,
				   sectors);
	}
	return 512e3 * sectors * n / (d->now - begin);
}

/* xorshift: the same numbers each time. */
static inline uint64_t drive_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	return *seed ^= *seed << 17;
}

#endif
