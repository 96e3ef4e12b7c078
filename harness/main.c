#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "proc.h"

#define VERSION "0.1"

struct command {
	const char *name;
	int (*fn)(struct ctx *c, struct err *e);
	int takes;
	const char *usage, *summary;
};

#define QUESTION (TAKES_REPO | TAKES_QUESTION)

static const struct command commands[] = {
	{ "start", cmd_start, QUESTION | TAKES_ENDS | TAKES_PATHS,
	  "[--good REV]... [--bad REV] [OPTIONS] [BAD [GOOD...]] [-- PATHS]",
	  "begin a bisection" },
	{ "run", cmd_run, TAKES_REPO | TAKES_JSON, "",
	  "build, boot and measure until the commit is found; goes on where it "
	  "was stopped" },
	{ "good", cmd_mark, TAKES_REPO, "[REV...]",
	  "say that a commit writes fast (the one that next chose)" },
	{ "bad", cmd_mark, TAKES_REPO, "[REV]",
	  "say that a commit writes slowly" },
	{ "skip", cmd_mark, TAKES_REPO, "[REV|A..B...]",
	  "say that a commit cannot be tested" },
	{ "next", cmd_next, TAKES_REPO, "",
	  "choose the commit to test next, and print it" },
	{ "test", cmd_test, QUESTION | TAKES_JSON, "[REV|BZIMAGE]",
	  "build, boot and judge one kernel (HEAD): exit 0 good, 1 bad, 125 "
	  "untestable; for git bisect run" },
	{ "bench", cmd_bench, QUESTION | TAKES_JSON, "REV|BZIMAGE...",
	  "measure kernels side by side and print the table" },
	{ "status", cmd_status, TAKES_REPO | TAKES_JSON, "",
	  "what is known so far" },
	{ "log", cmd_log, TAKES_REPO, "",
	  "the bisection as git bisect log writes it, with the times" },
	{ "replay", cmd_replay, QUESTION, "FILE",
	  "begin from such a log, ours or git's" },
	{ "reset", cmd_reset, TAKES_REPO, "",
	  "end the bisection; its directory is kept aside" },
	{ "drives", cmd_drives, TAKES_JSON, "",
	  "the modelled drives that --drive can name" },
	{ "trace", cmd_trace, TAKES_REPO | TAKES_TRACE, "BOOT|FILE",
	  "what reached the modelled drive in a boot of this bisection, or in a "
	  "trace's file" },
	{ "doctor", cmd_doctor, TAKES_QUESTION | TAKES_JSON, "",
	  "check every tool that is needed, and say what to install" },
};

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static void usage(FILE *f)
{
	fputs("usage: iobisect COMMAND [OPTIONS]   (also: git iobisect)\n\n"
	      "Finds the kernel commit that made disk writes slower.\n\n",
	      f);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(f, "  %-8s %s\n", commands[i].name,
			commands[i].summary);
	fputs("\nIn a kernel repository:\n"
	      "  iobisect start --good v6.1 --bad v6.2\n"
	      "  iobisect run\n\n"
	      "iobisect COMMAND --help tells more, and so does man iobisect.\n"
	      "Exit codes: 0 found or good, 1 bad, 2 only untestable commits "
	      "are left,\n125 untestable, 128 and more: the harness failed.\n",
	      f);
}

static void command_help(const struct command *cmd)
{
	CLEANUP(str_release) struct str s = STR_INIT;

	str_fmt(&s, "usage: iobisect %s %s\n\n%s\n\n", cmd->name, cmd->usage,
		cmd->summary);
	options_help(&s, cmd->takes);
	fputs(str_c(&s), stdout);
}

static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = proc_interrupt };
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* the write fails instead, and says so */
}

static int no_args(const struct ctx *c, struct err *e)
{
	static const char *const bare[] = { "run", "next", "status", "log",
					    "reset", "doctor", "drives" };

	for (size_t i = 0; i < ARRAY_SIZE(bare); i++)
		if (!strcmp(c->verb, bare[i]) && c->o.args.n)
			return err_set(e, "%s takes no argument: '%s'",
				       c->verb, c->o.args.v[0]);
	return 0;
}

static int run_command(const struct command *cmd, struct ctx *c, char **argv)
{
	struct err e = { "" };
	int code;

	if (options_parse(&c->o, argv, cmd->takes, &e) || no_args(c, &e)) {
		fprintf(stderr, "iobisect %s: %s\n", c->verb, e.msg);
		return EXIT_USAGE;
	}
	if (c->o.help) {
		command_help(cmd);
		return 0;
	}
	c->p = progress_new(stderr, c->o.verbose);
	code = cmd->fn(c, &e);
	progress_free(c->p);
	if (proc_interrupted()) {
		fputs("iobisect: stopped; nothing is lost, the same command "
		      "goes on\n",
		      stderr);
		return EXIT_INTERRUPTED;
	}
	if (code < 0) {
		fprintf(stderr, "iobisect: %s\n", e.msg);
		return EXIT_HARNESS;
	}
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "iobisect: write the result: %m\n");
		return EXIT_HARNESS;
	}
	return code;
}

int main(int argc, char **argv)
{
	struct ctx c = { .out = stdout };
	const struct command *cmd;
	int code;

	if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "help")) {
		if (argc > 2 && (cmd = find_command(argv[2])))
			command_help(cmd);
		else
			usage(argc < 2 ? stderr : stdout);
		return argc < 2 ? EXIT_USAGE : 0;
	}
	if (!strcmp(argv[1], "--version")) {
		puts("iobisect " VERSION);
		return 0;
	}
	/* A word that is no command may be a renamed term of the session. */
	cmd = find_command(argv[1]);
	if (!cmd && argv[1][0] != '-')
		cmd = find_command("good");
	if (!cmd) {
		fprintf(stderr, "iobisect: unknown option '%s': see --help\n",
			argv[1]);
		return EXIT_USAGE;
	}
	c.verb = argv[1];
	catch_signals();
	code = run_command(cmd, &c, argv + 2);
	options_release(&c.o);
	return code;
}
