/* The loop: next, trial, observe, append. */
#ifndef BISECT_H
#define BISECT_H

#include "lab.h"
#include "state.h"

struct bisect {
	struct session *s;
	struct history *h;
	struct lab *lab;
	struct progress *p;
	struct state st; /* starts zeroed; bisect_release frees it */
};
void bisect_release(struct bisect *b);

/* How a run ended, short of an error. */
enum bisect_end {
	BISECT_FOUND, /* culprit */
	BISECT_RANGE, /* only untestable suspects are left */
};

struct bisect_result {
	enum bisect_end end;
	char culprit[HEX_SIZE];
	struct strv suspects; /* RANGE */
	bool confirmed;       /* FOUND: culprit and parents, booted again,
			       * still say so by these boots alone */
	double slow, fast;    /* FOUND: their medians in these boots, s (the
			       * slowest parent's); 0: none */
	char *confirmation;   /* FOUND: the numbers, or what contradicts */
};
void bisect_result_release(struct bisect_result *r);

/* Checks the ends as git bisect does: good = bad, swapped, unrelated. A good
 * that is no ancestor is allowed when there are merge bases; these are added to
 * bases (they must prove good first). */
int bisect_check_ends(struct strv *bases, struct bisect *b, struct err *e);

/* Measures the endpoints until there is a rule (goes on where an earlier run
 * stopped). -1: they do not separate, are swapped, or cannot be tested. */
int bisect_rule(struct bisect *b, struct err *e);

/* Builds and boots one commit until it is decided, appending every event.
 * out is its state then (release it). Needs a rule. */
int bisect_test(struct finding_of *out, struct bisect *b, const char *hex,
		struct err *e);

/* git's rule: a merge base of a good commit that is no ancestor of bad must be
 * good, or the range is not what it seems. 1: hex is one that is to be tested
 * first; 0: there is none; -1: one is bad, and the message says what follows. */
int bisect_base(char hex[HEX_SIZE], struct bisect *b, struct err *e);

/* Journals the commit as the one that was chosen, unless it is already. */
int bisect_choose(struct bisect *b, const char *hex, struct err *e);

/* What to test next, from what is known (no side effects). */
int bisect_next(struct search_answer *out, struct bisect *b, struct err *e);

/* All of it, to the confirmed answer. */
int bisect_run(struct bisect_result *out, struct bisect *b, struct err *e);

#endif
