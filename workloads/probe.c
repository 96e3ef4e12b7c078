#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

#define FILES	  20
#define PERIOD_US 100000
#define STEP_US	  20000 /* how late it sees that it is to stop */
#define ROOM	  65536
#define BYTES	  (sizeof(struct probe) + ROOM * sizeof(uint32_t))

int probe_prepare(const char *dir, char *why, size_t n)
{
	if (mkdir(dir, 0755)) {
		snprintf(why, n, "mkdir %s: %m", dir);
		return -1;
	}
	for (int i = 0; i < FILES; i++) {
		char path[256];
		int fd, bad;

		snprintf(path, sizeof(path), "%s/probe%02d", dir, i);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		bad = fd < 0 || write(fd, path, 16) != 16;
		if (bad)
			snprintf(why, n, "write %s: %m", path);
		if (fd >= 0)
			close(fd);
		if (bad)
			return -1;
	}
	return 0;
}

/* In the current directory. 0 or an errno. */
static int look(void)
{
	DIR *d = opendir(".");
	struct dirent *e;
	struct stat st;
	int bad = 0;

	if (!d)
		return errno;
	while ((e = readdir(d)))
		if (stat(e->d_name, &st))
			bad = errno;
	closedir(d);
	return bad;
}

static void look_timed(struct probe *p)
{
	long long start = clock_us(), us;
	int bad = look();

	us = clock_us() - start;
	if (us > UINT32_MAX)
		us = UINT32_MAX;
	if (bad && !p->error)
		p->error = bad;
	if (p->n < ROOM)
		p->us[p->n++] = (uint32_t)us;
	else if (us > p->us[ROOM - 1])
		p->us[ROOM - 1] = (uint32_t)us; /* the worst must not be lost */
}

/* The first look is one period in: the workload's start is left alone. A look
 * that takes longer than a period makes the next one late, not more of them. */
static void run(struct probe *p)
{
	long long next = clock_us() + PERIOD_US;

	while (!p->stop) {
		long long left = next - clock_us();

		if (left > 0) {
			clock_sleep_us(left < STEP_US ? left : STEP_US);
			continue;
		}
		look_timed(p);
		while (next <= clock_us())
			next += PERIOD_US;
	}
	if (!p->n)
		look_timed(p);
}

struct probe *probe_start(const char *dir, char *why, size_t n)
{
	struct probe *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		snprintf(why, n, "probe: no memory: %m");
		return NULL;
	}
	p->pid = fork();
	if (p->pid == 0) {
		if (chdir(dir))
			p->error = errno;
		else
			run(p);
		_exit(0);
	}
	if (p->pid > 0)
		return p;
	snprintf(why, n, "probe: fork: %m");
	munmap(p, BYTES);
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

void probe_summarise(struct probe_summary *out, uint32_t *us, unsigned n)
{
	memset(out, 0, sizeof(*out));
	if (!n)
		return;
	qsort(us, n, sizeof(*us), by_value);
	out->n = n;
	out->median_us = us[(n - 1) / 2];
	out->p99_us = us[((unsigned long long)n * 99 + 99) / 100 - 1];
	out->worst_us = us[n - 1];
}

int probe_stop(struct probe_summary *out, struct probe *p, char *why, size_t n)
{
	int status = 0, bad;

	p->stop = 1;
	while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
		;
	bad = p->error || status;
	if (p->error)
		snprintf(why, n, "probe: list its directory: %s",
			 strerror(p->error));
	else if (status)
		snprintf(why, n, "probe: it died of signal %d",
			 WTERMSIG(status));
	probe_summarise(out, p->us, p->n);
	munmap(p, BYTES);
	return bad ? -1 : 0;
}
