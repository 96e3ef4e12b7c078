#include "question.h"

#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "spec.h"

#define LEAST_DRIVE (512LL << 20)

static int workloads_need(long long *bytes, const struct question *q,
			  struct err *e)
{
	*bytes = 0;
	for (size_t i = 0; i < q->workloads.n; i++) {
		struct spec s;
		char why[256];

		if (spec_parse(&s, q->workloads.v[i], why, sizeof(why)))
			return err_set(e, "%s", why);
		spec_resolve(&s, (long long)q->mem_mb << 20);
		/* one block more for each file, and its inode */
		*bytes += spec_bytes(&s) + spec_files(&s) * 4096;
	}
	return 0;
}

/* Inode tables, bitmaps, a journal, and the reserve for root. */
static long long with_overhead(long long bytes)
{
	return bytes + bytes / 8 + (48LL << 20);
}

const struct filesystem *question_fs(const char *name, struct err *e)
{
	const struct filesystem *fs = image_fs_find(name), *f;
	CLEANUP(str_release) struct str names = STR_INIT;

	for (int i = 0; !fs && (f = image_fs_at(i)); i++)
		str_fmt(&names, " %s", f->name);
	if (!fs)
		err_set(e, "unknown file system '%s': there are%s", name,
			str_c(&names));
	return fs;
}

int question_device(struct device *out, const struct question *q,
		       const char *share, struct err *e)
{
	AUTOFREE char *dir = xfmt("%s/qemu", share);

	if (device_load(out, dir, q->device, e))
		return -1;
	if (!out->real)
		return 0;
	if (!q->erase)
		return err_set(e, "%s is a real drive and would be erased: "
				  "confirm with --erase and its serial",
			       out->real);
	return device_check(out->real, q->erase, NULL, e);
}

int question_settle(struct question *q, const char *share, struct err *e)
{
	const struct filesystem *fs = question_fs(q->fs, e);
	CLEANUP(device_release) struct device device = { 0 };
	struct verdict_limit limit;
	long long need;

	if (!fs)
		return -1;
	if (q->threshold && verdict_limit_parse(&limit, q->threshold, e))
		return -1;
	if (question_device(&device, q, share, e))
		return -1;
	if (workloads_need(&need, q, e))
		return -1;
	need = with_overhead(need);
	if (!q->drive_bytes) {
		/* SD cards must have a power of two; the others may. */
		q->drive_bytes = LEAST_DRIVE;
		while (q->drive_bytes < need || q->drive_bytes < fs->min_bytes)
			q->drive_bytes *= 2;
	}
	if (q->drive_bytes < need)
		return err_set(e, "a drive of %lld MiB is too small: the "
				  "workloads need %lld MiB (--size)",
			       q->drive_bytes >> 20, need >> 20);
	if (q->drive_bytes < fs->min_bytes)
		return err_set(e, "a drive of %lld MiB is too small for %s: at "
				  "least %lld MiB (--size)",
			       q->drive_bytes >> 20, fs->name,
			       fs->min_bytes >> 20);
	/* Once and for all: times under KVM and TCG cannot be compared. */
	if (!strcmp(q->accel, "auto")) {
		free(q->accel);
		q->accel = xstrdup(boot_kvm_works() ? "kvm" : "tcg");
	}
	return 0;
}
