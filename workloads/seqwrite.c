/* One big file from its start to its end: dd, and iozone -i0. */
#include "workload.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define NAME "big"

/* In the order of spec.c's words. */
static const int open_flags[] = { 0, O_SYNC, O_DIRECT };

static int pass(struct work *w, const void *buf, int flags)
{
	long long bs = spec_get(w->spec, "bs");
	long long count = spec_get(w->spec, "count");
	int fd, bad = 0;

	if (!count)
		count = (spec_get(w->spec, "total") + bs - 1) / bs;
	fd = open(NAME, O_WRONLY | O_CREAT | flags, 0644);
	if (fd < 0)
		return work_fail(w, "open %s: %m", NAME);
	for (long long i = 0; !bad && i < count; i++)
		bad = work_write(w, fd, buf, (size_t)bs, NAME);
	if (!bad)
		bad = work_fsync(w, fd, NAME);
	if (close(fd) && !bad)
		bad = work_fail(w, "close %s: %m", NAME);
	return bad;
}

int seqwrite_run(struct work *w)
{
	int flags = open_flags[spec_get(w->spec, "flags")], bad;
	void *buf = work_buffer(w, (size_t)spec_get(w->spec, "bs"));

	if (!buf)
		return -1;
	bad = pass(w, buf, flags | O_TRUNC);
	if (!bad && spec_get(w->spec, "rewrite"))
		bad = pass(w, buf, flags);
	if (!bad)
		work_sync(w);
	free(buf);
	return bad;
}
