/* The kernel's written but unsaved data. */
#ifndef WRITEBACK_H
#define WRITEBACK_H

#include <stddef.h>

/* Everything to the drive, and out of the caches where the kernel can. */
void writeback_start_cold(void);
/* The kernel's timers of writeback, n times as long. -1: it has none; why says
 * which file is missing. */
int writeback_slow(long long n, char *why, size_t size);
/* Waits until next to nothing is dirty or under way any more, nothing changes
 * for 2 s, or 60 s have passed. Returns the microseconds from since (on
 * clock_us) to the last change. */
long long writeback_settle(long long since);

#endif
