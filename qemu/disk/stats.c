#include "stats.h"

#include <stdlib.h>
#include <string.h>

#include "str.h"

/* Which sectors have been written: a page of bits for each 2^16 sectors, made
 * when it is needed. */
#define PAGE_SECTORS 65536u
struct written {
	uint64_t **pages;
	size_t n;
};

static void written_release(struct written *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->pages[i]);
	free(w->pages);
}

/* Marks them, and counts those that were. */
static uint64_t written_mark(struct written *w, uint64_t sector, uint64_t n)
{
	uint64_t again = 0;

	for (uint64_t s = sector; s < sector + n; s++) {
		uint64_t **page = &w->pages[s / PAGE_SECTORS];
		unsigned bit = (unsigned)(s % PAGE_SECTORS);

		if (!*page)
			*page = xcalloc(PAGE_SECTORS / 64, sizeof(**page));
		again += (*page)[bit / 64] >> bit % 64 & 1;
		(*page)[bit / 64] |= 1ull << bit % 64;
	}
	return again;
}

/* Of times, which are not negative; a trace can claim any. */
static void add(int64_t *sum, int64_t t)
{
	if (__builtin_add_overflow(*sum, t, sum))
		*sum = INT64_MAX;
}

/* Lengths of runs, in sectors. */
struct runs {
	uint64_t *v, current, next; /* next: the sector that goes on the run */
	size_t n, cap;
};

static void runs_end(struct runs *r)
{
	if (!r->current)
		return;
	if (r->n == r->cap) {
		r->cap = r->cap ? 2 * r->cap : 1024;
		r->v = xrealloc(r->v, r->cap * sizeof(*r->v));
	}
	r->v[r->n++] = r->current;
	r->current = 0;
}

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? 1 : -(x > y);
}

static void runs_measure(struct stream *s, struct runs *r)
{
	uint64_t sectors = 0;

	runs_end(r);
	if (r->n)
		qsort(r->v, r->n, sizeof(*r->v), by_length);
	for (size_t i = 0; i < r->n; i++) {
		sectors += r->v[i];
		s->run_median = r->v[i] * 512;
		if (2 * sectors * 512 >= s->bytes)
			break;
	}
	s->run_longest = r->n ? r->v[0] * 512 : 0;
	free(r->v);
}

static void add_request(struct stream *s, struct runs *runs,
			const struct trace_record *r)
{
	s->requests++;
	s->bytes += r->sectors * 512ull;
	add(&s->wait, r->start - r->arrival);
	add(&s->response, r->done - r->arrival);
	if (s->requests > 1 && r->sector == runs->next) {
		s->sequential += r->sectors * 512ull;
	} else {
		s->seeks++;
		runs_end(runs);
	}
	runs->current += r->sectors;
	runs->next = r->sector + r->sectors;
}

static void add_cost(struct disk_cost *sum, const struct disk_cost *c)
{
	add(&sum->overhead, c->overhead);
	add(&sum->transfer, c->transfer);
	add(&sum->seek, c->seek);
	add(&sum->rotation, c->rotation);
	add(&sum->flush, c->flush);
	add(&sum->eviction, c->eviction);
}

/* Requests come in order of arrival: idle time begins at the latest end. */
static void add_time(struct stats *s, const struct trace_record *r,
		     int64_t *latest)
{
	if (r->arrival > *latest)
		add(&s->idle, r->arrival - *latest);
	if (r->done > *latest)
		*latest = r->done;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void lateness(struct stats *s, const struct trace *t)
{
	AUTOFREE uint32_t *v = xcalloc(t->n, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->records[i].op != TRACE_IDLE)
			v[n++] = t->records[i].late;
	if (!n)
		return;
	qsort(v, n, sizeof(*v), by_value);
	s->late_p99 = v[(99 * n + 99) / 100 - 1];
	s->late_worst = v[n - 1];
}

struct counting {
	struct runs reads, writes;
	struct written written;
	uint64_t next; /* of the stream of both */
	bool any;
};

static void count(struct stats *s, struct counting *c,
		  const struct trace_record *r)
{
	bool write = r->op == DISK_WRITE || r->op == DISK_ZERO;

	s->failed += (r->flags & TRACE_FAILED) != 0;
	s->fuas += (r->flags & TRACE_FUA) != 0;
	s->flushes += r->op == DISK_FLUSH;
	if (r->op == DISK_TRIM) {
		s->trims++;
		s->trimmed += r->sectors * 512ull;
	}
	if (!write && r->op != DISK_READ)
		return;
	if (write) {
		add_request(&s->writes, &c->writes, r);
		s->rewritten += 512 * written_mark(&c->written, r->sector,
						   r->sectors);
	} else {
		add_request(&s->reads, &c->reads, r);
	}
	s->seeks += !c->any || r->sector != c->next;
	c->any = true;
	c->next = r->sector + r->sectors;
}

void stats_of(struct stats *out, const struct trace *t)
{
	struct counting c = { .any = false };
	int64_t first = t->n ? t->records[0].arrival : 0, latest = first;

	*out = (struct stats){ .span = 0 };
	c.written.n = t->head.sectors / PAGE_SECTORS + 1;
	c.written.pages = xcalloc(c.written.n, sizeof(*c.written.pages));
	for (size_t i = 0; i < t->n; i++) {
		const struct trace_record *r = &t->records[i];

		add_cost(&out->busy, &r->cost);
		if (r->op == TRACE_IDLE) {
			add_cost(&out->own, &r->cost);
			continue;
		}
		add_time(out, r, &latest);
		count(out, &c, r);
	}
	out->span = latest - first;
	runs_measure(&out->reads, &c.reads);
	runs_measure(&out->writes, &c.writes);
	written_release(&c.written);
	lateness(out, t);
}

double stream_mean(const struct stream *s)
{
	return s->requests ? (double)s->bytes / (double)s->requests : 0;
}

double stream_sequential(const struct stream *s)
{
	return s->bytes ? (double)s->sequential / (double)s->bytes : 0;
}
