#include <stdlib.h>

#include "drive.h"

/* A latency that overlaps, and a transfer that does not: flash with a queue. */
struct flat {
	struct model *model;
	int64_t free; /* when the last transfer ends */
};

static void *flat_open(struct model *m)
{
	struct flat *f = xcalloc(1, sizeof(*f));

	f->model = m;
	return f;
}

static void flat_submit(void *drive, const struct disk_request *r)
{
	struct flat *f = drive;
	const struct flat_profile *p = &f->model->profile->flat;
	struct disk_done d = { .id = r->id, .start = r->arrival };

	d.cost.overhead = p->latency;
	d.done = later(r->arrival + p->latency, f->free);
	if (r->op == DISK_READ || r->op == DISK_WRITE)
		d.cost.transfer = r->sectors * p->sector;
	if (r->op == DISK_FLUSH)
		d.cost.flush = p->flush;
	d.done += d.cost.transfer + d.cost.flush;
	f->free = d.done;
	model_done(f->model, &d);
}

const struct drive_ops flat_drive = {
	.open = flat_open,
	.close = free,
	.submit = flat_submit,
};
