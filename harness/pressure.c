#include "pressure.h"

#include <stdlib.h>
#include <string.h>

#include "str.h"

double pressure_parse(const char *text)
{
	const char *some = strstr(text, "some ");
	const char *total = some ? strstr(some, "total=") : NULL;
	char *end;
	unsigned long long us;

	if (!total)
		return -1;
	total += strlen("total=");
	us = strtoull(total, &end, 10);
	return end == total ? -1 : (double)us / 1e6;
}

double pressure_cpu(void)
{
	CLEANUP(str_release) struct str text = STR_INIT;
	const char *path = getenv("IOBISECT_PRESSURE");
	struct err ignored;

	if (file_read(&text, path ? path : "/proc/pressure/cpu", &ignored))
		return -1;
	return pressure_parse(str_c(&text));
}
