/* Pure but for its callback: the commits between bad and good as a graph. */
#ifndef RANGE_H
#define RANGE_H

#include "progress.h"
#include "types.h"

#define ID_SIZE 20 /* a git object name, raw */

struct range_commit {
	unsigned char tree[ID_SIZE];
	int64_t time;			   /* committer's */
	unsigned char (*parents)[ID_SIZE]; /* range_walk frees it */
	int nparents;
	bool cut; /* it has parents, but not here: a shallow clone */
};

/* Reads a commit as git stores it: text of len bytes with a NUL behind. -1: it is
 * none, and out holds nothing. */
int range_commit_parse(struct range_commit *out, const char *text, size_t len);

struct range_source {
	void *ctx;
	int (*read)(struct range_commit *out, void *ctx,
		    const unsigned char *id, struct err *e);
	/* Whether two trees differ within the path limits: 1 yes, 0 no, -1
	 * error. a NULL: the empty tree. differs itself NULL: no limits. */
	int (*differs)(void *ctx, const unsigned char *a,
		       const unsigned char *b, struct err *e);
	const char *limits; /* what they are, each after a blank */
};

/* What bad reaches and none of the goods does, as history_range says. An empty
 * range (bad reached by a good one) is an error, and so are one that a shallow
 * clone cuts off and limits that no commit of it touches. */
int range_walk(struct dag *out, const struct range_source *source,
	       const unsigned char *bad, unsigned char (*goods)[ID_SIZE],
	       int ngoods, bool first_parent, struct progress *p,
	       struct err *e);

/* Whether from (20 bytes) has `to` among its ancestors: 1 yes, 0 no, -1 error,
 * also when a shallow clone hides the answer. */
int range_reaches(const struct range_source *source, unsigned char *from,
		  const unsigned char *to, struct err *e);

#endif
