#include "proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_STREAMS 4
#define MAX_LINE 65536
#define MOST_LOG (32u << 20)
/* For what SIGKILL does not end at once, and for what is still in a pipe. */
#define END_S 2.0

/* A handler can reach nothing but a global. */
static volatile sig_atomic_t interrupted;

void proc_interrupt(int sig)
{
	interrupted = sig;
}

int proc_interrupted(void)
{
	return interrupted;
}

/* A directory can be "executed" as well. */
static bool is_program(const char *path)
{
	return access(path, X_OK) == 0 && file_is_regular(path);
}

char *proc_which(const char *name, const char *more)
{
	const char *path = getenv("PATH");
	AUTOFREE char *all = xfmt("%s:%s", path ? path : "/usr/bin:/bin", more);
	CLEANUP(strv_release) struct strv dirs = STRV_INIT;

	if (strchr(name, '/'))
		return is_program(name) ? xstrdup(name) : NULL;
	strv_split(&dirs, all, ':');
	for (size_t i = 0; i < dirs.n; i++) {
		AUTOFREE char *p = xfmt("%s/%s", dirs.v[i], name);

		if (*dirs.v[i] && is_program(p))
			return take_ptr(p);
	}
	return NULL;
}

bool proc_find(const char *name)
{
	AUTOFREE char *path = proc_which(name, "");

	return path != NULL;
}

/* What the guard tells us: first whether exec worked, then how it ended. */
struct report {
	int exec_errno; /* 0: the program runs */
	int status;     /* as from wait */
	double cpu;
};

/* Descriptors are moved out of the way first: a stream's number in the child
 * can be the number of another pipe in the parent. */
static int above(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 64);
}

static void child_exec(const struct proc_spec *spec, const int *write_ends,
		       int exec_pipe)
{
	int null, err, moved[MAX_STREAMS];
	sigset_t none;

	err = above(exec_pipe);
	for (int i = 0; i < spec->nstreams; i++)
		moved[i] = above(write_ends[i]);
	null = open("/dev/null", O_RDWR);
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	if (null > 2)
		close(null);
	for (int i = 0; i < spec->ninherit; i++)
		fcntl(spec->inherit[i], F_SETFD, 0);
	for (int i = 0; i < spec->nstreams; i++) {
		dup2(moved[i], spec->streams[i].child_fd);
		if (spec->streams[i].child_fd == 1)
			dup2(moved[i], 2);
	}
	for (size_t i = 0; spec->env && spec->env[i]; i++)
		putenv((char *)spec->env[i]);
	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (!spec->dir || chdir(spec->dir) == 0)
		execvp(spec->argv[0], (char *const *)spec->argv);
	if (write(err, &errno, sizeof(errno)) < 0)
		_exit(126);
	_exit(127);
}

static void wake(int sig)
{
	(void)sig;
}

/* The parent's number in /proc/PID/stat, whose second field may hold anything
 * but ends with the last parenthesis; 0 when there is none. */
static pid_t parent_of(const char *pid)
{
	char path[300], text[512];
	int ppid = 0;
	AUTOFD int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	if (!strrchr(text, ')') ||
	    sscanf(strrchr(text, ')'), ") %*c %d", &ppid) != 1)
		return 0;
	return ppid;
}

static void kill_children(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    parent_of(entry->d_name) == getpid())
			kill((pid_t)strtol(entry->d_name, NULL, 10), SIGKILL);
	if (proc)
		closedir(proc);
}

/* A process that left the group is ours all the same once its parents are dead:
 * the guard is their reaper. Each round finds the children of the round before.
 * What even SIGKILL does not end, waiting for a broken drive, is left to
 * itself. */
static void end_all(pid_t child, int *status, struct rusage *use)
{
	double start = now_s();

	kill(-child, SIGKILL);
	while (now_s() - start < END_S) {
		struct rusage r;
		int s;
		pid_t got = wait4(-1, &s, WNOHANG, &r);

		if (got < 0)
			return;
		if (got == child) {
			*status = s;
			*use = r;
		}
		if (got > 0)
			continue;
		kill_children();
		usleep(2000);
	}
}

/* Lives between us and the child. Ends the group when life's other end, which
 * only we hold, is closed. */
