/* The shipped profiles do what their figures say. */
#include "test.h"

#include <dirent.h>
#include <math.h>

#include "drive.h"

static const char *const names[] = { "wd-10k-sata",  "ide-12g-2000",
				     "ide-1g-1996",  "scsi-10k",
				     "sdhc-class10", "usb2-stick",
				     "sata-ssd",     NULL };

static double rate(const char *name, enum disk_op op, int depth, double *rated)
{
	struct drive d;
	double mb;

	drive_open_shipped(&d, name);
	*rated = d.profile->rated;
	/* What a cache takes at once does not count. */
	drive_stream(&d, op, 2048, 256, 200, depth);
	mb = drive_stream(&d, op, 2048 + 200 * 256, 256, 1000, depth);
	drive_close(&d);
	return mb;
}

TEST(drives__write_at_their_rated_speed)
{
	for (int i = 0; names[i]; i++) {
		double rated, mb = rate(names[i], DISK_WRITE, 16, &rated);

		printf("# %-14s rated %g MB/s, writes %.2f\n", names[i], rated,
		       mb);
		EXPECT(rated > 0 && fabs(mb / rated - 1) <= 0.02);
	}
}

TEST(drives__read_in_a_row_at_media_rate)
{
	static const char *const disks[] = { "wd-10k-sata", "ide-12g-2000",
					     "ide-1g-1996", "scsi-10k", NULL };

	for (int i = 0; disks[i]; i++)
		for (int depth = 1; depth <= 16; depth *= 16) {
			double rated,
				mb = rate(disks[i], DISK_READ, depth, &rated);

			printf("# %-14s depth %2d: reads %.2f MB/s\n", disks[i],
			       depth, mb);
			EXPECT(fabs(mb / rated - 1) <= 0.05);
		}
}

TEST(drives__are_all_readable_and_named)
{
	DIR *dir = opendir(DRIVES);
	struct dirent *entry;
	int n = 0;

	ASSERT(dir);
	while ((entry = readdir(dir))) {
		AUTOFREE char *path = xfmt(DRIVES "%s", entry->d_name);
		struct profile *p = NULL;
		struct err e = { "" };

		if (!str_ends(entry->d_name, ".json"))
			continue;
		n++;
		if (profile_read(&p, path, &e)) {
			TEST_FAIL("%s", e.msg);
			continue;
		}
		EXPECT(strlen(p->name) + 5 == strlen(entry->d_name));
		EXPECT(p->description[0] && p->sources.n > 0);
		profile_free(p);
	}
	closedir(dir);
	EXPECT(n >= 8);
}

TEST(drives__none_costs_nothing)
{
	struct drive d;
	struct disk_done done;

	drive_open_shipped(&d, "none");
	d.now = 12345;
	for (enum disk_op op = DISK_READ; op <= DISK_ZERO; op++) {
		done = drive_do(&d, op, 1 << 30, op == DISK_FLUSH ? 0 : 4096);
		EXPECT_INT(done.done, 12345);
	}
	drive_close(&d);
}
