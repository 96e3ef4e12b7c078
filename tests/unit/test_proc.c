#include "test.h"

#include <signal.h>
#include <unistd.h>

#include "proc.h"

struct seen {
	int lines;
	char last[128];
};

static void on_line(void *ctx, const char *line)
{
	struct seen *s = ctx;

	s->lines++;
	snprintf(s->last, sizeof(s->last), "%s", line);
}

static int run(struct proc_result *r, const char *script, double timeout,
	       struct seen *seen)
{
	const char *argv[] = { "sh", "-c", script, NULL };
	struct proc_stream st[] = { { .child_fd = 1, .line = on_line },
				    { .child_fd = 3, .line = on_line } };
	struct proc_spec spec = { .argv = argv, .streams = st, .nstreams = 2,
				  .timeout = timeout, .ctx = seen };
	struct err e = { "" };

	return proc_run(r, &spec, &e);
}

TEST(proc__exit_code_and_lines_of_both_streams)
{
	struct seen s = { 0 };
	struct proc_result r;

	ASSERT(run(&r, "echo a; echo b >&2; printf c >&3; exit 7", 10, &s) == 0);
	EXPECT_INT(r.code, 7);
	EXPECT_INT(s.lines, 3);
}

TEST(proc__missing_program_is_an_error)
{
	const char *argv[] = { "iobisect-no-such-program", NULL };
	struct err e = { "" };

	EXPECT_INT(proc_capture(NULL, argv, 5, &e), -1);
	EXPECT(strstr(e.msg, "iobisect-no-such-program"));
	EXPECT(!proc_find("iobisect-no-such-program"));
	EXPECT(proc_find("sh"));
	EXPECT(!proc_find("/tmp"));
}

TEST(proc__capture_fails_with_the_last_line)
{
	const char *argv[] = { "sh", "-c", "echo x; echo the reason; exit 3",
			       NULL };
	struct err e = { "" };

	EXPECT_INT(proc_capture(NULL, argv, 5, &e), -1);
	EXPECT(strstr(e.msg, "the reason"));
}

TEST(proc__timeout_kills_the_whole_group)
{
	struct seen s = { 0 };
	struct proc_result r;
	double start = now_s();

	ASSERT(run(&r, "sleep 60 & echo $!; wait", 0.3, &s) == 0);
	EXPECT(r.timed_out && r.signal == SIGKILL);
	EXPECT(now_s() - start < 5);
	EXPECT_INT(s.lines, 1);
	EXPECT(kill(atol(s.last), 0) != 0);
}

TEST(proc__a_child_left_behind_is_killed)
{
	struct seen s = { 0 };
	struct proc_result r;

	ASSERT(run(&r, "sleep 60 >/dev/null 2>&1 3>&1 & echo $!", 10, &s) == 0);
	EXPECT_INT(r.code, 0);
	EXPECT(atol(s.last) > 0 && kill(atol(s.last), 0) != 0);
}

static int stop_now(void *ctx)
{
	(void)ctx;
	return 1;
}

TEST(proc__tick_stops)
{
	const char *argv[] = { "sleep", "60", NULL };
	struct proc_spec spec = { .argv = argv, .timeout = 60,
				  .tick = stop_now };
	struct proc_result r;
	struct err e = { "" };

	ASSERT(proc_run(&r, &spec, &e) == 0);
	EXPECT(r.stopped && r.wall < 5);
}

/* kill -9 of the caller: the guard ends the child. */
TEST(proc__child_dies_with_us)
{
	int p[2];
	pid_t pid, child = 0;
	double start = now_s();

	ASSERT(pipe(p) == 0);
	pid = fork();
	if (pid == 0) {
		const char *argv[] = { "sh", "-c", "echo $$ >&9; sleep 60",
				       NULL };
		int keep[] = { 9 };
		struct proc_spec spec = { .argv = argv, .timeout = 60,
					  .inherit = keep, .ninherit = 1 };
		struct proc_result r;
		struct err e;

		dup2(p[1], 9);
		proc_run(&r, &spec, &e);
		_exit(0);
	}
	char buf[32] = "";
	ASSERT(read(p[0], buf, sizeof(buf) - 1) > 0);
	child = (pid_t)atol(buf);
	EXPECT(kill(child, 0) == 0);
	kill(pid, SIGKILL);
	while (kill(child, 0) == 0 && now_s() - start < 5)
		usleep(10000);
	EXPECT(kill(child, 0) != 0);
	close(p[0]);
	close(p[1]);
}

/* In a session of its own, where killing the group does not reach it. */
TEST(proc__a_child_that_left_the_group_is_killed_too)
{
	struct seen s = { 0 };
	struct proc_result r;
	double start = now_s();

	ASSERT(run(&r, "setsid sh -c 'echo $$; setsid sleep 60 & wait' &"
		       "sleep 0.2; exit 3",
		   10, &s) == 0);
	EXPECT_INT(r.code, 3);
	EXPECT(now_s() - start < 4);
	EXPECT(atol(s.last) > 0 && kill(atol(s.last), 0) != 0);
}

TEST(proc__the_timeout_holds_for_one_that_left_the_group)
{
	struct seen s = { 0 };
	struct proc_result r;
	double start = now_s();

	ASSERT(run(&r, "setsid sh -c 'echo $$; while :; do echo x >&3; done' &"
		       "wait",
		   0.3, &s) == 0);
	EXPECT(r.timed_out && r.signal == SIGKILL);
	EXPECT(now_s() - start < 5);
}
