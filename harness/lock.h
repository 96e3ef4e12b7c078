/* Files that one process at a time holds, for as long as it lives. */
#ifndef LOCK_H
#define LOCK_H

#include "progress.h"
#include "str.h"

/* Waits until the file (made when there is none) is ours; closing fd ends that.
 * busy: what to say when it takes a while. */
int lock_wait(int *fd, const char *path, const char *busy, struct progress *p,
	      struct err *e);
/* 1: ours; 0: somebody else's, or there is no such file; -1. */
int lock_try(int *fd, const char *path, struct err *e);

#endif
