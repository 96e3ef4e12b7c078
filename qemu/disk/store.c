#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "str.h"

int store_open(int *fd, const char *where, uint64_t size, struct err *e)
{
	struct stat st;
	long long n;

	if (!str_starts(where, "fd:"))
		*fd = open(where, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	else if (parse_int(&n, where + 3, 0, 1 << 20))
		return err_set(e, "'%s' is no descriptor: say fd:N", where);
	else
		*fd = fcntl((int)n, F_DUPFD_CLOEXEC, 0);
	if (*fd < 0 || fstat(*fd, &st))
		return err_set(e, "open the data %s: %m", where);
	if (!S_ISREG(st.st_mode))
		return err_set(e, "the data %s is not a file", where);
	if ((uint64_t)st.st_size > size)
		return err_set(e, "the data %s is longer than the drive: give "
				  "--size %lld",
			       where, (long long)st.st_size);
	if ((uint64_t)st.st_size < size && ftruncate(*fd, (off_t)size))
		return err_set(e, "make the data %s of %llu bytes: %m", where,
			       (unsigned long long)size);
	return 0;
}

static uint32_t read_all(int fd, void *buf, size_t n, off_t at)
{
	while (n) {
		ssize_t got = pread(fd, buf, n, at);

		if (got < 0 && errno != EINTR)
			return nbd_errno(errno);
		if (got == 0)
			return NBD_EIO; /* somebody cut the file */
		if (got > 0) {
			buf = (char *)buf + got;
			n -= (size_t)got;
			at += got;
		}
	}
	return 0;
}

static uint32_t write_all(int fd, const void *buf, size_t n, off_t at)
{
	while (n) {
		ssize_t put = pwrite(fd, buf, n, at);

		if (put < 0 && errno != EINTR)
			return nbd_errno(errno);
		if (put > 0) {
			buf = (const char *)buf + put;
			n -= (size_t)put;
			at += put;
		}
	}
	return 0;
}

/* A hole reads as zeroes. Where the file system knows no holes, they are
 * written. */
static uint32_t zero(int fd, off_t at, off_t n)
{
	static const char zeroes[65536];
	uint32_t error = 0;

	if (!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, n))
		return 0;
	if (errno != EOPNOTSUPP)
		return nbd_errno(errno);
	for (off_t done = 0; done < n && !error;) {
		size_t k = n - done < (off_t)sizeof(zeroes) ?
				   (size_t)(n - done) :
				   sizeof(zeroes);

		error = write_all(fd, zeroes, k, at + done);
		done += (off_t)k;
	}
	return error;
}

uint32_t store_do(int fd, const struct nbd_request *r, void *buf)
{
	off_t at = (off_t)r->offset;

	switch (r->op) {
	case DISK_READ:
		return read_all(fd, buf, r->length, at);
	case DISK_WRITE:
		return write_all(fd, r->data, r->length, at);
	case DISK_TRIM:
	case DISK_ZERO:
		return zero(fd, at, r->length);
	case DISK_FLUSH:
		break;
	}
	return 0;
}
