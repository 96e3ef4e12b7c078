/* What the host asks for: the file /job, described in protocol.h. */
#ifndef JOB_H
#define JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "spec.h"

#define JOB_MAX_WORKLOADS 32

struct job {
	char fs[32], options[256];
	long long bytes, ram;
	long long id_offset;
	unsigned char id[64];
	size_t id_n;
	long long wait;
	long long slow; /* slow motion: 1 is none */
	bool probe;
	struct spec workloads[JOB_MAX_WORKLOADS];
	int n;
};

/* text is changed. -1 with one line in why: another protocol, an unknown key, a
 * malformed value, or a key that is missing. */
int job_parse(struct job *out, char *text, char *why, size_t n);
int job_read(struct job *out, const char *path, char *why, size_t n);

#endif
