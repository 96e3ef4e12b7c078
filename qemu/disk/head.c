#include "disk.h"

#include <stdlib.h>

#define NEIGHBOURS 32  /* dirty extents looked at on either side of the arm */
#define PIECE	   512 /* sectors destaged before the head can do else */

/* --- read-ahead --- */

static void ahead_stop(struct disk *d)
{
	d->ahead_segment = -1;
}

/* How far after a read that ends at `end` the drive goes on reading. */
static uint64_t ahead_limit(const struct disk *d, int segment, uint64_t end)
{
	const struct disk_profile *p = d->p;
	uint64_t limit = end + p->ahead_sectors, last = d->profile->sectors;
	uint64_t track, cylinder;
	struct run r;

	if (end >= last)
		return last;
	mech_run(&r, d->profile, end, last - end);
	track = end - r.sector + r.zone->spt;
	cylinder =
		track + (p->heads - 1 -
			 (track - 1 - r.zone->lba) / r.zone->spt % p->heads) *
				r.zone->spt;
	switch (p->ahead_until) {
	case AHEAD_COUNT:
		break;
	case AHEAD_TRACK:
		limit = track < limit ? track : limit;
		break;
	case AHEAD_CYLINDER:
		limit = cylinder < limit ? cylinder : limit;
		break;
	case AHEAD_NEXT_TRACK:
		/* A stream that came from the track before goes on to the
		 * next. */
		limit = track;
		if (d->buffer.v[segment].first + r.sector < end)
			limit += r.zone->spt;
		break;
	}
	return limit < last ? limit : last;
}

void head_ahead(struct disk *d, int segment, uint64_t end)
{
	uint64_t limit = ahead_limit(d, segment, end);

	if (segment == d->ahead_segment) {
		if (limit > d->ahead_limit &&
		    (d->ahead < d->ahead_limit || d->p->ahead_on_hit))
			d->ahead_limit = limit;
	} else if (d->p->ahead_on_hit && !d->buffer.v[segment].written) {
		d->ahead_segment = segment;
		d->ahead = d->buffer.v[segment].end;
		d->ahead_limit = limit;
	}
}

/* Read-ahead has got to a sector. Its segment may be gone by then: written
 * over. */
static void ahead_got(struct disk *d, uint64_t end)
{
	if (d->buffer.v[d->op.segment].end == d->ahead)
		buffer_extend(&d->buffer, d->op.segment, end);
	else
		ahead_stop(d);
	d->ahead = end;
}

void head_sync(struct disk *d, int64_t now)
{
	const struct op *o = &d->op;
	uint64_t end;

	if (o->kind != OP_AHEAD)
		return;
	end = o->run.lba + mech_passed(d->p, &o->run, now - o->data);
	ahead_got(d, end < o->limit ? end : o->limit);
}

/* --- one thing after the other --- */

/* Places an op of a single run: positions the arm and knows when it ends. */
static void op_place(struct disk *d, struct op *o, int64_t now, bool write)
{
	o->start = later(now, d->arm.free);
	o->found = o->start + mech_seek(d->p, &d->arm, &o->run, write);
	o->data = o->found + mech_wait(d->p, &o->run, o->found);
	o->end = o->data + mech_transfer(d->p, &o->run, o->run.sectors);
	o->limit = o->run.lba + o->run.sectors;
	d->arm = (struct arm){ o->run.cylinder, o->run.head, o->end };
	d->arm_lba = o->limit;
}

static void ahead_start(struct disk *d, int64_t now)
{
	struct op *o = &d->op;

	if (d->ahead_segment < 0 || d->ahead >= d->ahead_limit)
		return;
	*o = (struct op){ .kind = OP_AHEAD, .segment = d->ahead_segment };
	mech_run(&o->run, d->profile, d->ahead, d->ahead_limit - d->ahead);
	op_place(d, o, now, false);
}

/* Read-ahead ends at the next border of a sector, but a seek is not undone. */
static void ahead_cut(struct disk *d, int64_t now)
{
	struct op *o = &d->op;
	int64_t n;

	head_sync(d, now);
	if (now <= o->found) {
		d->arm.free = o->found;
	} else if (now <= o->data) {
		d->arm.free = now;
	} else {
		n = d->ahead - o->run.lba;
		d->arm.free = o->data + mech_transfer(d->p, &o->run, n);
		if (d->arm.free < now) {
			n++;
			d->arm.free = o->data + mech_transfer(d->p, &o->run, n);
			ahead_got(d, d->ahead + 1);
		}
	}
	d->arm_lba = d->ahead;
	o->kind = OP_NONE;
}

