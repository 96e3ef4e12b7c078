#include "test.h"

#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build.h"
#include "kernels.h"

/* A tree of a few files, and tests/fake/make instead of make. */
struct world {
	char dir[40];
	char *src, *obj, *cache, *logs;
	struct build_request r;
};

static void put(struct world *w, const char *name, const char *text)
{
	AUTOFREE char *path = xfmt("%s/%s", w->dir, name);
	struct err e;

	if (text ? file_write(path, text, strlen(text), &e) : unlink(path))
		abort();
}

/* The fakes come first in PATH, from beside this file. */
static void use_fakes(void)
{
	char here[PATH_MAX];
	AUTOFREE char *path = NULL;
	AUTOFREE char *file = xstrdup(__FILE__);
	char *slash = strrchr(file, '/');

	if (strstr(getenv("PATH"), "/fake:"))
		return;
	*slash = '\0';
	if (!realpath(file, here))
		abort();
	path = xfmt("%s/../fake:%s", here, getenv("PATH"));
	setenv("PATH", path, 1);
}

static void world_init(struct world *w)
{
	struct err e;

	use_fakes();
	*w = (struct world){ .dir = "/tmp/iobisect-build-XXXXXX" };
	if (!mkdtemp(w->dir))
		abort();
	w->src = xfmt("%s/src", w->dir);
	w->obj = xfmt("%s/obj", w->dir);
	w->cache = xfmt("%s/cache", w->dir);
	w->logs = xfmt("%s/logs", w->dir);
	if (dir_make(w->src, &e))
		abort();
	put(w, "src/Makefile", "VERSION = 6\n");
	put(w, "src/speed", "1.0\n");
	w->r = (struct build_request){ .src = w->src,
				       .obj = w->obj,
				       .cache = w->cache,
				       .logs = w->logs,
				       .tree = "tree1",
				       .name = "one",
				       .wanted = "CONFIG_A=y\nCONFIG_B=y\n",
				       .compiler = "gcc\ngcc (fake) 12",
				       .jobs = 2,
				       .timeout = 60 };
}

static void world_done(struct world *w)
{
	struct err e;

	dir_remove(w->dir, &e);
	free(w->src);
	free(w->obj);
	free(w->cache);
	free(w->logs);
}

static bool file_has(const char *path, const char *text)
{
	CLEANUP(str_release) struct str s = STR_INIT;
	struct err e;

	return path && !file_read(&s, path, &e) &&
	       memmem(s.buf, s.len, text, strlen(text));
}

static bool is_there(const struct world *w, const char *name)
{
	AUTOFREE char *path = xfmt("%s/%s", w->dir, name);

	return file_exists(path);
}

static int build_it(struct kernel *k, struct world *w)
{
	struct err e = { "" };
	int r;

	kernel_release(k);
	r = build_kernel(k, &w->r, NULL, &e);
	if (r)
		printf("# %s\n", e.msg);
	return r;
}

TEST(build__makes_and_caches)
{
	CLEANUP(world_done) struct world w;
	CLEANUP(kernel_release) struct kernel k = { NULL };
	CLEANUP(kernel_release) struct kernel again = { NULL };
	struct err e;

	world_init(&w);
	EXPECT_INT(kernels_find(&k, &w.r, &e), 0);
	ASSERT(build_it(&k, &w) == 0);
	ASSERT(k.image && !k.reason);
	EXPECT(str_starts(k.image, w.cache));
	EXPECT(file_has(k.log, "CC      fs/ext2/inode.o"));
	EXPECT_INT(k.objects, 7);
	EXPECT_INT(strlen(k.identity), 64);
	EXPECT(!k.cached);
	w.r.src = "/nonesuch";
	ASSERT(kernels_find(&again, &w.r, &e) == 1);
	EXPECT(again.cached);
	EXPECT_STR(again.image, k.image);
	EXPECT_STR(again.identity, k.identity);
	EXPECT_INT(again.make_s, 0);
}

