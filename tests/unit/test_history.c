#include "test.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "gitrepo.h"
#include "history.h"
#include "treestate.h"

#define COMMITS 8

struct fixture {
	char *dir, *repo, *work, *src;
	char hex[COMMITS][HEX_SIZE];
	uint64_t seed;
};

/* A path is a file in one commit, a directory in the next, a link in a third.
 */
static void draw_file(struct str *s, uint64_t *seed, int i)
{
	static const char *const modes[] = { "100644", "100644", "100755",
					     "120000" };
	AUTOFREE char *text = xfmt("content %u %0*d", draw(seed, 5),
				   (int)draw(seed, 3000) + 1, 0);
	const char *deep = draw(seed, 3) ? "" : "/below";

	str_fmt(s, "M %s inline d%d/f %d%s\ndata %zu\n%s\n",
		modes[draw(seed, 4)], i % 7, i, deep, strlen(text), text);
}

static void draw_commit(struct str *s, struct fixture *f, int n)
{
	str_fmt(s,
		"commit refs/heads/c%d\ncommitter A <a@example.org> %d +0000\n"
		"data 1\nx\n",
		n, 1700000000 + n);
	if (n)
		str_fmt(s, "from refs/heads/c%d\n", n - 1);
	str_puts(s, "deleteall\nM 100644 inline Makefile\ndata 36\n"
		    "VERSION = 6\nPATCHLEVEL = 1\n# KBUILD\n"
		    "M 100644 inline Kconfig\ndata 1\nx\n"
		    "M 100644 inline scripts/Makefile.build\ndata 1\nx\n"
		    "M 100644 inline sound/Kconfig\ndata 1\nx\n"
		    "M 100644 inline sound/a.c\ndata 1\nx\n");
	for (int i = 0; i < 40; i++)
		if (draw(&f->seed, 3))
			draw_file(s, &f->seed, i);
}

static bool setup(struct fixture *f)
{
	CLEANUP(str_release) struct str s = STR_INIT, out = STR_INIT;

	git_needed();
	*f = (struct fixture){ .dir = temp_make(), .seed = 7 };
	f->repo = xfmt("%s/repo", f->dir);
	f->work = xfmt("%s/work", f->dir);
	f->src = xfmt("%s/src", f->work);
	git(NULL, f->dir, NULL, "init", "-q", "--bare", "repo", NULL);
	for (int i = 0; i < COMMITS; i++)
		draw_commit(&s, f, i);
	if (git(&out, f->repo, &s, "fast-import", "--quiet", NULL)) {
		TEST_FAIL("fast-import: %.300s", str_c(&out));
		return false;
	}
	for (int i = 0; i < COMMITS; i++) {
		AUTOFREE char *ref = xfmt("c%d", i);

		git(&out, f->repo, NULL, "rev-parse", ref, NULL);
		snprintf(f->hex[i], HEX_SIZE, "%s", str_c(&out));
	}
	return true;
}

static void teardown(struct fixture *f)
{
	temp_remove(f->dir);
	free(f->repo);
	free(f->work);
	free(f->src);
}

/* Nothing differs from the commit, nothing lacks, nothing is left over. */
static bool is_tree(struct fixture *f, int n)
{
	CLEANUP(str_release) struct str out = STR_INIT;
	AUTOFREE char *tree = xfmt("--work-tree=%s", f->src);

	git(NULL, f->repo, NULL, "read-tree", f->hex[n], NULL);
	git(NULL, f->repo, NULL, "-c", "core.bare=false", tree, "update-index",
	    "-q", "--refresh", NULL);
	git(&out, f->repo, NULL, "-c", "core.bare=false", tree, "diff-files",
	    "--name-status", NULL);
	if (!out.len)
		git(&out, f->repo, NULL, "-c", "core.bare=false", tree,
		    "ls-files", "--others", NULL);
	if (out.len)
		printf("# c%d: %.300s\n", n, str_c(&out));
	return !out.len;
}

