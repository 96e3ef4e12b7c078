/* What a trace says about the stream of requests, and where the drive's time
 * went. Pure. */
#ifndef DISK_STATS_H
#define DISK_STATS_H

#include <stdint.h>

#include "trace.h"

/* Of the reads, or of the writes (writing zeroes is one). A run is what a drive
 * without any memory could do without a seek: each request begins where the one
 * before it, of the same direction, ended. Bytes but for the counts. */
struct stream {
	uint64_t requests, bytes;
	uint64_t seeks;      /* requests that begin a run */
	uint64_t sequential; /* bytes of those that do */
	uint64_t run_median, run_longest; /* half of all bytes are in runs of
					   * run_median or more */
	int64_t wait, response; /* ns, summed: to start, to done */
};

struct stats {
	struct stream reads, writes;
	uint64_t flushes, fuas, trims, failed;
	uint64_t trimmed;   /* bytes */
	uint64_t rewritten; /* bytes that had been written before */
	uint64_t seeks;     /* of reads and writes as one stream */
	struct disk_cost busy; /* all requests' and the drive's own */
	struct disk_cost own;  /* what no request waited for */
	int64_t span; /* from the first arrival to the last end */
	int64_t idle; /* of that, without a request */
	int64_t late_p99, late_worst; /* ns of real time */
};

void stats_of(struct stats *out, const struct trace *t);
/* Bytes a request on average; 0 for none. */
double stream_mean(const struct stream *s);
/* Sequential bytes of all, 0 to 1. */
double stream_sequential(const struct stream *s);

#endif
