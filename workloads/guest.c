#include "guest.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "drive.h"
#include "job.h"
#include "probe.h"
#include "protocol.h"
#include "workload.h"
#include "writeback.h"

/* ext2 and ext3 spread the directories of a root over the drive at random, and
 * those of any other directory not. mke2fs leaves one that will do. */
#define QUIET_CORNER GUEST_MOUNT "/lost+found"

struct guest {
	struct frame *frame;
	struct job job;
	struct drive drive;
	const char *base;
	char probe_dir[64];
	char why[800];
};

static void say_clock(struct frame *f)
{
	struct timespec res = { 0 };
	char name[64];

	clock_source(name);
	clock_getres(CLOCK_MONOTONIC, &res);
	if (clock_is_counter())
		frame_line(f, "guest.clock tsc, kernel %s", name);
	else
		frame_line(f, "guest.clock %s", name);
	frame_line(f, "guest.clock_res_ns %lld",
		   (long long)res.tv_sec * 1000000000 + res.tv_nsec);
}

static void say_machine(struct guest *g)
{
	struct utsname u = { 0 };
	struct sysinfo s = { 0 };

	uname(&u);
	sysinfo(&s);
	frame_line(g->frame, "guest.release %s", u.release);
	say_clock(g->frame);
	frame_line(g->frame, "guest.mem_bytes %lld",
		   (long long)s.totalram * (s.mem_unit ? s.mem_unit : 1));
}

/* A wrong time is worse than none. The kernel may fall back at any moment. */
static int check_clock(struct guest *g)
{
	char name[64];

	clock_source(name);
	if (clock_is_counter() || !clock_loses_time(name))
		return 0;
	snprintf(g->why, sizeof(g->why),
		 "the kernel's clock, %s, loses time: boot with "
		 "tsc_early_khz=N, the processor's rate",
		 name);
	return -1;
}

static void say_result(struct frame *f, const struct result *r)
{
	frame_line(f, "elapsed_us %lld", r->elapsed_us);
	frame_line(f, "user_us %lld", r->user_us);
	frame_line(f, "sys_us %lld", r->sys_us);
	frame_line(f, "sync_us %lld", r->sync_us);
	frame_line(f, "written_bytes %lld", r->written);
}

static void say_probe(struct frame *f, const struct probe_summary *p)
{
	frame_line(f, "probe_n %u", p->n);
	frame_line(f, "probe_median_us %u", p->median_us);
	frame_line(f, "probe_p99_us %u", p->p99_us);
	frame_line(f, "probe_worst_us %u", p->worst_us);
}

/* The part under the clock, and the wait for the drive to come to rest. */
static int run_probed(struct result *r, struct probe_summary *seen,
		      long long *settle, struct guest *g, struct work *w)
{
	struct probe *p = NULL;
	int bad;

	if (g->job.probe) {
		p = probe_start(g->probe_dir, g->why, sizeof(g->why));
		if (!p)
			return -1;
	}
	bad = workload_run(r, w, g->why, sizeof(g->why));
	*settle = bad ? 0 : writeback_settle(clock_us());
	if (p && bad) {
		char ignored[200];

		probe_stop(seen, p, ignored, sizeof(ignored));
	} else if (p) {
		bad = probe_stop(seen, p, g->why, sizeof(g->why));
	}
	return bad;
}

static int one_workload(struct guest *g, int i)
{
	struct spec spec = g->job.workloads[i];
	struct probe_summary seen = { 0 };
	char text[SPEC_TEXT], dir[64];
	struct work w = { .spec = &spec,
			  .self = "/init",
			  .dir = dir,
			  .program = "/exec/program" };
	long long settle;
	struct result r;

	spec_format(text, &spec);
	spec_resolve(&spec, g->job.ram);
	snprintf(dir, sizeof(dir), "%s/w%d", g->base, i + 1);
	if (mkdir(dir, 0755)) {
		snprintf(g->why, sizeof(g->why), "mkdir %s: %m", dir);
		return -1;
	}
	writeback_start_cold();
	frame_line(g->frame, "workload.begin %s", text);
	frame_drain(g->frame);
	if (run_probed(&r, &seen, &settle, g, &w) || check_clock(g))
		return -1;
	say_result(g->frame, &r);
	say_probe(g->frame, &seen);
	frame_line(g->frame, "settle_us %lld", settle);
	frame_line(g->frame, "workload.end %s", text);
	return 0;
}

static int prepare(struct guest *g, long long started)
{
	char *why = g->why;
	size_t n = sizeof(g->why);
	struct stat st;

	if (job_read(&g->job, "/job", why, n) || check_clock(g) ||
	    drive_find(&g->drive, &g->job, why, n))
		return -1;
	frame_line(g->frame, "drive.path %s", g->drive.path);
	frame_line(g->frame, "drive.ready_ms %lld",
		   (clock_us() - started) / 1000);
	if (drive_mount(&g->drive, &g->job, GUEST_MOUNT, why, n) ||
	    writeback_slow(g->job.slow, why, n))
		return -1;
	clock_slow(g->job.slow);
	g->base = stat(QUIET_CORNER, &st) == 0 && S_ISDIR(st.st_mode)
			  ? QUIET_CORNER
			  : GUEST_MOUNT;
	snprintf(g->probe_dir, sizeof(g->probe_dir), "%s/probe", g->base);
	return g->job.probe ? probe_prepare(g->probe_dir, why, n) : 0;
}

void guest_run(struct frame *f, long long started)
{
	static struct guest g;
	int bad;

	g.frame = f;
	frame_line(f, PROTOCOL_BEGIN " %d", PROTOCOL_VERSION);
	say_machine(&g);
	bad = prepare(&g, started);
	for (int i = 0; !bad && i < g.job.n; i++)
		bad = one_workload(&g, i);
	if (bad)
		frame_line(f, "error %s", g.why);
	frame_end(f);
}