static int export(struct fixture *f, int n, struct err *e)
{
	struct export_stats st;
	struct history *h;
	int bad;

	if (history_open(&h, f->repo, e))
		return -1;
	bad = history_export(&st, h, f->hex[n], f->work, NULL, NULL, e);
	history_close(h);
	return bad;
}

TEST(history__export_makes_exactly_the_tree)
{
	struct fixture f;
	struct err e = { "" };

	ASSERT(setup(&f));
	for (int i = 0; i < 20; i++) {
		int n = (int)draw(&f.seed, COMMITS);

		EXPECT_INT(export(&f, n, &e), 0);
		if (!is_tree(&f, n))
			TEST_FAIL("export %d: not c%d: %s", i, n, e.msg);
	}
	teardown(&f);
}

TEST(history__export_killed_at_any_moment_is_repaired)
{
	struct fixture f;
	struct err e = { "" };
	int died = 0;

	ASSERT(setup(&f));
	for (int i = 0; i < 60; i++) {
		int n = (int)draw(&f.seed, COMMITS), status;
		pid_t pid;

		fflush(stdout);
		pid = fork();
		if (!pid)
			_exit(export(&f, (int)draw(&f.seed, COMMITS), &e));
		usleep(draw(&f.seed, 6000));
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		died += WIFSIGNALED(status);
		if (i % 3)
			continue; /* several deaths in a row */
		EXPECT_INT(export(&f, n, &e), 0);
		if (!is_tree(&f, n))
			TEST_FAIL("after kill %d: not c%d", i, n);
	}
	EXPECT(died > 5);
	teardown(&f);
}

TEST(history__export_leaves_untouched_files_their_times)
{
	struct fixture f;
	struct err e = { "" };
	struct stat before, after;
	AUTOFREE char *path = NULL;

	ASSERT(setup(&f));
	path = xfmt("%s/Makefile", f.src);
	EXPECT_INT(export(&f, 0, &e), 0);
	ASSERT(stat(path, &before) == 0);
	usleep(20000);
	EXPECT_INT(export(&f, 1, &e), 0);
	ASSERT(stat(path, &after) == 0);
	EXPECT(before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
	       before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
	teardown(&f);
}

TEST(history__left_out_directories_come_and_go)
{
	CLEANUP(strv_release) struct strv dirs = STRV_INIT;
	struct fixture f;
	struct export_stats st;
	struct history *h;
	struct err e = { "" };
	AUTOFREE char *left = NULL;
	AUTOFREE char *kept = NULL;

	ASSERT(setup(&f));
	strv_add(&dirs, "sound");
	left = xfmt("%s/sound/a.c", f.src);
	kept = xfmt("%s/sound/Kconfig", f.src);
	ASSERT(history_open(&h, f.repo, &e) == 0);
	EXPECT_INT(history_export(&st, h, f.hex[0], f.work, &dirs, NULL, &e),
		   0);
	EXPECT(!file_exists(left) && file_exists(kept));
	EXPECT_INT(history_export(&st, h, f.hex[0], f.work, NULL, NULL, &e), 0);
	EXPECT(file_exists(left));
	EXPECT(is_tree(&f, 0));
	EXPECT_INT(history_export(&st, h, f.hex[1], f.work, &dirs, NULL, &e),
		   0);
	EXPECT(!file_exists(left) && file_exists(kept));
	history_close(h);
	teardown(&f);
}

TEST(history__revisions_and_kernels)
{
	struct fixture f;
	struct history *h;
	struct err e = { "" };
	char hex[HEX_SIZE];

	ASSERT(setup(&f));
	EXPECT_INT(history_open(&h, f.dir, &e), -1);
	EXPECT(strstr(e.msg, "not a git repository"));
	ASSERT(history_open(&h, f.repo, &e) == 0);
	EXPECT_INT(history_resolve(hex, h, "c3", &e), 0);
	EXPECT_STR(hex, f.hex[3]);
	EXPECT_INT(history_resolve(hex, h, "c3~1", &e), 0);
	EXPECT_STR(hex, f.hex[2]);
	EXPECT_INT(history_resolve(hex, h, "nothing", &e), -1);
	EXPECT(strstr(e.msg, "nothing"));
	EXPECT_INT(history_check_kernel(h, f.hex[0], &e), 0);
	EXPECT_INT(history_is_ancestor(h, f.hex[0], f.hex[3], &e), 1);
	EXPECT_INT(history_is_ancestor(h, f.hex[3], f.hex[0], &e), 0);
	EXPECT_INT(history_is_ancestor(h, f.hex[3], f.hex[3], &e), 1);
	history_close(h);
	teardown(&f);
}

/* Runs an export in a child and says how it failed; "" if it did not. */
static void export_fails(struct str *out, struct fixture *f, int n,
			 void (*prepare)(void))
{
	int pipes[2], status;
	char buf[1024];
	ssize_t k;
	pid_t pid;

	if (pipe(pipes))
		return;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct err e = { "" };

		prepare();
		export(f, n, &e);
		_exit(write(pipes[1], e.msg, strlen(e.msg)) < 0);
	}
	close(pipes[1]);
	str_puts(out, "");
	while ((k = read(pipes[0], buf, sizeof(buf))) > 0)
		str_add(out, buf, (size_t)k);
	close(pipes[0]);
	waitpid(pid, &status, 0);
}

