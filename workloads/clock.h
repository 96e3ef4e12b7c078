/* The guest's clock, in microseconds. A kernel in an emulated machine may lose
 * ticks, or find no steady clock at all, and its own time then runs slow, by a
 * factor. So when the command line has tsc_early_khz=N (the host knows N; new
 * kernels use it too) the processor's counter is read and the kernel is not
 * asked; CLOCK_MONOTONIC otherwise. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>

/* Takes the rate from a kernel command line, for this process and, through the
 * environment, for those it starts. */
void clock_init(const char *cmdline);
long long clock_us(void);
/* Slow motion: the drive takes n times as long, so a second of it is n of ours.
 * From now on, also in processes started later, this clock shows the drive's
 * time and sleeps by it. What was taken from it before does not compare. */
void clock_slow(long long n);
/* A time of the kernel's own accounting in the same measure. */
long long clock_scaled(long long us);
/* Returns early only when a signal arrives. */
void clock_sleep_us(long long us);

/* The kernel's clock source, or "unknown" (before 2.6.18, or without /sys). */
void clock_source(char out[64]);
/* The counter is read: the kernel's clock source does not matter. */
bool clock_is_counter(void);
/* A source that is only as good as the timer interrupts that arrived. */
bool clock_loses_time(const char *source);

#endif