/* --- reads and writes through --- */

/* When data is on both sides of the bus, in order: `available` sectors wait for
 * it, and the rest of the request takes its time. */
struct transfer {
	const struct disk_profile *p;
	int64_t sectors, begin; /* how many must be there to begin */
	int64_t done;
};

/* Sectors [i, i + n) come in at `data` and after. */
static void transfer_run(struct transfer *b, const struct run *r, int64_t i,
			 int64_t n, int64_t data)
{
	int64_t first = data + mech_transfer(b->p, r, 1);
	int64_t last = data + mech_transfer(b->p, r, n);

	b->done = later(b->done, first + (b->sectors - i) * b->p->bus);
	b->done = later(b->done, last + (b->sectors - i - n + 1) * b->p->bus);
	if (i < b->begin && b->begin <= i + n)
		b->done = later(b->done,
				data + mech_transfer(b->p, r, b->begin - i) +
					b->sectors * b->p->bus);
}

/* A head that lands within the run reads the rest of it first, and what it has
 * missed when that comes by. Gives how much of the run is then still to come.
 */
static uint64_t landed(const struct disk *d, const struct run *r, int64_t wait)
{
	int64_t ago = d->p->period - wait; /* that its start came by */

	if (!d->p->on_arrival || ago >= mech_transfer(d->p, r, r->sectors))
		return r->sectors;
	return mech_passed(d->p, r, ago) + 1;
}

/* What passes under the head before the wanted sector is kept. */
static void read_segment(struct disk *d, struct op *o, const struct run *r,
			 int64_t wait)
{
	int64_t passed = wait * r->spt / d->p->period / 1000;
	int i = buffer_ending(&d->buffer, o->task->at);

	if (i < 0) {
		i = buffer_take(&d->buffer, o->task->at);
		if (i >= 0 && d->p->free_reads)
			d->buffer.v[i].first -=
				passed < r->sector ? passed : r->sector;
	}
	if (i >= 0)
		buffer_use(&d->buffer, i);
	o->segment = i;
}

static void read_start(struct disk *d, struct task *t, int64_t now)
{
	struct op *o = &d->op;
	int64_t begin = t->r.sectors * d->p->watermark / 1000, at, wait;
	struct transfer bus = { .p = d->p, .sectors = t->r.sectors };
	uint64_t end = t->r.sector + t->r.sectors;
	struct run r;

	*o = (struct op){ .kind = OP_READ, .task = t, .limit = end };
	o->start = at = later(now, d->arm.free);
	bus.begin = begin ? begin : 1;
	bus.done = t->ready + t->r.sectors * d->p->bus;
	for (uint64_t lba = t->at; lba < end; lba += r.sectors) {
		uint64_t n;

		mech_run(&r, d->profile, lba, end - lba);
		n = r.sectors;
		wait = mech_seek(d->p, &d->arm, &r, false);
		t->done.cost.seek += wait;
		at += wait;
		wait = mech_wait(d->p, &r, at);
		if (lba == t->at) {
			read_segment(d, o, &r, wait);
			n = landed(d, &r, wait);
		}
		transfer_run(&bus, &r, lba - t->r.sector, n, at + wait);
		wait += mech_transfer(d->p, &r, n);
		at += wait;
		t->done.cost.transfer += mech_transfer(d->p, &r, r.sectors);
		t->done.cost.rotation +=
			wait - mech_transfer(d->p, &r, r.sectors);
		d->arm = (struct arm){ r.cylinder, r.head, at };
	}
	d->arm.free = o->end = at;
	d->arm_lba = end;
	t->done.done = later(bus.done, at);
}

/* How much later than the first time the run comes by its data is there: the n
 * sectors of the request up to its end have come over the bus by then. */
static int64_t data_late(const struct disk *d, const struct task *t,
			 const struct run *r, int64_t n, int64_t data)
{
	int64_t first = t->ready + (n - (int64_t)r->sectors + 1) * d->p->bus;
	int64_t last = t->ready + n * d->p->bus -
		       mech_transfer(d->p, r, r->sectors - 1);
	int64_t late = later(first, last) - data;

	if (late <= 0)
		return 0;
	return (late + d->p->period - 1) / d->p->period * d->p->period;
}

/* The data comes over the bus meanwhile; the head takes another turn if it is
 * not there in time. */
