#include "treediff.h"

#include <string.h>

#include "pathspec.h"

struct tree {
	struct str bytes;
	size_t at;
	bool has; /* entry is the next one */
	struct tree_entry entry;
};

struct walk {
	const struct tree_diff *diff;
	struct str path;
	struct err *e;
};

static void tree_release(struct tree *t)
{
	str_release(&t->bytes);
}

static void walk_release(struct walk *w)
{
	str_release(&w->path);
}

/* Old histories have group-writable files, which git reads as 0644. */
static unsigned plain_mode(unsigned mode)
{
	switch (mode & 0170000) {
	case 0040000:
	case 0120000:
	case 0160000:
		return mode & 0170000;
	default:
		return mode & 0100 ? 0100755 : 0100644;
	}
}

/* "MODE NAME\0" and the id. */
static int tree_next(struct tree *t, struct err *e)
{
	const char *p = t->bytes.buf + t->at;
	const char *end = t->bytes.buf + t->bytes.len, *nul;
	unsigned mode = 0;

	t->has = p < end;
	if (!t->has)
		return 0;
	while (p < end && *p >= '0' && *p <= '7')
		mode = mode * 8 + (unsigned)(*p++ - '0');
	nul = p < end ? memchr(p, '\0', (size_t)(end - p)) : NULL;
	if (!nul || *p != ' ' || nul == p + 1 || end - nul <= ID_SIZE)
		return err_set(e, "a tree object is damaged; see git fsck");
	t->entry = (struct tree_entry){
		.name = p + 1,
		.len = (size_t)(nul - p - 1),
		.mode = plain_mode(mode),
		.id = (const unsigned char *)nul + 1,
	};
	t->at = (size_t)(nul + 1 + ID_SIZE - t->bytes.buf);
	return 0;
}

static int tree_load(struct tree *t, struct walk *w, const unsigned char *id)
{
	const struct tree_source *s = w->diff->source;

	if (!id)
		return 0;
	return s->read(&t->bytes, s->ctx, id, w->e) || tree_next(t, w->e);
}

/* git sorts a directory as if a slash ended its name. */
static int compare(const struct tree_entry *a, const struct tree_entry *b)
{
	size_t n = a->len < b->len ? a->len : b->len;
	int diff = memcmp(a->name, b->name, n);
	unsigned char x, y;

	if (diff)
		return diff;
	x = n < a->len		       ? (unsigned char)a->name[n]
	    : a->mode == TREE_MODE_DIR ? '/'
				       : '\0';
	y = n < b->len		       ? (unsigned char)b->name[n]
	    : b->mode == TREE_MODE_DIR ? '/'
				       : '\0';
	return x - y;
}

static int diff_trees(struct walk *w, const unsigned char *a,
		      const unsigned char *b);

/* a and b: of one name, and both a directory or both not; one may be NULL. */
static int diff_entry(struct walk *w, const struct tree_entry *a,
		      const struct tree_entry *b)
{
	const struct tree_diff *d = w->diff;
	const struct tree_entry *any = a ? a : b;
	size_t len = w->path.len;
	int code = 1;

	if (a && b && a->mode == b->mode && !memcmp(a->id, b->id, ID_SIZE))
		return 0;
	str_add(&w->path, any->name, any->len);
	if (any->mode != TREE_MODE_DIR) {
		code = d->leaf(d->ctx, w->path.buf, a, b);
	} else {
		if (d->enter)
			code = d->enter(d->ctx, w->path.buf);
		str_putc(&w->path, '/');
		if (code == 1)
			code = diff_trees(w, a ? a->id : NULL,
					  b ? b->id : NULL);
	}
	w->path.len = len;
	w->path.buf[len] = '\0';
	return code;
}

static int diff_trees(struct walk *w, const unsigned char *a,
		      const unsigned char *b)
{
	CLEANUP(tree_release) struct tree ta = { .at = 0 }, tb = { .at = 0 };
	int code = 0;

	if (tree_load(&ta, w, a) || tree_load(&tb, w, b))
		return -1;
	while (!code && (ta.has || tb.has)) {
		int order = !ta.has   ? 1
			    : !tb.has ? -1
				      : compare(&ta.entry, &tb.entry);

		code = diff_entry(w, order <= 0 ? &ta.entry : NULL,
				  order >= 0 ? &tb.entry : NULL);
		if (!code && order <= 0)
			code = tree_next(&ta, w->e);
		if (!code && order >= 0)
			code = tree_next(&tb, w->e);
	}
	return code;
}

int tree_diff(const struct tree_diff *d, const unsigned char *a,
	      const unsigned char *b, struct err *e)
{
	CLEANUP(walk_release) struct walk w = { .diff = d, .e = e };

	if (a && b && !memcmp(a, b, ID_SIZE))
		return 0;
	return diff_trees(&w, a, b);
}

enum { PASS = 0, ENTER = 1, DIFFERS = 2 };

static int limits_enter(void *ctx, const char *path)
{
	switch (pathspec_match(ctx, path, true)) {
	case PATHSPEC_YES:
		return DIFFERS;
	case PATHSPEC_INSIDE:
		return ENTER;
	case PATHSPEC_NO:
		break;
	}
	return PASS;
}

static int limits_leaf(void *ctx, const char *path, const struct tree_entry *a,
		       const struct tree_entry *b)
{
	(void)a;
	(void)b;
	return pathspec_match(ctx, path, false) ? DIFFERS : PASS;
}

int tree_differs(const struct tree_source *source, const unsigned char *a,
		 const unsigned char *b, const struct strv *specs,
		 struct err *e)
{
	const struct tree_diff d = {
		.source = source,
		.enter = limits_enter,
		.leaf = limits_leaf,
		.ctx = (void *)specs,
	};
	int code = tree_diff(&d, a, b, e);

	return code == DIFFERS ? 1 : code;
}
