#include "pathspec.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

int pathspec_parse(struct strv *out, const struct strv *paths, struct err *e)
{
	for (size_t i = 0; i < paths->n; i++) {
		const char *p = paths->v[i];
		AUTOFREE char *spec = NULL;
		size_t len;

		if (str_starts(p, ":/"))
			p += 2;
		else if (*p == ':')
			return err_set(e,
				       "path limit %s: of git's pathspec magic "
				       "only :/ is understood",
				       p);
		while (str_starts(p, "./"))
			p += 2 + strspn(p + 2, "/");
		if (*p == '/' || str_starts(p, "../") || !strcmp(p, ".."))
			return err_set(e,
				       "path limit %s: outside the repository; "
				       "name it from the top of the tree",
				       p);
		len = strlen(p);
		while (len && p[len - 1] == '/')
			len--;
		spec = xstrndup(p, len);
		strv_add(out, strcmp(spec, ".") ? spec : "");
	}
	return 0;
}

/* Takes "." and ".." out of a path; -1 when it leads out of the tree. */
static int settle(struct strv *parts, const char *path)
{
	CLEANUP(strv_release) struct strv all = STRV_INIT;

	strv_split(&all, path, '/');
	for (size_t i = 0; i < all.n; i++) {
		const char *part = all.v[i];

		if (!*part || !strcmp(part, "."))
			continue;
		if (strcmp(part, "..") != 0) {
			strv_add(parts, part);
			continue;
		}
		if (!parts->n)
			return -1;
		free(parts->v[--parts->n]);
		parts->v[parts->n] = NULL;
	}
	return 0;
}

int pathspec_from(struct strv *out, const char *prefix,
		  const struct strv *paths, struct err *e)
{
	for (size_t i = 0; i < paths->n; i++) {
		CLEANUP(strv_release) struct strv parts = STRV_INIT;
		CLEANUP(str_release) struct str s = STR_INIT;
		const char *p = paths->v[i];
		AUTOFREE char *whole = NULL;

		if (*p == ':' || *p == '/') {
			strv_add(out, p);
			continue;
		}
		whole = xfmt("%s/%s", prefix, p);
		if (settle(&parts, whole))
			return err_set(e, "path limit %s: outside the repository",
				       p);
		for (size_t k = 0; k < parts.n; k++)
			str_fmt(&s, "%s%s", k ? "/" : "", parts.v[k]);
		strv_add(out, parts.n ? str_c(&s) : ".");
	}
	return 0;
}

static enum pathspec_match match_one(const char *spec, const char *path,
				     bool is_dir)
{
	size_t literal = strcspn(spec, "*?[\\"), len = strlen(path);

	if (!*spec)
		return PATHSPEC_YES;
	if (!spec[literal]) {
		if (!strncmp(path, spec, literal) &&
		    (!path[literal] || path[literal] == '/'))
			return PATHSPEC_YES;
		if (is_dir && len < literal && spec[len] == '/' &&
		    !memcmp(path, spec, len))
			return PATHSPEC_INSIDE;
		return PATHSPEC_NO;
	}
	/* As in git a star matches slashes as well. */
	if (!fnmatch(spec, path, 0))
		return PATHSPEC_YES;
	if (is_dir && !strncmp(path, spec, len < literal ? len : literal))
		return PATHSPEC_INSIDE;
	return PATHSPEC_NO;
}

enum pathspec_match pathspec_match(const struct strv *specs, const char *path,
				   bool is_dir)
{
	enum pathspec_match best = PATHSPEC_NO;

	for (size_t i = 0; i < specs->n; i++) {
		enum pathspec_match m = match_one(specs->v[i], path, is_dir);

		if (m == PATHSPEC_YES)
			return m;
		if (m == PATHSPEC_INSIDE)
			best = m;
	}
	return best;
}
