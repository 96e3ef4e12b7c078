#include "disk.h"

#include <stdlib.h>
#include <string.h>

static void tasks_add(struct tasks *l, struct task *t)
{
	t->next = NULL;
	*l->last = t;
	l->last = &t->next;
}

static struct task *tasks_pop(struct tasks *l)
{
	struct task *t = l->first;

	l->first = t->next;
	if (!l->first)
		l->last = &l->first;
	return t;
}

static void tasks_free(struct tasks *l)
{
	while (l->first)
		free(tasks_pop(l));
}

static void *disk_open(struct model *m)
{
	struct disk *d = xcalloc(1, sizeof(*d));

	d->model = m;
	d->profile = m->profile;
	d->p = &m->profile->disk;
	d->waiting.last = &d->waiting.first;
	d->writers.last = &d->writers.first;
	d->buffer.n = d->p->segments;
	d->buffer.size = d->p->segment_sectors;
	d->ahead_segment = -1;
	return d;
}

static void disk_close(void *drive)
{
	struct disk *d = drive;

	if (d->link == LINK_DECODE || d->link == LINK_HIT)
		free(d->link_task);
	for (int i = 0; i < d->nending; i++)
		free(d->ending[i]);
	for (int i = 0; i < d->nmedia; i++)
		free(d->media[i]);
	if (d->op.kind == OP_READ || d->op.kind == OP_WRITE)
		free(d->op.task);
	tasks_free(&d->waiting);
	tasks_free(&d->writers);
	free(d->flush);
	extents_release(&d->dirty);
	free(d);
}

void disk_finish(struct disk *d, struct task *t, int64_t done)
{
	int i = d->nending++;

	t->done.done = done;
	while (i && d->ending[i - 1]->done.done <= done) {
		d->ending[i] = d->ending[i - 1];
		i--;
	}
	d->ending[i] = t;
}

static void end_next(struct disk *d)
{
	struct task *t = d->ending[--d->nending];

	d->active--;
	model_done(d->model, &t->done);
	free(t);
}

static bool through(const struct disk *d, const struct disk_request *r)
{
	return r->fua || !d->p->cache_sectors;
}

uint64_t disk_missing(struct disk *d, const struct task *t, int64_t now)
{
	uint64_t at = t->r.sector, end = at + t->r.sectors;

	head_sync(d, now);
	while (at < end) {
		int i = buffer_find(&d->buffer, at);
		uint64_t next = at;

		if (i >= 0)
			next = d->buffer.v[i].end;
		else if (d->p->keep_writes)
			next = extents_covered(&d->dirty, at);
		if (next == at)
			break;
		at = next;
	}
	return at < end ? at : end;
}

static void read_hit(struct disk *d, const struct task *t)
{
	uint64_t end = t->r.sector + t->r.sectors;
	int i = buffer_find(&d->buffer, end - 1);

	if (i < 0)
		return;
	buffer_use(&d->buffer, i);
	head_ahead(d, i, end);
}

/* Turns to the next command. */
static void turn(struct disk *d, int64_t now)
{
	const struct disk_overhead *o = &d->p->overhead;
	struct task *t = tasks_pop(&d->waiting);
	int64_t overhead = 0, data = 0;

	d->active++;
	t->done.start = now;
	d->link = LINK_DECODE;
	d->link_task = t;
	switch (t->r.op) {
	case DISK_READ:
		overhead = o->read_miss[d->after_read];
		if (disk_missing(d, t, now) == t->r.sector + t->r.sectors) {
			d->link = LINK_HIT;
			overhead = o->read_hit[d->after_read];
			data = t->r.sectors * d->p->bus;
			read_hit(d, t);
		}
		d->after_read = true;
		break;
	case DISK_WRITE:
	case DISK_ZERO:
		overhead = o->write[d->after_read];
		d->after_read = false;
		break;
	case DISK_FLUSH:
		overhead = o->flush;
		break;
	case DISK_TRIM:
		overhead = o->write[d->after_read];
		break;
	}
	t->done.cost.overhead = overhead;
	t->done.cost.transfer = data;
	d->link_end = now + overhead + data;
}

/* How much of a write the cache can take now. What it holds already is only
 * replaced. */
static uint64_t room(const struct disk *d, const struct task *t)
{
	uint64_t left = t->r.sector + t->r.sectors - t->at;
	uint64_t held = extents_covered(&d->dirty, t->at) - t->at;
	uint64_t free_sectors = d->p->cache_sectors - d->dirty.sectors;

	if (!held && (int64_t)d->dirty.n >= d->p->cache_extents) {
		size_t i = extents_find(&d->dirty, t->at ? t->at - 1 : 0);

		if (i == d->dirty.n || d->dirty.v[i].first > t->at + left)
			return 0;
	}
	return left < held + free_sectors ? left : held + free_sectors;
}