TEST(build__key_is_everything_that_matters)
{
	CLEANUP(world_done) struct world w;
	CLEANUP(kernel_release) struct kernel k = { NULL };
	AUTOFREE char *config = NULL;
	struct err e;

	world_init(&w);
	ASSERT(build_it(&k, &w) == 0);
	w.r.name = "another";
	kernel_release(&k);
	EXPECT_INT(kernels_find(&k, &w.r, &e), 1);
	kernel_release(&k);
	w.r.tree = "tree2";
	EXPECT_INT(kernels_find(&k, &w.r, &e), 0);
	w.r.tree = "tree1";
	w.r.wanted = "CONFIG_A=y\n";
	EXPECT_INT(kernels_find(&k, &w.r, &e), 0);
	w.r.wanted = "CONFIG_A=y\nCONFIG_B=y\n";
	w.r.compiler = "gcc -O2\ngcc (fake) 12";
	EXPECT_INT(kernels_find(&k, &w.r, &e), 0);
	w.r.compiler = "gcc\ngcc (fake) 12";
	config = xfmt("%s/config", w.dir);
	w.r.config = config;
	put(&w, "config", "");
	EXPECT_INT(kernels_find(&k, &w.r, &e), 0);
	ASSERT(build_it(&k, &w) == 0);
	kernel_release(&k);
	EXPECT_INT(kernels_find(&k, &w.r, &e), 1);
	put(&w, "config", "CONFIG_C=y\n");
	EXPECT_INT(kernels_find(&k, &w.r, &e), 0);
	w.r.config = "/nonesuch";
	EXPECT_INT(kernels_find(&k, &w.r, &e), -1);
	EXPECT(strstr(e.msg, "/nonesuch"));
}

TEST(build__same_kernel_same_identity)
{
	CLEANUP(world_done) struct world w;
	CLEANUP(kernel_release) struct kernel a = { NULL };
	CLEANUP(kernel_release) struct kernel b = { NULL };
	CLEANUP(kernel_release) struct kernel c = { NULL };

	world_init(&w);
	ASSERT(build_it(&a, &w) == 0);
	put(&w, "src/README", "words\n");
	w.r.tree = "tree2";
	ASSERT(build_it(&b, &w) == 0);
	EXPECT_STR(b.identity, a.identity);
	EXPECT_INT(b.objects, 0);
	put(&w, "src/speed", "2.0\n");
	w.r.tree = "tree3";
	ASSERT(build_it(&c, &w) == 0);
	EXPECT(strcmp(c.identity, a.identity) != 0);
}

TEST(build__broken_kernel_is_a_result)
{
	CLEANUP(world_done) struct world w;
	CLEANUP(kernel_release) struct kernel k = { NULL };
	CLEANUP(kernel_release) struct kernel cached = { NULL };
	struct err e;

	world_init(&w);
	put(&w, "src/broken-build", "'x' undeclared\n");
	ASSERT(build_it(&k, &w) == 0);
	EXPECT(!k.image);
	EXPECT_STR(k.reason, "fs/ext2/inode.c:12:3: error: 'x' undeclared");
	EXPECT(file_has(k.log, "'x' undeclared"));
	/* The directory was clean: no second try. */
	EXPECT(!file_has(k.log, "again from a clean"));
	ASSERT(kernels_find(&cached, &w.r, &e) == 1);
	EXPECT_STR(cached.reason, k.reason);
	EXPECT(str_starts(cached.log, w.cache));
	EXPECT(file_has(cached.log, "'x' undeclared"));
}

TEST(build__failed_step_is_repeated_clean)
{
	CLEANUP(world_done) struct world w;
	CLEANUP(kernel_release) struct kernel k = { NULL };

	world_init(&w);
	ASSERT(build_it(&k, &w) == 0);
	put(&w, "src/broken-build", "'x' undeclared\n");
	put(&w, "obj/stale", "");
	w.r.tree = "tree2";
	ASSERT(build_it(&k, &w) == 0);
	EXPECT(k.reason);
	EXPECT(file_has(k.log, "again from a clean"));
	EXPECT_INT(k.objects, 7);
	EXPECT(!is_there(&w, "obj/stale"));
	EXPECT(is_there(&w, "obj/.config"));
	put(&w, "src/broken-build", NULL);
	w.r.tree = "tree1";
	ASSERT(build_it(&k, &w) == 0);
	EXPECT(k.image);
	EXPECT(!file_has(k.log, "undeclared"));
}

TEST(build__lost_option_is_a_result)
{
	CLEANUP(world_done) struct world w;
	CLEANUP(kernel_release) struct kernel k = { NULL };

	world_init(&w);
	put(&w, "src/lacks", "CONFIG_B\n");
	ASSERT(build_it(&k, &w) == 0);
	EXPECT(!k.image);
	EXPECT_STR(k.reason, "the configuration lacks CONFIG_B=y");
	w.r.wanted = "CONFIG_A=y\n\n# optional\nCONFIG_B=y\n";
	ASSERT(build_it(&k, &w) == 0);
	EXPECT(k.image);
}

