#include "writeback.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"

#define QUIET_KB   64
#define POLL_US	   20000
#define STUCK_US   2000000
#define LONGEST_US 60000000

void writeback_start_cold(void)
{
	int fd;

	sync(); /* only clean pages can be dropped */
	fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return; /* before 2.6.16 */
	if (write(fd, "3\n", 2) == 2)
		sync();
	close(fd);
}

/* In centiseconds, all of them. What a file system commits by is in its mount
 * options; XFS has it here. */
static const struct {
	const char *path;
	int required;
} timers[] = {
	{ "/proc/sys/vm/dirty_writeback_centisecs", 1 },
	{ "/proc/sys/vm/dirty_expire_centisecs", 1 },
	{ "/proc/sys/fs/xfs/xfssyncd_centisecs", 0 },
	{ "/proc/sys/fs/xfs/xfsbufd_centisecs", 0 },
	{ "/proc/sys/fs/xfs/age_buffer_centisecs", 0 },
};

static int scale(const char *path, long long n)
{
	char text[32] = "";
	int fd = open(path, O_RDWR | O_CLOEXEC), len, bad;

	if (fd < 0)
		return -1;
	bad = read(fd, text, sizeof(text) - 1) <= 0;
	len = snprintf(text, sizeof(text), "%lld\n", atoll(text) * n);
	bad = bad || lseek(fd, 0, SEEK_SET) < 0 || write(fd, text, len) != len;
	close(fd);
	return bad ? -1 : 0;
}

int writeback_slow(long long n, char *why, size_t size)
{
	for (size_t i = 0; n > 1 && i < sizeof(timers) / sizeof(*timers); i++)
		if (scale(timers[i].path, n) && timers[i].required) {
			snprintf(why, size, "slow motion: %s: %m",
				 timers[i].path);
			return -1;
		}
	return 0;
}

static long field(const char *text, const char *name)
{
	const char *p = strstr(text, name);

	return p ? atol(p + strlen(name)) : 0;
}

/* -1 when /proc does not say. */
static long unsaved_kb(void)
{
	char buf[4096];
	int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return -1;
	buf[n] = '\0';
	return field(buf, "\nDirty:") + field(buf, "\nWriteback:");
}

long long writeback_settle(long long since)
{
	long long changed = clock_us(), now = changed;
	long last = -1;

	while (now - since < LONGEST_US) {
		long kb = unsaved_kb();

		now = clock_us();
		if (kb < QUIET_KB)
			return now - since;
		if (kb != last)
			changed = now;
		if (now - changed >= STUCK_US)
			break;
		last = kb;
		clock_sleep_us(POLL_US);
	}
	return changed - since;
}
