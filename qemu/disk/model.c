#include "model.h"

#include <stdlib.h>

#include "drive.h"

int model_new(struct model **out, const struct profile *p, uint64_t sectors,
	      struct err *e)
{
	static const struct drive_ops *const ops[] = {
		[PROFILE_NONE] = &flat_drive,
		[PROFILE_FLAT] = &flat_drive,
		[PROFILE_CARD] = &card_drive,
		[PROFILE_DISK] = &disk_drive,
	};
	struct model *m;

	if (p->sectors && sectors > p->sectors)
		return err_set(e,
			       "drive %s has %llu sectors, %llu are wanted: "
			       "make the image smaller",
			       p->name, (unsigned long long)p->sectors,
			       (unsigned long long)sectors);
	m = xcalloc(1, sizeof(*m));
	m->profile = p;
	m->ops = ops[p->kind];
	m->drive = m->ops->open(m);
	*out = m;
	return 0;
}

void model_free(struct model *m)
{
	if (!m)
		return;
	m->ops->close(m->drive);
	free(m->done);
	free(m);
}

static void advance(struct model *m, int64_t now)
{
	if (m->ops->advance)
		m->ops->advance(m->drive, now);
	m->now = later(m->now, now);
}

void model_submit(struct model *m, const struct disk_request *r)
{
	struct disk_request in = *r;

	in.arrival = later(in.arrival, m->now);
	advance(m, in.arrival);
	m->ops->submit(m->drive, &in);
}

int64_t model_wake(const struct model *m)
{
	int64_t t = m->ops->wake ? m->ops->wake(m->drive) : -1;

	if (m->ndone && (t < 0 || m->done[m->first].done < t))
		t = m->done[m->first].done;
	return t;
}

void model_done(struct model *m, const struct disk_done *done)
{
	if (m->ndone == m->cap) {
		size_t cap = 2 * m->cap + 16;
		struct disk_done *v = xcalloc(cap, sizeof(*v));

		for (size_t i = 0; i < m->ndone; i++)
			v[i] = m->done[(m->first + i) % m->cap];
		free(m->done);
		m->done = v;
		m->first = 0;
		m->cap = cap;
	}
	m->done[(m->first + m->ndone++) % m->cap] = *done;
}

bool model_next(struct disk_done *out, struct model *m, int64_t now)
{
	advance(m, now);
	if (!m->ndone || m->done[m->first].done > now)
		return false;
	*out = m->done[m->first];
	m->first = (m->first + 1) % m->cap;
	m->ndone--;
	return true;
}

struct disk_cost model_idle_cost(const struct model *m)
{
	return m->idle;
}
