/* Which start of the host's this is. What was not flushed to disk is sure to be
 * there for as long as that stays the same, and no longer. */
#ifndef HOSTBOOT_H
#define HOSTBOOT_H

#include "str.h"

/* Adds one line. */
void hostboot_id(struct str *out);

#endif