static void guard(const struct proc_spec *spec, const int *write_ends, int life,
		  int out)
{
	struct report r = { 0 };
	struct rusage use = { 0 };
	struct sigaction sa = { .sa_handler = wake };
	sigset_t chld, before;
	int exec_pipe[2];
	pid_t pid;

	setpgid(0, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGCHLD, &sa, NULL);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, &before);
	if (pipe2(exec_pipe, O_CLOEXEC))
		_exit(1);
	pid = fork();
	if (pid < 0)
		_exit(1);
	if (pid == 0) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		child_exec(spec, write_ends, exec_pipe[1]);
	}
	setpgid(pid, pid);
	close(exec_pipe[1]);
	for (int i = 0; i < spec->nstreams; i++)
		close(write_ends[i]);
	if (read(exec_pipe[0], &r.exec_errno, sizeof(int)) < 0)
		r.exec_errno = EIO;
	for (;;) {
		struct pollfd p = { .fd = life, .events = POLLIN };
		pid_t got = wait4(pid, &r.status, WNOHANG, &use);

		if (got == pid)
			break;
		if (ppoll(&p, 1, NULL, &before) > 0) {
			r.status = SIGKILL;
			break;
		}
	}
	end_all(pid, &r.status, &use);
	r.cpu = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
		(double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
	_exit(write(out, &r, sizeof(r)) == sizeof(r) ? 0 : 1);
}

/* The parent's side of one stream. */
struct reader {
	int fd, log;
	size_t logged;
	struct str line;
};

static void take_bytes(struct reader *r, const struct proc_spec *spec,
		       const struct proc_stream *s, const char *p, size_t n)
{
	size_t room = MOST_LOG - r->logged, kept = n < room ? n : room;

	r->logged += kept;
	if (r->log >= 0 && fd_write(r->log, p, kept)) {
		/* A log that cannot grow must not stop the run; what needed
		 * the space will fail with a message of its own. */
		close(r->log);
		r->log = -1;
	}
	if (!s->line)
		return;
	for (size_t i = 0; i < n; i++) {
		if (p[i] == '\0')
			continue;
		if (p[i] != '\n')
			str_putc(&r->line, p[i]);
		if (p[i] == '\n' || r->line.len >= MAX_LINE) {
			s->line(spec->ctx, str_c(&r->line));
			str_reset(&r->line);
		}
	}
}

/* True until the stream's end. */
static bool read_some(struct reader *r, const struct proc_spec *spec,
		      const struct proc_stream *s)
{
	char buf[16384];
	ssize_t n = read(r->fd, buf, sizeof(buf));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (n > 0) {
		take_bytes(r, spec, s, buf, (size_t)n);
		return true;
	}
	if (r->line.len && s->line)
		s->line(spec->ctx, str_c(&r->line));
	str_reset(&r->line);
	return false;
}

static void end_stream(struct reader *r)
{
	close(r->fd);
	if (r->log >= 0)
		close(r->log);
	r->fd = r->log = -1;
	str_release(&r->line);
}

/* Reads the streams until the guard has reported, and then what is left in
 * them. life is closed to stop the child. */
static int watch(struct report *rep, struct proc_result *out,
		 const struct proc_spec *spec, struct reader *readers, int *life,
		 int report_fd)
{
	double start = now_s(), last_tick = start, end = 0;
	bool reported = false;

	for (;;) {
		struct pollfd p[MAX_STREAMS + 1];
		int open_streams = 0, n;

		for (int i = 0; i < spec->nstreams; i++) {
			p[i] = (struct pollfd){ .fd = readers[i].fd,
						.events = POLLIN };
			open_streams += readers[i].fd >= 0;
		}
		p[spec->nstreams] = (struct pollfd){
			.fd = reported ? -1 : report_fd, .events = POLLIN
		};
		if (reported && !open_streams)
			return 0;
		n = poll(p, (nfds_t)spec->nstreams + 1, 50);
		/* somebody else holds the pipe */
		if (reported && (n == 0 || now_s() - end > END_S))
			return 0;
		for (int i = 0; n > 0 && i < spec->nstreams; i++)
			if (p[i].revents &&
			    !read_some(&readers[i], spec, &spec->streams[i]))
				end_stream(&readers[i]);
		if (n > 0 && p[spec->nstreams].revents) {
			if (read(report_fd, rep, sizeof(*rep)) != sizeof(*rep))
				return -1;
			reported = true;
			end = now_s();
			out->wall = end - start;
		}
		if (reported || *life < 0)
			continue;
		if (now_s() - start > spec->timeout)
			out->timed_out = true;
		if (spec->tick && now_s() - last_tick >= 0.05) {
			last_tick = now_s();
			out->stopped = spec->tick(spec->ctx) != 0;
		}
		if (out->timed_out || out->stopped || interrupted) {
			close(*life);
			*life = -1;
		}
	}
}

