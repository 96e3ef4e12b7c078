#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "endpoint.h"
#include "profile.h"
#include "server.h"
#include "store.h"
#include "str.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct options {
	const char *profile, *size, *data, *socket, *trace, *slow, *depth;
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
};
#define NOPTIONS (sizeof(options) / sizeof(*options))

static void help(void)
{
	puts("usage: iobisect-disk --size BYTES --data FILE --socket PATH "
	     "[OPTIONS]\n\n"
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
	     "Exit codes: 0 ended, 1 failed, 2 wrong options.");
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
		const struct option *opt = find(*argv);

		if (!opt)
			return err_set(e, "no option '%s': see --help", *argv);
		if (!argv[1])
			return err_set(e, "%s takes %s", *argv, opt->value);
		*(const char **)((char *)o + opt->field) = argv[1];
	}
	if (!o->size || !o->data || !o->socket)
		return err_set(e, "--size, --data and --socket are needed: see "
				  "--help");
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

static int serve(const struct options *o, struct server_config *c,
		 struct err *e)
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
	r = endpoint_open(&socket, o->socket, e);
	c->model = m;
	c->data = data;
	c->socket = socket.fd;
	c->report = report;
	if (!r) {
		r = server_run(&late, c, e);
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
	pid_t parent = getppid();
	struct err e;

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
	if (serve(&o, &c, &e)) {
		fprintf(stderr, "iobisect-disk: %s\n", e.msg);
		return EXIT_FAILED;
	}
	return 0;
}
