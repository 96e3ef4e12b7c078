/* The plain structs that the stages hand on. Nothing here has behaviour beyond
 * freeing and checking itself (types.c). Times are seconds, sizes are bytes. */
#ifndef TYPES_H
#define TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "str.h"

#define HEX_LEN 40 /* a git object name; kernels are SHA-1 repositories */
#define HEX_SIZE (HEX_LEN + 1)
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* history -> search: the commits that may be the culprit, children before
 * parents (each parent's index is larger than its child's), bad first. */
struct dag_node {
	char hex[HEX_SIZE];
	int *parents; /* indices; parents outside the range are left out */
	int nparents;
	bool candidate; /* false: a path limit leaves it out of the count */
	int64_t time;   /* committer's: git's order among equals */
	/* For path limits, what git's simplification of merges needs: bit i
	 * says that nothing within the limits differs from parents[i]. */
	uint64_t same;
	unsigned limit; /* enum dag_limit; 0: no limits */
};

enum dag_limit {
	DAG_LIMITED = 1,      /* same and the following mean something */
	DAG_GOOD_SAME = 2,    /* a good commit is a parent, and equal */
	DAG_GOOD_DIFFERS = 4, /* ... and differs */
	DAG_OUT_DIFFERS = 8,  /* another parent out of range (or the empty
			       * tree, for a root) differs */
};

struct dag {
	struct dag_node *v;
	int n;
};
void dag_release(struct dag *d);
/* The index of a commit, or -1. */
int dag_find(const struct dag *d, const char *hex);

struct commit {
	char hex[HEX_SIZE];
	char tree[HEX_SIZE];
	char *subject, *author, *email; /* never NULL */
	int64_t time;                   /* committer's, Unix seconds */
	struct strv parents;            /* hex */
};
void commit_release(struct commit *c);

/* build -> image, boot: a kernel that can be booted, or why there is none. */
struct kernel {
	char *image;       /* path of the bzImage; NULL: it does not build */
	char identity[65]; /* hex SHA-256 of what runs; "" when unknown */
	char *reason;      /* why it does not build, one line; NULL: it does */
	char *log;         /* path of make's output; NULL: none was run */
	double make_s;     /* seconds in make, 0 from the cache */
	int objects;       /* files compiled this time */
	bool cached;
	bool incomplete; /* reason may be the tree, which was not whole */
};
void kernel_release(struct kernel *k);

/* boot -> measure: how one boot ended. A failed boot is a result. */
enum boot_outcome {
	BOOT_OK,      /* the guest's end frame arrived */
	BOOT_NO_INIT, /* our /init never spoke: panic, hang or no console */
	BOOT_DIED,    /* it spoke, and then the machine went down */
	BOOT_HUNG,    /* it spoke, and then nothing until the deadline */
};

struct boot {
	enum boot_outcome outcome;
	char *reason;        /* one line for everything but BOOT_OK */
	struct str results;  /* what the second serial port said, raw */
	double qemu_s;       /* seconds from QEMU's start to its end */
	double to_init_s;    /* ... to the first line of /init; 0: never */
	double to_workload_s; /* ... to the first workload's start; 0: never */
};
void boot_release(struct boot *b);

/* measure -> verdict, report: what one workload did in one boot. */
struct sample {
	char *workload;   /* canonical spec, as spec_format prints it */
	double elapsed;   /* s, sync included */
	double user, sys; /* s of CPU, the workload's processes together */
	double sync;      /* the part of elapsed in sync or fsync */
	double written;   /* bytes */
	/* The responsiveness probe: seconds for one list-and-stat. n = 0: it
	 * did not run. */
	int probe_n;
	double probe_median, probe_p99, probe_worst;
};
/* NULL, or the name in the journal of what no measurement can have given:
 * whoever takes a sample in from outside asks. */
const char *sample_fault(const struct sample *s);

/* One boot of one kernel and what it measured: the unit of repetition. */
struct trial {
	int number; /* in its session, from 1 */
	char commit[HEX_SIZE]; /* "" for a prebuilt image */
	char identity[65];
	enum boot_outcome outcome;
	char *reason; /* NULL when outcome is BOOT_OK */
	char *clock;  /* the guest's clocksource; NULL: unknown */
	char *release; /* uname -r */
	double qemu_s, to_init_s, to_workload_s, mkfs_s;
	struct sample *samples;
	int nsamples;
};
void trial_release(struct trial *t);
/* The sample of a workload, or NULL. */
const struct sample *trial_sample(const struct trial *t, const char *workload);

/* verdict -> search. GOOD and BAD are the old and the new term. */
enum mark {
	MARK_NONE,
	MARK_GOOD,
	MARK_BAD,
	MARK_SKIP, /* untestable: another commit please */
	MARK_WEAK, /* undecided: boot it again */
};

#endif
