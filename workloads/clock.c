#include "clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PARAMETER "tsc_early_khz="
#define VARIABLE  "IOBISECT_TSC_KHZ"
#define SLOW	  "IOBISECT_SLOW"
#define SOURCE                                                                 \
	"/sys/devices/system/clocksource/clocksource0/current_clocksource"

/* A process has one clock, and everything asks for the time: handing this
 * around would be noise. 0: no counter; -1: not looked yet. */
static long long khz = -1;
static long long slow = 0; /* 0: not looked yet */

static long long usable(const char *text)
{
#if defined(__x86_64__) || defined(__i386__)
	long long v = text ? atoll(text) : 0;

	return v >= 1000 && v <= 100000000 ? v : 0;
#else
	(void)text;
	return 0;
#endif
}

void clock_init(const char *cmdline)
{
	const char *p = strstr(cmdline, PARAMETER);
	char text[24];

	if (p && p > cmdline && p[-1] != ' ')
		p = NULL;
	khz = usable(p ? p + strlen(PARAMETER) : NULL);
	snprintf(text, sizeof(text), "%lld", khz);
	setenv(VARIABLE, text, 1);
}

bool clock_is_counter(void)
{
	if (khz < 0)
		khz = usable(getenv(VARIABLE));
	return khz > 0;
}

static long long counter_us(void)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned long long t = __builtin_ia32_rdtsc();
	unsigned long long k = (unsigned long long)khz;

	return (long long)(t / k * 1000 + t % k * 1000 / k);
#else
	return 0;
#endif
}

void clock_slow(long long n)
{
	char text[24];

	slow = n < 1 ? 1 : n;
	snprintf(text, sizeof(text), "%lld", slow);
	setenv(SLOW, text, 1);
}

static long long factor(void)
{
	const char *text = slow ? NULL : getenv(SLOW);

	if (!slow)
		slow = text && atoll(text) > 1 ? atoll(text) : 1;
	return slow;
}

long long clock_scaled(long long us)
{
	return us / factor();
}

long long clock_us(void)
{
	struct timespec t = { 0 };

	if (clock_is_counter())
		return clock_scaled(counter_us());
	clock_gettime(CLOCK_MONOTONIC, &t);
	return clock_scaled((long long)t.tv_sec * 1000000 + t.tv_nsec / 1000);
}

void clock_sleep_us(long long us)
{
	long long ours = us * factor();
	struct timespec t = { .tv_sec = ours / 1000000,
			      .tv_nsec = ours % 1000000 * 1000 };

	if (us > 0)
		nanosleep(&t, NULL);
}

void clock_source(char out[64])
{
	int fd = open(SOURCE, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;

	if (fd >= 0) {
		n = read(fd, out, 63);
		close(fd);
	}
	out[n > 0 ? n : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	if (!out[0])
		memcpy(out, "unknown", sizeof("unknown"));
}

bool clock_loses_time(const char *source)
{
	return strstr(source, "jiffies") != NULL;
}
