/* The read buffer of a disk: a few segments, each a range of sectors. */
#ifndef DISK_BUFFER_H
#define DISK_BUFFER_H

#include <stdint.h>

struct segment {
	uint64_t first, end; /* equal: empty */
	uint64_t used;
	int written; /* holds what was written */
};

struct buffer {
	struct segment v[64];
	int n;
	uint64_t size, uses; /* of a segment */
};

/* The segment that holds a sector (the one that holds most behind it), or -1.
 */
int buffer_find(const struct buffer *b, uint64_t sector);
/* The segment that ends there, or -1. */
int buffer_ending(const struct buffer *b, uint64_t sector);
/* The one whose content is lost next, now empty at a sector; -1: no segments.
 */
int buffer_take(struct buffer *b, uint64_t sector);
/* Lets a segment end there, and lose its front if it is too long. */
void buffer_extend(struct buffer *b, int i, uint64_t end);
void buffer_use(struct buffer *b, int i);
/* Forgets what holds any of it. */
void buffer_drop(struct buffer *b, uint64_t first, uint64_t end);
/* Keeps what was written. */
void buffer_written(struct buffer *b, uint64_t first, uint64_t end);

#endif
