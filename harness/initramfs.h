/* What a question's guests are given: the job, and the user's own program. */
#ifndef INITRAMFS_H
#define INITRAMFS_H

#include "image.h"
#include "record.h"

/* The whole initramfs, the same for each boot of a session. share: where the
 * guest's /init lies. */
int initramfs_make(struct str *out, const struct question *q,
		   const struct filesystem *fs, const char *share,
		   struct err *e);

#endif
