#include "workload.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

static const struct {
	const char *name;
	int (*run)(struct work *w);
} table[] = {
	{ "smallfiles", smallfiles_run },
	{ "seqwrite", seqwrite_run },
	{ "openmany", openmany_run },
	{ "exec", program_run },
};

int work_fail(struct work *w, const char *fmt, ...)
{
	va_list ap;

	/* Several processes may fail at once; the first one is heard. */
	if (!__sync_bool_compare_and_swap(&w->tally->failed, 0, 1))
		return -1;
	va_start(ap, fmt);
	vsnprintf(w->tally->error, sizeof(w->tally->error), fmt, ap);
	va_end(ap);
	return -1;
}

void work_add(volatile long long *sum, long long v)
{
	__sync_fetch_and_add(sum, v);
}

int work_write(struct work *w, int fd, const void *buf, size_t n,
	       const char *name)
{
	const char *p = buf;
	size_t left = n;

	while (left) {
		ssize_t r = write(fd, p, left);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return work_fail(w, "write %s: %s", name,
					 r ? strerror(errno)
					   : "nothing is written any more");
		p += r;
		left -= (size_t)r;
	}
	work_add(&w->tally->written, (long long)n);
	return 0;
}

int work_fsync(struct work *w, int fd, const char *name)
{
	long long start = clock_us();

	if (fsync(fd))
		return work_fail(w, "fsync %s: %m", name);
	work_add(&w->tally->sync_us, clock_us() - start);
	return 0;
}

void work_sync(struct work *w)
{
	long long start = clock_us();

	sync();
	work_add(&w->tally->sync_us, clock_us() - start);
}

void *work_buffer(struct work *w, size_t n)
{
	uint32_t x = 2463534242u;
	void *p;

	if (posix_memalign(&p, 4096, n)) {
		work_fail(w, "no memory for a buffer of %zu bytes", n);
		return NULL;
	}
	for (size_t i = 0; i < n; i += sizeof(x)) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		memcpy((char *)p + i, &x,
		       n - i < sizeof(x) ? n - i : sizeof(x));
	}
	return p;
}

int work_wait(struct work *w, pid_t pid, const char *what)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return work_fail(w, "%s: wait: %m", what);
	if (WIFSIGNALED(status))
		return work_fail(w, "%s: it died of signal %d", what,
				 WTERMSIG(status));
	if (WEXITSTATUS(status))
		return work_fail(w, "%s: it exited with %d", what,
				 WEXITSTATUS(status));
	return 0;
}

static long long us(struct timeval t)
{
	return (long long)t.tv_sec * 1000000 + t.tv_usec;
}

static int run_here(struct work *w)
{
	const char *name = w->spec->kind->name;

	if (chdir(w->dir))
		return work_fail(w, "chdir %s: %m", w->dir);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(table[i].name, name))
			return table[i].run(w);
	return work_fail(w, "%s: the guest cannot run it", name);
}

/* Between two getrusage calls nothing else is waited for: the probe, which is
 * our child too, is not in the difference. */
static int measure(struct result *out, struct work *w)
{
	struct rusage before, after;
	long long start;
	pid_t pid;
	int bad;

	getrusage(RUSAGE_CHILDREN, &before);
	start = clock_us();
	pid = fork();
	if (pid < 0)
		return work_fail(w, "fork: %m");
	if (pid == 0)
		_exit(run_here(w) ? 1 : 0);
	bad = work_wait(w, pid, w->spec->kind->name);
	out->elapsed_us = clock_us() - start;
	getrusage(RUSAGE_CHILDREN, &after);
	out->user_us = clock_scaled(us(after.ru_utime) - us(before.ru_utime));
	out->sys_us = clock_scaled(us(after.ru_stime) - us(before.ru_stime));
	out->sync_us = w->tally->sync_us;
	out->written = w->tally->written;
	return bad;
}

int workload_run(struct result *out, struct work *work, char *why, size_t n)
{
	struct tally *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int bad;

	if (t == MAP_FAILED) {
		snprintf(why, n, "%s: no memory: %m", work->spec->kind->name);
		return -1;
	}
	work->tally = t;
	bad = measure(out, work);
	if (bad)
		snprintf(why, n, "%s", t->error);
	work->tally = NULL;
	munmap(t, sizeof(*t));
	return bad;
}