/* What waits for the cache goes first: it is older. A flush is alone. */
static void link_start(struct disk *d, int64_t now)
{
	struct task *t = d->writers.first;
	uint64_t n;

	if (d->link != LINK_IDLE)
		return;
	if (t) {
		n = room(d, t);
		if (n) {
			d->link = LINK_TAKE;
			d->link_task = t;
			d->link_sectors = n;
			d->link_end = now + n * d->p->bus;
			t->stalled = -1;
			return;
		}
		if (t->stalled < 0)
			t->stalled = now;
	}
	t = d->waiting.first;
	if (t && !d->flush && d->active < d->p->queue_depth &&
	    !(t->r.op == DISK_FLUSH && d->active))
		turn(d, now);
}

static void replaced(struct disk *d, uint64_t first, uint64_t end)
{
	buffer_drop(&d->buffer, first, end);
	if (d->op.kind == OP_DESTAGE && d->op.run.lba < end &&
	    first < d->op.limit)
		d->op.stale = true;
}

static void taken(struct disk *d, int64_t now)
{
	struct task *t = d->link_task;
	uint64_t end = t->at + d->link_sectors;

	replaced(d, t->at, end);
	extents_add(&d->dirty, t->at, end, now);
	t->done.cost.transfer += d->link_sectors * d->p->bus;
	t->at = end;
	if (end < t->r.sector + t->r.sectors)
		return;
	tasks_pop(&d->writers);
	t->done.cost.overhead += d->p->overhead.write_end;
	disk_finish(d, t, now + d->p->overhead.write_end);
}

static void media_add(struct disk *d, struct task *t)
{
	d->media[d->nmedia++] = t;
}

static void decoded(struct disk *d, int64_t now)
{
	struct task *t = d->link_task;
	uint64_t end = t->r.sector + t->r.sectors;

	t->ready = now;
	t->at = t->r.sector;
	t->stalled = -1;
	switch (t->r.op) {
	case DISK_READ:
		media_add(d, t);
		return;
	case DISK_WRITE:
	case DISK_ZERO:
		if (!through(d, &t->r)) {
			tasks_add(&d->writers, t);
			return;
		}
		replaced(d, t->at, end);
		media_add(d, t);
		return;
	case DISK_FLUSH:
		d->flush = t;
		return;
	case DISK_TRIM:
		replaced(d, t->at, end);
		extents_cut(&d->dirty, t->at, end);
		break;
	}
	disk_finish(d, t, now);
}

static void link_done(struct disk *d, int64_t now)
{
	enum link_kind kind = d->link;
	struct task *t = d->link_task;

	d->link = LINK_IDLE;
	switch (kind) {
	case LINK_HIT:
		t->done.cost.overhead += d->p->overhead.read_end;
		disk_finish(d, t, now + d->p->overhead.read_end);
		break;
	case LINK_DECODE:
		decoded(d, now);
		break;
	case LINK_TAKE:
		taken(d, now);
		break;
	case LINK_IDLE:
		break;
	}
}

/* Starts whatever can be, after anything has changed. */
static void start(struct disk *d, int64_t now)
{
	if (d->flush && !d->dirty.n && d->op.kind != OP_DESTAGE) {
		disk_finish(d, d->flush, now);
		d->flush = NULL;
	}
	link_start(d, now);
	head_start(d, now);
}

static void disk_submit(void *drive, const struct disk_request *r)
{
	struct disk *d = drive;
	struct task *t = xcalloc(1, sizeof(*t));

	if (r->sector + r->sectors > d->profile->sectors)
		BUG("request past the end of the drive");
	t->r = *r;
	t->done.id = r->id;
	tasks_add(&d->waiting, t);
	start(d, r->arrival);
}

/* The next event; what ends first of those at one time: commands, the link, the
 * head. */
static int64_t next_event(const struct disk *d)
{
	int64_t t = -1;

	if (d->nending)
		t = d->ending[d->nending - 1]->done.done;
	if (d->link != LINK_IDLE && (t < 0 || d->link_end < t))
		t = d->link_end;
	if (d->op.kind != OP_NONE && (t < 0 || d->op.end < t))
		t = d->op.end;
	return t;
}

static void disk_advance(void *drive, int64_t now)
{
	struct disk *d = drive;
	int64_t t;

	while ((t = next_event(d)) >= 0 && t <= now) {
		if (d->nending && d->ending[d->nending - 1]->done.done == t)
			end_next(d);
		else if (d->link != LINK_IDLE && d->link_end == t)
			link_done(d, t);
		else
			head_end(d);
		start(d, t);
	}
}

/* Nobody waits for read-ahead. */
static int64_t disk_wake(const void *drive)
{
	const struct disk *d = drive;

	if (d->op.kind == OP_AHEAD && !d->nending && d->link == LINK_IDLE)
		return -1;
	return next_event(d);
}

const struct drive_ops disk_drive = {
	.open = disk_open,
	.close = disk_close,
	.submit = disk_submit,
	.advance = disk_advance,
	.wake = disk_wake,
};
