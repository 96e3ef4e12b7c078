#include "test.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "progress.h"
#include "str.h"

/* What a terminal of that many columns is sent while a stage runs. */
static bool drawn(struct str *out, int columns, bool verbose)
{
	struct winsize w = { .ws_row = 24, .ws_col = (unsigned short)columns };
	int master, slave;
	char buf[4096];
	struct progress *p;
	ssize_t n;
	FILE *f;

	if (openpty(&master, &slave, NULL, NULL, &w))
		return false;
	fcntl(master, F_SETFL, O_NONBLOCK);
	setenv("TERM", "xterm", 1);
	f = fdopen(slave, "w");
	p = progress_new(f, verbose);
	progress_stage(p, "v6.1: b\xc3\xb6\xc3\xb6t 1 of very many of them");
	progress_line(p, "a \033[2J line of the guest's own console\a");
	usleep(120000);
	progress_tick(p);
	while ((n = read(master, buf, sizeof(buf))) > 0)
		str_add(out, buf, (size_t)n);
	progress_free(p);
	fclose(f);
	close(master);
	return true;
}

/* The longest line, escapes left out. */
static int longest(const char *s)
{
	int n = 0, most = 0;

	for (; *s; s++) {
		if (*s == '\r' || *s == '\n') {
			n = 0;
		} else if (*s == '\033') {
			s += strcspn(s, "mKJ");
		} else if (((unsigned char)*s & 0xc0) != 0x80) {
			n++;
		}
		if (n > most)
			most = n;
	}
	return most;
}

TEST(progress__a_line_fits_any_terminal)
{
	for (int columns = 1; columns <= 100; columns += columns < 24 ? 6 : 25) {
		CLEANUP(str_release) struct str s = STR_INIT;

		if (!drawn(&s, columns, false))
			return;
		if (longest(str_c(&s)) >= columns)
			TEST_FAIL("%d columns: %d", columns,
				  longest(str_c(&s)));
		/* no half of a character: each first byte has its second */
		for (char *c = s.buf; c && (c = strchr(c, '\xc3')); c++)
			EXPECT(c[1] == '\xb6');
	}
}

TEST(progress__a_terminal_without_a_size_has_80_columns)
{
	CLEANUP(str_release) struct str s = STR_INIT;

	if (!drawn(&s, 0, false))
		return;
	EXPECT(longest(str_c(&s)) > 50 && longest(str_c(&s)) < 80);
}

TEST(progress__a_guest_does_not_command_the_terminal)
{
	for (int verbose = 0; verbose < 2; verbose++) {
		CLEANUP(str_release) struct str s = STR_INIT;

		if (!drawn(&s, 80, verbose))
			return;
		EXPECT(!strstr(str_c(&s), "\033[2J"));
		EXPECT(!strchr(str_c(&s), '\a'));
		EXPECT(strstr(str_c(&s), "line of"));
	}
}
