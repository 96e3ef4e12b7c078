#include "trouble.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum kind {
	PANIC, /* nothing comes after it */
	SIGN,  /* the kernel is wrong here */
	HINT,  /* may be the reason, and may be normal */
};

/* By what old and new kernels say; the first that matches counts. */
static const struct {
	const char *text;
	enum kind kind;
} patterns[] = {
	{ "Kernel panic", PANIC },
	{ "kernel panic", PANIC },
	{ "Attempted to kill init", PANIC },
	{ "Attempted to kill the idle task", PANIC },
	{ "System halted", PANIC }, /* the decompressor: crc error, ... */
	{ "invalid compressed format", SIGN },
	{ "crc error", SIGN },
	{ "BUG: ", SIGN },
	{ "kernel BUG at ", SIGN },
	{ "Kernel BUG at ", SIGN },
	{ "Oops", SIGN },
	{ "Unable to handle kernel", SIGN },
	{ "unable to handle kernel", SIGN },
	{ "unable to handle page fault", SIGN },
	{ "general protection fault", SIGN },
	{ "divide error", SIGN },
	{ "invalid opcode", SIGN },
	{ "double fault", SIGN },
	{ "PANIC: ", SIGN },
	{ "VFS: Unable to mount", SIGN },
	{ "VFS: Cannot open root", SIGN },
	{ "No working init found", SIGN },
	{ "Failed to execute /init", SIGN },
	{ "Out of memory", SIGN },
	{ "invoked oom-killer", SIGN },
	{ "INFO: task ", SIGN }, /* blocked for more than ... */
	{ "soft lockup", SIGN },
	{ "INFO: rcu_", SIGN },
	{ "rcu: INFO:", SIGN },
	{ "EXT2-fs error", HINT },
	{ "EXT3-fs error", HINT },
	{ "EXT4-fs error", HINT },
	{ "EXT2-fs: ", HINT },
	{ "EXT3-fs: ", HINT },
	{ "ReiserFS: ", HINT },
	{ "REISERFS error", HINT },
	{ "XFS internal error", HINT },
	{ "XFS: ", HINT },
	{ "FAT: ", HINT },
	{ "I/O error", HINT },
	{ "DMA: Out of", HINT },
	{ "irq 14: nobody cared", HINT },
	{ "nobody cared", HINT },
	{ "WARNING: ", HINT },
};

/* The line after a sign that says where. */
static const char *const where[] = { "RIP: ", "RIP  ", "EIP: ", "IP: " };

void trouble_release(struct trouble *t)
{
	free(t->sign);
	free(t->panic);
	free(t->hint);
	free(t->context);
	*t = (struct trouble){ 0 };
}

/* "<4>", "[    1.234567] ", "[  T1] " */
static const char *skip_prefix(const char *s)
{
	s += strspn(s, " ");
	if (s[0] == '<' && isdigit((unsigned char)s[1]) && s[2] == '>')
		s += 3 + strspn(s + 3, " ");
	while (*s == '[') {
		const char *end = s + 1 + strspn(s + 1, " .0123456789TC");

		if (*end != ']' || end == s + 1)
			break;
		s = end + 1 + strspn(end + 1, " ");
	}
	return s;
}

/* "\033[1;31m" and the like: from the escape to its letter. */
static const char *skip_escape(const char *s)
{
	s++;
	if (*s == '[')
		s++;
	while (*s && !isalpha((unsigned char)*s))
		s++;
	return *s ? s + 1 : s;
}

char *trouble_text(const char *line)
{
	struct str out = STR_INIT;
	size_t n;

	for (const char *s = line; *s;) {
		if (*s == '\033') {
			s = skip_escape(s);
			continue;
		}
		if ((unsigned char)*s >= ' ' && *s != 0x7f)
			str_putc(&out, *s);
		else if (*s == '\t')
			str_putc(&out, ' ');
		s++;
	}
	str_puts(&out, "");
	n = (size_t)(skip_prefix(str_c(&out)) - str_c(&out));
	while (out.len > n && out.buf[out.len - 1] == ' ')
		out.buf[--out.len] = '\0';
	memmove(out.buf, out.buf + n, out.len - n + 1);
	return str_take(&out);
}

static void keep_first(char **to, const char *text)
{
	if (!*to)
		*to = xstrndup(text, 300);
}

bool trouble_scan(struct trouble *t, const char *text)
{
	for (size_t i = 0; t->sign && i < sizeof(where) / sizeof(*where); i++)
		if (str_starts(text, where[i]))
			keep_first(&t->context, text);
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		if (!strstr(text, patterns[i].text))
			continue;
		switch (patterns[i].kind) {
		case PANIC:
			keep_first(&t->panic, text);
			return true;
		case SIGN:
			keep_first(&t->sign, text);
			return false;
		case HINT:
			keep_first(&t->hint, text);
			return false;
		}
	}
	return false;
}

char *trouble_tell(const struct trouble *t)
{
	if (t->sign && t->context)
		return xfmt("%s (%.120s)", t->sign, t->context);
	if (t->sign && t->panic)
		return xfmt("%s, then %s", t->sign, t->panic);
	if (t->sign || t->panic)
		return xstrdup(t->sign ? t->sign : t->panic);
	return t->hint ? xstrdup(t->hint) : NULL;
}
