/* The guest's job, frame, clock and probe. */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "../../workloads/clock.c"
#include "../../workloads/frame.c"
#include "../../workloads/job.c"
#include "../../workloads/probe.c"

#include "test.h"

#define GOOD                                                                   \
	"protocol 1\nfs ext2\noptions noatime,data=journal\n"                  \
	"bytes 1073741824\nram 134217728\nid 1128 00ff2a\nwait 7\n"             \
	"slow 6\n"                                                             \
	"workload smallfiles:files=5\nworkload seqwrite\nprobe 1\n"

static char why[300];

static int parse(struct job *j, const char *text)
{
	char copied[1024];

	snprintf(copied, sizeof(copied), "%s", text);
	why[0] = '\0';
	return job_parse(j, copied, why, sizeof(why));
}

TEST(job__all_keys)
{
	static struct job j;

	EXPECT_INT(parse(&j, GOOD), 0);
	EXPECT_STR(j.fs, "ext2");
	EXPECT_STR(j.options, "noatime,data=journal");
	EXPECT_INT(j.bytes, 1073741824);
	EXPECT_INT(j.id_offset, 1128);
	EXPECT_INT(j.id_n, 3);
	EXPECT(!memcmp(j.id, "\0\xff*", 3));
	EXPECT_INT(j.wait, 7);
	EXPECT_INT(j.slow, 6);
	EXPECT(j.probe);
	EXPECT_INT(j.n, 2);
	EXPECT_INT(spec_get(&j.workloads[0], "files"), 5);
	EXPECT_STR(j.workloads[1].kind->name, "seqwrite");
}

TEST(job__what_it_refuses)
{
	static const struct {
		const char *text, *part;
	} cases[] = {
		{ "", "no fs" },
		{ "fs ext2\nbytes 5\n", "no workload" },
		{ "fs ext2\nworkload seqwrite\n", "no bytes" },
		{ GOOD "protocol 2\n", "protocol 2" },
		{ GOOD "bytes x\n", "bytes x" },
		{ GOOD "slow 0\n", "slow 0" },
		{ GOOD "slow 1.5\n", "slow 1.5" },
		{ GOOD "bytes 12k\n", "bytes 12k" },
		{ GOOD "bytes 99999999999999999999\n", "bytes 9999" },
		{ GOOD "id 1128\n", "id 1128" },
		{ GOOD "id 1128 0\n", "id 1128 0" },
		{ GOOD "id 1128 zz\n", "id 1128 zz" },
		{ GOOD "wait -1\n", "wait -1" },
		{ GOOD "probe 2\n", "probe 2" },
		{ GOOD "colour red\n", "colour red" },
		{ GOOD "fs\n", "fs " },
		{ GOOD "workload fast\n", "no workload \"fast\"" },
	};
	static struct job j;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (!parse(&j, cases[i].text))
			TEST_FAIL("case %zu parses", i);
		else if (!strstr(why, cases[i].part))
			TEST_FAIL("case %zu: %s", i, why);
	}
}

TEST(job__too_many_workloads)
{
	static struct job j;
	char text[4096] = "fs ext2\nbytes 1\n";

	for (int i = 0; i <= JOB_MAX_WORKLOADS; i++)
		memcpy(text + strlen(text), "workload seqwrite\n", 19);
	EXPECT_INT(job_parse(&j, text, why, sizeof(why)), -1);
	EXPECT(strstr(why, "more than 32") != NULL);
}

TEST(frame__crc_is_zlibs)
{
	EXPECT_INT(frame_crc(0, "", 0), 0);
	EXPECT_INT(frame_crc(0, "123456789", 9), 0xcbf43926);
	EXPECT_INT(frame_crc(frame_crc(0, "1234", 4), "56789", 5), 0xcbf43926);
}