TEST(build__own_config_with_wanted_on_top)
{
	CLEANUP(world_done) struct world w;
	CLEANUP(kernel_release) struct kernel k = { NULL };
	AUTOFREE char *config = NULL, *dot = NULL;

	world_init(&w);
	config = xfmt("%s/config", w.dir);
	dot = xfmt("%s/.config", w.obj);
	put(&w, "config", "CONFIG_MINE=y");
	w.r.config = config;
	ASSERT(build_it(&k, &w) == 0);
	EXPECT(k.image);
	EXPECT(file_has(dot, "CONFIG_MINE=y\nCONFIG_A=y\n"));
}

static void expect_harness(const char *output, const char *message)
{
	CLEANUP(world_done) struct world w;
	CLEANUP(kernel_release) struct kernel k = { NULL };
	struct err e = { "" };

	world_init(&w);
	put(&w, "src/broken-build", output);
	EXPECT_INT(build_kernel(&k, &w.r, NULL, &e), -1);
	if (!strstr(e.msg, message))
		TEST_FAIL("%s: %s", output, e.msg);
	/* Nothing was judged. */
	EXPECT_INT(kernels_find(&k, &w.r, &e), 0);
}

TEST(build__harness_failures)
{
	expect_harness("as: can't write 8 bytes: No space left on device",
		       "free some space");
	expect_harness("gcc: fatal error: Killed signal terminated program cc1",
		       "--jobs 1");
	expect_harness("/bin/sh: 1: lzop: not found",
		       "lzop is missing: apt-get install lzop");
}

/* A tool that is there was not the trouble. */
TEST(build__found_tool_is_no_harness_failure)
{
	CLEANUP(world_done) struct world w;
	CLEANUP(kernel_release) struct kernel k = { NULL };

	world_init(&w);
	put(&w, "src/broken-build", "/bin/sh: 1: sed: not found");
	ASSERT(build_it(&k, &w) == 0);
	EXPECT(strstr(k.reason, "*** [") && strstr(k.reason, "Error 2"));
}

TEST(build__hanging_make_is_a_harness_failure)
{
	CLEANUP(world_done) struct world w;
	CLEANUP(kernel_release) struct kernel k = { NULL };
	struct err e = { "" };

	world_init(&w);
	w.r.timeout = 0.3;
	setenv("IOBISECT_FAKE_DELAY", "30", 1);
	EXPECT_INT(build_kernel(&k, &w.r, NULL, &e), -1);
	unsetenv("IOBISECT_FAKE_DELAY");
	EXPECT(strstr(e.msg, "make bzImage did not end within"));
}

TEST(build__compiler)
{
	AUTOFREE char *own = NULL, *none = NULL;
	struct err e;

	ASSERT(build_compiler(&own, NULL, &e) == 0);
	EXPECT(str_starts(own, "gcc\n") && strlen(own) > 8);
	EXPECT_INT(build_compiler(&none, "nonesuch-gcc -m64", &e), -1);
	EXPECT(str_starts(e.msg, "nonesuch-gcc is missing"));
	EXPECT_INT(build_compiler(&none, "false", &e), -1);
	EXPECT(strstr(e.msg, "no compiler"));
}

static void break_entry(const struct kernel *k, const char *name,
			const char *text)
{
	AUTOFREE char *path = xstrdup(k->image);
	AUTOFREE char *victim = NULL;
	struct err e;

	*strrchr(path, '/') = '\0';
	victim = xfmt("%s/%s", path, name);
	if (text ? file_write(victim, text, strlen(text), &e) : unlink(victim))
		abort();
}

TEST(build__torn_cache_entry_is_built_again)
{
	static const struct {
		const char *file, *text;
	} damage[] = { { "kernel", "" },
		       { "kernel", "identity 12\nend\n" },
		       { "kernel", "name x\nend\n" },
		       { "kernel", NULL },
		       { "bzImage", "short" },
		       { "bzImage", NULL } };
	CLEANUP(world_done) struct world w;

	world_init(&w);
	for (size_t i = 0; i < ARRAY_SIZE(damage); i++) {
		CLEANUP(kernel_release) struct kernel k = { NULL };
		struct err e;

		ASSERT(build_it(&k, &w) == 0);
		break_entry(&k, damage[i].file, damage[i].text);
		EXPECT_INT(kernels_find(&k, &w.r, &e), 0);
		ASSERT(build_it(&k, &w) == 0);
		kernel_release(&k);
		EXPECT_INT(kernels_find(&k, &w.r, &e), 1);
	}
}

