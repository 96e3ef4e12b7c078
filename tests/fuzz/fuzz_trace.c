/* Any bytes as a trace; what is accepted can be counted and converted. */
#include "blktrace.h"
#include "stats.h"
#include "trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(trace_release) struct trace t = { .n = 0 };
	CLEANUP(str_release) struct str s = STR_INIT;
	struct stats stats;
	uint64_t sectors = 0;
	struct err e;

	if (trace_parse(&t, data, size, &e))
		return 0;
	blktrace_write(&s, &t);
	for (size_t i = 0; i < t.n; i++)
		sectors += t.records[i].sectors;
	if (sectors < 1 << 20) /* it marks each one */
		stats_of(&stats, &t);
	return 0;
}
