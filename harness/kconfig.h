/* Pure but for reading fragments: merging them, and checking that what was
 * asked for survived make's own resolution. */
#ifndef KCONFIG_H
#define KCONFIG_H

#include "types.h"

/* Appends the fragments' options to out, one `CONFIG_X=...` or
 * `# CONFIG_X is not set` line each, a later file's winning over an earlier
 * one's. Those marked optional (kconfigs/base.config says how) come last, after
 * a comment that marks them again, so that the result is a fragment too. A line
 * that is neither an option nor a comment: -1 "FILE:LINE: ...". */
int kconfig_merge(struct str *out, const struct strv *files, struct err *e);

/* Compares wanted (as kconfig_merge gives it) with the text of a finished
 * .config; appends the options that did not survive ("CONFIG_X=y"), optional
 * ones left out. Asking for n is met by absence. */
void kconfig_check(struct strv *missing, const char *wanted,
		   const char *dotconfig);

#endif
