/* Drives: the emulated ones, described by files in qemu/, and real block
 * devices, with every check before one is erased. */
#ifndef DEVICE_H
#define DEVICE_H

#include "types.h"

/* qemu/NAME.device. */
struct device {
	char *name, *summary;
	struct strv fragments; /* kconfigs/NAME.config files it needs */
	struct strv args;      /* QEMU arguments; @SERIAL@ is filled in; the
				* drive's block node is called "drive" */
	struct strv append;    /* kernel command line */
	char *real;            /* path of a real block device, or NULL */
};
void device_release(struct device *d);
/* Reads dir/NAME.device; unknown: -1 with the names there are. A name that is a
 * path, /dev/..., is a real device, attached as sata's drive is; NAME:/dev/...
 * attaches it as NAME's. */
int device_load(struct device *out, const char *dir, const char *name,
		struct err *e);
/* The names of the devices in dir, sorted. */
int device_list(struct strv *out, const char *dir, struct err *e);

/* Where the checks look; NULL members mean the running system's. Tests give
 * copies. */
struct device_world {
	const char *sys;  /* /sys */
	const char *proc; /* /proc */
	const char *run;  /* /run, for udev's database */
	/* The number of the block device at path; -1 when it is none. */
	int (*number)(unsigned *major, unsigned *minor, const char *path);
};
/* Refuses a path that is not a whole disk or partition, that or whose parent or
 * partitions are mounted, used as swap or held (dm, md), whose serial and size
 * are not what was given. serial: from --erase; it must be the drive's own, or
 * the drive's size in bytes when it has none. Only looks. */
int device_check(const char *path, const char *serial,
		 const struct device_world *w, struct err *e);
/* device_check, then opens O_RDWR|O_EXCL and checks again with it held. The
 * caller closes *fd; *bytes is the device's size. */
int device_open(int *fd, long long *bytes, const char *path,
		const char *serial, struct err *e);

#endif
