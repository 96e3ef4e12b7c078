/* The only fork and exec. A child runs in a process group of its own under a
 * small guard process; when the child ends, or its deadline passes, or we are
 * interrupted, or we die in any way (kill -9 included), the guard kills the
 * whole group, and what has left it, so nothing that we started outlives us.
 *
 * Arguments are argv arrays, never a shell's text. */
#ifndef PROC_H
#define PROC_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"
#include "str.h"

/* One output of the child, delivered by whole lines without the newline (a
 * last line without one is delivered too, and a line of more than 64 KiB in
 * pieces). */
struct proc_stream {
	int child_fd; /* 1: stdout and stderr together; 3 and up: that
		       * descriptor, opened for writing in the child */
	void (*line)(void *ctx, const char *line); /* NULL: dropped */
	const char *log; /* raw bytes are appended to this file; NULL: not.
			  * At most 32 MiB a run: who writes without end must
			  * not fill the disk */
};

struct proc_spec {
	const char *const *argv; /* NULL-terminated; argv[0] by PATH */
	const char *dir;         /* working directory; NULL: ours */
	const char *const *env;  /* NULL-terminated NAME=VALUE on top of our
				  * own environment; NULL: none */
	const struct proc_stream *streams;
	int nstreams; /* 0: all output is dropped. At most 4. */
	/* Descriptors that the child inherits, each under the same number
	 * (so choose numbers that no stream uses). */
	const int *inherit;
	int ninherit;
	double timeout; /* seconds until the group is killed; > 0 */
	/* Called at least every 0.1 s while the child runs; a return other than
	 * 0 stops the child (result: stopped). NULL: none. */
	int (*tick)(void *ctx);
	void *ctx; /* for line and tick */
};

struct proc_result {
	int code;   /* exit code, or -1 */
	int signal; /* the signal that ended it, or 0 */
	bool timed_out, stopped;
	double wall; /* seconds */
	double cpu;  /* user + system seconds of the child and all its waited-for
		      * children */
};

/* Runs to the end. 0: it was started, and out says how it ended. -1: it could
 * not be started ("run NAME: ..."), or we were interrupted (then
 * proc_interrupted() is true). */
int proc_run(struct proc_result *out, const struct proc_spec *spec,
	     struct err *e);

/* The simple case: runs argv and adds what it prints to out (may be NULL).
 * -1 also when it does not exit with 0; the message then has its last line. */
int proc_capture(struct str *out, const char *const *argv, double timeout,
		 struct err *e);

/* Whether argv[0] can be found by PATH. */
bool proc_find(const char *name);
/* Where it is: by PATH, and then in more, further directories between colons.
 * NULL: nowhere. The caller frees. */
char *proc_which(const char *name, const char *more);

/* From a signal handler: stop what runs now and start nothing more. */
void proc_interrupt(int sig);
/* The signal given to proc_interrupt, or 0. */
int proc_interrupted(void);

#endif
