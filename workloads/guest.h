/* The guest's whole work, from the job to the end of the frame. */
#ifndef GUEST_H
#define GUEST_H

#include "frame.h"

#define GUEST_MOUNT "/mnt"

/* started: clock_us at /init's start. Failures are in the frame; the frame is
 * ended. */
void guest_run(struct frame *f, long long started);

#endif