static int open_pipes(int pipes[][2], int n, struct err *e)
{
	for (int i = 0; i < n; i++) {
		if (pipe2(pipes[i], O_CLOEXEC) == 0)
			continue;
		err_set(e, "create a pipe: %m");
		while (i--) {
			close(pipes[i][0]);
			close(pipes[i][1]);
		}
		return -1;
	}
	return 0;
}

static int open_reader(struct reader *r, const struct proc_stream *s, int fd,
		       struct err *e)
{
	*r = (struct reader){ .fd = fd, .log = -1 };
	if (!s->log)
		return 0;
	r->log = open(s->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	return r->log < 0 ? err_set(e, "open %s: %m", s->log) : 0;
}

int proc_run(struct proc_result *out, const struct proc_spec *spec,
	     struct err *e)
{
	int pipes[MAX_STREAMS + 2][2], ends[MAX_STREAMS], bad = 0;
	int *life = pipes[spec->nstreams], *report = pipes[spec->nstreams + 1];
	struct reader readers[MAX_STREAMS];
	struct report rep = { 0 };
	pid_t pid;

	if (spec->nstreams > MAX_STREAMS || spec->timeout <= 0)
		BUG("%s: %d streams, timeout %g", spec->argv[0], spec->nstreams,
		    spec->timeout);
	*out = (struct proc_result){ .code = -1 };
	if (interrupted)
		return err_set(e, "interrupted before %s", spec->argv[0]);
	if (open_pipes(pipes, spec->nstreams + 2, e))
		return -1;
	for (int i = 0; i < spec->nstreams; i++) {
		ends[i] = pipes[i][1];
		bad |= open_reader(&readers[i], &spec->streams[i], pipes[i][0],
				   e);
	}
	pid = bad ? -1 : fork();
	if (pid == 0) {
		close(life[1]);
		guard(spec, ends, life[0], report[1]);
	}
	if (pid < 0 && !bad)
		bad = err_set(e, "fork: %m");
	for (int i = 0; i < spec->nstreams; i++)
		close(pipes[i][1]);
	close(life[0]);
	close(report[1]);
	if (!bad && watch(&rep, out, spec, readers, &life[1], report[0]))
		bad = err_set(e, "run %s: its guard process died",
			      spec->argv[0]);
	for (int i = 0; i < spec->nstreams; i++)
		if (readers[i].fd >= 0)
			end_stream(&readers[i]);
	if (life[1] >= 0)
		close(life[1]);
	close(report[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (bad)
		return -1;
	if (rep.exec_errno) {
		errno = rep.exec_errno;
		return err_set(e, "run %s: %m", spec->argv[0]);
	}
	if (interrupted)
		return err_set(e, "interrupted while %s ran", spec->argv[0]);
	out->cpu = rep.cpu;
	if (WIFEXITED(rep.status))
		out->code = WEXITSTATUS(rep.status);
	else
		out->signal = WTERMSIG(rep.status);
	return 0;
}

struct capture {
	struct str *out;
	struct str last;
};

static void capture_line(void *ctx, const char *line)
{
	struct capture *c = ctx;

	if (c->out)
		str_fmt(c->out, "%s\n", line);
	if (*line) {
		str_reset(&c->last);
		str_puts(&c->last, line);
	}
}

int proc_capture(struct str *out, const char *const *argv, double timeout,
		 struct err *e)
{
	struct capture c = { .out = out, .last = STR_INIT };
	struct proc_stream s = { .child_fd = 1, .line = capture_line };
	struct proc_spec spec = { .argv = argv, .streams = &s, .nstreams = 1,
				  .timeout = timeout, .ctx = &c };
	struct proc_result r;
	int bad = proc_run(&r, &spec, e);

	if (!bad && r.timed_out)
		bad = err_set(e, "%s: no end after %.0f s", argv[0], timeout);
	else if (!bad && r.code != 0)
		bad = err_set(e, "%s: exit %d: %s", argv[0], r.code,
			      str_c(&c.last));
	str_release(&c.last);
	return bad;
}