static void no_space(void)
{
	const struct rlimit limit = { 1500, 1500 };

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
}

static void interrupt(void)
{
	proc_interrupt(SIGINT);
}

TEST(history__export_that_fails_says_so_and_is_repaired)
{
	CLEANUP(str_release) struct str full = STR_INIT, stop = STR_INIT;
	struct fixture f;
	struct err e = { "" };

	ASSERT(setup(&f));
	export_fails(&full, &f, 0, no_space);
	EXPECT(str_starts(str_c(&full), "write "));
	EXPECT(str_ends(str_c(&full), ": File too large"));
	EXPECT(strstr(str_c(&full), f.src) != NULL);
	EXPECT_INT(export(&f, 1, &e), 0);
	EXPECT(is_tree(&f, 1));
	export_fails(&stop, &f, 2, interrupt);
	EXPECT_STR(str_c(&stop), "interrupted");
	EXPECT_INT(export(&f, 3, &e), 0);
	EXPECT(is_tree(&f, 3));
	teardown(&f);
}

/* What others put there, or a tree that the repository no longer has left: it
 * goes, since a kernel could be built from it. A link out of the tree is never
 * followed. */
#define GONE "0123456789012345678901234567890123456789"
TEST(history__export_among_foreign_files)
{
	struct fixture f;
	struct err e = { "" };
	AUTOFREE char *outside = NULL;
	AUTOFREE char *inner = NULL;
	AUTOFREE char *scripts = NULL;
	AUTOFREE char *makefile = NULL;
	AUTOFREE char *beside = NULL;
	AUTOFREE char *stamp = NULL;

	ASSERT(setup(&f));
	outside = xfmt("%s/outside", f.dir);
	inner = xfmt("%s/outside/Makefile.build", f.dir);
	scripts = xfmt("%s/scripts", f.src);
	makefile = xfmt("%s/Makefile/x/y", f.src);
	beside = xfmt("%s/mine/notes", f.src);
	stamp = xfmt("%s/stamp", f.work);
	EXPECT_INT(dir_make(outside, &e), 0);
	EXPECT_INT(dir_make(makefile, &e), 0);
	EXPECT_INT(dir_make(beside, &e), 0);
	EXPECT_INT(symlink(outside, scripts), 0);
	EXPECT_INT(export(&f, 0, &e), 0);
	EXPECT(!file_exists(inner));
	EXPECT(!file_exists(beside));
	EXPECT(is_tree(&f, 0));
	EXPECT_INT(dir_make(beside, &e), 0);
	EXPECT_INT(file_write(stamp, GONE " boot\n", strlen(GONE " boot\n"),
			      &e), 0);
	EXPECT_INT(export(&f, 0, &e), 0);
	EXPECT(!file_exists(beside));
	EXPECT(is_tree(&f, 0));
	EXPECT_INT(dir_make(beside, &e), 0);
	EXPECT_INT(file_write(stamp, "", 0, &e), 0);
	EXPECT_INT(export(&f, 0, &e), 0);
	EXPECT(!file_exists(beside));
	/* Without its stamp a tree is looked at all over. */
	EXPECT_INT(dir_remove(scripts, &e), 0);
	EXPECT_INT(symlink(outside, scripts), 0);
	EXPECT_INT(unlink(stamp), 0);
	EXPECT_INT(export(&f, 0, &e), 0);
	EXPECT(!file_exists(inner));
	EXPECT(is_tree(&f, 0));
	teardown(&f);
}

