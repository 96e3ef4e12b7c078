/* Pure: the guest's result text -> a trial's numbers. The format is in
 * docs/protocol.md, and in workloads/protocol.h for both sides. */
#ifndef MEASURE_H
#define MEASURE_H

#include "types.h"

/* Reads a whole frame: release, clock and samples of out. -1 when there is no
 * end line, the checksum or the line count is wrong, a number is malformed or
 * absurd (sample_fault), or a workload's result is incomplete; the message says
 * which. A guest that reports an error of its own (a mount that failed, a full
 * drive) gives -1 with that error as message. out is untouched by -1. */
int measure_parse(struct trial *out, const char *text, struct err *e);

#endif
