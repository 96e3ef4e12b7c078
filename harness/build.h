/* Source tree -> kernel image, with kbuild, incrementally, cached by content.
 */
#ifndef BUILD_H
#define BUILD_H

#include "progress.h"
#include "types.h"

struct build_request {
	const char *src;    /* the exported tree; only read when not cached */
	const char *obj;    /* object directory, kept between builds */
	const char *cache;  /* finished kernels are in its kernels/ */
	const char *tree;   /* git's name of the tree in src */
	const char *name;   /* the commit, for messages and the log's name */
	const char *wanted; /* options, from kconfig_merge */
	const char *config; /* path of a full .config of the user's that wanted
			     * goes on top of; NULL: allnoconfig */
	const char *cc;	    /* compiler; NULL: gcc, through ccache if there */
	const char *logs;   /* directory for make's output */
	int jobs;
	double timeout; /* seconds for one make */
	bool partial;   /* src lacks files that are thought not to be needed */
};

/* 1 and out filled in when the cache has this tree with this config, compiler
 * and flags (a failure is remembered too, with its reason and log); 0 when not;
 * -1 error. Needs no source tree. */
int build_lookup(struct kernel *out, const struct build_request *r,
		 struct err *e);

/* Configures, checks that every wanted option survived, makes bzImage and its
 * identity, and puts it into the cache. An incremental build that fails is
 * repeated once from a clean object directory before it counts. A kernel that
 * does not build, or lacks an option, is a result: 0, with out->reason. One that misses a file of a
 * partial tree is incomplete, and not cached. A
 * failed harness is -1: disk full, a missing tool or header (with the package
 * to install), a killed make, an interrupt. */
int build_kernel(struct kernel *out, const struct build_request *r,
		 struct progress *p, struct err *e);

/* A prebuilt bzImage: checks its magic and gives it an identity (the file's own
 * SHA-256). */
int build_prebuilt(struct kernel *out, const char *path, struct err *e);

#endif
