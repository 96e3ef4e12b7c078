/* How much the machine's processors were wanted by others. */
#ifndef PRESSURE_H
#define PRESSURE_H

/* Seconds since the machine's start in which some task waited for a processor
 * (the kernel's pressure stall information, "some" of cpu); -1 where the kernel
 * does not say. $IOBISECT_PRESSURE is another file to read; empty: none. */
double pressure_cpu(void);
/* The same from the text of /proc/pressure/cpu. Pure. */
double pressure_parse(const char *text);

#endif
