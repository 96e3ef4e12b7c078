/* The guest's workloads, run here in a temporary directory. */
#include <ftw.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "../../workloads/clock.c"
#include "../../workloads/openmany.c"
#include "../../workloads/program.c"
#include "../../workloads/seqwrite.c"
#include "../../workloads/smallfiles.c"
#include "../../workloads/workload.c"

#include "test.h"

static char dir[200], why[500];

/* The guest's binary starts itself to write one file; here that is us. */
__attribute__((constructor)) static void be_writer(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], SMALLFILES_WRITER))
		_exit(smallfiles_writer(argc, argv));
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void make_dir(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%s/iobisect-test-XXXXXX",
		 tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		abort();
}

static void drop_dir(void)
{
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int run_program(struct result *r, const char *text, const char *program)
{
	struct spec s;
	struct work w = { .spec = &s,
			  .self = "/proc/self/exe",
			  .dir = dir,
			  .program = program };

	memset(r, 0, sizeof(*r));
	why[0] = '\0';
	if (spec_parse(&s, text, why, sizeof(why)))
		return -2;
	spec_resolve(&s, 1 << 20);
	return workload_run(r, &w, why, sizeof(why));
}

static int run_text(struct result *r, const char *text)
{
	return run_program(r, text, NULL);
}

static long long size_of(const char *name)
{
	struct stat st;
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return stat(path, &st) ? -1 : (long long)st.st_size;
}

/* Something at the place of a workload's file. */
static void plant(const char *name, const char *target)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (symlink(target, path))
		abort();
}

static void check_smallfiles(const char *text, int files, long long size)
{
	struct result r;
	char name[32];

	make_dir();
	if (run_text(&r, text))
		TEST_FAIL("%s: %s", text, why);
	for (int i = 0; i < files; i++) {
		snprintf(name, sizeof(name), "f%06d", i);
		EXPECT_INT(size_of(name), size);
	}
	snprintf(name, sizeof(name), "f%06d", files);
	EXPECT_INT(size_of(name), -1);
	EXPECT_INT(r.written, files * size);
	EXPECT(r.elapsed_us > 0 && r.sync_us > 0);
	EXPECT(r.sync_us <= r.elapsed_us);
	drop_dir();
}

TEST(smallfiles__by_a_process_each)
{
	check_smallfiles("smallfiles:files=5", 5, 16);
	check_smallfiles("smallfiles:files=3,writes=4,size=10240,fsync=1", 3,
			 40960);
}

TEST(smallfiles__by_one_process)
{
	check_smallfiles("smallfiles:files=50,spawn=0", 50, 16);
	check_smallfiles(
		"smallfiles:files=3,writes=1,size=5000,spawn=0,fsync=1", 3,
		5000);
}

TEST(smallfiles__a_full_drive_names_the_file)
{
	struct result r;

	make_dir();
	plant("f000002", "/dev/full");
	EXPECT_INT(run_text(&r, "smallfiles:files=4"), -1);
	EXPECT_STR(why, "write f000002: No space left on device");
	EXPECT_INT(size_of("f000003"), -1);
	EXPECT_INT(run_text(&r, "smallfiles:files=4,spawn=0"), -1);
	EXPECT_STR(why, "write f000002: No space left on device");
	drop_dir();
}

TEST(smallfiles__a_writer_that_cannot_start)
{
	struct spec s;
	struct work w = { .spec = &s, .self = "/nonexistent", .dir = dir };
	struct result r;

	make_dir();
	ASSERT(!spec_parse(&s, "smallfiles", why, sizeof(why)));
	EXPECT_INT(workload_run(&r, &w, why, sizeof(why)), -1);
	EXPECT_STR(why, "write f000000: cannot run /nonexistent");
	drop_dir();
}

TEST(seqwrite__count_wins_over_total)
{
	struct result r;

	make_dir();
	EXPECT_INT(run_text(&r, "seqwrite:bs=1000,count=7,total=1M"), 0);
	EXPECT_INT(size_of("big"), 7000);
	EXPECT_INT(r.written, 7000);
	drop_dir();
}

TEST(seqwrite__total_goes_up_to_a_whole_block)
{
	struct result r;

	make_dir();
	EXPECT_INT(run_text(&r, "seqwrite:bs=4k,total=10000"), 0);
	EXPECT_INT(size_of("big"), 12288);
	EXPECT_INT(run_text(&r, "seqwrite"), 0); /* memory is 1 MiB here */
	EXPECT_INT(size_of("big"), 2 << 20);
	drop_dir();
}

