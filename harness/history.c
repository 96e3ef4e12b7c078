#include "history.h"

#include <git2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export.h"
#include "pathspec.h"
#include "range.h"
#include "treediff.h"
#include "treestate.h"

struct tag {
	git_oid commit;
	char *name;
};

struct history {
	git_repository *repo;
	git_odb *odb;
	char *dir;	     /* without a slash at the end */
	struct strv shallow; /* commits whose parents are not here */
	struct tag *tags;    /* by commit, the best first; filled when needed */
	size_t ntags;
	bool tags_read;
};

/* libgit2's handles, for CLEANUP. */
#define DEFINE_FREE(type)                                                      \
	static void free_##type(git_##type **p)                                \
	{                                                                      \
		git_##type##_free(*p);                                         \
	}
DEFINE_FREE(object)
DEFINE_FREE(commit)
DEFINE_FREE(tree)
DEFINE_FREE(reference)
DEFINE_FREE(odb_object)
#define AUTO(type) CLEANUP(free_##type) git_##type

static const char *git_says(void)
{
	const git_error *last = git_error_last();

	return last && last->message ? last->message : "unknown error";
}

static int fail(struct err *e, const char *what)
{
	return err_set(e, "%s: %s", what, git_says());
}

/* Objects are checked by zlib's sum, and hashing them again would double the
 * time of an export; git does not either. A kernel's trees are larger than what
 * libgit2 keeps by default. */
static void tune(void)
{
	git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 0);
	git_libgit2_opts(GIT_OPT_SET_CACHE_OBJECT_LIMIT, GIT_OBJECT_TREE,
			 (size_t)65536);
}

static int open_fail(struct err *e, int code, const char *dir)
{
	if (code == GIT_EOWNER)
		return err_set(e, "%s: the repository belongs to somebody else; "
				  "to use it: git config --global --add "
				  "safe.directory %s",
			       dir, dir);
	if (code == GIT_ENOTFOUND)
		return err_set(e, "%s: not a git repository", dir);
	if (strstr(git_says(), "extensions.objectformat"))
		return err_set(e, "%s: a SHA-256 repository; only SHA-1 ones are "
				  "read, as the kernel's are", dir);
	return fail(e, dir);
}

static int read_shallow(struct history *h, struct err *e)
{
	AUTOFREE char *path =
		xfmt("%s/shallow", git_repository_commondir(h->repo));
	CLEANUP(str_release) struct str text = STR_INIT;

	if (!file_exists(path))
		return 0;
	if (file_read(&text, path, e))
		return -1;
	strv_split(&h->shallow, text.buf, '\n');
	return 0;
}

static char *without_slash(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return xstrndup(path, n);
}

int history_open(struct history **out, const char *dir, struct err *e)
{
	struct history *h;
	int code;

	if (access(dir, R_OK | X_OK))
		return err_set(e, "open %s: %m", dir);
	git_libgit2_init();
	tune();
	h = xcalloc(1, sizeof(*h));
	/* git --git-dir=X iobisect says it by the environment */
	code = git_repository_open_ext(&h->repo,
				       strcmp(dir, ".") ? dir : NULL,
				       strcmp(dir, ".")
					       ? 0
					       : GIT_REPOSITORY_OPEN_FROM_ENV,
				       NULL);
	if (code)
		open_fail(e, code, dir);
	else if ((code = git_repository_odb(&h->odb, h->repo)))
		fail(e, dir);
	else
		code = read_shallow(h, e);
	if (!code)
		h->dir = without_slash(git_repository_commondir(h->repo));
	if (code) {
		history_close(h);
		return -1;
	}
	*out = h;
	return 0;
}

void history_close(struct history *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->ntags; i++)
		free(h->tags[i].name);
	free(h->tags);
	strv_release(&h->shallow);
	free(h->dir);
	git_odb_free(h->odb);
	git_repository_free(h->repo);
	free(h);
	git_libgit2_shutdown();
}

