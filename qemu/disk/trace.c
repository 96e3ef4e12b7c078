#include "trace.h"

#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "str.h"

#define MAGIC "iobtrace"
#define VERSION 1
#define HEAD_SIZE 128
#define RECORD_SIZE 96
/* Written at the first quiet moment above this, and at once far above. */
#define PILE (64 << 10)
#define PILE_MAX (1 << 20)

struct trace_writer {
	int fd, error;
	char *path;
	uint8_t *buf; /* PILE_MAX */
	size_t len;
};

static uint8_t *put(uint8_t *p, uint64_t v, size_t bytes)
{
	v = htole64(v);
	memcpy(p, &v, bytes);
	return p + bytes;
}

static uint64_t get(const uint8_t **p, size_t bytes)
{
	uint64_t v = 0;

	memcpy(&v, *p, bytes);
	*p += bytes;
	return le64toh(v);
}

static void put_head(uint8_t *p, const struct trace_head *h)
{
	memset(p, 0, HEAD_SIZE);
	memcpy(p, MAGIC, 8);
	p = put(p + 8, VERSION, 4);
	p = put(p, HEAD_SIZE, 2);
	p = put(p, RECORD_SIZE, 2);
	p = put(p, h->slow, 4);
	p = put(p, 0, 4);
	p = put(p, h->sectors, 8);
	p = put(p, (uint64_t)h->started, 8);
	memcpy(p, h->profile, strnlen(h->profile, sizeof(h->profile) - 1));
}

static void put_record(uint8_t *p, const struct trace_record *r)
{
	p = put(p, (uint64_t)r->arrival, 8);
	p = put(p, (uint64_t)r->start, 8);
	p = put(p, (uint64_t)r->done, 8);
	p = put(p, r->sector, 8);
	p = put(p, r->sectors, 4);
	p = put(p, r->late, 4);
	p = put(p, r->number, 4);
	p = put(p, r->op, 1);
	p = put(p, r->flags, 1);
	p = put(p, r->depth, 2);
	p = put(p, (uint64_t)r->cost.overhead, 8);
	p = put(p, (uint64_t)r->cost.transfer, 8);
	p = put(p, (uint64_t)r->cost.seek, 8);
	p = put(p, (uint64_t)r->cost.rotation, 8);
	p = put(p, (uint64_t)r->cost.flush, 8);
	put(p, (uint64_t)r->cost.eviction, 8);
}

static void get_record(struct trace_record *r, const uint8_t *p)
{
	r->arrival = (int64_t)get(&p, 8);
	r->start = (int64_t)get(&p, 8);
	r->done = (int64_t)get(&p, 8);
	r->sector = get(&p, 8);
	r->sectors = (uint32_t)get(&p, 4);
	r->late = (uint32_t)get(&p, 4);
	r->number = (uint32_t)get(&p, 4);
	r->op = (uint8_t)get(&p, 1);
	r->flags = (uint8_t)get(&p, 1);
	r->depth = (uint16_t)get(&p, 2);
	r->cost.overhead = (int64_t)get(&p, 8);
	r->cost.transfer = (int64_t)get(&p, 8);
	r->cost.seek = (int64_t)get(&p, 8);
	r->cost.rotation = (int64_t)get(&p, 8);
	r->cost.flush = (int64_t)get(&p, 8);
	r->cost.eviction = (int64_t)get(&p, 8);
}

/* A trace that cannot grow does not stop the drive: trace_close tells. */
static void write_out(struct trace_writer *w)
{
	for (size_t at = 0; at < w->len && !w->error;) {
		ssize_t n = write(w->fd, w->buf + at, w->len - at);

		if (n > 0)
			at += (size_t)n;
		else if (errno != EINTR)
			w->error = errno;
	}
	w->len = 0;
}

int trace_create(struct trace_writer **out, const char *path,
		 const struct trace_head *h, struct err *e)
{
	struct trace_writer *w;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		return err_set(e, "create the trace %s: %m", path);
	w = xcalloc(1, sizeof(*w));
	w->fd = fd;
	w->path = xstrdup(path);
	w->buf = xmalloc(PILE_MAX);
	put_head(w->buf, h);
	w->len = HEAD_SIZE;
	write_out(w);
	*out = w;
	return 0;
}

void trace_add(struct trace_writer *w, const struct trace_record *r)
{
	if (w->len + RECORD_SIZE > PILE_MAX)
		write_out(w);
	put_record(w->buf + w->len, r);
	w->len += RECORD_SIZE;
}

void trace_relax(struct trace_writer *w)
{
	if (w->len >= PILE)
		write_out(w);
}

