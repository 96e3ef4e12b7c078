#include <stdlib.h>

#include "drive.h"

/* A flash card, one command at a time. An allocation unit that is written gets
 * a new erase block, into which pages go in the order in which they come. Only
 * a few units can be so at once. To close one, what was not written since is
 * copied from the old block; all of it, if the pages are not in their places.
 */
struct unit {
	uint64_t number;
	int64_t pages; /* written into the new block */
	uint64_t next; /* the page behind the last */
	bool scattered;
	uint64_t used; /* for the least recently used */
};

struct card {
	struct model *model;
	int64_t free;
	struct unit *open;
	int64_t nopen;
	uint64_t uses;
	uint64_t end; /* of the last transfer, to see one that goes on */
	enum disk_op op;
	uint64_t partial; /* the sector up to which the last page is written */
};

static void *card_open(struct model *m)
{
	struct card *c = xcalloc(1, sizeof(*c));

	c->model = m;
	c->open = xcalloc(m->profile->card.open, sizeof(*c->open));
	c->op = DISK_FLUSH;
	return c;
}

static void card_close(void *drive)
{
	struct card *c = drive;

	free(c->open);
	free(c);
}

static int64_t eviction(const struct card_profile *p, const struct unit *u)
{
	int64_t all = p->unit / p->page;

	if (u->scattered)
		return p->eviction;
	return p->eviction * (all - u->pages) / all;
}

/* The open unit of that number; makes room for it at a cost if it is not. */
static struct unit *unit_open(struct card *c, uint64_t number,
			      struct disk_cost *cost)
{
	const struct card_profile *p = &c->model->profile->card;
	struct unit *u = NULL;

	for (int64_t i = 0; i < c->nopen; i++)
		if (c->open[i].number == number)
			return &c->open[i];
	if (c->nopen < p->open) {
		u = &c->open[c->nopen++];
	} else {
		u = c->open;
		for (int64_t i = 1; i < c->nopen; i++)
			if (c->open[i].used < u->used)
				u = &c->open[i];
		cost->eviction += eviction(p, u);
	}
	*u = (struct unit){ .number = number };
	return u;
}

/* Pages [from, to) of one unit. */
static void unit_write(struct card *c, uint64_t number, uint64_t from,
		       uint64_t to, struct disk_cost *cost)
{
	const struct card_profile *p = &c->model->profile->card;
	struct unit *u = unit_open(c, number, cost);
	int64_t all = p->unit / p->page;

	if (u->pages + (int64_t)(to - from) > all) {
		cost->eviction += eviction(p, u);
		*u = (struct unit){ .number = number };
	}
	if (u->pages && from != u->next)
		u->scattered = true;
	u->pages += to - from;
	u->next = to;
	u->used = ++c->uses;
}

/* A page is programmed whole: what a write leaves of its first and last page is
 * copied, unless the next write goes on there. */
static void card_write(struct card *c, const struct disk_request *r,
		       struct disk_cost *cost)
{
	const struct card_profile *p = &c->model->profile->card;
	uint64_t at = r->sector, end = r->sector + r->sectors, copied = 0;

	if (c->partial != at) {
		copied += (p->page - c->partial % p->page) % p->page;
		copied += at % p->page;
	} else if (at % p->page) {
		/* Its page is open already. */
		at += p->page - at % p->page;
	}
	while (at < end) {
		uint64_t number = at / p->unit, stop = (number + 1) * p->unit;

		if (stop > end)
			stop = end;
		unit_write(c, number, at % p->unit / p->page,
			   ((stop - 1) % p->unit) / p->page + 1, cost);
		at = stop;
	}
	c->partial = end;
	cost->transfer +=
		r->sectors * later(p->bus, p->program) + copied * p->program;
}

static void card_submit(void *drive, const struct disk_request *r)
{
	struct card *c = drive;
	const struct card_profile *p = &c->model->profile->card;
	struct disk_done d = { .id = r->id };
	bool on = r->op == c->op && r->sector == c->end;

	d.start = later(r->arrival, c->free);
	switch (r->op) {
	case DISK_READ:
		d.cost.overhead = on ? 0 : p->read_overhead;
		d.cost.transfer = r->sectors * later(p->bus, p->read);
		break;
	case DISK_WRITE:
	case DISK_ZERO:
		d.cost.overhead = on ? 0 : p->write_overhead;
		card_write(c, r, &d.cost);
		break;
	case DISK_FLUSH:
		d.cost.flush = p->flush;
		break;
	case DISK_TRIM:
		d.cost.overhead = p->write_overhead;
		break;
	}
	if (r->op != DISK_FLUSH) {
		c->op = r->op;
		c->end = r->sector + r->sectors;
	}
	d.done = d.start + d.cost.overhead + d.cost.transfer + d.cost.flush +
		 d.cost.eviction;
	c->free = d.done;
	model_done(c->model, &d);
}

const struct drive_ops card_drive = {
	.open = card_open,
	.close = card_close,
	.submit = card_submit,
};
