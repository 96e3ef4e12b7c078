/* The command line. One table says which options there are, which commands take
 * them, and what --help prints. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "record.h"
#include "types.h"

/* Which options a command takes. */
enum {
	TAKES_REPO = 1 << 0,     /* --repo, --session */
	TAKES_QUESTION = 1 << 1, /* workloads, device, kernel, ... */
	TAKES_ENDS = 1 << 2,     /* --good, --bad, terms, --first-parent */
	TAKES_JSON = 1 << 3,
	TAKES_PATHS = 1 << 4, /* -- PATHS */
	TAKES_TRACE = 1 << 5,
};

struct options {
	bool help, json, verbose, first_parent;
	char *repo, *session, *bad, *term_old, *term_new;
	struct strv goods;
	struct strv workloads; /* as given, not yet split */
	char *device, *drive, *slow, *erase, *fs, *threshold, *size, *mem, *runs, *jobs;
	char *blktrace;
	char *machine, *accel, *cc, *config;
	struct strv fragments;
	struct strv args;  /* what is no option */
	struct strv paths; /* after -- */
};
void options_release(struct options *o);

/* argv without the program and command names. Unknown options, missing or
 * superfluous arguments: -1. */
int options_parse(struct options *out, char **argv, int takes, struct err *e);
/* Appends the options of a command, one a line. */
void options_help(struct str *out, int takes);
/* For the test that every option is documented: the i'th "--name", or NULL. */
const char *options_name(int i);

/* Whether an option of one of these kinds was given. */
bool options_given(const struct options *o, int takes);

/* Splits "w1:k=v,k=v,w2" at the commas before which a workload's name stands,
 * and appends the canonical specs. exec: takes the rest, as a full path. */
int options_workloads(struct strv *out, const char *text, struct err *e);
/* A whole question out of the options and the defaults. */
int options_question(struct question *out, const struct options *o,
		     struct err *e);

#endif
