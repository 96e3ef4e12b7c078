/* Pure: the text of `git bisect log`, both ways. */
#ifndef GITLOG_H
#define GITLOG_H

#include "types.h"

/* One thing that a log says. */
struct gitlog_entry {
	enum mark mark;	   /* MARK_GOOD, MARK_BAD, MARK_SKIP */
	char *rev;	   /* as written: 40 hex digits, or any revision */
	struct strv notes; /* iobisect's own comment lines for it, without
			    * "# iobisect: " */
	bool remark; /* only to be read: written without its command */
};

struct gitlog {
	char *term_old, *term_new; /* "good", "bad" unless renamed */
	bool first_parent;
	struct strv paths;
	struct gitlog_entry *v; /* start's own revisions come first */
	int n;
};
void gitlog_release(struct gitlog *l);

/* Reads a log of git's (before 2.55 and after, which quotes the terms in its
 * comments) or of ours. Accepts what `git bisect replay` accepts: `git bisect
 * start|good|bad|skip|TERM ...`, `git-bisect ...`, sq-quoted words, blank
 * lines, comments. A line that is none of these: -1, with its number. `reset`
 * and `terms` lines are passed over. */
int gitlog_parse(struct gitlog *out, const char *text, struct err *e);

/* Appends the log as git writes it: a `# bad: [hex] subject` comment before
 * each command. subjects[i] belongs to l->v[i]. The first nstart entries go
 * into the `git bisect start` line (one bad, then goods), the others have a
 * command each. found: NULL, or the culprit, written as git's closing comment
 * with its subject, and remark (or NULL) as a comment of ours; suspects: NULL, or what is left when only skipped ones are,
 * each "hex subject" (or hex alone). The terms stay unquoted, as before 2.55.
 */
void gitlog_format(struct str *out, const struct gitlog *l,
		   const char *const *subjects, int nstart, const char *found,
		   const char *found_subject, const char *remark,
		   const struct strv *suspects);

#endif
