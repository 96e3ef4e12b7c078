/* A drive for anybody who speaks NBD: one thread, requests in order of arrival,
 * each answered when the modelled drive would have. */
#ifndef SERVER_H
#define SERVER_H

#include <stdint.h>

#include "err.h"
#include "late.h"
#include "model.h"
#include "trace.h"

#define SERVER_DEPTH_MAX 64

struct server_config {
	uint64_t size;       /* bytes, a multiple of 512 */
	int socket;          /* listening, or one connected client; borrowed */
	int data;            /* see store.h; borrowed */
	struct model *model; /* NULL: answers at once; borrowed */
	struct trace_writer *trace; /* NULL: none; borrowed */
	unsigned slow;       /* real time = drive time x slow */
	unsigned depth;      /* requests in the drive at once; more wait in the
			      * socket */
	/* Upon SIGUSR1. */
	void (*report)(const struct late *late);
};

/* Serves until SIGTERM, SIGINT or SIGHUP, or, with one connected client, until
 * that is gone. The signals must be blocked (server_block_signals). late: of
 * all answers. */
int server_run(struct late *late, const struct server_config *config,
	       struct err *e);
/* To be called as early as one likes: from then on a signal waits for
 * server_run instead of killing. */
void server_block_signals(void);

#endif