TEST(build__prebuilt)
{
	CLEANUP(world_done) struct world w;
	CLEANUP(kernel_release) struct kernel k = { NULL };
	CLEANUP(kernel_release) struct kernel p = { NULL };
	struct err e;

	world_init(&w);
	ASSERT(build_it(&k, &w) == 0);
	ASSERT(build_prebuilt(&p, k.image, &e) == 0);
	EXPECT_STR(p.image, k.image);
	EXPECT_INT(strlen(p.identity), 64);
	EXPECT(strcmp(p.identity, k.identity) != 0);
	kernel_release(&p);
	EXPECT_INT(build_prebuilt(&p, "/nonesuch", &e), -1);
	EXPECT(strstr(e.msg, "/nonesuch"));
	EXPECT_INT(build_prebuilt(&p, "/proc/self/exe", &e), -1);
	EXPECT(strstr(e.msg, "not a bzImage"));
}

TEST(build__name_with_a_slash)
{
	CLEANUP(world_done) struct world w;
	CLEANUP(kernel_release) struct kernel k = { NULL };

	world_init(&w);
	w.r.name = "linux/v6.1";
	ASSERT(build_it(&k, &w) == 0);
	EXPECT(str_ends(k.log, "/logs/linux-v6.1.log"));
}

static void set_sound(const struct world *w, const char *boot)
{
	AUTOFREE char *path = xfmt("%s.sound", w->obj);
	struct err e;

	if (boot ? file_write(path, boot, strlen(boot), &e) : unlink(path))
		abort();
}

/* Neither a make that was cut short nor a host that was: what lies in obj then is
 * as good as any other rubbish. */
TEST(build__unsound_objects_are_removed)
{
	static const char *const marks[] = { NULL, "", "another-boot\n" };
	CLEANUP(world_done) struct world w;
	CLEANUP(kernel_release) struct kernel k = { NULL };

	world_init(&w);
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		AUTOFREE char *tree = xfmt("tree%zu", i);

		w.r.tree = tree;
		ASSERT(build_it(&k, &w) == 0);
		EXPECT(is_there(&w, "obj.sound"));
		put(&w, "obj/part", "torn\n");
		set_sound(&w, marks[i]);
		*tree = 'T';
		ASSERT(build_it(&k, &w) == 0);
		EXPECT(file_has(k.image, "speed 1.0"));
		EXPECT(file_has(k.log, "a clean object directory"));
		EXPECT_INT(k.objects, 7);
	}
}

TEST(build__sound_objects_are_kept)
{
	CLEANUP(world_done) struct world w;
	CLEANUP(kernel_release) struct kernel k = { NULL };

	world_init(&w);
	ASSERT(build_it(&k, &w) == 0);
	put(&w, "obj/mine", "");
	w.r.tree = "tree2";
	ASSERT(build_it(&k, &w) == 0);
	EXPECT(is_there(&w, "obj/mine"));
	EXPECT(!file_has(k.log, "clean"));
	/* A failure that has a diagnosis is an end like any other. */
	put(&w, "src/broken-build", "");
	w.r.tree = "tree3";
	ASSERT(build_it(&k, &w) == 0 && k.reason);
	EXPECT(is_there(&w, "obj.sound"));
}

/* A failed harness leaves objects that nobody can trust. */
TEST(build__harness_failure_leaves_unsound_objects)
{
	CLEANUP(world_done) struct world w;
	CLEANUP(kernel_release) struct kernel k = { NULL };
	struct err e;

	world_init(&w);
	ASSERT(build_it(&k, &w) == 0);
	put(&w, "src/broken-build", "cc1: out of memory allocating 8 bytes");
	w.r.tree = "tree2";
	EXPECT_INT(build_kernel(&k, &w.r, NULL, &e), -1);
	EXPECT(!is_there(&w, "obj.sound"));
}

/* What make does not explain is reported, and not remembered. */
TEST(build__failure_without_a_diagnosis_is_not_cached)
{
	static const char *const words[] = {
		"fs/a.c: hm, this went wrong",
		"fs/a.c:9:1: internal compiler error: in foo, at bar.cc:12",
		"fs/a.c: objtool failed",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		CLEANUP(world_done) struct world w;
		CLEANUP(kernel_release) struct kernel k = { NULL };
		struct err e;

		world_init(&w);
		put(&w, "src/broken-build", words[i]);
		ASSERT(build_it(&k, &w) == 0);
		EXPECT(k.reason);
		EXPECT_INT(kernels_find(&k, &w.r, &e), 0);
		EXPECT(!is_there(&w, "obj.sound"));
	}
}

/* Crashes a compiler the first time, and does what is asked the next. */
static int mend(void *ctx, struct err *e)
{
	(void)e;
	put(ctx, "src/broken-build", NULL);
	return 0;
}

