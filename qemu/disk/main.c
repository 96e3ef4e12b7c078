#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "endpoint.h"
#include "profile.h"
#include "server.h"
#include "store.h"
#include "str.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };
/* After the connection's end. */
enum { COMMAND_END_MS = 5000 };

struct options {
	const char *profile, *size, *data, *socket, *trace, *slow, *depth;
	const char *client;
	char **command; /* NULL: none */
};

static const struct option {
	const char *name, *value, *help;
	size_t field;
} options[] = {
#define FIELD(f) offsetof(struct options, f)
	{ "profile", "FILE", "the drive, as in qemu/drives/; without it nothing "
	  "costs time", FIELD(profile) },
	{ "size", "BYTES", "its size, a multiple of 512; k, M and G are known",
	  FIELD(size) },
	{ "data", "FILE", "what is on it, or fd:N; made longer where it is too "
	  "short", FIELD(data) },
	{ "socket", "PATH", "where it listens, in a directory of its own, or "
	  "fd:N: a socket that\n                  listens, or is connected",
	  FIELD(socket) },
	{ "trace", "FILE", "record every request there", FIELD(trace) },
	{ "slow", "N", "be N times slower (1)", FIELD(slow) },
	{ "depth", "N", "requests in the drive at once, 1 to 64 (16)",
	  FIELD(depth) },
	{ "client", "N", "the descriptor on which COMMAND finds its connection "
	  "to the drive", FIELD(client) },
};
#define NOPTIONS (sizeof(options) / sizeof(*options))

static void help(void)
{
	puts("usage: iobisect-disk --size BYTES --data FILE --socket PATH "
	     "[OPTIONS]\n"
	     "       iobisect-disk --size BYTES --data FILE --client N "
	     "[OPTIONS] -- COMMAND...\n\n"
	     "A drive that takes as long as a real one would: an NBD server, "
	     "one thread,\nrequests in order of arrival.\n");
	for (size_t i = 0; i < NOPTIONS; i++)
		printf("  --%-7s %-6s %s\n", options[i].name, options[i].value,
		       options[i].help);
	puts("  --help\n\n"
	     "It ends with its parent, by SIGTERM, or with the client of a "
	     "connected socket.\nThen, and upon SIGUSR1, it prints how many "
	     "requests it served, and how late:\nnanoseconds of real time, 99 % "
	     "and the worst.\n"
	     "Exit codes: 0 ended, 1 failed, 2 wrong options; COMMAND's own "
	     "where there is one.");
}

static const struct option *find(const char *arg)
{
	for (size_t i = 0; i < NOPTIONS; i++)
		if (str_starts(arg, "--") && !strcmp(arg + 2, options[i].name))
			return &options[i];
	return NULL;
}

static int parse(struct options *o, char **argv, struct err *e)
{
	for (; *argv; argv += 2) {
		const struct option *opt;

		if (!strcmp(*argv, "--")) {
			o->command = argv + 1;
			break;
		}
		opt = find(*argv);
		if (!opt)
			return err_set(e, "no option '%s': see --help", *argv);
		if (!argv[1])
			return err_set(e, "%s takes %s", *argv, opt->value);
		*(const char **)((char *)o + opt->field) = argv[1];
	}
	if (!o->size || !o->data || !(o->socket || o->command))
		return err_set(e, "--size, --data and --socket are needed: see "
				  "--help");
	if (o->command && (!*o->command || !o->client || o->socket))
		return err_set(e, "a command needs --client, and no --socket: "
				  "see --help");
	return 0;
}

static int numbers(struct server_config *c, const struct options *o,
		   struct err *e)
{
	long long size, slow, depth;

	if (parse_size(&size, o->size) || size < 512 || size % 512 ||
	    (uint64_t)size / 512 > TRACE_SECTORS_MAX)
		return err_set(e, "--size is bytes, a multiple of 512, and not "
				  "'%s'",
			       o->size);
	if (parse_int(&slow, o->slow ? o->slow : "1", 1, 1000))
		return err_set(e, "--slow is a whole number from 1 to 1000, and "
				  "not '%s'",
			       o->slow);
	if (parse_int(&depth, o->depth ? o->depth : "16", 1, SERVER_DEPTH_MAX))
		return err_set(e, "--depth is a whole number from 1 to %d, and "
				  "not '%s'",
			       SERVER_DEPTH_MAX, o->depth);
	c->size = (uint64_t)size;
	c->slow = (unsigned)slow;
	c->depth = (unsigned)depth;
	return 0;
}

