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
	const char *compiler; /* what build_compiler says of cc */
	const char *logs;     /* directory for make's output */
	int jobs;
	double timeout; /* seconds for one make */
	bool partial;	/* src lacks files that are thought not to be needed */
	/* Makes sure that src holds that tree, asked before a failure counts: 1
	 * when something had to be repaired, 0, or -1. NULL: src is right. */
	int (*check)(void *ctx, struct err *e);
	void *ctx; /* for check */
};

/* The compiler and its version, one line that the caller frees. -1: there is
 * none, with the package to install. cc NULL: gcc. */
int build_compiler(char **out, const char *cc, struct err *e);

/* Configures, checks that every wanted option survived, makes bzImage and its
 * identity, and puts it into the cache. The caller holds a lock on obj. An
 * object directory that a build was cut short in, or that was not made since
 * the host started, is removed first. A build that fails is repeated once from
 * a clean object directory before it counts, unless it was a clean one of a
 * sound tree.
 *
 * A kernel that does not build, or lacks an option, is a result: 0, with
 * out->reason. It goes into the cache only when a compiler, linker, assembler
 * or make has said what is wrong with the source; one that misses a file of a
 * partial tree is incomplete, and does not either. A compiler that crashes is
 * asked once more: twice at the same place is a result too, though not for the
 * cache.
 *
 * A failed harness is -1: disk full, a missing tool or header (with the package
 * to install), a killed make or compiler, crashes at random, an interrupt. */
int build_kernel(struct kernel *out, const struct build_request *r,
		 struct progress *p, struct err *e);

/* A prebuilt bzImage: checks its magic and gives it an identity (the file's own
 * SHA-256). */
int build_prebuilt(struct kernel *out, const char *path, struct err *e);

#endif
