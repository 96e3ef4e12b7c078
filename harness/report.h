/* Pure: results -> text for people. */
#ifndef REPORT_H
#define REPORT_H

#include "record.h"
#include "types.h"

/* The reporters' table: kernel | user | system | elapsed | CPU %, medians with
 * half the range as spread, a block for each workload, and the share of sync,
 * the throughput and the responsiveness. Rows without boots show their note. */
void report_table(struct str *out, const struct row *rows, int n);

/* What a finished search says: as git bisect does, then how sure it is. */
struct report_found {
	const struct commit *culprit; /* NULL: a range is left */
	const struct strv *suspects;  /* "hex subject", for the range */
	const struct strv *paths;     /* changed by the culprit */
	const struct verdict_rule *rule;
	const char *term_new, *confirmation;
	bool confirmed;
	double slow, fast; /* s, culprit and parent booted again; 0: unknown */
};
void report_answer(struct str *out, const struct report_found *r);

/* "took 6 min 02 s: make 71 %, QEMU 27 %, ..." from a TIME event. */
void report_time(struct str *out, const struct event *ev);

#endif
