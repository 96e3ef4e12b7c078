/* Finished kernels, by what they are made of: CACHE/kernels/KEY/ has the image,
 * or why there is none and make's output, and a description that says it is
 * whole. Any number of processes use it at once. */
#ifndef KERNELS_H
#define KERNELS_H

#include "build.h"

/* 1 and out filled in when the cache has this tree with this config, compiler
 * and flags (a failure is remembered too, with its reason and log); 0 when not;
 * -1 error. Needs no source tree. */
int kernels_find(struct kernel *out, const struct build_request *r,
		 struct err *e);
/* Adds what was built, unless another has added it meanwhile; out then points
 * into the cache. obj: a directory that no other process builds in now. */
int kernels_add(struct kernel *out, const struct build_request *r,
		const char *obj, struct err *e);

#endif
