/* Inside the model: what a kind of drive gives to model.c, and what it gets. */
#ifndef DISK_DRIVE_H
#define DISK_DRIVE_H

#include "model.h"
#include "profile.h"

struct drive_ops {
	void *(*open)(struct model *m);
	void (*close)(void *drive);
	void (*submit)(void *drive, const struct disk_request *r);
	void (*advance)(void *drive,
			int64_t now);	    /* with all events up to now */
	int64_t (*wake)(const void *drive); /* as model_wake */
};
extern const struct drive_ops disk_drive, card_drive, flat_drive;

struct model {
	const struct profile *profile;
	const struct drive_ops *ops;
	void *drive;
	int64_t now;
	struct disk_cost idle;
	struct disk_done *done; /* a ring, in order */
	size_t ndone, first, cap;
};

/* The next completion, not before any that was given before. */
void model_done(struct model *m, const struct disk_done *done);

static inline void cost_add(struct disk_cost *to, const struct disk_cost *c)
{
	to->overhead += c->overhead;
	to->transfer += c->transfer;
	to->seek += c->seek;
	to->rotation += c->rotation;
	to->flush += c->flush;
	to->eviction += c->eviction;
}

static inline int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

#endif
