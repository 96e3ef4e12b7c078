#include "export.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc.h"

#define MAX_THREADS 8
#define BATCH	    32

void export_list_add(struct export_list *l, const char *path, unsigned mode,
		     const unsigned char *id)
{
	struct export_file *f;

	if (l->n == l->cap) {
		l->cap = l->cap * 2 + 256;
		l->v = xrealloc(l->v, l->cap * sizeof(*l->v));
	}
	f = &l->v[l->n];
	*f = (struct export_file){ .path = xstrdup(path),
				   .mode = mode,
				   .order = l->n++ };
	if (id)
		memcpy(f->id, id, ID_SIZE);
}

static bool is_left_out(const char *path, const struct strv *dirs)
{
	const char *slash = strrchr(path, '/'),
		   *name = slash ? slash + 1 : path;

	if (str_starts(name, "Kconfig") || str_starts(name, "Makefile") ||
	    str_starts(name, "Kbuild"))
		return false;
	for (size_t i = 0; i < dirs->n; i++)
		if (str_starts(path, dirs->v[i]) &&
		    path[strlen(dirs->v[i])] == '/')
			return true;
	return false;
}

void export_list_leave_out(struct export_list *l, const struct strv *dirs)
{
	for (size_t i = 0; i < l->n; i++)
		if (is_left_out(l->v[i].path, dirs))
			l->v[i].mode = EXPORT_NONE;
}

void export_list_release(struct export_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].path);
	free(l->v);
	*l = (struct export_list){ .v = NULL };
}

/* The directory that was used last stays open: a list in order asks for the
 * same one many times. No symlink is ever followed, so that nothing is written
 * outside the root whatever lies in it. */
struct cursor {
	int root, fd; /* fd may be root itself */
	char *dir;    /* its path with a slash at the end; NULL: none */
};

static void cursor_leave(struct cursor *c)
{
	if (c->fd >= 0 && c->fd != c->root)
		close(c->fd);
	c->fd = -1;
	free(take_ptr(c->dir));
}

static int open_dir(int at, const char *name, bool create)
{
	const int how = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(at, name, how);

	if (fd >= 0 || !create)
		return fd;
	/* A file where the directory belongs is from another tree. Another
	 * thread may be here as well. */
	if (errno != ENOENT && unlinkat(at, name, 0) && errno != ENOENT &&
	    errno != EISDIR)
		return -1;
	if (mkdirat(at, name, 0777) && errno != EEXIST)
		return -1;
	return openat(at, name, how);
}

/* Goes to the directory of path and returns path's last part; NULL: errno. */
static const char *cursor_go(struct cursor *c, const char *path, bool create)
{
	const char *slash = strrchr(path, '/'), *p = path;
	size_t len = slash ? (size_t)(slash - path) + 1 : 0;

	if (c->dir && strlen(c->dir) == len && !memcmp(c->dir, path, len))
		return path + len;
	cursor_leave(c);
	c->fd = c->root;
	while (p < path + len) {
		const char *end = strchr(p, '/');
		AUTOFREE char *name = xstrndup(p, (size_t)(end - p));
		int fd = open_dir(c->fd, name, create), saved = errno;

		cursor_leave(c);
		errno = saved;
		if (fd < 0)
			return NULL;
		c->fd = fd;
		p = end + 1;
	}
	c->dir = xstrndup(path, len);
	return path + len;
}

struct job {
	const char *root;
	struct export_list *list;
	const struct export_source *source;
	atomic_size_t next;
	atomic_long written;
	atomic_bool stop;
	pthread_mutex_t lock; /* of err */
	struct err err;	      /* the first one */
};

struct worker {
	struct job *job;
	struct cursor at;
	void *reader;
	char *buf;		   /* what is on disk, for comparing */
	struct progress *progress; /* the first worker's only */
	struct err err;
};

#define BUF_SIZE (128 * 1024)

static int fail(struct worker *w, const char *verb, const struct export_file *f)
{
	return err_set(&w->err, "%s %s/%s: %m", verb, w->job->root, f->path);
}

/* Takes away whatever has the name, a directory with all in it too. */
static int clear_name(struct worker *w, const char *name,
		      const struct export_file *f)
{
	AUTOFREE char *full = NULL;

	if (!unlinkat(w->at.fd, name, 0) || errno == ENOENT)
		return 0;
	if (errno != EISDIR)
		return fail(w, "remove", f);
	full = xfmt("%s/%s", w->job->root, f->path);
	return dir_remove(full, &w->err);
}

