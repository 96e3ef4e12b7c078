#include "err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many bytes the character at p has, or 0 when it is no UTF-8, or is a
 * control character. */
static int printable(const unsigned char *p)
{
	int more = *p < 0x80 ? 0 : *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : 3;

	if (*p < ' ' || *p == 0x7f || (*p >= 0x80 && *p < 0xc2) || *p > 0xf4)
		return 0;
	if (*p == 0xc2 && p[1] < 0xa0)
		return 0; /* U+0080 to U+009F */
	for (int i = 1; i <= more; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return 1 + more;
}

/* What a message quotes comes from files and other programs, and must neither
 * break the line nor command the terminal. */
static void make_plain(char *msg)
{
	for (unsigned char *p = (unsigned char *)msg; *p;) {
		int n = printable(p);

		if (n) {
			p += n;
			continue;
		}
		*p = strchr("\n\r\t", *p) ? ' ' : '?';
		p++;
	}
}

int err_set(struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	make_plain(e->msg);
	return -1;
}

void err_bug(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "iobisect: bug at %s:%d: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}
