/* Runs one workload and measures it. A workload is a row in spec.c's table, a
 * function here, and a row in workload.c's; docs/adding-a-workload.md shows
 * how. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stddef.h>
#include <sys/types.h>

#include "spec.h"

/* Shared by all processes of one workload. */
struct tally {
	volatile long long written, sync_us;
	volatile int failed;
	char error[400];
};

/* What a workload is given. It runs in a process of its own, with the fresh
 * directory as current one. */
struct work {
	const struct spec *spec; /* resolved */
	const char *self;	 /* our own binary: /init */
	const char *program;	 /* exec: the program's path */
	const char *dir;
	struct tally *tally;
};

struct result {
	long long elapsed_us, user_us, sys_us, sync_us, written;
};

/* Runs work in dir (work->tally is set here). -1 with the workload's own words
 * in why. CPU is that of the workload's processes which were waited for. */
int workload_run(struct result *out, struct work *work, char *why, size_t n);

/* For the workloads. All return 0 or -1, and -1 has been put into the tally. */
int work_fail(struct work *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Short writes go on. Counts. name is for the message. */
int work_write(struct work *w, int fd, const void *buf, size_t n,
	       const char *name);
int work_fsync(struct work *w, int fd, const char *name);
void work_sync(struct work *w);
/* n bytes that no file system takes for a hole, aligned for O_DIRECT. */
void *work_buffer(struct work *w, size_t n);
/* Its exit status must be 0; what names it in the message. */
int work_wait(struct work *w, pid_t pid, const char *what);
void work_add(volatile long long *sum, long long v);

int smallfiles_run(struct work *w);
int seqwrite_run(struct work *w);
int openmany_run(struct work *w);
int program_run(struct work *w);

/* The process that writes one small file: /init write-file ... */
#define SMALLFILES_WRITER "write-file"
int smallfiles_writer(int argc, char **argv);

#endif
