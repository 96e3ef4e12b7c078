/* Many small files, as a loop of `dd bs=1 count=16` in a shell writes them. */
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

/* An exit status has room for every errno, and for this. */
#define CANNOT_EXEC 255

struct file {
	const char *name;
	long long writes, size;
	int fsync;
};

static int write_all(int fd, const char *buf, size_t n)
{
	while (n) {
		ssize_t r = write(fd, buf, n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return r ? errno : EIO;
		buf += r;
		n -= (size_t)r;
	}
	return 0;
}

static int write_and_sync(int fd, const struct file *f, const char *buf,
			  long long *sync_us)
{
	long long start;
	int bad;

	for (long long i = 0; i < f->writes; i++) {
		bad = write_all(fd, buf, (size_t)f->size);
		if (bad)
			return bad;
	}
	if (!f->fsync)
		return 0;
	start = clock_us();
	bad = fsync(fd) ? errno : 0;
	*sync_us = clock_us() - start;
	return bad;
}

/* 0 or an errno. */
static int write_file(const struct file *f, const char *buf, long long *sync_us)
{
	int fd = open(f->name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	int bad;

	if (fd < 0)
		return errno;
	bad = write_and_sync(fd, f, buf, sync_us);
	if (close(fd) && !bad)
		bad = errno;
	return bad;
}

/* write-file NAME WRITES SIZE FSYNC PIPE: what our spawned self does. The time
 * in fsync goes back through the pipe. */
int smallfiles_writer(int argc, char **argv)
{
	long long sync_us = 0;
	struct file f;
	char *buf;
	int bad;

	if (argc != 7)
		return EINVAL;
	f = (struct file){ .name = argv[2],
			   .writes = atoll(argv[3]),
			   .size = atoll(argv[4]),
			   .fsync = atoll(argv[5]) > 0 };
	buf = malloc((size_t)f.size);
	if (!buf)
		return ENOMEM;
	memset(buf, 'x', (size_t)f.size);
	bad = write_file(&f, buf, &sync_us);
	if (f.fsync &&
	    write((int)atoll(argv[6]), &sync_us, sizeof(sync_us)) < 0)
		bad = bad ? bad : errno;
	free(buf);
	return bad;
}

static void exec_writer(const struct work *w, const struct file *f, int fd)
{
	char writes[24], size[24], fsync_arg[2], pipe_arg[12];

	snprintf(writes, sizeof(writes), "%lld", f->writes);
	snprintf(size, sizeof(size), "%lld", f->size);
	snprintf(fsync_arg, sizeof(fsync_arg), "%d", f->fsync);
	snprintf(pipe_arg, sizeof(pipe_arg), "%d", fd);
	execl(w->self, "writer", SMALLFILES_WRITER, f->name, writes, size,
	      fsync_arg, pipe_arg, (char *)NULL);
	_exit(CANNOT_EXEC);
}

static int spawn_file(struct work *w, const struct file *f, const int *fds)
{
	long long sync_us = 0;
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return work_fail(w, "%s: fork: %m", f->name);
	if (pid == 0)
		exec_writer(w, f, fds[1]);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return work_fail(w, "%s: wait: %m", f->name);
	if (WIFSIGNALED(status))
		return work_fail(w, "write %s: its process died of signal %d",
				 f->name, WTERMSIG(status));
	if (WEXITSTATUS(status) == CANNOT_EXEC)
		return work_fail(w, "write %s: cannot run %s", f->name,
				 w->self);
	if (WEXITSTATUS(status))
		return work_fail(w, "write %s: %s", f->name,
				 strerror(WEXITSTATUS(status)));
	if (f->fsync &&
	    read(fds[0], &sync_us, sizeof(sync_us)) != sizeof(sync_us))
		return work_fail(w, "write %s: no word from its process",
				 f->name);
	work_add(&w->tally->sync_us, sync_us);
	return 0;
}

static int one_file(struct work *w, const struct file *f, const char *buf,
		    const int *fds)
{
	long long sync_us = 0;
	int bad;

	if (fds)
		return spawn_file(w, f, fds);
	bad = write_file(f, buf, &sync_us);
	if (bad)
		return work_fail(w, "write %s: %s", f->name, strerror(bad));
	work_add(&w->tally->sync_us, sync_us);
	return 0;
}

static int all_files(struct work *w, const char *buf, const int *fds)
{
	long long files = spec_get(w->spec, "files");
	char name[32];
	struct file f = { .name = name,
			  .writes = spec_get(w->spec, "writes"),
			  .size = spec_get(w->spec, "size"),
			  .fsync = (int)spec_get(w->spec, "fsync") };

	for (long long i = 0; i < files; i++) {
		snprintf(name, sizeof(name), "f%06lld", i);
		if (one_file(w, &f, buf, fds))
			return -1;
		work_add(&w->tally->written, f.writes * f.size);
	}
	work_sync(w);
	return 0;
}

int smallfiles_run(struct work *w)
{
	int fds[2], bad;
	char *buf;

	if (spec_get(w->spec, "spawn")) {
		if (pipe(fds))
			return work_fail(w, "pipe: %m");
		return all_files(w, NULL, fds);
	}
	buf = work_buffer(w, (size_t)spec_get(w->spec, "size"));
	if (!buf)
		return -1;
	bad = all_files(w, buf, NULL);
	free(buf);
	return bad;
}
