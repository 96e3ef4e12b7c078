/* Whether the machine stays usable: a process of its own that ten times a
 * second lists a directory on the drive and stats what is in it, as `ls -l`
 * does. */
#ifndef PROBE_H
#define PROBE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct probe {
	volatile int stop;
	volatile int error; /* errno of the first failure */
	volatile uint32_t n;
	pid_t pid;
	uint32_t us[]; /* room for an hour and more */
};

struct probe_summary {
	unsigned n, median_us, p99_us, worst_us;
};

/* Makes the directory and the files in it. */
int probe_prepare(const char *dir, char *why, size_t n);
/* NULL with the reason in why. */
struct probe *probe_start(const char *dir, char *why, size_t n);
/* Ends the process, after a look at the least, and frees p. */
int probe_stop(struct probe_summary *out, struct probe *p, char *why, size_t n);

/* Nearest ranks; sorts us. n = 0 gives zeroes. */
void probe_summarise(struct probe_summary *out, uint32_t *us, unsigned n);

#endif