TEST(history__export_repairs_only_what_may_be_wrong)
{
	struct fixture f;
	struct err e = { "" };
	struct stat before, after;
	struct export_stats st;
	struct history *h;
	AUTOFREE char *path = NULL;
	AUTOFREE char *dirty = NULL;
	AUTOFREE char *text = NULL;

	ASSERT(setup(&f));
	path = xfmt("%s/Kconfig", f.src);
	dirty = xfmt("%s/dirty", f.work);
	EXPECT_INT(export(&f, 0, &e), 0);
	ASSERT(stat(path, &before) == 0);
	ASSERT(history_open(&h, f.repo, &e) == 0);
	/* As if killed at once on the way to another tree. */
	{
		struct commit c;

		ASSERT(history_commit(&c, h, f.hex[1], &e) == 0);
		text = xfmt("%s\n", c.tree);
		commit_release(&c);
	}
	ASSERT(file_write(dirty, text, strlen(text), &e) == 0);
	usleep(20000);
	EXPECT_INT(history_export(&st, h, f.hex[0], f.work, NULL, NULL, &e), 0);
	EXPECT(st.looked_at > 0);
	EXPECT_INT(st.written, 0);
	EXPECT_INT(st.removed, 0);
	EXPECT(!file_exists(dirty));
	ASSERT(stat(path, &after) == 0);
	EXPECT(before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
	       before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
	EXPECT_INT(history_export(&st, h, f.hex[0], f.work, NULL, NULL, &e), 0);
	EXPECT_INT(st.looked_at, 0);
	history_close(h);
	teardown(&f);
}

/* Whatever happened to the tree behind our back. */
TEST(history__distrusted_tree_is_compared_whole)
{
	struct fixture f;
	struct err e = { "" };
	struct export_stats st;
	struct history *h;
	AUTOFREE char *path = NULL;

	ASSERT(setup(&f));
	path = xfmt("%s/Kconfig", f.src);
	EXPECT_INT(export(&f, 0, &e), 0);
	ASSERT(history_open(&h, f.repo, &e) == 0);
	ASSERT(!treestate_distrust(f.work, &e));
	ASSERT(!history_export(&st, h, f.hex[0], f.work, NULL, NULL, &e));
	EXPECT_INT(st.written + st.removed, 0);

	ASSERT(unlink(path) == 0);
	ASSERT(!treestate_distrust(f.work, &e));
	ASSERT(!history_export(&st, h, f.hex[0], f.work, NULL, NULL, &e));
	EXPECT_INT(st.written, 1);
	EXPECT(is_tree(&f, 0));

	ASSERT(chmod(path, 0755) == 0);
	ASSERT(!treestate_distrust(f.work, &e));
	ASSERT(!history_export(&st, h, f.hex[0], f.work, NULL, NULL, &e));
	EXPECT_INT(st.written, 1);
	EXPECT(is_tree(&f, 0));
	history_close(h);
	teardown(&f);
}

/* Nothing is written to where src points. */
TEST(history__export_follows_no_link)
{
	struct fixture f;
	struct err e = { "" };
	struct stat st;
	AUTOFREE char *aside = NULL, *precious = NULL;

	ASSERT(setup(&f));
	EXPECT_INT(export(&f, 0, &e), 0);
	aside = xfmt("%s/aside", f.work);
	precious = xfmt("%s/Kconfig", aside);
	ASSERT(rename(f.src, aside) == 0 && symlink("aside", f.src) == 0);
	ASSERT(file_write(precious, "mine\n", 5, &e) == 0);
	EXPECT_INT(export(&f, 1, &e), 0);
	EXPECT(lstat(f.src, &st) == 0 && S_ISDIR(st.st_mode));
	EXPECT(is_tree(&f, 1));
	EXPECT(stat(precious, &st) == 0 && st.st_size == 5);
	teardown(&f);
}

/* a - b - merge - d, and a - x - merge; x is older by the clock than a. */
static void make_merge(struct fixture *f)
{
	CLEANUP(str_release) struct str in = STR_INIT, out = STR_INIT;

	str_puts(&in,
		 "commit refs/heads/m\nmark :1\ncommitter A <a@b> 1000 +0000\n"
		 "data 1\na\nM 644 inline fs/a\ndata 1\na\n"
		 "commit refs/heads/m\nmark :2\ncommitter A <a@b> 1010 +0000\n"
		 "data 1\nb\nfrom :1\nM 644 inline fs/a\ndata 1\nb\n"
		 "commit refs/heads/x\nmark :3\ncommitter A <a@b> 900 +0000\n"
		 "data 1\nx\nfrom :1\nM 644 inline mm/x\ndata 1\nx\n"
		 "commit refs/heads/m\nmark :4\ncommitter A <a@b> 1020 +0000\n"
		 "data 1\nm\nfrom :2\nmerge :3\nM 644 inline mm/x\ndata 1\nx\n"
		 "commit refs/heads/m\nmark :5\ncommitter A <a@b> 1030 +0000\n"
		 "data 1\nd\nfrom :4\nM 644 inline mm/y\ndata 1\ny\n"
		 "tag v1\nfrom :2\ntagger A <a@b> 1 +0000\ndata 1\nt\n");
	EXPECT_INT(git(&out, f->repo, &in, "fast-import", "--quiet", NULL), 0);
}

static void range_of(struct dag *out, struct fixture *f, const char *bad,
		     const char *good, bool first_parent, const char *path,
		     struct err *e)
{
	CLEANUP(strv_release) struct strv goods = STRV_INIT, paths = STRV_INIT;
	const struct range_query q = { .bad = bad,
				       .goods = &goods,
				       .first_parent = first_parent,
				       .paths = &paths };
	struct history *h;

	*out = (struct dag){ .n = 0 };
	strv_add(&goods, good);
	if (path)
		strv_add(&paths, path);
	if (history_open(&h, f->repo, e))
		return;
	if (history_range(out, h, &q, NULL, e))
		out->n = -1;
	history_close(h);
}

static int candidates(const struct dag *d)
{
	int n = 0;

	for (int i = 0; i < d->n; i++)
		n += d->v[i].candidate;
	return n;
}

TEST(history__range_is_what_lies_between)
{
	CLEANUP(dag_release) struct dag all, first, limited, none;
	struct fixture f;
	struct err e = { "" };

	ASSERT(setup(&f));
	make_merge(&f);
	range_of(&all, &f, "m", "m~3", false, NULL, &e);
	ASSERT(all.n == 4); /* d, the merge, b, x */
	for (int i = 0; i < all.n; i++)
		for (int k = 0; k < all.v[i].nparents; k++)
			EXPECT(all.v[i].parents[k] > i);
	EXPECT_INT(all.v[1].nparents, 2);
	EXPECT_INT(all.v[0].time, 1030);
	range_of(&first, &f, "m", "m~3", true, NULL, &e);
	EXPECT_INT(first.n, 3);
	range_of(&limited, &f, "m", "m~3", false, "mm/", &e);
	EXPECT_INT(limited.n, 4);
	EXPECT_INT(candidates(&limited), 2); /* d and x, not the merge */
	range_of(&none, &f, "m~2", "m", false, NULL, &e);
	EXPECT_INT(none.n, 0);
	teardown(&f);
}

TEST(history__names_bases_and_paths)
{
	CLEANUP(strv_release) struct strv bases = STRV_INIT, paths = STRV_INIT;
	CLEANUP(str_release) struct str name = STR_INIT, other = STR_INIT;
	struct fixture f;
	struct history *h;
	struct err e = { "" };
	char hex[HEX_SIZE];

	ASSERT(setup(&f));
	make_merge(&f);
	ASSERT(history_open(&h, f.repo, &e) == 0);
	EXPECT_INT(history_resolve(hex, h, "v1", &e), 0);
	EXPECT_INT(history_name(&name, h, hex, &e), 0);
	EXPECT_STR(str_c(&name), "v1");
	EXPECT_INT(history_name(&other, h, "m", &e), 0);
	EXPECT_INT(other.len, 12);
	EXPECT_INT(history_merge_bases(&bases, h, "x", "v1", &e), 0);
	EXPECT_INT(history_resolve(hex, h, "m~3", &e), 0);
	ASSERT(bases.n == 1);
	EXPECT_STR(bases.v[0], hex);
	strv_release(&bases);
	EXPECT_INT(history_merge_bases(&bases, h, "x", "c1", &e), 0);
	EXPECT_INT(bases.n, 0);
	EXPECT_INT(history_paths(&paths, h, "m", &e), 0);
	ASSERT(paths.n == 1);
	EXPECT_STR(paths.v[0], "mm/y");
	EXPECT_INT(history_check_kernel(h, "m", &e), -1);
	EXPECT_STR(e.msg, "m: not a kernel tree (no Makefile)");
	EXPECT_INT(history_resolve(hex, h, "m^{tree}", &e), -1);
	EXPECT(strstr(e.msg, "not a commit"));
	EXPECT_INT(history_resolve(hex, h, "", &e), -1);
	history_close(h);
	teardown(&f);
}

TEST(history__opens_work_trees_and_shallow_clones)
{
	CLEANUP(dag_release) struct dag dag = { .n = 0 };
	CLEANUP(str_release) struct str out = STR_INIT;
	struct fixture f;
	struct history *h;
	struct err e = { "" };
	AUTOFREE char *sub = NULL;
	AUTOFREE char *shallow = NULL;
	AUTOFREE char *url = NULL;
	char hex[HEX_SIZE];

	ASSERT(setup(&f));
	make_merge(&f);
	sub = xfmt("%s/tree/fs", f.dir);
	shallow = xfmt("%s/shallow", f.dir);
	url = xfmt("file://%s", f.repo);
	EXPECT_INT(git(&out, f.repo, NULL, "worktree", "add", "-q", "../tree",
		       "m", NULL),
		   0);
	ASSERT(history_open(&h, sub, &e) == 0);
	EXPECT(str_ends(history_dir(h), "/repo"));
	EXPECT_INT(history_resolve(hex, h, "HEAD", &e), 0);
	history_close(h);
	EXPECT_INT(git(&out, f.dir, NULL, "clone", "-q", "--bare", "--depth=2",
		       "--branch=m", url, "shallow", NULL),
		   0);
	free(f.repo);
	f.repo = take_ptr(shallow);
	range_of(&dag, &f, "m", "m~1", false, NULL, &e);
	EXPECT_INT(dag.n, 1);
	teardown(&f);
}
