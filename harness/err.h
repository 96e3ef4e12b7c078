/* One error message, in the caller's frame. Fallible functions return 0 or -1
 * and, with -1, have filled in the struct err that they were given. A message
 * is one line, lower case, names the thing that failed and the way out, and is
 * handed up unchanged. */
#ifndef ERR_H
#define ERR_H

struct err {
	char msg[1024];
};

/* Formats the message (%m works) and returns -1, so that a caller can write
 * `return err_set(e, "open %s: %m", path);`. A newline becomes a blank,
 * and what is no text a question mark. */
int err_set(struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A broken invariant of our own: says where, and aborts. */
#define BUG(...) err_bug(__FILE__, __LINE__, __VA_ARGS__)
void err_bug(const char *file, int line, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

#endif
