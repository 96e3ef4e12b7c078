/* The lines that go to the host: whole ones, counted and summed. The state lies
 * in shared memory, so that PID 1 can end a frame whose writer has died. */
#ifndef FRAME_H
#define FRAME_H

#include <stdbool.h>
#include <stdint.h>

struct frame {
	int fd;
	unsigned lines;
	uint32_t crc;
	bool ended;
};

/* On a descriptor; NULL when there is no memory. Never freed. */
struct frame *frame_new(int fd);
/* A serial line as bytes: no echo, no newline translation, no waiting for a
 * carrier. -1 with errno. */
int frame_open_tty(const char *path);
/* One line; control characters in it become blanks. */
void frame_line(struct frame *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The end line, and waits for all to be out. Nothing may follow. */
void frame_end(struct frame *f);
/* Waits until the host has everything. */
void frame_drain(struct frame *f);

/* Goes on from crc (0 at first) over n more bytes: zlib's crc32. */
uint32_t frame_crc(uint32_t crc, const void *data, unsigned long n);

#endif
