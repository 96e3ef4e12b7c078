/* One boot: QEMU started, watched, and ended. */
#ifndef BOOT_H
#define BOOT_H

#include "device.h"
#include "progress.h"
#include "types.h"

/* qemu/NAME.machine. */
struct machine {
	char *name, *summary;
	char *program;       /* qemu-system-x86_64 */
	struct strv args;    /* always */
	struct strv tcg, kvm; /* by accelerator */
	struct strv append;  /* kernel command line */
};
void machine_release(struct machine *m);
int machine_load(struct machine *out, const char *dir, const char *name,
		 struct err *e);

enum accel { ACCEL_AUTO, ACCEL_TCG, ACCEL_KVM };
/* Whether KVM really runs a guest here: opens /dev/kvm and lets a few
 * instructions run in a virtual machine (a device node alone proves nothing). */
bool boot_kvm_works(void);

struct boot_request {
	const struct machine *machine;
	const struct device *device;
	bool kvm;
	int mem_mb;
	const char *kernel;        /* bzImage */
	const struct str *initramfs;
	int drive_fd;              /* the drive's content */
	long long drive_bytes;
	bool drive_is_device;      /* drive_fd is a real block device */
	/* The modelled drive, all of qemu/disk/: its program and profile; NULL:
	 * none, the content answers at once. */
	const char *disk_program, *profile;
	int slow;                  /* slow motion of that drive, 1: none */
	const char *trace;         /* file for its requests */
	const char *serial;        /* the drive's serial */
	const char *console;       /* file for the console's text */
	bool verbose_console;      /* every kernel message, not warnings only */
	double boot_timeout;       /* s without a word from /init */
	double run_timeout;        /* s from then on, without the end frame */
};

/* Runs it. A kernel that does not come up, dies or hangs is a result with a
 * reason that quotes the telling console line (panic, oops, cannot mount, ...);
 * -1 is a failed harness: QEMU missing, refusing its arguments, or ending by
 * itself with an error. */
int boot_run(struct boot *out, const struct boot_request *r, struct progress *p,
	     struct err *e);

#endif