static void write_start(struct disk *d, struct task *t, int64_t now)
{
	struct op *o = &d->op;
	uint64_t end = t->r.sector + t->r.sectors;
	int64_t at, wait;
	struct run r;

	*o = (struct op){ .kind = OP_WRITE, .task = t, .limit = end };
	o->start = at = later(now, d->arm.free);
	for (uint64_t lba = t->at; lba < end; lba += r.sectors) {
		mech_run(&r, d->profile, lba, end - lba);
		wait = mech_seek(d->p, &d->arm, &r, true);
		t->done.cost.seek += wait;
		at += wait;
		wait = mech_wait(d->p, &r, at);
		wait += data_late(d, t, &r, lba + r.sectors - t->r.sector,
				  at + wait);
		t->done.cost.rotation += wait;
		at += wait;
		wait = mech_transfer(d->p, &r, r.sectors);
		t->done.cost.transfer += wait;
		at += wait;
		d->arm = (struct arm){ r.cylinder, r.head, at };
	}
	d->arm_lba = end;
	o->end = at;
	extents_cut(&d->dirty, t->at, end);
}

/* --- what comes next --- */

static int64_t positioning(const struct disk *d, uint64_t lba, int64_t at,
			   bool write, int64_t *seek)
{
	struct run r;

	mech_run(&r, d->profile, lba, 1);
	*seek = mech_seek(d->p, &d->arm, &r, write);
	return *seek + mech_wait(d->p, &r, at + *seek);
}

/* The command that the head reaches first, or the oldest when it has waited for
 * too long; -1: none. */
static int pick_task(const struct disk *d, int64_t at, int64_t *best)
{
	int which = -1;

	for (int i = 0; i < d->nmedia; i++) {
		const struct task *t = d->media[i];
		int64_t seek, time;

		if (!i && at - t->r.arrival > d->p->age_limit) {
			*best = -1;
			return 0;
		}
		time = positioning(d, t->at, at, t->r.op != DISK_READ, &seek);
		if (which < 0 || time < *best) {
			which = i;
			*best = time;
		}
	}
	return which;
}

/* The dirty extent that the head reaches first. Those far away need not be
 * looked at: the seek alone takes longer. */
static size_t pick_dirty(const struct disk *d, int64_t at, int64_t *best)
{
	size_t middle = extents_find(&d->dirty, d->arm_lba), which = d->dirty.n;
	int64_t seek;

	for (size_t i = middle; i < d->dirty.n && i < middle + NEIGHBOURS;
	     i++) {
		int64_t time =
			positioning(d, d->dirty.v[i].first, at, true, &seek);

		if (which < d->dirty.n && seek >= *best)
			break;
		if (which == d->dirty.n || time < *best) {
			which = i;
			*best = time;
		}
	}
	for (size_t i = middle; i-- && i + NEIGHBOURS >= middle;) {
		int64_t time =
			positioning(d, d->dirty.v[i].first, at, true, &seek);

		if (which < d->dirty.n && seek >= *best)
			break;
		if (which == d->dirty.n || time < *best) {
			which = i;
			*best = time;
		}
	}
	return which;
}

/* What has been dirty for too long goes next, but only one such in a while: it
 * is better to go on from there. */
static size_t pick_old(struct disk *d, int64_t now)
{
	size_t which = 0;

	if (now < d->hold)
		return d->dirty.n;
	for (size_t i = 1; i < d->dirty.n; i++)
		if (d->dirty.v[i].since < d->dirty.v[which].since)
			which = i;
	if (which < d->dirty.n) {
		d->hold = d->dirty.v[which].since + d->p->cache_hold;
		if (d->hold <= now) {
			d->hold = now + d->p->cache_hold;
			return which;
		}
	}
	return d->dirty.n;
}

static void destage_start(struct disk *d, size_t i, int64_t now)
{
	struct op *o = &d->op;
	const struct extent *e = &d->dirty.v[i];
	uint64_t n = e->end - e->first, most = d->p->cache_sectors / 4;

	if (most < 1)
		most = 1;
	if (n > most)
		n = most;
	*o = (struct op){ .kind = OP_DESTAGE };
	mech_run(&o->run, d->profile, e->first, n < PIECE ? n : PIECE);
	op_place(d, o, now, true);
}

static struct task *media_take(struct disk *d, int i)
{
	struct task *t = d->media[i];

