#include "frame.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include "protocol.h"

struct frame *frame_new(int fd)
{
	struct frame *f = mmap(NULL, sizeof(*f), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (f == MAP_FAILED)
		return NULL;
	f->fd = fd;
	return f;
}

int frame_open_tty(const char *path)
{
	int fd = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	struct termios t;

	if (fd < 0)
		return -1;
	if (tcgetattr(fd, &t) == 0) {
		cfmakeraw(&t);
		t.c_cflag |= CLOCAL;
		cfsetspeed(&t, B115200);
		tcsetattr(fd, TCSANOW, &t);
	}
	fcntl(fd, F_SETFL, 0); /* O_NONBLOCK was for the open alone */
	return fd;
}

/* A table would be faster, and larger than what it is used for. */
uint32_t frame_crc(uint32_t crc, const void *data, unsigned long n)
{
	const unsigned char *p = data;

	crc = ~crc;
	while (n--) {
		crc ^= *p++;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static void put(struct frame *f, const char *p, size_t n)
{
	while (n) {
		ssize_t w = write(f->fd, p, n);

		if (w < 0 && errno != EINTR && errno != EAGAIN)
			return; /* the host sees a frame without its end */
		if (w > 0) {
			p += w;
			n -= (size_t)w;
		}
	}
}

void frame_line(struct frame *f, const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	n = strlen(line);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = ' ';
	line[n++] = '\n';
	f->crc = frame_crc(f->crc, line, n);
	f->lines++;
	put(f, line, n);
}

void frame_drain(struct frame *f)
{
	tcdrain(f->fd);
}

void frame_end(struct frame *f)
{
	char line[64];
	int n = snprintf(line, sizeof(line), PROTOCOL_END " %u %08x\n",
			 f->lines, (unsigned)f->crc);

	f->ended = true;
	put(f, line, (size_t)n);
	frame_drain(f);
}