TEST(seqwrite__rewrite_writes_twice_in_place)
{
	struct result r;

	make_dir();
	EXPECT_INT(run_text(&r, "seqwrite:count=3,rewrite=1,flags=sync"), 0);
	EXPECT_INT(size_of("big"), 3 * 16384);
	EXPECT_INT(r.written, 6 * 16384);
	drop_dir();
}

TEST(seqwrite__a_full_drive_names_the_file)
{
	struct result r;

	make_dir();
	plant("big", "/dev/full");
	EXPECT_INT(run_text(&r, "seqwrite:count=3"), -1);
	EXPECT_STR(why, "write big: No space left on device");
	drop_dir();
}

/* The limit is in the middle of a block: the first part is written, and the
 * rest then fails. */
TEST(seqwrite__a_short_write_goes_on)
{
	struct rlimit old, low;
	struct result r;

	make_dir();
	getrlimit(RLIMIT_FSIZE, &old);
	low = (struct rlimit){ .rlim_cur = 20000, .rlim_max = old.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &low);
	EXPECT_INT(run_text(&r, "seqwrite:count=3"), -1);
	setrlimit(RLIMIT_FSIZE, &old);
	signal(SIGXFSZ, SIG_DFL);
	EXPECT_STR(why, "write big: File too large");
	EXPECT_INT(size_of("big"), 20000);
	drop_dir();
}

TEST(openmany__each_file_in_turn)
{
	struct result r;

	make_dir();
	EXPECT_INT(run_text(&r, "openmany:files=20,rounds=3,size=1000"), 0);
	EXPECT_INT(size_of("i1/f000000"), 3000);
	EXPECT_INT(size_of("i1/f000019"), 3000);
	EXPECT_INT(size_of("i1/f000020"), -1);
	EXPECT_INT(r.written, 60000);
	drop_dir();
}

TEST(openmany__instances_have_their_own)
{
	struct result r;

	make_dir();
	EXPECT_INT(
		run_text(&r, "openmany:files=4,rounds=2,size=10,instances=5"),
		0);
	EXPECT_INT(size_of("i1/f000003"), 20);
	EXPECT_INT(size_of("i5/f000003"), 20);
	EXPECT_INT(size_of("i6"), -1);
	EXPECT_INT(r.written, 400);
	drop_dir();
}

TEST(openmany__one_failing_instance_fails_all)
{
	struct result r;

	make_dir();
	plant("i2", "/nonexistent");
	EXPECT_INT(run_text(&r, "openmany:files=4,instances=3"), -1);
	EXPECT_STR(why, "mkdir i2: File exists");
	drop_dir();
}

static const char *script(const char *text)
{
	static char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/script", dir);
	f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f) || chmod(path, 0755))
		abort();
	return path;
}

TEST(program__runs_in_its_directory)
{
	struct result r;

	make_dir();
	EXPECT_INT(run_program(&r, "exec:./x",
			       script("#!/bin/sh\necho 12345 >here &&\n"
				      "echo 1 >\"$IOBISECT_DIR/there\"\n")),
		   0);
	EXPECT_INT(size_of("here"), 6);
	EXPECT_INT(size_of("there"), 2);
	EXPECT_INT(r.written, 0);
	drop_dir();
}

TEST(program__its_failure_is_told)
{
	struct result r;

	make_dir();
	EXPECT_INT(run_program(&r, "exec:./x", script("#!/bin/sh\nexit 3\n")),
		   -1);
	EXPECT_STR(why, "./x: it exited with 3");
	EXPECT_INT(
		run_program(&r, "exec:./x", script("#!/bin/sh\nkill -9 $$\n")),
		-1);
	EXPECT_STR(why, "./x: it died of signal 9");
	EXPECT_INT(run_program(&r, "exec:./x", "/nonexistent"), -1);
	EXPECT(strstr(why, "exec ./x: No such file") == why);
	drop_dir();
}

/* Busy for 0.2 s and more of CPU: the elapsed time alone is the machine's. */
TEST(workload__cpu_of_grandchildren_counts)
{
	struct result r;

	make_dir();
	EXPECT_INT(run_program(&r, "exec:./x",
			       script("#!/bin/sh\ni=0\nwhile [ $i -lt 200000 ]"
				      "\ndo i=$((i + 1))\ndone\n")),
		   0);
	EXPECT(r.user_us + r.sys_us > 10000);
	EXPECT(r.user_us + r.sys_us <= r.elapsed_us + 20000);
	drop_dir();
}
