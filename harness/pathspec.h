/* Pure: git's path limits, without their magic. */
#ifndef PATHSPEC_H
#define PATHSPEC_H

#include "str.h"

/* Adds the limits to out as pathspec_match wants them: from the top of the
 * tree, without "./", ":/" and a slash at the end. Other magic is an error. */
int pathspec_parse(struct strv *out, const struct strv *paths, struct err *e);

/* Adds the limits as they are from the top of the tree, for one who gave them
 * in the directory prefix ("" is the top): as in git. ":/" is the top anyway. */
int pathspec_from(struct strv *out, const char *prefix,
		  const struct strv *paths, struct err *e);

enum pathspec_match {
	PATHSPEC_NO,
	PATHSPEC_INSIDE, /* a directory in which there may be a match */
	PATHSPEC_YES,	 /* and all below it */
};
enum pathspec_match pathspec_match(const struct strv *specs, const char *path,
				   bool is_dir);

#endif