int history_prefix(char **out, const char *dir, struct err *e)
{
	AUTOFREE char *here = realpath(dir, NULL);
	struct history *h;
	const char *top;

	if (!here)
		return err_set(e, "open %s: %m", dir);
	if (history_open(&h, here, e))
		return -1;
	top = git_repository_workdir(h->repo); /* with a slash at the end */
	*out = top && str_starts(here, top) ? xstrdup(here + strlen(top))
					    : xstrdup("");
	history_close(h);
	return 0;
}

const char *history_dir(const struct history *h)
{
	return h->dir;
}

static int find(git_oid *out, struct history *h, const char *rev, struct err *e)
{
	AUTO(object) *object = NULL, *commit = NULL;
	int code = *rev ? git_revparse_single(&object, h->repo, rev)
			: GIT_ENOTFOUND;

	if (code == GIT_EAMBIGUOUS)
		return err_set(e, "ambiguous revision %s: give more digits",
			       rev);
	if (code == GIT_ENOTFOUND || code == GIT_EINVALIDSPEC)
		return err_set(e, "unknown revision %s", rev);
	if (code)
		return err_set(e, "unknown revision %s: %s", rev, git_says());
	if (git_object_peel(&commit, object, GIT_OBJECT_COMMIT))
		return err_set(e, "%s is not a commit but a %s", rev,
			       git_object_type2string(git_object_type(object)));
	*out = *git_object_id(commit);
	return 0;
}

static int lookup(git_commit **out, struct history *h, const char *rev,
		  struct err *e)
{
	git_oid id;

	if (find(&id, h, rev, e))
		return -1;
	return git_commit_lookup(out, h->repo, &id) ? fail(e, rev) : 0;
}

int history_resolve(char hex[HEX_SIZE], struct history *h, const char *rev,
		    struct err *e)
{
	git_oid id;

	if (find(&id, h, rev, e))
		return -1;
	git_oid_tostr(hex, HEX_SIZE, &id);
	return 0;
}

