/* The only JSON: the question, the journal's events, and what --json prints.
 * jansson lives here. The formats are in docs/session.md. */
#ifndef RECORD_H
#define RECORD_H

#include "types.h"
#include "verdict.h"

/* What a session asks; written once by start. Strings are never NULL unless
 * said. */
struct question {
	bool first_parent;
	struct strv paths;
	char *term_old, *term_new;
	struct strv workloads; /* canonical specs; exec: with a full path */
	char *device;          /* a name of qemu/, or a path of a real one */
	char *drive;           /* a name of qemu/drives/, or a path; NULL: no
				* mechanics */
	int slow;              /* slow motion of the drive; 1: none */
	char *erase;           /* the confirmed serial of a real one; or NULL */
	char *fs;
	char *threshold;       /* as given, or NULL */
	int runs;              /* boots of each endpoint */
	int mem_mb;
	long long drive_bytes;
	char *machine, *accel, *cc; /* cc may be NULL */
	char *config;               /* path, or NULL */
	struct strv config_fragments; /* paths */
	int jobs;              /* 0: one for each CPU */
	/* "SHA-256 PATH" of every file of the user's above: exec: programs,
	 * config and fragments. Empty in a session of an older iobisect. */
	struct strv sums;
};
void question_release(struct question *q);

enum event_kind {
	EVENT_MARK,   /* a person's word on a commit */
	EVENT_RULE,   /* the endpoints were measured: how to judge */
	EVENT_BUILD,  /* a kernel was built, or cannot be */
	EVENT_TRIAL,  /* a boot */
	EVENT_NEXT,   /* the commit that was chosen to be tested */
	EVENT_CONFIRM, /* a culprit's confirmation begins: only boots after
			* this one count for it */
	EVENT_END,    /* a run came to an answer */
	EVENT_TIME,   /* what a run spent */
};

struct event {
	enum event_kind kind;
	int64_t time;          /* Unix seconds */
	char commit[HEX_SIZE]; /* "" for RULE and TIME */
	enum mark mark;        /* MARK; END: BAD found, SKIP a range is left */
	char *why;             /* MARK, END: may be NULL */
	struct kernel kernel;  /* BUILD */
	struct trial trial;    /* TRIAL */
	struct verdict_rule rule; /* RULE */
	double wall_s, make_s, qemu_s, mkfs_s, wait_s; /* TIME */
};
void event_release(struct event *ev);

/* JSON text without a newline; the caller frees. */
char *record_question(const struct question *q);
int record_question_parse(struct question *out, const char *text,
			  struct err *e);
char *record_event(const struct event *ev);
int record_event_parse(struct event *out, const char *text, struct err *e);

/* One kernel's row in a bench or a status: several boots of one workload. */
struct row {
	char *kernel;   /* what to call it */
	char *commit;   /* hex, or "" */
	char *subject;  /* or "" */
	char *workload; /* canonical spec, or "" when there is no boot */
	char *note;     /* why there is no number, or NULL */
	char *verdict;  /* term, "skip", "weak", or NULL when not judged */
	struct verdict_summary elapsed, user, sys, cpu, sync, throughput, worst;
};
void row_release(struct row *r);

/* What status, run and test print under --json. Unset members are left out. */
struct answer {
	const char *state; /* "waiting", "running", "found", "range",
			    * "conflict", "bench", "test" */
	const char *note;  /* conflict: what contradicts what */
	const char *culprit, *subject, *verdict, *next;
	const struct strv *suspects;
	const struct verdict_rule *rule;
	int steps, commits; /* < 0: left out */
	const struct row *rows;
	int nrows;
};
char *record_answer(const struct answer *a); /* indented; caller frees */

/* drives --json: one line a drive */
struct drives_entry;
char *record_drive(const struct drives_entry *d);

/* doctor --json */
struct finding {
	const char *what, *detail, *install;
	bool ok, required;
};
char *record_findings(const struct finding *f, int n);

#endif