	for (d->nmedia--; i < d->nmedia; i++)
		d->media[i] = d->media[i + 1];
	return t;
}

/* What reads still need from the medium; some need nothing more. */
static void reads_update(struct disk *d, int64_t now)
{
	for (int i = d->nmedia; i--;) {
		struct task *t = d->media[i];
		int64_t bus = t->r.sectors * d->p->bus;

		if (t->r.op != DISK_READ)
			continue;
		t->at = disk_missing(d, t, now);
		if (t->at < t->r.sector + t->r.sectors)
			continue;
		t->done.cost.transfer += bus;
		disk_finish(d, media_take(d, i), later(now, d->arm.free) + bus);
	}
}

static void task_start(struct disk *d, int i, int64_t now)
{
	struct task *t = media_take(d, i);

	if (t->r.op == DISK_READ)
		read_start(d, t, now);
	else
		write_start(d, t, now);
}

void head_start(struct disk *d, int64_t now)
{
	int64_t at, first = 0, best = 0;
	size_t dirty;
	int task;

	if (d->op.kind == OP_AHEAD && (d->nmedia || d->dirty.n))
		ahead_cut(d, now);
	if (d->op.kind != OP_NONE)
		return;
	reads_update(d, now);
	at = later(now, d->arm.free);
	dirty = pick_old(d, now);
	if (dirty < d->dirty.n) {
		ahead_stop(d);
		destage_start(d, dirty, now);
		return;
	}
	task = pick_task(d, at, &first);
	/* Reads go first, as long as there is room for writes. */
	if (d->dirty.n && (task < 0 || (d->writers.first &&
					d->writers.first->stalled >= 0))) {
		dirty = pick_dirty(d, at, &best);
		if (task < 0 || best < first) {
			ahead_stop(d);
			destage_start(d, dirty, now);
			return;
		}
	}
	if (task >= 0)
		task_start(d, task, now);
	else
		ahead_start(d, now);
}

/* Charges what the head did since `from` to somebody. */
static void charge(struct disk_cost *cost, const struct op *o, int64_t from)
{
	cost->seek += later(o->found, from) - later(o->start, from);
	cost->rotation += later(o->data, from) - later(o->found, from);
	cost->transfer += o->end - later(o->data, from);
}

static void destage_end(struct disk *d, const struct op *o)
{
	const struct task *w = d->writers.first;

	if (d->flush)
		charge(&d->flush->done.cost, o, d->flush->ready);
	else if (w && w->stalled >= 0)
		charge(&d->writers.first->done.cost, o, w->stalled);
	else
		charge(&d->model->idle, o, o->start);
	extents_cut(&d->dirty, o->run.lba, o->limit);
	if (o->stale)
		extents_add(&d->dirty, o->run.lba, o->limit, o->end);
	else if (d->p->keep_writes)
		buffer_written(&d->buffer, o->run.lba, o->limit);
	/* What is left of the extent is younger than what was written. */
	if (extents_covered(&d->dirty, o->limit) > o->limit)
		d->dirty.v[extents_find(&d->dirty, o->limit)].since = o->end;
}

void head_end(struct disk *d)
{
	struct op o = d->op;
	const struct disk_overhead *ov = &d->p->overhead;
	struct task *t = o.task;
	int64_t end;

	d->op.kind = OP_NONE;
	switch (o.kind) {
	case OP_READ:
		ahead_stop(d);
		if (o.segment >= 0 && d->buffer.v[o.segment].end == t->at) {
			buffer_extend(&d->buffer, o.segment, o.limit);
			d->ahead_segment = o.segment;
			d->ahead = o.limit;
			d->ahead_limit = ahead_limit(d, o.segment, o.limit);
		}
		t->done.cost.overhead += ov->reselect + ov->read_end;
		t->done.cost.transfer += t->done.done - o.end;
		end = t->done.done + ov->reselect + ov->read_end;
		disk_finish(d, t, end);
		break;
	case OP_WRITE:
		ahead_stop(d);
		if (d->p->keep_writes)
			buffer_written(&d->buffer, t->r.sector, o.limit);
		t->done.cost.overhead += ov->reselect + ov->write_end;
		disk_finish(d, t, o.end + ov->reselect + ov->write_end);
		break;
	case OP_DESTAGE:
		destage_end(d, &o);
		break;
	case OP_AHEAD:
		d->op = o;
		head_sync(d, o.end);
		d->op.kind = OP_NONE;
		break;
	case OP_NONE:
		break;
	}
}
