#include "kconfig.h"

#include <stdlib.h>
#include <string.h>

/* A fragment's text and what kconfig_merge gives have the same grammar, which
 * kconfigs/base.config explains. */
struct option {
	char *name;  /* CONFIG_X */
	char *value; /* "n" for "is not set" */
	bool optional;
};

struct options {
	struct option *v;
	size_t n, cap;
};

static void options_release(struct options *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].name);
		free(l->v[i].value);
	}
	free(l->v);
	*l = (struct options){ 0 };
}

static struct option *options_find(struct options *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].name, name))
			return &l->v[i];
	return NULL;
}

/* Takes name and value over. */
static void options_set(struct options *l, char *name, char *value,
			bool optional)
{
	struct option *o = options_find(l, name);

	if (!o) {
		if (l->n == l->cap) {
			l->cap = l->cap * 2 + 32;
			l->v = xrealloc(l->v, l->cap * sizeof(*l->v));
		}
		l->v[l->n++] = (struct option){ name, value, optional };
		return;
	}
	/* Saying the same thing again as a wish takes no demand back. */
	o->optional = optional && (o->optional || strcmp(o->value, value) != 0);
	free(name);
	free(o->value);
	o->value = value;
}

static size_t name_len(const char *s)
{
	if (!str_starts(s, "CONFIG_"))
		return 0;
	return strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			 "0123456789_");
}

static bool value_ok(const char *v)
{
	size_t n = strlen(v);

	if (!strcmp(v, "y") || !strcmp(v, "m") || !strcmp(v, "n"))
		return true;
	if (v[0] == '"')
		return n >= 2 && v[n - 1] == '"';
	if (str_starts(v, "0x"))
		return n > 2 &&
		       strspn(v + 2, "0123456789abcdefABCDEF") == n - 2;
	if (v[0] == '-')
		v++;
	return *v && strspn(v, "0123456789") == strlen(v);
}

static bool begins_optional(const char *comment)
{
	comment += strspn(comment, "# \t");
	return str_starts(comment, "optional") &&
	       (comment[8] == '\0' || strchr(" :,\t", comment[8]));
}

/* One line without its newline and trailing blanks. False: it is neither an
 * option nor a comment. */
static bool take_line(struct options *l, const char *line, bool *optional)
{
	size_t n;

	if (!*line) {
		*optional = false;
		return true;
	}
	if (line[0] == '#') {
		const char *name = str_starts(line, "# ") ? line + 2 : line;

		n = name_len(name);
		if (n && !strcmp(name + n, " is not set"))
			options_set(l, xstrndup(name, n), xstrdup("n"),
				    *optional);
		else if (begins_optional(line))
			*optional = true;
		return true;
	}
	n = name_len(line);
	if (n <= strlen("CONFIG_") || line[n] != '=' || !value_ok(line + n + 1))
		return false;
	options_set(l, xstrndup(line, n), xstrdup(line + n + 1), *optional);
	return true;
}

/* 0, or the number of the first bad line, which goes to bad. */
static size_t take_text(struct options *l, const char *text, struct str *bad)
{
	CLEANUP(strv_release) struct strv lines = STRV_INIT;
	bool optional = false;

	strv_split(&lines, text, '\n');
	for (size_t i = 0; i < lines.n; i++) {
		char *s = lines.v[i];
		size_t n = strlen(s);

		while (n && strchr(" \t\r", s[n - 1]))
			s[--n] = '\0';
		if (take_line(l, s, &optional))
			continue;
		str_puts(bad, s);
		return i + 1;
	}
	return 0;
}

static void add_options(struct str *out, const struct options *l, bool optional)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct option *o = &l->v[i];

		if (o->optional != optional)
			continue;
		if (!strcmp(o->value, "n"))
			str_fmt(out, "# %s is not set\n", o->name);
		else
			str_fmt(out, "%s=%s\n", o->name, o->value);
	}
}

int kconfig_merge(struct str *out, const struct strv *files, struct err *e)
{
	CLEANUP(options_release) struct options l = { 0 };

	for (size_t i = 0; i < files->n; i++) {
		CLEANUP(str_release) struct str text = STR_INIT;
		CLEANUP(str_release) struct str bad = STR_INIT;
		size_t line;

		if (file_read(&text, files->v[i], e))
			return -1;
		if (memchr(text.buf, '\0', text.len))
			return err_set(e, "%s: not a text file", files->v[i]);
		line = take_text(&l, str_c(&text), &bad);
		if (line)
			return err_set(
				e,
				"%s:%zu: \"%.80s\" is no option: want "
				"CONFIG_X=y (m, n, a number or \"text\") "
				"or \"# CONFIG_X is not set\"",
				files->v[i], line, str_c(&bad));
	}
	add_options(out, &l, false);
	for (size_t i = 0; i < l.n; i++) {
		if (!l.v[i].optional)
			continue;
		str_puts(out, "\n# optional\n");
		add_options(out, &l, true);
		break;
	}
	return 0;
}

/* The value that a .config gives to name, or NULL when it is not set. */
static char *config_value(const char *dotconfig, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = dotconfig; *p; p += *p == '\n') {
		const char *end = strchrnul(p, '\n');

		if (!strncmp(p, name, n) && p[n] == '=')
			return xstrndup(p + n + 1, (size_t)(end - p) - n - 1);
		p = end;
	}
	return NULL;
}

void kconfig_check(struct strv *missing, const char *wanted,
		   const char *dotconfig)
{
	CLEANUP(options_release) struct options l = { 0 };
	CLEANUP(str_release) struct str bad = STR_INIT;

	take_text(&l, wanted, &bad);
	for (size_t i = 0; i < l.n; i++) {
		const struct option *o = &l.v[i];
		AUTOFREE char *got = config_value(dotconfig, o->name);

		if (!o->optional && strcmp(got ? got : "n", o->value) != 0)
			strv_addf(missing, "%s=%s", o->name, o->value);
	}
}
