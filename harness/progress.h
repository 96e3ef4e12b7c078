/* What the user sees while something runs: a line for each finished stage, and
 * on a terminal a live line below with the stage, its time, and, dim, the last
 * line of make or of the boot. Elsewhere plain lines. Every function takes NULL
 * for "show nothing". */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdio.h>

struct progress;

/* Writes to f, which stays the caller's. */
struct progress *progress_new(FILE *f, bool verbose);
void progress_free(struct progress *p);

/* A permanent line. */
void progress_say(struct progress *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A stage begins: "build 1a2b3c4 (step 2 of about 5)". Ends the one before. */
void progress_stage(struct progress *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* How far the stage is; total 0: unknown. */
void progress_count(struct progress *p, long done, long total);
/* The latest line of a tool's output. */
void progress_line(struct progress *p, const char *line);
/* Redraws the clock; call it now and then while waiting. */
void progress_tick(struct progress *p);
/* The stage is over; its line stays, with the time it took and this text. */
void progress_done(struct progress *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