int trace_close(struct trace_writer *w, struct err *e)
{
	int r = 0;

	if (!w)
		return 0;
	write_out(w);
	if (close(w->fd) && !w->error)
		w->error = errno;
	if (w->error) {
		errno = w->error;
		r = err_set(e, "write the trace %s: %m", w->path);
	}
	free(w->path);
	free(w->buf);
	free(w);
	return r;
}

static bool printable(const char *s)
{
	for (; *s; s++)
		if (!isprint((unsigned char)*s))
			return false;
	return true;
}

static int parse_head(struct trace_head *h, const uint8_t *p, size_t n,
		      struct err *e)
{
	const uint8_t *q = p + 8;
	uint64_t version;

	if (n < 8 || memcmp(p, MAGIC, 8))
		return err_set(e, "not a trace of a drive");
	if (n < HEAD_SIZE)
		return err_set(e, "a trace without a whole header");
	version = get(&q, 4);
	if (version != VERSION)
		return err_set(e, "a trace of version %u, and not %u",
			       (unsigned)version, VERSION);
	if (get(&q, 2) != HEAD_SIZE || get(&q, 2) != RECORD_SIZE)
		return err_set(e, "a trace with sizes of another version");
	h->slow = (uint32_t)get(&q, 4);
	q += 4;
	h->sectors = get(&q, 8);
	h->started = (int64_t)get(&q, 8);
	memcpy(h->profile, q, sizeof(h->profile));
	if (h->profile[sizeof(h->profile) - 1] || !printable(h->profile))
		return err_set(e, "a trace whose profile has no name");
	if (h->sectors > TRACE_SECTORS_MAX)
		return err_set(e, "a trace of a drive larger than any");
	if (!h->slow)
		return err_set(e, "a trace in which time stands still");
	return 0;
}

static bool cost_valid(const struct disk_cost *c)
{
	return c->overhead >= 0 && c->transfer >= 0 && c->seek >= 0 &&
	       c->rotation >= 0 && c->flush >= 0 && c->eviction >= 0;
}

static bool record_valid(const struct trace_record *r, uint64_t sectors)
{
	return r->op <= TRACE_IDLE && r->arrival >= 0 &&
	       r->start >= r->arrival && r->done >= r->start &&
	       r->sector <= sectors && r->sectors <= sectors - r->sector &&
	       cost_valid(&r->cost);
}

static int by_number(const void *a, const void *b)
{
	const struct trace_record *x = a, *y = b;
	bool xi = x->op == TRACE_IDLE, yi = y->op == TRACE_IDLE;

	if (xi != yi)
		return xi - yi;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Arrival times must rise with the numbers. */
static int check_order(const struct trace *t, struct err *e)
{
	for (size_t i = 1; i < t->n; i++) {
		const struct trace_record *r = &t->records[i];

		if (r->op == TRACE_IDLE && i + 1 == t->n)
			continue;
		if (r->op == TRACE_IDLE || r->number == r[-1].number ||
		    r->arrival < r[-1].arrival)
			return err_set(e, "a trace whose request %u is out of "
					  "order",
				       r->number);
	}
	return 0;
}

int trace_parse(struct trace *out, const void *data, size_t n, struct err *e)
{
	CLEANUP(trace_release) struct trace t = { .n = 0 };
	const uint8_t *p = data;

	if (parse_head(&t.head, p, n, e))
		return -1;
	t.n = (n - HEAD_SIZE) / RECORD_SIZE;
	t.torn = (n - HEAD_SIZE) % RECORD_SIZE;
	t.records = xcalloc(t.n, sizeof(*t.records));
	for (size_t i = 0; i < t.n; i++) {
		get_record(&t.records[i], p + HEAD_SIZE + i * RECORD_SIZE);
		if (!record_valid(&t.records[i], t.head.sectors))
			return err_set(e, "a trace whose record %zu is damaged",
				       i);
	}
	qsort(t.records, t.n, sizeof(*t.records), by_number);
	if (check_order(&t, e))
		return -1;
	*out = t;
	t.records = NULL;
	return 0;
}

int trace_read(struct trace *out, const char *path, struct err *e)
{
	CLEANUP(str_release) struct str s = STR_INIT;
	struct err why;

	if (file_read(&s, path, e))
		return -1;
	if (trace_parse(out, str_c(&s), s.len, &why))
		return err_set(e, "%s: %s", path, why.msg);
	return 0;
}

void trace_release(struct trace *t)
{
	free(t->records);
	*t = (struct trace){ .n = 0 };
}

const char *trace_op_name(unsigned op)
{
	static const char *const names[] = {
		[DISK_READ] = "read", [DISK_WRITE] = "write",
		[DISK_FLUSH] = "flush", [DISK_TRIM] = "trim",
		[DISK_ZERO] = "zero", [TRACE_IDLE] = "idle",
	};

	return op < sizeof(names) / sizeof(*names) ? names[op] : "?";
}
