/* A record of every request that a drive served. The file is one header of 128
 * bytes, then records of 96, little-endian, in order of completion;
 * docs/drives.md has the layout. */
#ifndef DISK_TRACE_H
#define DISK_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "model.h"

/* An operation of the file only: what the drive did that no request waited for.
 * At most one such record, the last. */
#define TRACE_IDLE 5
#define TRACE_SECTORS_MAX (1ull << 40)

enum {
	TRACE_FUA = 1,
	TRACE_FAILED = 2, /* the host could not do it; the guest got an error */
};

struct trace_head {
	char profile[64]; /* shorter than that; printable */
	uint32_t slow;    /* real time = drive time x slow */
	uint64_t sectors;
	int64_t started; /* ns since 1970 at drive time 0 */
};

struct trace_record {
	int64_t arrival, start, done; /* ns of drive time */
	uint64_t sector;
	uint32_t sectors;
	uint32_t late;   /* ns of real time that done was missed by */
	uint32_t number; /* from 0, in order of arrival */
	uint8_t op;      /* enum disk_op, or TRACE_IDLE */
	uint8_t flags;
	uint16_t depth; /* requests in the drive at its arrival, itself too */
	struct disk_cost cost;
};

struct trace_writer;
int trace_create(struct trace_writer **out, const char *path,
		 const struct trace_head *h, struct err *e);
void trace_add(struct trace_writer *w, const struct trace_record *r);
/* For a moment when waiting costs nothing: writes what has piled up. */
void trace_relax(struct trace_writer *w);
/* -1 when anything since trace_create failed. Frees w, which may be NULL. */
int trace_close(struct trace_writer *w, struct err *e);

struct trace {
	struct trace_head head;
	struct trace_record *records; /* in order of arrival; idle last */
	size_t n;
	bool torn; /* the last record was cut, and is left out */
};
/* -1 for what is no trace, or contradicts itself. The caller releases. */
int trace_read(struct trace *out, const char *path, struct err *e);
int trace_parse(struct trace *out, const void *data, size_t n, struct err *e);
void trace_release(struct trace *t);

const char *trace_op_name(unsigned op);

#endif
