/* What is known now: the replay of a session's journal over its history. Reads
 * the session and the history, writes nothing. */
#ifndef STATE_H
#define STATE_H

#include "history.h"
#include "search.h"
#include "session.h"

/* What is known of one commit. */
struct finding_of {
	char hex[HEX_SIZE];
	enum mark mark;      /* user's word, else build, boots and the rule */
	bool by_user;
	char *reason;        /* SKIP: why; may be NULL */
	const struct kernel *kernel; /* the last build, borrowed, or NULL */
	double *elapsed;     /* of the rule's workload, one a good boot; boots
			      * of other commits with the same kernel count */
	int n;
	int failed; /* boots that did not come to an end */
};
void finding_of_release(struct finding_of *f);

struct state {
	const struct session *s; /* borrowed */
	char bad[HEX_SIZE];      /* "" when not yet given */
	struct strv goods;
	char next[HEX_SIZE];     /* the commit last chosen, or "" */
	const struct verdict_rule *rule; /* borrowed, or NULL */
	bool has_dag;
	struct dag dag; /* when bad and a good are there */
	enum mark *marks;
};
void state_release(struct state *st);

/* Replays. Walks the history only when a bad and a good are known, and keeps the
 * dag of an earlier call while these are the same. */
int state_load(struct state *st, const struct session *s, struct history *h,
	       struct progress *p, struct err *e);
/* Looks at one commit. */
void state_find(struct finding_of *out, const struct state *st,
		const char *hex);
/* The same from the boots after event number since alone: no person's word. */
void state_find_since(struct finding_of *out, const struct state *st,
		      const char *hex, int since);
/* A copy of the session with these commits marked too, to see what would come of
 * it; nothing is written, and s must outlive it. */
void state_suppose(struct session *out, const struct session *s, enum mark m,
		   const struct strv *hexes);
void state_suppose_release(struct session *supposed);
/* The elapsed times of a workload on a commit's kernel; caller frees *out. */
int state_samples(double **out, const struct state *st, const char *hex,
		  const char *workload);
/* The last run's answer, or NULL: none, or marks came after it. END with mark
 * WEAK did not stand its confirmation. */
const struct event *state_end(const struct state *st);
/* The commits that were looked at, in order of their first event: endpoints
 * first. */
void state_tested(struct strv *out, const struct state *st);
/* A table's row for a commit and a workload. */
int state_row(struct row *out, const struct state *st, struct history *h,
	      const char *hex, const char *workload, struct err *e);
/* Rows of everything that was looked at, added to the n there are; the caller
 * releases each and frees, after an error too. */
int state_rows(struct row **rows, int *n, const struct state *st,
	       struct history *h, const char *workload, struct err *e);
/* The same from trials that are not in a session. */
void row_fill(struct row *out, const struct trial *const *trials, int n,
	      const char *workload);
/* The name of a mark under this session's terms. */
const char *state_term(const struct session *s, enum mark m);

#endif
