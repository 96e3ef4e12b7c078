/* Is the question one that can be measured here? */
#ifndef QUESTION_H
#define QUESTION_H

#include "device.h"
#include "image.h"
#include "record.h"

/* Fills in what the question leaves open: drive_bytes 0, accel "auto". -1: unknown
 * names, values out of range, a drive too small for the workloads, a real drive that
 * is in use or not confirmed. */
int question_settle(struct question *q, const char *share, struct err *e);

/* Whether every value is one that an option would be taken with; the message
 * begins with the member's name. Looks at nothing outside: whether the device is
 * there is question_device's to say. */
int question_check(const struct question *q, struct err *e);
/* Whether the files it names still hold what they held at start. */
int question_check_files(const struct question *q, struct err *e);

/* A file system by its name; NULL with the names there are. */
const struct filesystem *question_fs(const char *name, struct err *e);
/* The question's device. A real drive must be confirmed and free, at start and again
 * before each run. Release out with device_release. */
int question_device(struct device *out, const struct question *q,
		    const char *share, struct err *e);

#endif
