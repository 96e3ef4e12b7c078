#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void *oom_check(void *p)
{
	if (!p) {
		fputs("iobisect: out of memory\n", stderr);
		abort();
	}
	return p;
}

void *xmalloc(size_t n)
{
	return oom_check(malloc(n ? n : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return oom_check(calloc(n ? n : 1, size ? size : 1));
}

void *xmalloc_pages(size_t n)
{
	void *p = NULL;

	if (posix_memalign(&p, 4096, n ? n : 1))
		p = NULL;
	return oom_check(p);
}

void *xrealloc(void *p, size_t n)
{
	return oom_check(realloc(p, n ? n : 1));
}

char *xstrdup(const char *s)
{
	return oom_check(strdup(s));
}

char *xstrndup(const char *s, size_t n)
{
	return oom_check(strndup(s, n));
}

static char *xvfmt(const char *fmt, va_list ap)
{
	char *s;

	if (vasprintf(&s, fmt, ap) < 0)
		s = NULL;
	return oom_check(s);
}

char *xfmt(const char *fmt, ...)
{
	char *s;
	va_list ap;

	va_start(ap, fmt);
	s = xvfmt(fmt, ap);
	va_end(ap);
	return s;
}

void cleanup_free(void *pp)
{
	free(*(void **)pp);
}

void cleanup_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

const char *str_c(const struct str *s)
{
	return s->buf ? s->buf : "";
}

void str_release(struct str *s)
{
	free(s->buf);
	*s = (struct str)STR_INIT;
}

void str_reset(struct str *s)
{
	s->len = 0;
	if (s->buf)
		s->buf[0] = '\0';
}

static void str_room(struct str *s, size_t n)
{
	if (s->len + n + 1 <= s->cap)
		return;
	s->cap = (s->len + n + 1) * 3 / 2 + 32;
	s->buf = xrealloc(s->buf, s->cap);
}

void str_add(struct str *s, const void *data, size_t n)
{
	str_room(s, n);
	if (n)
		memcpy(s->buf + s->len, data, n);
	s->len += n;
	s->buf[s->len] = '\0';
}

void str_puts(struct str *s, const char *text)
{
	str_add(s, text, strlen(text));
}

void str_putc(struct str *s, char c)
{
	str_add(s, &c, 1);
}

void str_fmt(struct str *s, const char *fmt, ...)
{
	va_list ap;
	AUTOFREE char *t = NULL;

	va_start(ap, fmt);
	t = xvfmt(fmt, ap);
	va_end(ap);
	str_puts(s, t);
}

char *str_take(struct str *s)
{
	char *p = s->buf ? s->buf : xstrdup("");

	*s = (struct str)STR_INIT;
	return p;
}

void strv_release(struct strv *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	*l = (struct strv)STRV_INIT;
}

static void strv_own(struct strv *l, char *s)
{
	if (l->n + 2 > l->cap) {
		l->cap = l->cap * 2 + 8;
		l->v = xrealloc(l->v, l->cap * sizeof(*l->v));
	}
	l->v[l->n++] = s;
	l->v[l->n] = NULL;
}

void strv_add(struct strv *l, const char *s)
{
	strv_own(l, xstrdup(s));
}

void strv_addf(struct strv *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strv_own(l, xvfmt(fmt, ap));
	va_end(ap);
}

void strv_split(struct strv *l, const char *text, char sep)
{
	for (;;) {
		const char *end = strchrnul(text, sep);

		strv_own(l, xstrndup(text, (size_t)(end - text)));
		if (!*end)
			return;
		text = end + 1;
	}
}

bool strv_has(const struct strv *l, const char *s)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i], s))
			return true;
	return false;
}

bool str_starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && !strcmp(s + n - m, suffix);
}

int parse_int(long long *out, const char *text, long long lo, long long hi)
{
	char *end;
	long long v;

	if (*text != '-' && (*text < '0' || *text > '9'))
		return -1;
	errno = 0;
	v = strtoll(text, &end, 10);
	if (errno || end == text || *end || v < lo || v > hi)
		return -1;
	*out = v;
	return 0;
}

int parse_size(long long *out, const char *text)
{
	static const struct {
		const char *suffix;
		int shift;
	} units[] = { { "", 0 },   { "k", 10 }, { "K", 10 }, { "m", 20 },
		      { "M", 20 }, { "g", 30 }, { "G", 30 }, { "T", 40 } };
	char *end;
	long long v;

	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	v = strtoll(text, &end, 10);
	if (errno)
		return -1;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(end, units[i].suffix))
			continue;
		if (v > (LLONG_MAX >> units[i].shift))
			return -1;
		*out = v << units[i].shift;
		return 0;
	}
	return -1;
}

/* More than any file of ours, and less than memory: /dev/zero has no end. */
#define MOST_READ ((size_t)1 << 30)

int file_read(struct str *out, const char *path, struct err *e)
{
	AUTOFD int fd = open(path, O_RDONLY | O_CLOEXEC);
	char buf[65536];
	ssize_t n;

	if (fd < 0)
		return err_set(e, "open %s: %m", path);
	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		if (out->len > MOST_READ)
			return err_set(e, "%s: larger than a gigabyte", path);
		str_add(out, buf, (size_t)n);
	}
	if (n < 0)
		return err_set(e, "read %s: %m", path);
	if (!out->buf)
		str_puts(out, "");
	return 0;
}

int fd_write(int fd, const void *data, size_t n)
{
	const char *p = data;

	while (n) {
		ssize_t k = write(fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -1;
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

/* A new name is not on disk before its directory is. */
static int sync_parent(const char *path)
{
	const char *slash = strrchr(path, '/');
	AUTOFREE char *dir = slash ? xstrndup(path, (size_t)(slash - path) + 1)
				   : xstrdup(".");
	AUTOFD int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -1 : fsync(fd);
}

int file_write(const char *path, const void *data, size_t n, struct err *e)
{
	AUTOFREE char *tmp = xfmt("%s.tmp.%d", path, (int)getpid());
	int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int bad;

	if (fd < 0)
		return err_set(e, "create %s: %m", path);
	bad = fd_write(fd, data, n) || fsync(fd);
	if (close(fd))
		bad = 1;
	if (bad || rename(tmp, path) || sync_parent(path)) {
		err_set(e, "write %s: %m", path);
		unlink(tmp);
		return -1;
	}
	return 0;
}

bool file_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

bool file_is_regular(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

int dir_make(const char *path, struct err *e)
{
	AUTOFREE char *p = xstrdup(path);

	for (char *s = p + 1; *s; s++) {
		if (*s != '/')
			continue;
		*s = '\0';
		if (mkdir(p, 0755) && errno != EEXIST)
			return err_set(e, "create directory %s: %m", p);
		*s = '/';
	}
	if (mkdir(p, 0755) && errno != EEXIST)
		return err_set(e, "create directory %s: %m", path);
	return 0;
}

int dir_own(const char *path, struct err *e)
{
	struct stat st;

	if (lstat(path, &st) == 0 && !S_ISDIR(st.st_mode) && unlink(path))
		return err_set(e, "remove %s: %m", path);
	return dir_make(path, e);
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int dir_remove(const char *path, struct err *e)
{
	if (!file_exists(path))
		return 0;
	if (nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS))
		return err_set(e, "remove %s: %m", path);
	return 0;
}

double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
