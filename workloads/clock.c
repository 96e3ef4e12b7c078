#include "clock.h"

#include <time.h>

long long clock_us(void)
{
	struct timespec t = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void clock_sleep_us(long long us)
{
	struct timespec t = { .tv_sec = us / 1000000,
			      .tv_nsec = us % 1000000 * 1000 };

	if (us > 0)
		nanosleep(&t, NULL);
}
