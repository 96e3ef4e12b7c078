#include "keyfile.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r"

static void add_words(struct strv *out, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, BLANKS);
		AUTOFREE char *word = xstrndup(text, n);

		if (n)
			strv_add(out, word);
		text += n + strspn(text + n, BLANKS);
	}
}

static void list_keys(struct str *out, const struct keyfile_key *keys, int n)
{
	for (int i = 0; i < n; i++)
		str_fmt(out, "%s%s", i ? ", " : "", keys[i].name);
}

static int take_line(char *line, const char *where,
		     const struct keyfile_key *keys, int n, struct err *e)
{
	size_t len = strcspn(line, BLANKS);
	CLEANUP(str_release) struct str names = STR_INIT;
	char *value = line + len + strspn(line + len, BLANKS);

	line[len] = '\0';
	for (size_t end = strlen(value); end && strchr(BLANKS, value[end - 1]);
	     end--)
		value[end - 1] = '\0';
	for (int i = 0; i < n; i++) {
		if (strcmp(keys[i].name, line))
			continue;
		if (!*value)
			return err_set(e, "%s: \"%s\" needs a value", where,
				       line);
		if (keys[i].words) {
			add_words(keys[i].words, value);
			return 0;
		}
		if (*keys[i].text)
			return err_set(e, "%s: a second \"%s\"", where, line);
		*keys[i].text = xstrdup(value);
		return 0;
	}
	list_keys(&names, keys, n);
	return err_set(e, "%s: unknown key \"%s\"; there are %s", where, line,
		       str_c(&names));
}

int keyfile_read(const char *path, const struct keyfile_key *keys, int n,
		 struct err *e)
{
	CLEANUP(str_release) struct str text = STR_INIT;
	CLEANUP(strv_release) struct strv lines = STRV_INIT;

	if (file_read(&text, path, e))
		return -1;
	strv_split(&lines, str_c(&text), '\n');
	for (size_t i = 0; i < lines.n; i++) {
		char *line = lines.v[i] + strspn(lines.v[i], BLANKS);
		AUTOFREE char *where = xfmt("%s:%zu", path, i + 1);

		if (*line && *line != '#' && take_line(line, where, keys, n, e))
			return -1;
	}
	for (int i = 0; i < n; i++) {
		bool there = keys[i].words ? keys[i].words->n > 0
					   : *keys[i].text != NULL;

		if (keys[i].required && !there)
			return err_set(e,
				       "%s:%zu: the file ends without \"%s\"",
				       path, lines.n, keys[i].name);
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int keyfile_list(struct strv *out, const char *dir, const char *suffix,
		 struct err *e)
{
	DIR *d = opendir(dir);
	struct dirent *entry;

	if (!d)
		return err_set(e, "open directory %s: %m", dir);
	while ((entry = readdir(d))) {
		size_t n = strlen(entry->d_name), m = strlen(suffix);

		if (n > m && str_ends(entry->d_name, suffix) &&
		    entry->d_name[0] != '.') {
			AUTOFREE char *name = xstrndup(entry->d_name, n - m);

			strv_add(out, name);
		}
	}
	closedir(d);
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_name);
	return 0;
}