static void report(const struct late *l)
{
	printf("requests %llu\nlate_p99_ns %lld\nlate_worst_ns %lld\n",
	       (unsigned long long)l->n, (long long)late_quantile(l, 0.99),
	       (long long)l->worst);
	fflush(stdout);
}

static int start_trace(struct trace_writer **out, const char *path,
		       const char *profile, const struct server_config *c,
		       struct err *e)
{
	struct trace_head h = { .slow = c->slow, .sectors = c->size / 512 };
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	h.started = now.tv_sec * 1000000000ll + now.tv_nsec;
	snprintf(h.profile, sizeof(h.profile), "%s", profile);
	return trace_create(out, path, &h, e);
}

static void free_profile(struct profile **p)
{
	profile_free(*p);
}

static void free_model(struct model **m)
{
	model_free(*m);
}

/* The command */

struct command {
	pid_t pid; /* 0: none */
	int socket; /* our end */
};

static void become(char **argv, int socket, int client)
{
	sigset_t none;

	if (dup2(socket, client) < 0) {
		fprintf(stderr, "iobisect-disk: --client %d: %s\n", client,
			strerror(errno));
		_exit(EXIT_USAGE);
	}
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	execvp(argv[0], argv);
	fprintf(stderr, "iobisect-disk: run %s: %s\n", argv[0],
		strerror(errno));
	_exit(EXIT_FAILED);
}

/* It is connected before it starts, so there is no socket that another one
 * could find. */
static int command_start(struct command *c, const struct options *o,
			 struct err *e)
{
	long long client;
	int pair[2];

	if (parse_int(&client, o->client, 3, 1 << 20))
		return err_set(e, "--client is a descriptor from 3 on, and not "
				  "'%s'",
			       o->client);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_set(e, "make a connection: %m");
	c->pid = fork();
	if (c->pid == 0)
		become(o->command, pair[1], (int)client);
	close(pair[1]);
	c->socket = pair[0];
	return c->pid < 0 ? err_set(e, "run %s: %m", o->command[0]) : 0;
}

/* How it ended is how we end. It has let go of the drive, or we were told to
 * end; either way it has little left to do. */
static int command_wait(struct command *c)
{
	int status;

	close(c->socket);
	for (int i = 0; waitpid(c->pid, &status, WNOHANG) == 0; i++) {
		if (i == COMMAND_END_MS)
			kill(c->pid, SIGKILL);
		usleep(1000);
	}
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	return 128 + WTERMSIG(status);
}

static int serve(const struct options *o, struct server_config *c,
		 struct command *command, struct err *e)
{
	CLEANUP(endpoint_release) struct endpoint socket = ENDPOINT_INIT;
	CLEANUP(free_profile) struct profile *p = NULL;
	CLEANUP(free_model) struct model *m = NULL;
	AUTOFD int data = -1;
	struct late late;
	struct err other;
	int r;

	if (o->profile && profile_read(&p, o->profile, e))
		return -1;
	if (p && p->kind != PROFILE_NONE &&
	    model_new(&m, p, c->size / 512, e))
		return -1;
	if (store_open(&data, o->data, c->size, e))
		return -1;
	if (o->trace &&
	    start_trace(&c->trace, o->trace, p ? p->name : "none", c, e))
		return -1;
	/* Last: where there is a socket, all else is ready. */
	r = o->command ? command_start(command, o, e)
		       : endpoint_open(&socket, o->socket, e);
	c->model = m;
	c->data = data;
	c->socket = o->command ? command->socket : socket.fd;
	c->report = report;
	if (!r) {
		r = server_run(&late, c, e);
		if (!o->command)
			report(&late);
	}
	if (trace_close(c->trace, r ? &other : e))
		r = -1;
	return r;
}

int main(int argc, char **argv)
{
	struct options o = { NULL };
	struct server_config c = { 0 };
	struct command command = { 0 };
	pid_t parent = getppid();
	struct err e;
	int code = 0;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		help();
		return 0;
	}
	/* A parent that dies before this is seen by the second look. */
	server_block_signals();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGPIPE, SIG_IGN);
	if (argc < 1 || parse(&o, argv + 1, &e) || numbers(&c, &o, &e)) {
		fprintf(stderr, "iobisect-disk: %s\n", e.msg);
		return EXIT_USAGE;
	}
	if (getppid() != parent)
		return 0;
	if (serve(&o, &c, &command, &e)) {
		fprintf(stderr, "iobisect-disk: %s\n", e.msg);
		code = EXIT_FAILED;
	}
	if (command.pid > 0) {
		int its = command_wait(&command);

		code = code ? code : its;
	}
	return code;
}
