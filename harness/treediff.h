/* Pure but for its callback: what differs between two of git's trees, from
 * their raw bytes. Equal subtrees are not read. */
#ifndef TREEDIFF_H
#define TREEDIFF_H

#include "range.h"
#include "str.h"

struct tree_source {
	void *ctx;
	/* Adds the tree object's bytes to out. */
	int (*read)(struct str *out, void *ctx, const unsigned char *id,
		    struct err *e);
};

#define TREE_MODE_DIR 040000U

struct tree_entry {
	const char *name;
	size_t len;
	unsigned mode; /* of git's six: permissions are 0644 or 0755 */
	const unsigned char *id;
};

struct tree_diff {
	const struct tree_source *source;
	/* A directory differs: 1 to look into it, 0 to pass by. NULL: 1. */
	int (*enter)(void *ctx, const char *path);
	/* Anything else does: its entry on either side, or NULL. */
	int (*leaf)(void *ctx, const char *path, const struct tree_entry *a,
		    const struct tree_entry *b);
	/* Any other answer of these ends it and is handed on. */
	void *ctx;
};

/* a or b NULL: the empty tree. 0, -1 on errors, or a callback's answer. */
int tree_diff(const struct tree_diff *d, const unsigned char *a,
	      const unsigned char *b, struct err *e);

/* Whether they differ within path limits (as from pathspec_parse): 1, 0, -1. */
int tree_differs(const struct tree_source *source, const unsigned char *a,
		 const unsigned char *b, const struct strv *specs,
		 struct err *e);

#endif
