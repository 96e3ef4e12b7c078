/* Strings, lists of strings, and whole files. Running out of memory aborts. */
#ifndef STR_H
#define STR_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"

void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xmalloc_pages(size_t n); /* begins at a page */
void *xrealloc(void *p, size_t n);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xfmt(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Scope-bound cleanup: CLEANUP(str_release) struct str s = STR_INIT; */
#define CLEANUP(fn) __attribute__((cleanup(fn)))
void cleanup_free(void *pp); /* for a char * (or any malloc'd pointer) */
void cleanup_fd(int *fd);    /* closes fd >= 0 */
#define AUTOFREE CLEANUP(cleanup_free)
#define AUTOFD CLEANUP(cleanup_fd)

/* Hands the pointer on and leaves NULL behind: return take_ptr(p); */
#define take_ptr(p)                    \
	({                             \
		__typeof__(p) t_ = (p); \
		(p) = NULL;            \
		t_;                    \
	})

/* A growing buffer. buf is always NUL-terminated (borrowed while unchanged). */
struct str {
	char *buf;
	size_t len, cap;
};
#define STR_INIT { .buf = NULL }
const char *str_c(const struct str *s); /* "" when empty, never NULL */
void str_release(struct str *s);
void str_reset(struct str *s);
void str_add(struct str *s, const void *data, size_t n);
void str_puts(struct str *s, const char *text);
void str_putc(struct str *s, char c);
void str_fmt(struct str *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
char *str_take(struct str *s); /* the caller frees; s is empty after */

/* A list of strings, NULL-terminated, so that v can be an argv. */
struct strv {
	char **v;
	size_t n, cap;
};
#define STRV_INIT { .v = NULL }
void strv_release(struct strv *l);
void strv_add(struct strv *l, const char *s);
void strv_addf(struct strv *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Appends the pieces of text between sep; empty pieces are kept. */
void strv_split(struct strv *l, const char *text, char sep);
bool strv_has(const struct strv *l, const char *s);

bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);

/* Whole number in [lo, hi], or a size with a suffix k, M, G (powers of 1024).
 * -1 when the text is anything else, overflow included. */
int parse_int(long long *out, const char *text, long long lo, long long hi);
int parse_size(long long *out, const char *text);

/* Files. file_write goes by temporary, fsync and rename: a reader (and a power
 * cut) sees the old bytes or the new ones. */
int file_read(struct str *out, const char *path, struct err *e);
int file_write(const char *path, const void *data, size_t n, struct err *e);
int fd_write(int fd, const void *data, size_t n); /* all; -1 with errno */
bool file_exists(const char *path);
bool file_is_regular(const char *path);
int dir_make(const char *path, struct err *e); /* with its parents */
/* And nothing else: a symlink or a file of that name gives way. */
int dir_own(const char *path, struct err *e);
int dir_remove(const char *path, struct err *e); /* with all in it */

/* Seconds on a clock that only goes forward. */
double now_s(void);

#endif
