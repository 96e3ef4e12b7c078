/* The modelled disk against five real ones, measured request by request: the
 * profiles are what the converter makes of DiskSim's parameters, and nothing is
 * fitted to the traces. Demerit: the root mean square of the differences
 * between the sorted service times, divided by the measured mean.
 *
 * DISKSIM_DIR: another directory; its disks (NAME.parv and what it needs, and
 * NAME.trace) are then shown, and not judged. */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "model.h"
#include "proc.h"
#include "profile.h"
#include "str.h"
#include "test.h"

#define SOURCE IOBISECT_SOURCE
#define DATA   SOURCE "/tests/data/disksim"

static const struct {
	const char *name;
	double disksim; /* demerit of its own validation run, percent */
} disks[] = {
	{ "cheetah9LP", 2.5 }, { "ibm18es", 2.6 },   { "barracuda", 5.3 },
	{ "atlas10k", 6.9 },   { "hp_c3323a", 1.9 },
};
#define NDISKS (sizeof(disks) / sizeof(*disks))

struct row {
	size_t n;
	double measured, modelled, rms, demerit; /* ms, percent */
};

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Issues one request and gives its service time. */
static int64_t serve(struct model *m, struct disk_request *r)
{
	struct disk_done done;

	model_submit(m, r);
	while (!model_next(&done, m, model_wake(m)))
		;
	r->arrival = done.done;
	return done.done;
}

static void replay(struct row *row, const struct profile *p, struct model *m,
		   const char *trace)
{
	double *real = NULL, *ours = NULL, sum = 0;
	struct disk_request r = { .arrival = 0 };
	size_t cap = 0;

	while (*trace) {
		char op, hit[8];
		double service, wait;
		unsigned long long sector;
		int64_t begin = r.arrival;

		if (sscanf(trace, "%c %7s %llu %u %lf %lf", &op, hit, &sector,
			   &r.sectors, &service, &wait) != 6)
			break;
		trace += strcspn(trace, "\n") + 1;
		if (sector + r.sectors > p->sectors) {
			TEST_FAIL("%llu is past the end of %s", sector,
				  p->name);
			break;
		}
		if (row->n == cap) {
			cap = 2 * cap + 1024;
			real = xrealloc(real, cap * sizeof(*real));
			ours = xrealloc(ours, cap * sizeof(*ours));
		}
		r.op = op == 'R' ? DISK_READ : DISK_WRITE;
		r.sector = sector;
		real[row->n] = service / 1e3;
		ours[row->n++] = (serve(m, &r) - begin) / 1e6;
		r.arrival += llround(wait * 1e3);
	}
	qsort(real, row->n, sizeof(*real), compare);
	qsort(ours, row->n, sizeof(*ours), compare);
	for (size_t i = 0; i < row->n; i++) {
		row->measured += real[i] / row->n;
		row->modelled += ours[i] / row->n;
		sum += (real[i] - ours[i]) * (real[i] - ours[i]) / row->n;
	}
	row->rms = sqrt(sum);
	row->demerit = 100 * row->rms / row->measured;
	free(real);
	free(ours);
}

static int disk_run(struct row *row, const char *dir, const char *name,
		    struct err *e)
{
	AUTOFREE char *parv = xfmt("%s/%s.parv", dir, name);
	AUTOFREE char *plain = xfmt("%s/%s.trace", dir, name);
	AUTOFREE char *packed = xfmt("%s.xz", plain);
	AUTOFREE char *json = xfmt("demerit-%s.json", name);
	const char *const convert[] = { SOURCE "/qemu/drives/from-disksim",
					parv, NULL };
	const char *const unpack[] = { "xz", "-dcf",
				       file_exists(plain) ? plain : packed,
				       NULL };
	CLEANUP(str_release) struct str text = STR_INIT, trace = STR_INIT;
	struct profile *p = NULL;
	struct model *m = NULL;

	if (proc_capture(&text, convert, 30, e) ||
	    proc_capture(&trace, unpack, 30, e) ||
	    file_write(json, text.buf, text.len, e) ||
	    profile_read(&p, json, e))
		return -1;
	if (!model_new(&m, p, p->sectors, e))
		replay(row, p, m, str_c(&trace));
	unlink(json);
	model_free(m);
	profile_free(p);
	return row->n ? 0 : -1;
}

/* One line of the table. */
static void show(struct row *row, const char *dir, const char *name)
{
	struct err e = { "no requests" };

	*row = (struct row){ .n = 0 };
	if (disk_run(row, dir, name, &e))
		TEST_FAIL("%s: %s", name, e.msg);
	printf("# %-12s %8zu %9.3f %9.3f %7.3f %7.2f%%", name, row->n,
	       row->measured, row->modelled, row->rms, row->demerit);
}

static void show_head(void)
{
	printf("# %-12s %8s %9s %9s %7s %8s %8s\n", "disk", "requests",
	       "real ms", "model ms", "RMS ms", "demerit", "DiskSim");
}

TEST(demerit__is_small_on_measured_disks)
{
	double sum = 0;

	show_head();
	for (size_t i = 0; i < NDISKS; i++) {
		struct row row;

		show(&row, DATA, disks[i].name);
		printf(" %7.1f%%\n", disks[i].disksim);
		EXPECT(row.demerit <= 8);
		EXPECT(row.demerit < disks[i].disksim + 0.1);
		sum += row.demerit;
	}
	printf("# mean %.2f%%\n", sum / NDISKS);
	EXPECT(sum / NDISKS <= 5);
}

TEST(demerit__of_other_disks_is_shown)
{
	const char *dir = getenv("DISKSIM_DIR");
	DIR *d = dir ? opendir(dir) : NULL;
	struct dirent *entry;

	if (!d)
		return;
	show_head();
	while ((entry = readdir(d))) {
		AUTOFREE char *name = xstrdup(entry->d_name);
		struct row row;

		if (!str_ends(name, ".parv"))
			continue;
		name[strlen(name) - 5] = '\0';
		show(&row, dir, name);
		putchar('\n');
	}
	closedir(d);
}
