/* What this machine needs for the work: found or not, and where it comes from.
 * Only looks. */
#ifndef DOCTOR_H
#define DOCTOR_H

#include "types.h"

/* What things are needed for. Building is for booting, so it includes that. */
enum doctor_kind {
	DOCTOR_BOOT = 1,
	DOCTOR_BUILD = 2 | DOCTOR_BOOT,
};

struct doctor_item {
	const char *what;    /* "flex"; borrowed */
	const char *package; /* Debian's name; NULL: nothing to install */
	bool ok, required;
	char *detail; /* version, place, or what is wrong; never NULL */
};

struct doctor_list {
	struct doctor_item *v;
	int n;
};
void doctor_release(struct doctor_list *l);

/* NULL means the usual. */
struct doctor_query {
	const char *cache; /* the cache directory; need not be there yet */
	const char *guest; /* path of the guest's /init */
	const char *fs; /* the file system whose mkfs is required; NULL: ext2 */
	bool kvm;	/* from boot_kvm_works */
	const char *include; /* /usr/include; for tests */
	const char *meminfo; /* /proc/meminfo; for tests */
};

/* Everything, with versions; returns how many required things are missing. */
int doctor_check(struct doctor_list *out, const struct doctor_query *q);

/* Before a run with this file system: 0, or -1 and one line for the first
 * required thing that is missing: "flex is missing: apt-get install flex".
 * Starts no program. */
int doctor_require(enum doctor_kind kind, const char *fs, struct err *e);

#endif
