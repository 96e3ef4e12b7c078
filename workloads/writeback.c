#include "writeback.h"

#include <fcntl.h>
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
