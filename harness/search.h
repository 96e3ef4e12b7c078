/* Pure: which commit to test next, or which one it was. */
#ifndef SEARCH_H
#define SEARCH_H

#include "types.h"

enum search_kind {
	SEARCH_TEST,	 /* test commit next */
	SEARCH_FOUND,	 /* commit is the first bad one. nsuspects 0: nothing
			  * within the path limits is; commit is then the bad
			  * commit that is left, which changes none of them. */
	SEARCH_RANGE,	 /* only untestable commits are left: suspects */
	SEARCH_CONFLICT, /* commit is good, yet an ancestor of it is bad (the
			  * bad one is suspects[0]) */
};

struct search_answer {
	enum search_kind kind;
	int commit;    /* index in the dag */
	int *suspects; /* the commits that may still be the first bad one */
	int nsuspects;
	int steps; /* about how many more tests after this one */
};
void search_answer_release(struct search_answer *a);

/* marks has one entry a node; MARK_WEAK counts as unmarked. Node 0 is bad
 * whatever its mark says. The suspects are the candidates that are ancestors of
 * (or are) every bad node and of no good node; the next one is the testable
 * suspect for which min(suspects above, suspects below) is largest, with git
 * bisect's order among equals and git bisect's rule around skipped ones, so
 * that with the same marks the same commit is chosen as git does. O(n * n / 64)
 * time and space at worst. */
void search_next(struct search_answer *out, const struct dag *dag,
		 const enum mark *marks);

#endif
