/* Many files open at once, and then a piece to each of them in turn. */
#include "workload.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPARE 64 /* descriptors for everything else */

static int allow_files(struct work *w, long long files)
{
	struct rlimit want = { .rlim_cur = (rlim_t)files + SPARE,
			       .rlim_max = (rlim_t)files + SPARE };
	struct rlimit now;

	if (getrlimit(RLIMIT_NOFILE, &now) == 0) {
		if (now.rlim_cur >= want.rlim_cur)
			return 0;
		if (now.rlim_max > want.rlim_max)
			want.rlim_max = now.rlim_max;
	}
	if (setrlimit(RLIMIT_NOFILE, &want))
		return work_fail(w, "allow %lld open files: %m", files);
	return 0;
}

static void file_name(char out[32], long long i)
{
	snprintf(out, 32, "f%06lld", i);
}

static int open_all(struct work *w, int *fds, long long files)
{
	char name[32];

	for (long long i = 0; i < files; i++) {
		file_name(name, i);
		fds[i] = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
		if (fds[i] < 0)
			return work_fail(w, "open %s: %m", name);
	}
	return 0;
}

static int write_rounds(struct work *w, const int *fds, long long files,
			const void *buf)
{
	long long rounds = spec_get(w->spec, "rounds");
	size_t size = (size_t)spec_get(w->spec, "size");
	char name[32];

	for (long long r = 0; r < rounds; r++)
		for (long long i = 0; i < files; i++) {
			file_name(name, i);
			if (work_write(w, fds[i], buf, size, name))
				return -1;
		}
	return 0;
}

static int close_all(struct work *w, const int *fds, long long files)
{
	char name[32];

	for (long long i = 0; i < files; i++) {
		file_name(name, i);
		if (close(fds[i]))
			return work_fail(w, "close %s: %m", name);
	}
	return 0;
}

/* Its process ends here, and that gives back what it took. */
static int instance(struct work *w, long long number)
{
	long long files = spec_get(w->spec, "files");
	int *fds = malloc((size_t)files * sizeof(*fds));
	void *buf = work_buffer(w, (size_t)spec_get(w->spec, "size"));
	char dir[32];

	if (!fds || !buf)
		return work_fail(w, "no memory for %lld files", files);
	snprintf(dir, sizeof(dir), "i%lld", number);
	if (mkdir(dir, 0755) || chdir(dir))
		return work_fail(w, "mkdir %s: %m", dir);
	if (allow_files(w, files) || open_all(w, fds, files) ||
	    write_rounds(w, fds, files, buf))
		return -1;
	return close_all(w, fds, files);
}

int openmany_run(struct work *w)
{
	long long n = spec_get(w->spec, "instances"), started = 0;
	pid_t pids[100];
	int bad = 0;

	for (; !bad && started < n; started++) {
		pids[started] = fork();
		if (pids[started] == 0)
			_exit(instance(w, started + 1) ? 1 : 0);
		if (pids[started] < 0)
			bad = work_fail(w, "fork: %m");
	}
	for (long long i = 0; i < started; i++)
		if (pids[i] > 0 && work_wait(w, pids[i], "an instance"))
			bad = -1;
	if (!bad)
		work_sync(w);
	return bad;
}