static bool same_bytes(struct worker *w, int fd, const char *data, size_t n)
{
	while (n) {
		size_t want = n < BUF_SIZE ? n : BUF_SIZE;
		ssize_t k = read(fd, w->buf, want);

		if (k <= 0 || memcmp(w->buf, data, (size_t)k))
			return false;
		data += k;
		n -= (size_t)k;
	}
	return true;
}

static int write_bytes(struct worker *w, int fd, const struct export_file *f,
		       const char *data, size_t n)
{
	if (fd_write(fd, data, n))
		return fail(w, "write", f);
	w->job->written++;
	return 0;
}

/* Owner's right to execute is all that git knows of permissions. */
static int set_mode(struct worker *w, int fd, const struct export_file *f,
		    mode_t now)
{
	mode_t mode = now & 0666;

	if (f->mode == EXPORT_PROGRAM)
		mode |= (mode & 0444) >> 2;
	if (!(mode & S_IXUSR) == !(now & S_IXUSR))
		return 0;
	if (fchmod(fd, mode))
		return fail(w, "change mode of", f);
	w->job->written++;
	return 0;
}

/* What is there already is kept, or overwritten: unlinking and creating again
 * is several times slower on ext4, which is slow to give a fresh inode away
 * twice, and so is truncating to nothing first, which makes it flush the file
 * on closing. Half a file is no harm while the tree is marked dirty. 1: done,
 * 0: no file to be overwritten, -1: error. */
static int update_file(struct worker *w, const char *name,
		       const struct export_file *f, const void *data, size_t n)
{
	AUTOFD int fd = openat(w->at.fd, name,
			       O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    st.st_nlink != 1)
		return 0;
	if ((size_t)st.st_size != n || !same_bytes(w, fd, data, n)) {
		if (lseek(fd, 0, SEEK_SET) || write_bytes(w, fd, f, data, n))
			return -1;
		if ((size_t)st.st_size > n && ftruncate(fd, (off_t)n))
			return fail(w, "write", f);
	}
	return set_mode(w, fd, f, st.st_mode) ? -1 : 1;
}

static int write_file(struct worker *w, const char *name,
		      const struct export_file *f, const void *data, size_t n)
{
	mode_t mode = f->mode == EXPORT_PROGRAM ? 0777 : 0666;
	const int how = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(w->at.fd, name, how, mode), code;

	if (fd < 0 && errno == EEXIST) {
		code = update_file(w, name, f, data, n);
		if (code)
			return code < 0 ? -1 : 0;
		if (clear_name(w, name, f))
			return -1;
		fd = openat(w->at.fd, name, how, mode);
	}
	if (fd < 0)
		return fail(w, "write", f);
	code = write_bytes(w, fd, f, data, n);
	if (close(fd) && !code)
		return fail(w, "write", f);
	return code;
}

static int write_link(struct worker *w, const char *name,
		      const struct export_file *f, const char *data, size_t n)
{
	AUTOFREE char *target = xstrndup(data, n);
	ssize_t k = readlinkat(w->at.fd, name, w->buf, BUF_SIZE);

	if (k >= 0 && (size_t)k == n && !memcmp(w->buf, data, n))
		return 0;
	if (clear_name(w, name, f))
		return -1;
	if (symlinkat(target, w->at.fd, name))
		return fail(w, "write", f);
	w->job->written++;
	return 0;
}

static int put(struct worker *w, const struct export_file *f)
{
	const char *name = cursor_go(&w->at, f->path, true);
	const void *data;
	size_t n;

	if (!name)
		return fail(w, "write", f);
	if (f->mode == EXPORT_SUBMODULE) {
		int fd = open_dir(w->at.fd, name, true);

		return fd < 0 ? fail(w, "write", f) : close(fd);
	}
	if (w->job->source->read(&data, &n, w->reader, f->id, &w->err))
		return -1;
	return f->mode == EXPORT_LINK ? write_link(w, name, f, data, n)
				      : write_file(w, name, f, data, n);
}

