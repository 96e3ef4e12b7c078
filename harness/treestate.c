#include "treestate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hostboot.h"

void treestate_release(struct treestate *s)
{
	strv_release(&s->others);
}

static bool is_hex(const char *s)
{
	return strspn(s, "0123456789abcdef") == HEX_LEN && !s[HEX_LEN];
}

/* "TREE BOOT\n": without a flush, a tree is only sure to be there for as long
 * as the machine that wrote it stays up. */
static int read_stamp(struct treestate *out, const char *path, struct err *e)
{
	CLEANUP(str_release) struct str text = STR_INIT, boot = STR_INIT;

	if (!file_exists(path))
		return 0;
	if (file_read(&text, path, e))
		return -1;
	if (text.len > HEX_LEN && text.buf[HEX_LEN] == ' ')
		text.buf[HEX_LEN] = '\0';
	out->lost = text.len <= HEX_LEN || !is_hex(text.buf);
	if (out->lost)
		return 0;
	memcpy(out->stamp, text.buf, HEX_SIZE);
	hostboot_id(&boot);
	out->trusted = !strcmp(text.buf + HEX_SIZE, boot.buf);
	return 0;
}

int treestate_read(struct treestate *out, const char *dir, struct err *e)
{
	AUTOFREE char *stamp = xfmt("%s/stamp", dir);
	AUTOFREE char *dirty = xfmt("%s/dirty", dir);
	AUTOFREE char *src = xfmt("%s/src", dir);
	CLEANUP(str_release) struct str text = STR_INIT;
	CLEANUP(strv_release) struct strv lines = STRV_INIT;
	struct stat st;

	*out = (struct treestate){ .trusted = false };
	if (read_stamp(out, stamp, e))
		return -1;
	/* A link to somewhere else is no tree of ours. */
	if (lstat(src, &st) || !S_ISDIR(st.st_mode))
		out->trusted = false;
	if (!file_exists(dirty)) {
		out->lost = out->lost || (!out->stamp[0] && file_exists(src));
		return 0;
	}
	if (file_read(&text, dirty, e))
		return -1;
	strv_split(&lines, text.buf, '\n');
	for (size_t i = 0; i < lines.n; i++) {
		if (is_hex(lines.v[i]))
			strv_add(&out->others, lines.v[i]);
		else if (*lines.v[i])
			out->lost = true;
	}
	return 0;
}

void treestate_forget(struct treestate *s,
		      bool (*known)(void *ctx, const char *hex), void *ctx)
{
	CLEANUP(strv_release) struct strv others = s->others;

	s->others = (struct strv)STRV_INIT;
	for (size_t i = 0; i < others.n; i++) {
		if (known(ctx, others.v[i]))
			strv_add(&s->others, others.v[i]);
		else
			s->lost = true;
	}
	if (*s->stamp && !known(ctx, s->stamp))
		s->lost = true;
}

static void from_hex(unsigned char *id, const char *hex)
{
	for (int i = 0; i < ID_SIZE; i++) {
		char pair[3] = { hex[2 * i], hex[2 * i + 1] };

		id[i] = (unsigned char)strtoul(pair, NULL, 16);
	}
}

/* What is wanted on one side of a comparison. */
struct listing {
	struct export_list *list;
	bool old;
};

static int list_leaf(void *ctx, const char *path, const struct tree_entry *a,
		     const struct tree_entry *b)
{
	const struct listing *l = ctx;
	const struct tree_entry *want = l->old ? a : b;

	export_list_add(l->list, path, want ? want->mode : EXPORT_NONE,
			want ? want->id : NULL);
	return 0;
}

static int list_diff(struct export_list *out, bool old,
		     const struct tree_source *source, const unsigned char *a,
		     const char *b_hex, struct err *e)
{
	struct listing l = { .list = out, .old = old };
	const struct tree_diff d = { .source = source,
				     .leaf = list_leaf,
				     .ctx = &l };
	unsigned char b[ID_SIZE];

	from_hex(b, b_hex);
	return tree_diff(&d, a, b, e);
}

/* That is where it differs from the stamped tree, and where the stamped tree
 * differs from one that was under way: there the old content is wanted again,
 * unless the first rule says otherwise, and so it comes last. Without a stamp
 * to trust, the stamped tree counts as one that was under way, and the empty
 * tree takes its place. */
int treestate_list(struct export_list *out, const struct treestate *s,
		   const struct tree_source *source, const char *tree,
		   struct err *e)
{
	unsigned char stamp[ID_SIZE], *base = NULL;

	if (s->trusted) {
		from_hex(stamp, s->stamp);
		base = stamp;
	}
	for (size_t i = 0; i < s->others.n; i++)
		if (list_diff(out, true, source, base, s->others.v[i], e))
			return -1;
	if (!s->trusted && *s->stamp &&
	    list_diff(out, true, source, NULL, s->stamp, e))
		return -1;
	return list_diff(out, false, source, base, tree, e);
}

int treestate_distrust(const char *dir, struct err *e)
{
	CLEANUP(treestate_release) struct treestate now = { .stamp = "" };
	AUTOFREE char *stamp = xfmt("%s/stamp", dir);
	AUTOFREE char *text = NULL;

	if (treestate_read(&now, dir, e))
		return -1;
	if (!now.stamp[0])
		return 0;
	text = xfmt("%s distrusted\n", now.stamp);
	return file_write(stamp, text, strlen(text), e);
}

int treestate_left_out(const char *dir, const struct strv *leave_out,
		       struct err *e)
{
	AUTOFREE char *path = xfmt("%s/left-out", dir);
	CLEANUP(str_release) struct str now = STR_INIT, then = STR_INIT;
	struct err none;

	for (size_t i = 0; leave_out && i < leave_out->n; i++)
		str_fmt(&now, "%s\n", leave_out->v[i]);
	if (file_exists(path) && file_read(&then, path, &none) == 0 &&
	    !strcmp(str_c(&now), str_c(&then)))
		return 0;
	return treestate_distrust(dir, e) ||
			       file_write(path, str_c(&now), now.len, e)
		       ? -1
		       : 0;
}

int treestate_begin(struct treestate *s, const char *dir, const char *tree,
		    struct err *e)
{
	AUTOFREE char *dirty = xfmt("%s/dirty", dir);
	CLEANUP(str_release) struct str text = STR_INIT;

	if (!strv_has(&s->others, tree))
		strv_add(&s->others, tree);
	for (size_t i = 0; i < s->others.n; i++)
		str_fmt(&text, "%s\n", s->others.v[i]);
	return file_write(dirty, text.buf, text.len, e);
}

int treestate_end(const char *dir, const char *tree, struct err *e)
{
	AUTOFREE char *stamp = xfmt("%s/stamp", dir);
	AUTOFREE char *dirty = xfmt("%s/dirty", dir);
	CLEANUP(str_release) struct str text = STR_INIT;

	str_fmt(&text, "%s ", tree);
	hostboot_id(&text);
	if (file_write(stamp, text.buf, text.len, e))
		return -1;
	if (unlink(dirty) && errno != ENOENT)
		return err_set(e, "remove %s: %m", dirty);
	return 0;
}
