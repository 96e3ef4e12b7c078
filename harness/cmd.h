/* The commands. Each returns its exit code, or -1 with an error for main to
 * print. Results go to ctx->out; nothing else is printed but by progress. */
#ifndef CMD_H
#define CMD_H

#include <stdio.h>

#include "options.h"
#include "progress.h"
#include "types.h"

/* Exit codes, as git bisect's where it has one. */
enum {
	EXIT_FOUND = 0, /* or good */
	EXIT_BAD = 1,
	EXIT_RANGE = 2,        /* only untestable commits are left, or the
				* answer did not stand its confirmation */
	EXIT_UNTESTABLE = 125, /* test: git bisect run skips it */
	EXIT_HARNESS = 128,    /* the tool, not the kernel, failed */
	EXIT_USAGE = 129,
	EXIT_INTERRUPTED = 130,
};

struct ctx {
	struct options o;
	FILE *out;
	struct progress *p;
	const char *verb; /* the command as typed: it may be a term */
};

int cmd_start(struct ctx *c, struct err *e);
int cmd_mark(struct ctx *c, struct err *e); /* good, bad, skip, terms */
int cmd_next(struct ctx *c, struct err *e);
int cmd_log(struct ctx *c, struct err *e);
int cmd_replay(struct ctx *c, struct err *e);
int cmd_status(struct ctx *c, struct err *e);
int cmd_reset(struct ctx *c, struct err *e);
int cmd_run(struct ctx *c, struct err *e);
int cmd_test(struct ctx *c, struct err *e);
int cmd_bench(struct ctx *c, struct err *e);
int cmd_doctor(struct ctx *c, struct err *e);
int cmd_drives(struct ctx *c, struct err *e);
int cmd_trace(struct ctx *c, struct err *e);

#endif
