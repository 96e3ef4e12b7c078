/* Inside the disk: its electronics (disk.c) take commands in and give data out,
 * its head (head.c) does one thing after the other on the medium. */
#ifndef DISK_DISK_H
#define DISK_DISK_H

#include "buffer.h"
#include "drive.h"
#include "extents.h"
#include "mech.h"

#define MAX_DEPTH 64

/* A command that the drive has turned to. */
struct task {
	struct task *next;
	struct disk_request r;
	struct disk_done done;
	uint64_t at;	 /* the first sector that is still to be moved */
	int64_t ready;	 /* decoded */
	int64_t stalled; /* waits for room in the write cache since; -1: not */
};

struct tasks {
	struct task *first, **last;
};

enum op_kind { OP_NONE, OP_READ, OP_WRITE, OP_DESTAGE, OP_AHEAD };

/* What the head does: it seeks until `found`, waits for the sector until
 * `data`, and transfers until `end`. */
struct op {
	enum op_kind kind;
	struct task *task; /* OP_READ, OP_WRITE */
	struct run run;	   /* OP_DESTAGE, OP_AHEAD */
	uint64_t limit;	   /* the sector behind the last */
	int64_t start, found, data, end;
	int segment;
	bool stale; /* OP_DESTAGE: written to again meanwhile */
};

enum link_kind { LINK_IDLE, LINK_DECODE, LINK_HIT, LINK_TAKE };

struct disk {
	struct model *model;
	const struct profile *profile;
	const struct disk_profile *p;

	struct tasks waiting; /* arrived */
	int active;	      /* turned to and not done */
	bool after_read;

	/* One command is decoded, or one piece of data is moved, at a time. */
	enum link_kind link;
	struct task *link_task;
	uint64_t link_sectors;
	int64_t link_end;

	struct tasks writers; /* into the write cache, one after the other */
	struct extents dirty;
	struct task *flush;
	struct task *ending[MAX_DEPTH]; /* the next one last */
	int nending;

	struct task *media[MAX_DEPTH]; /* for the head, the oldest first */
	int nmedia;
	struct buffer buffer;
	struct arm arm;
	uint64_t arm_lba;
	struct op op;
	int64_t hold; /* when the oldest dirty extent is looked for again */
	/* Read-ahead: into which segment, from where, up to where. */
	int ahead_segment;
	uint64_t ahead, ahead_limit;
};

/* disk.c */
void disk_finish(struct disk *d, struct task *t, int64_t done);
/* The first sector of a read that is not in the drive's memory at `now`. */
uint64_t disk_missing(struct disk *d, const struct task *t, int64_t now);

/* head.c */
void head_start(struct disk *d, int64_t now); /* if there is something to do */
void head_end(struct disk *d);		      /* of d->op */
/* Puts into the segment what read-ahead has got by now. */
void head_sync(struct disk *d, int64_t now);
/* A read that ends there has been served: how far to read ahead of it. */
void head_ahead(struct disk *d, int segment, uint64_t end);

#endif
