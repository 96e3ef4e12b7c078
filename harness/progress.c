#include "progress.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "str.h"

#define REDRAW_S 0.1
/* Where there is no terminal, a long stage says now and then that it lives. */
#define PLAIN_S 30.0

struct progress {
	FILE *f;
	bool tty, verbose;
	char *stage; /* NULL: none is running */
	char *line;
	long done, total;
	double start, drawn;
};

struct progress *progress_new(FILE *f, bool verbose)
{
	struct progress *p = xcalloc(1, sizeof(*p));
	const char *term = getenv("TERM");

	p->f = f;
	p->verbose = verbose;
	p->tty = isatty(fileno(f)) && term && strcmp(term, "dumb") != 0;
	return p;
}

static void wipe(struct progress *p)
{
	if (p->tty)
		fputs("\r\033[K", p->f);
}

static void end_stage(struct progress *p)
{
	wipe(p);
	free(p->stage);
	free(p->line);
	p->stage = p->line = NULL;
	p->done = p->total = 0;
}

void progress_free(struct progress *p)
{
	if (!p)
		return;
	if (p->stage)
		end_stage(p);
	fflush(p->f);
	free(p);
}

static int width(const struct progress *p)
{
	struct winsize w;

	/* 0: the terminal does not know */
	if (ioctl(fileno(p->f), TIOCGWINSZ, &w) == 0 && w.ws_col > 0)
		return w.ws_col;
	return 80;
}

static void span(struct str *out, double s)
{
	if (s < 60)
		str_fmt(out, "%.0f s", s);
	else
		str_fmt(out, "%d min %02d s", (int)s / 60, (int)s % 60);
}

/* At most n bytes, and no part of a character. */
static void fputs_cut(const char *s, int n, FILE *f)
{
	int len = (int)strnlen(s, n > 0 ? (size_t)n : 0);

	while (len > 0 && ((unsigned char)s[len] & 0xc0) == 0x80)
		len--;
	fprintf(f, "%.*s", len, s);
}

/* One line, cut to the terminal: stage, time, count, and dim the tool's line. */
static void draw(struct progress *p)
{
	CLEANUP(str_release) struct str s = STR_INIT;
	int room = width(p) - 1;

	str_fmt(&s, "  %s  ", p->stage);
	span(&s, now_s() - p->start);
	if (p->total > 0)
		str_fmt(&s, "  %ld/%ld", p->done, p->total);
	else if (p->done > 0)
		str_fmt(&s, "  %ld", p->done);
	wipe(p);
	fputs_cut(str_c(&s), room, p->f);
	room -= (int)s.len;
	if (p->line && room > 6) {
		fputs("  \033[2m", p->f);
		fputs_cut(p->line, room - 4, p->f);
		fputs("\033[0m", p->f);
	}
	fflush(p->f);
	p->drawn = now_s();
}

void progress_say(struct progress *p, const char *fmt, ...)
{
	va_list ap;

	if (!p)
		return;
	wipe(p);
	va_start(ap, fmt);
	vfprintf(p->f, fmt, ap);
	va_end(ap);
	fputc('\n', p->f);
	fflush(p->f);
	if (p->tty && p->stage)
		draw(p);
}

void progress_stage(struct progress *p, const char *fmt, ...)
{
	va_list ap;
	char buf[256];

	if (!p)
		return;
	if (p->stage)
		end_stage(p);
	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	p->stage = xstrdup(buf);
	p->start = p->drawn = now_s();
	if (p->tty)
		draw(p);
}

void progress_tick(struct progress *p)
{
	double since;

	if (!p || !p->stage)
		return;
	since = now_s() - p->drawn;
	if (p->tty && since >= REDRAW_S) {
		draw(p);
	} else if (!p->tty && since >= PLAIN_S) {
		CLEANUP(str_release) struct str s = STR_INIT;

		span(&s, now_s() - p->start);
		if (p->total > 0)
			str_fmt(&s, ", %ld of %ld", p->done, p->total);
		fprintf(p->f, "  %s: %s so far\n", p->stage, str_c(&s));
		fflush(p->f);
		p->drawn = now_s();
	}
}

void progress_count(struct progress *p, long done, long total)
{
	if (!p)
		return;
	p->done = done;
	p->total = total;
	progress_tick(p);
}

/* Control characters of a guest's console must not reach the terminal. */
void progress_line(struct progress *p, const char *line)
{
	AUTOFREE char *plain = NULL;

	if (!p)
		return;
	if (!p->verbose)
		line += strspn(line, " \t");
	plain = xstrdup(line);
	for (char *c = plain; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = ' ';
	if (p->verbose) {
		progress_say(p, "    %s", plain);
		return;
	}
	if (!p->stage || !*plain)
		return;
	free(p->line);
	p->line = take_ptr(plain);
	progress_tick(p);
}

void progress_done(struct progress *p, const char *fmt, ...)
{
	CLEANUP(str_release) struct str s = STR_INIT;
	char buf[512];
	va_list ap;

	if (!p || !p->stage)
		return;
	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	str_fmt(&s, "  %s  ", p->stage);
	span(&s, now_s() - p->start);
	if (*buf)
		str_fmt(&s, "  %s", buf);
	end_stage(p);
	progress_say(p, "%s", str_c(&s));
}