TEST(frame__lines_are_whole_and_summed)
{
	char got[2000] = "", want[1600];
	char longest[1500];
	struct frame *f;
	int fds[2];

	ASSERT(pipe(fds) == 0);
	f = frame_new(fds[1]);
	ASSERT(f);
	memset(longest, 'y', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	frame_line(f, "iobisect-begin %d", 1);
	frame_line(f, "error a\nb\tc");
	frame_line(f, "%s", longest);
	frame_end(f);
	EXPECT(f->ended);
	EXPECT(read(fds[0], got, sizeof(got) - 1) > 0);
	longest[1022] = '\0';
	snprintf(want, sizeof(want), "iobisect-begin 1\nerror a b c\n%s\n",
		 longest);
	EXPECT(!strncmp(got, want, strlen(want)));
	snprintf(longest, sizeof(longest), "iobisect-end 3 %08x\n",
		 (unsigned)frame_crc(0, want, strlen(want)));
	EXPECT_STR(got + strlen(want), longest);
	close(fds[0]);
	close(fds[1]);
}

TEST(clock__takes_the_counter_when_told_its_rate)
{
	long long a;

	clock_init("console=ttyS0 quiet");
	EXPECT(!clock_is_counter());
	clock_init("quiet xtsc_early_khz=2000000");
	EXPECT(!clock_is_counter());
	clock_init("quiet tsc_early_khz=nonsense");
	EXPECT(!clock_is_counter());
#ifdef __x86_64__
	clock_init("quiet tsc_early_khz=2000000 panic=-1");
	EXPECT(clock_is_counter());
	khz = -1; /* as in a process that was started by the first one */
	EXPECT(clock_is_counter());
	EXPECT_INT(khz, 2000000);
	a = clock_us();
	clock_sleep_us(20000);
	EXPECT(clock_us() > a + 5000 && clock_us() < a + 5000000);
#endif
	clock_init("");
	a = clock_us();
	clock_sleep_us(20000);
	EXPECT(clock_us() >= a + 20000);
}

TEST(clock__sources_that_count_ticks)
{
	EXPECT(clock_loses_time("jiffies"));
	EXPECT(clock_loses_time("refined-jiffies"));
	EXPECT(!clock_loses_time("tsc-early"));
	EXPECT(!clock_loses_time("acpi_pm"));
	EXPECT(!clock_loses_time("unknown"));
}

TEST(probe__nearest_ranks)
{
	uint32_t us[1000];
	struct probe_summary s;

	for (unsigned i = 0; i < 1000; i++)
		us[i] = (i * 7919) % 1000 + 1; /* 1 to 1000, shuffled */
	probe_summarise(&s, us, 1000);
	EXPECT_INT(s.n, 1000);
	EXPECT_INT(s.median_us, 500);
	EXPECT_INT(s.p99_us, 990);
	EXPECT_INT(s.worst_us, 1000);
	us[0] = 5;
	probe_summarise(&s, us, 1);
	EXPECT_INT(s.median_us, 5);
	EXPECT_INT(s.p99_us, 5);
	us[0] = 2, us[1] = 1, us[2] = 9;
	probe_summarise(&s, us, 3);
	EXPECT_INT(s.median_us, 2);
	EXPECT_INT(s.p99_us, 9);
	probe_summarise(&s, us, 0);
	EXPECT_INT(s.worst_us, 0);
}

static char dir[200], inner[250];

static void make_dir(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%s/iobisect-test-XXXXXX",
		 tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		abort();
	snprintf(inner, sizeof(inner), "%s/probe", dir);
}

static void drop_dir(void)
{
	char path[300];

	for (int i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "%s/probe%02d", inner, i);
		unlink(path);
	}
	rmdir(inner);
	rmdir(dir);
}

TEST(probe__looks_ten_times_a_second)
{
	struct probe_summary s = { 0 };
	struct probe *p;

	make_dir();
	EXPECT_INT(probe_prepare(inner, why, sizeof(why)), 0);
	p = probe_start(inner, why, sizeof(why));
	ASSERT(p);
	clock_sleep_us(560000);
	EXPECT_INT(probe_stop(&s, p, why, sizeof(why)), 0);
	EXPECT(s.n >= 1 && s.n <= 6);
	EXPECT(s.worst_us > 0 && s.median_us <= s.p99_us);
	drop_dir();
}

TEST(probe__looks_once_at_the_least)
{
	struct probe_summary s = { 0 };
	struct probe *p;

	make_dir();
	EXPECT_INT(probe_prepare(inner, why, sizeof(why)), 0);
	p = probe_start(inner, why, sizeof(why));
	ASSERT(p);
	EXPECT_INT(probe_stop(&s, p, why, sizeof(why)), 0);
	EXPECT_INT(s.n, 1);
	drop_dir();
}

TEST(probe__its_failure_is_told)
{
	struct probe_summary s;
	struct probe *p;

	make_dir();
	EXPECT_INT(probe_prepare("/nonexistent/x", why, sizeof(why)), -1);
	EXPECT(strstr(why, "mkdir /nonexistent/x: ") == why);
	p = probe_start(inner, why, sizeof(why)); /* it was never made */
	ASSERT(p);
	EXPECT_INT(probe_stop(&s, p, why, sizeof(why)), -1);
	EXPECT(strstr(why, "probe: list its directory: No such") == why);
	drop_dir();
}

TEST(probe__its_death_is_told)
{
	struct probe_summary s;
	struct probe *p;

	make_dir();
	EXPECT_INT(probe_prepare(inner, why, sizeof(why)), 0);
	p = probe_start(inner, why, sizeof(why));
	ASSERT(p);
	kill(p->pid, SIGKILL);
	EXPECT_INT(probe_stop(&s, p, why, sizeof(why)), -1);
	EXPECT_STR(why, "probe: it died of signal 9");
	drop_dir();
}

/* Five times slow: 20 ms of the drive are 100 ms of ours, for children too. */
TEST(clock__slow_motion_shows_the_drives_time)
{
	struct timespec a, b;
	long long start, ours;

	clock_slow(5);
	start = clock_us();
	clock_gettime(CLOCK_MONOTONIC, &a);
	clock_sleep_us(20000);
	clock_gettime(CLOCK_MONOTONIC, &b);
	ours = (b.tv_sec - a.tv_sec) * 1000000 + (b.tv_nsec - a.tv_nsec) / 1000;
	EXPECT(ours >= 100000);
	EXPECT(llabs((clock_us() - start) - ours / 5) < 5000);
	EXPECT_INT(clock_scaled(1000), 200);
	slow = 0; /* as in a process that was started later */
	EXPECT_INT(clock_scaled(1000), 200);
	clock_slow(1);
	unsetenv(SLOW);
	EXPECT_INT(clock_scaled(1000), 1000);
}
