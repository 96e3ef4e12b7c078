/* The drive under test: found by its size and by bytes that only it has, since
 * names change between kernels, and between boots. */
#ifndef DRIVE_H
#define DRIVE_H

#include <stddef.h>

#include "job.h"

struct drive {
	char path[64]; /* /dev/sda */
};

/* Waits up to job->wait seconds. -1 with what there is instead in why. */
int drive_find(struct drive *out, const struct job *job, char *why, size_t n);
int drive_mount(const struct drive *d, const struct job *job, const char *where,
		char *why, size_t n);

#endif
