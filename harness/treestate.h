/* Which tree a directory holds, how sure that is, and what is to be looked at
 * to make it hold another. Survives a kill at any moment. */
#ifndef TREESTATE_H
#define TREESTATE_H

#include "export.h"
#include "treediff.h"
#include "types.h"

struct treestate {
	char stamp[HEX_SIZE]; /* "": not known */
	bool trusted; /* that tree is there, but for what the others changed.
		       * Not after a reboot: nothing was flushed to disk. */
	struct strv others; /* trees that were under way since */
	bool lost; /* what is there is not known: files of a tree that is gone
		    * may lie between the others */
};
void treestate_release(struct treestate *s);
int treestate_read(struct treestate *out, const char *dir, struct err *e);
/* Forgets trees that source says it does not know: then the state is lost. */
void treestate_forget(struct treestate *s,
		      bool (*known)(void *ctx, const char *hex), void *ctx);
/* Adds every path that may not be as tree has it. */
int treestate_list(struct export_list *out, const struct treestate *s,
		   const struct tree_source *source, const char *tree,
		   struct err *e);
/* Notes what is left out of the trees in dir (NULL: nothing). When that is not
 * what was left out before, every path is looked at next. */
int treestate_left_out(const char *dir, const struct strv *leave_out,
		       struct err *e);
/* Every path is looked at next: the tree was seen to be another than the stamp
 * says. */
int treestate_distrust(const char *dir, struct err *e);
/* Before the first change: that tree is under way as well. */
int treestate_begin(struct treestate *s, const char *dir, const char *tree,
		    struct err *e);
/* After the last. */
int treestate_end(const char *dir, const char *tree, struct err *e);

#endif
