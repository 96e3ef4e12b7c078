/* Fresh drives from a made file system. */
#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define CHUNK (1 << 20)

/* A run of data, or of none, in a sparse file. */
struct extent {
	off_t start, end;
	bool data;
};

/* The one at `at`, or -1 at the end. Where the file system cannot say, all is
 * data. */
static int next_extent(struct extent *x, int fd, off_t at, off_t size)
{
	off_t data;

	if (at >= size)
		return -1;
	data = lseek(fd, at, SEEK_DATA);
	if (data < 0 && errno == ENXIO) {
		*x = (struct extent){ at, size, false };
	} else if (data > at) {
		*x = (struct extent){ at, data, false };
	} else {
		off_t hole = data < 0 ? -1 : lseek(fd, at, SEEK_HOLE);

		*x = (struct extent){ at, hole < 0 ? size : hole, true };
	}
	if (x->end > size)
		x->end = size;
	return 0;
}

static int write_whole(int fd, const char *p, size_t n, off_t at)
{
	while (n) {
		ssize_t k = pwrite(fd, p, n, at);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return -1;
		p += k;
		n -= (size_t)k;
		at += k;
	}
	return 0;
}

/* from < 0: zeroes. */
static int copy_range(int to, int from, off_t start, off_t end,
		      const char *what, struct err *e)
{
	AUTOFREE char *buf = xcalloc(1, CHUNK);

	while (start < end) {
		size_t n = end - start < CHUNK ? (size_t)(end - start) : CHUNK;
		ssize_t got =
			from < 0 ? (ssize_t)n : pread(from, buf, n, start);

		if (got <= 0)
			return err_set(e, "read the image: %s",
				       got ? strerror(errno) : "it has shrunk");
		if (write_whole(to, buf, (size_t)got, start))
			return err_set(e, "write %s: %m", what);
		start += got;
	}
	return 0;
}

static int open_image(int *fd, off_t *size, const char *image, struct err *e)
{
	struct stat st;

	*fd = open(image, O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return err_set(e, "open %s: %m", image);
	if (fstat(*fd, &st))
		return err_set(e, "%s: %m", image);
	*size = st.st_size;
	return 0;
}

/* Bytes of memory that could be had without swapping, 0 when unknown. */
static long long memory_available(void)
{
	CLEANUP(str_release) struct str text = STR_INIT;
	struct err none;
	const char *p;
	long long kib;

	if (file_read(&text, "/proc/meminfo", &none))
		return 0;
	p = strstr(str_c(&text), "MemAvailable:");
	return p && sscanf(p, "MemAvailable: %lld", &kib) == 1 ? kib * 1024 : 0;
}

/* A guest that runs into a full host disk would look like a slow or broken
 * kernel, so the room for all of it must be there before. */
static int open_on_disk(const char *dir, off_t size, struct err *e)
{
	struct statvfs v;
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_set(e, "create a drive in %s: %m", dir);
	if (fstatvfs(fd, &v) == 0 &&
	    (unsigned long long)v.f_bavail * v.f_frsize <
		    (unsigned long long)size) {
		close(fd);
		return err_set(
			e,
			"no room for the drive, neither in memory nor in "
			"%s: it takes %lld MiB; free some, or choose a "
			"smaller drive",
			dir, (long long)size >> 20);
	}
	return fd;
}

int image_drive(int *fd, const char *image, const char *dir, struct err *e)
{
	AUTOFD int from = -1, to = -1;
	struct extent x;
	off_t size, at = 0;

	if (open_image(&from, &size, image, e))
		return -1;
	if (memory_available() / 2 >= size)
		to = memfd_create("drive", MFD_CLOEXEC);
	if (to < 0)
		to = open_on_disk(dir, size, e);
	if (to < 0)
		return -1;
	if (ftruncate(to, size))
		return err_set(e, "create a drive of %lld MiB: %m",
			       (long long)size >> 20);
	for (; next_extent(&x, from, at, size) == 0; at = x.end)
		if (x.data &&
		    copy_range(to, from, x.start, x.end, "the drive", e))
			return -1;
	*fd = to;
	to = -1;
	return 0;
}

static void *close_it(void *fd)
{
	close((int)(intptr_t)fd);
	return NULL;
}

void image_drive_close(int *fd)
{
	pthread_t thread;
	struct stat st;

	if (*fd < 0)
		return;
	if (fstat(*fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    pthread_create(&thread, NULL, close_it, (void *)(intptr_t)*fd) == 0)
		pthread_detach(thread);
	else
		close(*fd);
	*fd = -1;
}

/* The kernel zeroes faster than we can write, but in whole sectors only. */
static int zero_range(int fd, off_t start, off_t end, struct err *e)
{
	uint64_t range[2] = { (uint64_t)start, (uint64_t)(end - start) };

	if (ioctl(fd, BLKZEROOUT, range) == 0)
		return 0;
	return copy_range(fd, -1, start, end, "zeroes onto the device", e);
}

/* Steps small enough for a progress bar that moves. */
#define STEP (64LL << 20)

int image_onto_device(int fd, const char *image, struct progress *p,
		      struct err *e)
{
	AUTOFD int from = -1;
	struct extent x;
	off_t size, at = 0;

	if (open_image(&from, &size, image, e))
		return -1;
	if (lseek(fd, 0, SEEK_END) < size)
		return err_set(e,
			       "the device is too small: the file system takes "
			       "%lld MiB",
			       (long long)size >> 20);
	while (next_extent(&x, from, at, size) == 0) {
		off_t end = x.end - at > STEP ? at + STEP : x.end;

		if (x.data ? copy_range(fd, from, at, end, "the device", e)
			   : zero_range(fd, at, end, e))
			return -1;
		at = end;
		progress_count(p, (long)(at >> 20), (long)(size >> 20));
		progress_tick(p);
	}
	return fsync(fd) ? err_set(e, "write the device: %m") : 0;
}
