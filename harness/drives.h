/* The modelled drives that a boot can have: profiles in qemu/drives/ (the model
 * itself is qemu/disk/). */
#ifndef DRIVES_H
#define DRIVES_H

#include "types.h"

struct drives_entry {
	char *name, *description;
	double rated;        /* sequential write, MB/s; 0: none */
	long long bytes;     /* 0: any size */
};
void drives_entry_release(struct drives_entry *d);

/* The profile of a name (share/qemu/drives/NAME.json) or path, with its file in
 * *path, which the caller frees. -1: unknown, with the names there are, or
 * wrong. out may be NULL. */
int drives_find(char **path, struct drives_entry *out, const char *share,
		const char *name, struct err *e);
/* The names, sorted. */
int drives_list(struct strv *out, const char *share, struct err *e);

#endif
