/* Directories in the cache for the logs of what runs outside of a session. One
 * is ours while we live; what was said to be kept stays for a week; what a
 * killed process left goes when the next one starts. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include "progress.h"
#include "str.h"

/* A path that no other process uses, not made yet. The caller frees. */
char *scratch_path(const char *cache);
/* Sweeps beside dir, makes it, and holds it until scratch_release. */
struct scratch {
	char *mark; /* the lock's path, NULL: none is held */
	int lock;
};
int scratch_claim(struct scratch *out, const char *dir, struct progress *p,
		  struct err *e);
void scratch_release(struct scratch *s);
/* Whether dir is one of the cache's. */
bool scratch_is(const char *dir, const char *cache);

#endif
