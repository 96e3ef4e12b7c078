/* What a kernel runs, as a name: two commits of one identity are one kernel. */
#ifndef IDENTITY_H
#define IDENTITY_H

#include "err.h"

/* SHA-256 over the allocated sections of an x86_64 vmlinux (name, size, bytes),
 * notes left out. The banner and every copy of the release in it count as
 * blanks, so that a new version number alone makes no other kernel; but one of
 * another length, or code that uses LINUX_VERSION_CODE, does, and costs one
 * boot too many. A malformed file: -1. */
int identity_vmlinux(char hex[65], const char *path, struct err *e);

#endif