static int crash_elsewhere(void *ctx, struct err *e)
{
	(void)e;
	put(ctx, "src/broken-build",
	    "fs/b.c:1:1: internal compiler error: Segmentation fault");
	return 0;
}

TEST(build__crashed_compiler_is_asked_again)
{
	CLEANUP(world_done) struct world w;
	CLEANUP(kernel_release) struct kernel k = { NULL };
	struct err e;

	world_init(&w);
	w.r.ctx = &w;
	w.r.check = mend;
	put(&w, "src/broken-build",
	    "fs/a.c:9:1: internal compiler error: Segmentation fault");
	ASSERT(build_it(&k, &w) == 0);
	EXPECT(k.image && !k.reason);
	w.r.tree = "tree2";
	w.r.check = crash_elsewhere;
	put(&w, "src/broken-build",
	    "fs/a.c:9:1: internal compiler error: Segmentation fault");
	EXPECT_INT(build_kernel(&k, &w.r, NULL, &e), -1);
	EXPECT(strstr(e.msg, "check the memory"));
}

static int repair(void *ctx, struct err *e)
{
	(void)e;
	put(ctx, "src/speed", "1.0\n");
	put(ctx, "src/needs", "speed\n");
	return 1;
}

TEST(build__damaged_source_is_repaired_before_it_counts)
{
	CLEANUP(world_done) struct world w;
	CLEANUP(kernel_release) struct kernel k = { NULL };

	world_init(&w);
	w.r.ctx = &w;
	w.r.check = repair;
	put(&w, "src/needs", "lost.h\n");
	ASSERT(build_it(&k, &w) == 0);
	EXPECT(k.image && !k.reason);
	EXPECT(file_has(k.log, "repaired"));
	/* Nothing was built before: but for the damage there was no reason to
	 * doubt a failure. */
	put(&w, "src/lacks", "CONFIG_B\n");
	w.r.tree = "tree2";
	ASSERT(build_it(&k, &w) == 0);
	EXPECT_STR(k.reason, "the configuration lacks CONFIG_B=y");
}

/* Whatever obj is a link to is not ours to empty. */
TEST(build__objects_behind_a_link_are_left_alone)
{
	CLEANUP(world_done) struct world w;
	CLEANUP(kernel_release) struct kernel k = { NULL };
	AUTOFREE char *other = NULL;
	struct err e;

	world_init(&w);
	other = xfmt("%s/precious", w.dir);
	ASSERT(!dir_make(other, &e) && !symlink(other, w.obj));
	put(&w, "precious/file", "mine\n");
	put(&w, "src/broken-build", "x: oh dear");
	ASSERT(build_it(&k, &w) == 0);
	EXPECT(is_there(&w, "precious/file"));
	EXPECT(!is_there(&w, "precious/.config"));
	EXPECT(is_there(&w, "obj/.config"));
}

/* Two that built the same kernel: the first one's image, which may be booting, is
 * not touched. */
TEST(build__second_of_a_kind_uses_the_first)
{
	CLEANUP(world_done) struct world w;
	CLEANUP(kernel_release) struct kernel a = { NULL };
	CLEANUP(kernel_release) struct kernel b = { NULL };
	AUTOFREE char *other = NULL;
	struct stat before, after;

	world_init(&w);
	ASSERT(build_it(&a, &w) == 0);
	ASSERT(stat(a.image, &before) == 0);
	other = xfmt("%s/obj2", w.dir);
	w.r.obj = other;
	ASSERT(build_it(&b, &w) == 0);
	EXPECT_STR(b.image, a.image);
	ASSERT(stat(a.image, &after) == 0);
	EXPECT(before.st_ino == after.st_ino);
}

TEST(build__many_at_once_share_a_cache)
{
	enum { N = 6 };
	CLEANUP(world_done) struct world w;
	pid_t pids[N];

	world_init(&w);
	fflush(stdout);
	for (int i = 0; i < N; i++) {
		AUTOFREE char *obj = xfmt("%s/obj%d", w.dir, i);
		AUTOFREE char *logs = xfmt("%s/logs%d", w.dir, i);

		pids[i] = fork();
		if (pids[i])
			continue;
		w.r.obj = obj;
		w.r.logs = logs;
		for (int n = 0; n < 3; n++) {
			struct kernel k = { NULL };
			AUTOFREE char *tree = xfmt("tree%d", n);

			w.r.tree = tree;
			if (build_it(&k, &w) || !file_has(k.image, "speed 1.0"))
				_exit(1);
			kernel_release(&k);
		}
		_exit(0);
	}
	for (int i = 0; i < N; i++) {
		int status = -1;

		waitpid(pids[i], &status, 0);
		EXPECT_INT(status, 0);
	}
}
