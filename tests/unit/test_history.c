#include "test.h"

#include <signal.h>
#include <sys/stat.h>

#include "gitrepo.h"
#include "history.h"

#define COMMITS 8

struct fixture {
	char *dir, *repo, *work, *src;
	char hex[COMMITS][HEX_SIZE];
	uint64_t seed;
};

/* A path is a file in one commit, a directory in the next, a link in a third. */
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
	EXPECT_INT(history_export(&st, h, f.hex[0], f.work, &dirs, NULL, &e), 0);
	EXPECT(!file_exists(left) && file_exists(kept));
	EXPECT_INT(history_export(&st, h, f.hex[0], f.work, NULL, NULL, &e), 0);
	EXPECT(file_exists(left));
	EXPECT(is_tree(&f, 0));
	EXPECT_INT(history_export(&st, h, f.hex[1], f.work, &dirs, NULL, &e), 0);
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
