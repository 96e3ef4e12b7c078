/* A trace as blktrace(8) would have recorded it, for blkparse, btt, iowatcher
 * and fio. Pure. */
#ifndef DISK_BLKTRACE_H
#define DISK_BLKTRACE_H

#include "str.h"
#include "trace.h"

/* Appends what belongs in NAME.blktrace.0: for each request Q and G when it
 * arrived, D when the drive turned to it, C when it was done. Drive time. */
void blktrace_write(struct str *out, const struct trace *t);

#endif
