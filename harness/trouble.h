/* Pure: what a console says went wrong, in one line. */
#ifndef TROUBLE_H
#define TROUBLE_H

#include <stdbool.h>

#include "str.h"

struct trouble {
	char *sign;  /* the first line that tells of a defect */
	char *panic; /* the panic's line */
	char *hint;  /* the first that may explain one, if nothing else does */
	char *context; /* the line that names the culprit after the sign */
};
void trouble_release(struct trouble *t);

/* A console line without its priority, time, colours and other decoration.
 * The caller frees. */
char *trouble_text(const char *line);
/* Looks at one such line. True: the kernel has stopped for good. */
bool trouble_scan(struct trouble *t, const char *text);
/* What to quote; the caller frees. NULL: there was no trouble. */
char *trouble_tell(const struct trouble *t);

#endif