static int put_batch(struct worker *w, size_t first)
{
	const struct export_list *l = w->job->list;

	for (size_t i = first; i < first + BATCH && i < l->n; i++) {
		if (l->v[i].mode == EXPORT_NONE)
			continue;
		if (w->job->stop)
			return 0;
		if (proc_interrupted())
			return err_set(&w->err, "interrupted");
		if (put(w, &l->v[i]))
			return -1;
	}
	progress_count(w->progress, (long)first, (long)l->n);
	return 0;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct job *job = w->job;
	int bad = job->source->open(&w->reader, job->source->ctx, &w->err);

	w->buf = xmalloc(BUF_SIZE);
	while (!bad && !job->stop) {
		size_t first = atomic_fetch_add(&job->next, BATCH);

		if (first >= job->list->n)
			break;
		bad = put_batch(w, first);
	}
	if (bad) {
		pthread_mutex_lock(&job->lock);
		if (!job->stop)
			job->err = w->err;
		job->stop = true;
		pthread_mutex_unlock(&job->lock);
	}
	if (w->reader)
		job->source->close(w->reader);
	cursor_leave(&w->at);
	free(w->buf);
	return NULL;
}

static int put_all(struct job *job, int root, struct progress *p)
{
	struct worker w[MAX_THREADS];
	pthread_t threads[MAX_THREADS];
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int n = cpus > MAX_THREADS ? MAX_THREADS : cpus < 1 ? 1 : (int)cpus;
	int started = 1;

	if (job->list->n < 16 * BATCH)
		n = 1;
	for (int i = 0; i < n; i++)
		w[i] = (struct worker){ .job = job,
					.at = { .root = root, .fd = -1 },
					.progress = i ? NULL : p };
	for (; started < n; started++)
		if (pthread_create(&threads[started], NULL, work, &w[started]))
			break;
	work(&w[0]);
	for (int i = 1; i < started; i++)
		pthread_join(threads[i], NULL);
	return job->stop ? -1 : 0;
}

/* Directories that became empty go too, as with git checkout. */
static void remove_parents(int root, const char *path)
{
	AUTOFREE char *dir = xstrdup(path);
	char *slash;

	while ((slash = strrchr(dir, '/'))) {
		*slash = '\0';
		if (unlinkat(root, dir, AT_REMOVEDIR))
			return;
	}
}

/* From the end, so that what is in a directory goes before it does. */
static int remove_all(struct export_stats *out, struct job *job, int root,
		      struct err *e)
{
	CLEANUP(cursor_leave) struct cursor at = { .root = root, .fd = -1 };

	for (size_t i = job->list->n; i-- > 0;) {
		const struct export_file *f = &job->list->v[i];
		const char *name;

		if (f->mode != EXPORT_NONE)
			continue;
		if (proc_interrupted())
			return err_set(e, "interrupted");
		name = cursor_go(&at, f->path, false);
		if (!name) /* its directory is no directory, or gone */
			continue;
		if (!unlinkat(at.fd, name, 0))
			out->removed++;
		else if (errno == EISDIR) /* of a submodule, or not ours */
			unlinkat(at.fd, name, AT_REMOVEDIR);
		else if (errno != ENOENT)
			return err_set(e, "remove %s/%s: %m", job->root,
				       f->path);
		cursor_leave(&at);
		remove_parents(root, f->path);
	}
	return 0;
}

static int by_path(const void *a_, const void *b_)
{
	const struct export_file *a = a_, *b = b_;
	int diff = strcmp(a->path, b->path);

	return diff ? diff : a->order < b->order ? -1 : 1;
}

static void drop_doubles(struct export_list *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		if (n && !strcmp(l->v[n - 1].path, l->v[i].path))
			free(l->v[--n].path);
		l->v[n++] = l->v[i];
	}
	l->n = n;
}

int export_files(struct export_stats *out, const char *root,
		 struct export_list *l, const struct export_source *source,
		 struct progress *p, struct err *e)
{
	struct job job = {
		.root = root,
		.list = l,
		.source = source,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	AUTOFD int fd = -1;

	*out = (struct export_stats){ 0 };
	if (dir_own(root, e))
		return -1;
	fd = open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, "open %s: %m", root);
	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), by_path);
	drop_doubles(l);
	out->looked_at = (long)l->n;
	if (remove_all(out, &job, fd, e))
		return -1;
	if (put_all(&job, fd, p)) {
		*e = job.err;
		return -1;
	}
	out->written = job.written;
	return 0;
}
