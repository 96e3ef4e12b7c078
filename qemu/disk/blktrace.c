#include "blktrace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/blktrace_api.h>

/* As a kernel driver of that age would have it: any number will do. */
#define DEVICE (8u << 20) /* sda */

struct event {
	int64_t time;
	size_t order; /* among events of one time: as they were made */
	uint32_t action;
	const struct trace_record *r;
};

/* What the two letters of blkparse's column RWBS are made of. A flush has no
 * data; writing zeroes is shown as a write, for want of a letter. */
static uint32_t category(const struct trace_record *r)
{
	static const uint32_t categories[] = {
		[DISK_READ] = BLK_TC_READ,
		[DISK_WRITE] = BLK_TC_WRITE,
		[DISK_FLUSH] = BLK_TC_FLUSH | BLK_TC_WRITE,
		[DISK_TRIM] = BLK_TC_DISCARD | BLK_TC_WRITE,
		[DISK_ZERO] = BLK_TC_WRITE,
	};
	uint32_t c = categories[r->op];

	return r->flags & TRACE_FUA ? c | BLK_TC_FUA : c;
}

static void put(struct str *out, uint32_t number, const struct event *ev)
{
	const struct trace_record *r = ev->r;
	bool complete = ev->action == BLK_TA_COMPLETE;
	struct blk_io_trace b = {
		.magic = BLK_IO_TRACE_MAGIC | BLK_IO_TRACE_VERSION,
		.sequence = number,
		.time = (uint64_t)ev->time,
		.sector = r->sector,
		.bytes = r->sectors * 512u,
		.action = ev->action | BLK_TC_ACT(category(r)),
		.device = DEVICE,
		.error = complete && r->flags & TRACE_FAILED ? EIO : 0,
	};

	str_add(out, &b, sizeof(b));
}

/* When it began, in real time: what blkparse's absolute times count from. */
static void put_start(struct str *out, int64_t started)
{
	uint32_t when[2] = { (uint32_t)(started / 1000000000),
			     (uint32_t)(started % 1000000000) };
	struct blk_io_trace b = {
		.magic = BLK_IO_TRACE_MAGIC | BLK_IO_TRACE_VERSION,
		.action = BLK_TN_TIMESTAMP,
		.device = DEVICE,
		.pdu_len = sizeof(when),
	};

	str_add(out, &b, sizeof(b));
	str_add(out, when, sizeof(when));
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void blktrace_write(struct str *out, const struct trace *t)
{
	AUTOFREE struct event *events = xcalloc(4 * t->n, sizeof(*events));
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct trace_record *r = &t->records[i];
		const struct event four[] = {
			{ r->arrival, n, BLK_TA_QUEUE, r },
			{ r->arrival, n + 1, BLK_TA_GETRQ, r },
			{ r->start, n + 2, BLK_TA_ISSUE, r },
			{ r->done, n + 3, BLK_TA_COMPLETE, r },
		};

		if (r->op == TRACE_IDLE)
			continue;
		memcpy(events + n, four, sizeof(four));
		n += 4;
	}
	if (n)
		qsort(events, n, sizeof(*events), by_time);
	put_start(out, t->head.started);
	for (size_t i = 0; i < n; i++)
		put(out, (uint32_t)i + 1, &events[i]);
}
