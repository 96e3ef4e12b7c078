/* Everything that turns a commit into a trial: the stages tree -> config ->
 * kernel -> image -> boot -> samples, joined, with the caches and the locks. */
#ifndef LAB_H
#define LAB_H

#include "history.h"
#include "progress.h"
#include "record.h"
#include "types.h"

struct lab;

struct lab_dirs {
	const char *share; /* kconfigs/, qemu/, init */
	const char *cache; /* trees, kernels, images */
	const char *logs;  /* trials/ and builds/ of this session */
};

/* Seconds spent so far, for the account of a run. */
struct lab_time {
	double make_s, qemu_s, mkfs_s, wait_s;
};

/* Checks the whole question before anything is built: tools, device, file
 * system, workloads, the drive's size against what the workloads need, a real
 * device's safety. h may be NULL when only prebuilt images are booted. */
int lab_open(struct lab **out, const struct question *q, struct history *h,
	     const struct lab_dirs *dirs, struct progress *p, struct err *e);
void lab_close(struct lab *l);
const struct lab_time *lab_spent(const struct lab *l);

/* The kernel of a commit, from the cache or built. One that does not build is
 * a result. */
int lab_kernel(struct kernel *out, struct lab *l, const char *hex,
	       const char *name, struct err *e);
/* One boot with all workloads of the question. A boot that fails is repeated
 * once with every kernel message on the console before it counts; one during which
 * the machine was busy with other work is repeated too. */
int lab_trial(struct trial *out, struct lab *l, const struct kernel *k,
	      const char *hex, int number, const char *name, struct err *e);

/* The cache directory: $IOBISECT_CACHE, $XDG_CACHE_HOME/iobisect or
 * ~/.cache/iobisect. The caller frees. */
char *lab_cache_dir(void);
/* Where the data lie, seen from the program. -1: not installed whole. */
int lab_share_dir(char **out, struct err *e);

#endif
