/* The guest's clock: CLOCK_MONOTONIC, in microseconds. */
#ifndef CLOCK_H
#define CLOCK_H

long long clock_us(void);
/* Returns early only when a signal arrives. */
void clock_sleep_us(long long us);

#endif
