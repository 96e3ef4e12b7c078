/* A git repository, only read: revisions, ranges, and trees written out. The
 * user's work tree, index and refs are never touched. libgit2 lives here. */
#ifndef HISTORY_H
#define HISTORY_H

#include "progress.h"
#include "types.h"

struct history;

/* Opens the repository that dir is in (or is, when bare). "DIR: not a git
 * repository". Close with history_close. */
int history_open(struct history **out, const char *dir, struct err *e);
void history_close(struct history *h);
/* The directory shared by all work trees (.git of the main one); borrowed. */
const char *history_dir(const struct history *h);

/* Where dir is in the work tree, from its top: "" there, and when there is no
 * work tree. The caller frees. */
int history_prefix(char **out, const char *dir, struct err *e);

/* The commit that a revision names (tags are peeled). Unknown, ambiguous, or
 * not a commit: -1 with the revision in the message. */
int history_resolve(char hex[HEX_SIZE], struct history *h, const char *rev,
		    struct err *e);
/* Whether the commit is there (and can be read). */
bool history_has(struct history *h, const char *hex);
/* Fills in out (release with commit_release). */
int history_commit(struct commit *out, struct history *h, const char *hex,
		   struct err *e);
/* -1 unless the commit's tree is a kernel: Makefile with VERSION, PATCHLEVEL
 * and KBUILD or kbuild in it, and scripts/kconfig or scripts/Makefile.build. */
int history_check_kernel(struct history *h, const char *hex, struct err *e);
/* A short name for people: the tag that points at it, or 12 digits. */
int history_name(struct str *out, struct history *h, const char *hex,
		 struct err *e);
/* The paths that differ between a commit and its first parent. */
int history_paths(struct strv *out, struct history *h, const char *hex,
		  struct err *e);

/* 1 yes, 0 no, -1 error, or hidden by a shallow clone's end. A commit is its own
 * ancestor. */
int history_is_ancestor(struct history *h, const char *ancestor,
			const char *descendant, struct err *e);
/* All merge bases of a and b; none is not an error. */
int history_merge_bases(struct strv *out, struct history *h, const char *a,
			const char *b, struct err *e);

struct range_query {
	const char *bad;
	const struct strv *goods;
	bool first_parent;
	const struct strv *paths; /* NULL or empty: all. Git pathspecs from the
				   * top, without magic but ":/". A commit that
				   * changes none of them is no candidate, nor
				   * is a merge that equals one of its parents
				   * there, nor what git's history
				   * simplification then passes by; bad
				   * always is. */
};
/* The commits reachable from bad and from no good; none (and no error) when bad
 * is itself part of a good one. In out: release with
 * dag_release. progress may be NULL. */
int history_range(struct dag *out, struct history *h,
		  const struct range_query *q, struct progress *p,
		  struct err *e);

/* Makes dir/src hold exactly the commit's tree, plus whatever else lies there
 * and git does not track (objects are built elsewhere). Only paths that differ
 * between the tree that dir/stamp names and the wanted one are looked at, and
 * only those whose bytes differ on disk are written, so that kbuild sees new
 * times only on what changed. dir/dirty, written before, lists what was under
 * way: after a kill at any moment the next call repairs. Symlinks, the
 * executable bit, file <-> directory changes: as git checkout does.
 *
 * A missing, unreadable or unknown stamp means: look at every path.
 * leave_out: directories that are not written, but for what configures them;
 * NULL for a whole tree. dir/left-out says what was left out: when it changes
 * every path is looked at.
 *
 * The caller holds a lock on dir. Disk full is an error, and is repaired by the
 * next call as well. */
struct export_stats {
	long looked_at, written, removed;
};
int history_export(struct export_stats *out, struct history *h, const char *hex,
		   const char *dir, const struct strv *leave_out,
		   struct progress *p, struct err *e);

#endif