/* Anybody may write a commit; what would steer a terminal is not shown. */
static char *plain(const char *text)
{
	char *s = xstrdup(text ? text : "");

	for (char *p = s; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	return s;
}

bool history_has(struct history *h, const char *hex)
{
	AUTO(commit) *c = NULL;
	struct err ignored;

	return lookup(&c, h, hex, &ignored) == 0;
}

int history_commit(struct commit *out, struct history *h, const char *hex,
		   struct err *e)
{
	AUTO(commit) *c = NULL;
	const git_signature *author;
	const char *subject;

	*out = (struct commit){ .time = 0 };
	if (lookup(&c, h, hex, e))
		return -1;
	author = git_commit_author(c);
	subject = git_commit_summary(c);
	git_oid_tostr(out->hex, HEX_SIZE, git_commit_id(c));
	git_oid_tostr(out->tree, HEX_SIZE, git_commit_tree_id(c));
	out->subject = plain(subject);
	out->author = plain(author ? author->name : NULL);
	out->email = plain(author ? author->email : NULL);
	out->time = git_commit_time(c);
	for (unsigned i = 0; i < git_commit_parentcount(c); i++) {
		char parent[HEX_SIZE];

		git_oid_tostr(parent, HEX_SIZE, git_commit_parent_id(c, i));
		strv_add(&out->parents, parent);
	}
	return 0;
}

static bool tree_has(git_tree *tree, const char *path)
{
	git_tree_entry *entry = NULL;
	bool has = !git_tree_entry_bypath(&entry, tree, path);

	git_tree_entry_free(entry);
	return has;
}

static bool looks_like_kernel_makefile(struct history *h, git_tree *tree)
{
	const git_tree_entry *entry = git_tree_entry_byname(tree, "Makefile");
	AUTO(odb_object) *o = NULL;
	CLEANUP(str_release) struct str text = STR_INIT;

	if (!entry || git_odb_read(&o, h->odb, git_tree_entry_id(entry)))
		return false;
	str_add(&text, git_odb_object_data(o), git_odb_object_size(o));
	return strstr(text.buf, "VERSION") && strstr(text.buf, "PATCHLEVEL") &&
	       (strstr(text.buf, "KBUILD") || strstr(text.buf, "kbuild"));
}

int history_check_kernel(struct history *h, const char *hex, struct err *e)
{
	AUTO(commit) *c = NULL;
	AUTO(tree) *tree = NULL;
	const git_tree_entry *makefile;

	if (lookup(&c, h, hex, e))
		return -1;
	if (git_commit_tree(&tree, c))
		return fail(e, hex);
	makefile = git_tree_entry_byname(tree, "Makefile");
	if (!makefile)
		return err_set(e, "%s: not a kernel tree (no Makefile)", hex);
	if (!git_odb_exists(h->odb, git_tree_entry_id(makefile)))
		return err_set(e, "%s: its files are not here (a partial clone?"
				  "): git fetch --refetch --no-filter",
			       hex);
	if (!looks_like_kernel_makefile(h, tree))
		return err_set(e,
			       "%s: not a kernel tree (no kernel version and "
			       "kbuild in its Makefile)",
			       hex);
	if (!tree_has(tree, "scripts/kconfig") &&
	    !tree_has(tree, "scripts/Makefile.build"))
		return err_set(e, "%s: not a kernel tree (no scripts/kconfig, "
				  "no scripts/Makefile.build)",
			       hex);
	return 0;
}

/* The shorter tag first: v6.1 rather than some-tree-v6.1. */
static int by_commit(const void *a_, const void *b_)
{
	const struct tag *a = a_, *b = b_;
	int diff = git_oid_cmp(&a->commit, &b->commit);
	size_t m = strlen(a->name), n = strlen(b->name);

	if (!diff && m != n)
		diff = m < n ? -1 : 1;
	return diff ? diff : strcmp(a->name, b->name);
}

static int add_tag(git_reference *ref, void *ctx)
{
	struct history *h = ctx;
	AUTO(reference) *owned = ref;
	AUTO(object) *commit = NULL;
	const char *name = git_reference_name(owned);

	/* A tag of a tree or of something lost is no reason to stop. */
	if (!str_starts(name, "refs/tags/") ||
	    git_reference_peel(&commit, owned, GIT_OBJECT_COMMIT))
		return 0;
	h->tags = xrealloc(h->tags, (h->ntags + 1) * sizeof(*h->tags));
	h->tags[h->ntags++] = (struct tag){
		.commit = *git_object_id(commit),
		.name = xstrdup(name + strlen("refs/tags/")),
	};
	return 0;
}

static int read_tags(struct history *h, struct err *e)
{
	if (h->tags_read)
		return 0;
	if (git_reference_foreach(h->repo, add_tag, h))
		return fail(e, "read the tags");
	if (h->ntags)
		qsort(h->tags, h->ntags, sizeof(*h->tags), by_commit);
	h->tags_read = true;
	return 0;
}

int history_name(struct str *out, struct history *h, const char *hex,
		 struct err *e)
{
	size_t lo = 0, hi;
	git_oid id;

	if (find(&id, h, hex, e) || read_tags(h, e))
		return -1;
	hi = h->ntags;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (git_oid_cmp(&h->tags[mid].commit, &id) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < h->ntags && git_oid_equal(&h->tags[lo].commit, &id)) {
		str_puts(out, h->tags[lo].name);
	} else {
		char full[HEX_SIZE];

		git_oid_tostr(full, HEX_SIZE, &id);
		str_add(out, full, 12);
	}
	return 0;
}

int history_merge_bases(struct strv *out, struct history *h, const char *a,
			const char *b, struct err *e)
{
	git_oidarray bases = { 0 };
	git_oid one, two;
	int code;

	if (find(&one, h, a, e) || find(&two, h, b, e))
		return -1;
	code = git_merge_bases(&bases, h->repo, &one, &two);
	/* libgit2 knows nothing of shallow clones. */
	if (code && h->shallow.n)
		return err_set(e, "the history of %s and %s is cut off before a "
				  "common commit (a shallow clone): git fetch "
				  "--unshallow",
			       a, b);
	if (code && code != GIT_ENOTFOUND)
		return fail(e, "merge bases");
	for (size_t i = 0; i < bases.count; i++) {
		char hex[HEX_SIZE];

		git_oid_tostr(hex, HEX_SIZE, &bases.ids[i]);
		strv_add(out, hex);
	}
	git_oidarray_dispose(&bases);
	return 0;
}

static int tree_read(struct str *out, void *ctx, const unsigned char *raw,
		     struct err *e)
{
	struct history *h = ctx;
	AUTO(odb_object) *o = NULL;
	git_oid id;

	git_oid_fromraw(&id, raw);
	if (git_odb_read(&o, h->odb, &id))
		return err_set(e, "read tree %s: %s (a partial clone?)",
			       git_oid_tostr_s(&id), git_says());
	str_add(out, git_odb_object_data(o), git_odb_object_size(o));
	return 0;
}

static int add_path(void *ctx, const char *path, const struct tree_entry *a,
		    const struct tree_entry *b)
{
	(void)a;
	(void)b;
	strv_add(ctx, path);
	return 0;
}

int history_paths(struct strv *out, struct history *h, const char *hex,
		  struct err *e)
{
	AUTO(commit) *c = NULL, *parent = NULL;
	const struct tree_source source = { .ctx = h, .read = tree_read };
	const struct tree_diff d = { .source = &source,
				     .leaf = add_path,
				     .ctx = out };

	if (lookup(&c, h, hex, e))
		return -1;
	if (git_commit_parentcount(c) && git_commit_parent(&parent, c, 0))
		return fail(e, hex);
	return tree_diff(&d, parent ? git_commit_tree_id(parent)->id : NULL,
			 git_commit_tree_id(c)->id, e);
}

struct limits {
	struct history *h;
	struct tree_source source;
	struct strv specs;
};

static void limits_release(struct limits *l)
{
	strv_release(&l->specs);
}

static int range_read(struct range_commit *out, void *ctx,
		      const unsigned char *raw, struct err *e)
{
	struct history *h = ((struct limits *)ctx)->h;
	AUTO(odb_object) *o = NULL;
	git_oid id;

	git_oid_fromraw(&id, raw);
	if (git_odb_read(&o, h->odb, &id))
		return err_set(e, "read commit %.12s: %s (a shallow clone? git "
				  "fetch --unshallow)",
			       git_oid_tostr_s(&id), git_says());
	if (git_odb_object_type(o) != GIT_OBJECT_COMMIT ||
	    range_commit_parse(out, git_odb_object_data(o),
			       git_odb_object_size(o)))
		return err_set(e, "read commit %.12s: not a commit",
			       git_oid_tostr_s(&id));
	if (h->shallow.n && strv_has(&h->shallow, git_oid_tostr_s(&id))) {
		out->cut = out->nparents > 0;
		free(take_ptr(out->parents));
		out->nparents = 0;
	}
	return 0;
}

int history_is_ancestor(struct history *h, const char *ancestor,
			const char *descendant, struct err *e)
{
	struct limits none = { .h = h };
	const struct range_source source = { .ctx = &none, .read = range_read };
	git_oid a, d;

	if (find(&a, h, ancestor, e) || find(&d, h, descendant, e))
		return -1;
	return range_reaches(&source, d.id, a.id, e);
}

static int range_differs(void *ctx, const unsigned char *a,
			 const unsigned char *b, struct err *e)
{
	const struct limits *l = ctx;

	return tree_differs(&l->source, a, b, &l->specs, e);
}

int history_range(struct dag *out, struct history *h,
		  const struct range_query *q, struct progress *p,
		  struct err *e)
{
	CLEANUP(limits_release)
	struct limits limits = {
		.h = h,
		.source = { .ctx = h, .read = tree_read },
	};
	struct range_source source = { .ctx = &limits, .read = range_read };
	CLEANUP(str_release) struct str names = STR_INIT;
	AUTOFREE void *buf = xcalloc(q->goods->n, ID_SIZE);
	unsigned char(*goods)[ID_SIZE] = buf;
	git_oid id;

	if (q->paths && q->paths->n) {
		if (pathspec_parse(&limits.specs, q->paths, e))
			return -1;
		for (size_t i = 0; i < q->paths->n; i++)
			str_fmt(&names, " %s", q->paths->v[i]);
		source.differs = range_differs;
		source.limits = names.buf;
	}
	for (size_t i = 0; i < q->goods->n; i++) {
		if (find(&id, h, q->goods->v[i], e))
			return -1;
		memcpy(goods[i], id.id, ID_SIZE);
	}
	if (find(&id, h, q->bad, e))
		return -1;
	return range_walk(out, &source, id.id, goods, (int)q->goods->n,
			  q->first_parent, p, e);
}

/* One for each thread that writes: libgit2's handles are not to be shared. */
struct reader {
	git_repository *repo;
	git_odb *odb;
	git_odb_object *last;
};

static void reader_close(void *reader)
{
	struct reader *r = reader;

	git_odb_object_free(r->last);
	git_odb_free(r->odb);
	git_repository_free(r->repo);
	free(r);
}

static int reader_open(void **out, void *ctx, struct err *e)
{
	struct history *h = ctx;
	struct reader *r = xcalloc(1, sizeof(*r));

	if (git_repository_open(&r->repo, git_repository_path(h->repo)) ||
	    git_repository_odb(&r->odb, r->repo)) {
		fail(e, git_repository_path(h->repo));
		reader_close(r);
		return -1;
	}
	*out = r;
	return 0;
}

static int reader_read(const void **data, size_t *n, void *reader,
		       const unsigned char *raw, struct err *e)
{
	struct reader *r = reader;
	git_oid id;

	git_odb_object_free(take_ptr(r->last));
	git_oid_fromraw(&id, raw);
	if (git_odb_read(&r->last, r->odb, &id))
		return err_set(e, "read file %s: %s (a partial clone?)",
			       git_oid_tostr_s(&id), git_says());
	*data = git_odb_object_data(r->last);
	*n = git_odb_object_size(r->last);
	return 0;
}

static bool tree_known(void *ctx, const char *hex)
{
	struct history *h = ctx;
	git_oid id;

	return !git_oid_fromstr(&id, hex) && git_odb_exists(h->odb, &id);
}

int history_export(struct export_stats *out, struct history *h, const char *hex,
		   const char *dir, const struct strv *leave_out,
		   struct progress *p, struct err *e)
{
	const struct tree_source trees = { .ctx = h, .read = tree_read };
	const struct export_source files = { .ctx = h,
					     .open = reader_open,
					     .close = reader_close,
					     .read = reader_read };
	CLEANUP(treestate_release) struct treestate state = { .stamp = "" };
	CLEANUP(export_list_release) struct export_list list = { .v = NULL };
	AUTO(commit) *c = NULL;
	AUTOFREE char *src = xfmt("%s/src", dir);
	char tree[HEX_SIZE];

	*out = (struct export_stats){ 0 };
	if (lookup(&c, h, hex, e))
		return -1;
	git_oid_tostr(tree, HEX_SIZE, git_commit_tree_id(c));
	if (dir_make(dir, e) || treestate_left_out(dir, leave_out, e) ||
	    treestate_read(&state, dir, e))
		return -1;
	if (state.trusted && !state.lost && !state.others.n &&
	    !strcmp(state.stamp, tree))
		return 0;
	treestate_forget(&state, tree_known, h);
	if (state.lost) {
		treestate_release(&state);
		state = (struct treestate){ .stamp = "" };
		if (treestate_begin(&state, dir, tree, e) || dir_remove(src, e))
			return -1;
	}
	if (treestate_list(&list, &state, &trees, tree, e))
		return -1;
	if (leave_out)
		export_list_leave_out(&list, leave_out);
	if (treestate_begin(&state, dir, tree, e) ||
	    export_files(out, src, &list, &files, p, e))
		return -1;
	return treestate_end(dir, tree, e);
}
