/* Any file as a profile; a drive that comes of it serves some requests. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model.h"
#include "profile.h"
#include "str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SECTORS (1 << 17)

static void serve(struct model *m)
{
	struct disk_request r = { .id = 0 };
	struct disk_done d;
	int64_t wake, now = 0;
	unsigned done = 0;

	for (r.id = 0; r.id < 8; r.id++) {
		r.op = (enum disk_op)(r.id % 5);
		r.sector = r.op == DISK_FLUSH ? 0 : r.id * 7919 % SECTORS;
		r.sectors = r.op == DISK_FLUSH ? 0 : 8;
		r.fua = r.id == 6;
		r.arrival = (int64_t)r.id * 1000;
		model_submit(m, &r);
	}
	/* However strange the drive, it moves on, and answers once each. */
	for (int i = 0; i < 10000 && (wake = model_wake(m)) >= 0; i++) {
		now = wake > now ? wake : now;
		while (model_next(&d, m, now))
			done++;
	}
	if (done > 8)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTOFD int fd = memfd_create("profile", MFD_CLOEXEC);
	AUTOFREE char *path = xfmt("/proc/self/fd/%d", fd);
	struct profile *p = NULL;
	struct model *m = NULL;
	struct err e;

	if (write(fd, data, size) != (ssize_t)size)
		abort();
	if (profile_read(&p, path, &e))
		return 0;
	if (p->kind != PROFILE_NONE && !model_new(&m, p, SECTORS, &e))
		serve(m);
	model_free(m);
	profile_free(p);
	return 0;
}
