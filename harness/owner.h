/* Whose a block of an ext2, ext3 or ext4 file system is: what the reporter of
 * the ext2 slowdown found out with printk. libext2fs lives here. */
#ifndef OWNER_H
#define OWNER_H

#include <stdint.h>

#include "err.h"

enum owner_kind {
	OWNER_FREE, /* nobody's (any more) */
	OWNER_DATA, /* a file's content */
	OWNER_DIRECTORY,
	OWNER_INDIRECT, /* indirect blocks, extent tree nodes */
	OWNER_INODES,   /* inode table */
	OWNER_BITMAP,
	OWNER_DESCRIPTORS, /* group descriptors, and those kept for growth */
	OWNER_SUPERBLOCK,
	OWNER_JOURNAL,
	OWNER_KINDS
};
/* "data", "indirect block", ...: as a person reads it. */
const char *owner_name(enum owner_kind k);

struct owner {
	enum owner_kind kind;
	uint32_t inode;   /* 0: none */
	const char *path; /* of a file or directory, borrowed; or NULL */
};

struct owners;
/* Reads the file system in an open file. -1: it is none of the three, or is
 * damaged; the message says how. */
int owners_read(struct owners **out, int fd, struct err *e);
void owners_free(struct owners *o);
/* By 512-byte sector; past the file system's end is OWNER_FREE. */
struct owner owner_at(const struct owners *o, uint64_t sector);

#endif
