/* Pure: what make says -> how many objects, and whose fault a failure is. */
#ifndef MAKELOG_H
#define MAKELOG_H

#include "str.h"

struct makelog {
	int objects; /* the kernel's own CC and AS lines */
	char *error; /* first error of a compiler, linker, make ... */
	/* Some error says what is wrong with the source. Without, a failure
	 * tells nothing about it. */
	bool diagnosed;
	char *stop;	    /* first "*** ..." of make's */
	char *crash;	    /* first sign of a compiler that crashed */
	char *machine;	    /* first word of a machine in trouble: the line */
	const char *advice; /* what to do about it; borrowed */
	bool missing;	    /* it wants a file that is not there */
	char *tool; /* first program of ours that a shell did not find */
};
void makelog_release(struct makelog *l);
void makelog_line(struct makelog *l, const char *line);

/* The package of a tool that kbuild calls, NULL: not one of those. */
const char *makelog_package(const char *tool);

/* Why the kernel did not build, one line; src is cut from the paths in it. The
 * caller frees. */
char *makelog_reason(const struct makelog *l, const char *src);

#endif
