/* The converter: forms that the measured disks do not have. */
#include "test.h"

#include <unistd.h>

#include "mech.h"
#include "proc.h"
#include "profile.h"
#include "str.h"

#define NAME "test-disksim"

static const char spec[] =
	"# comment { = [\n"
	"disksim_global Global { Init Seed = 42, Real Seed = 42 }\n"
	"instantiate [ statfoo ] as Stats\n"
	"disksim_bus BUS1 {\n"
	"  type = 1, Read block transfer time = 0.0,\n"
	"  Write block transfer time = 0.2\n"
	"} # end\n"
	"disksim_disk NAME {\n"
	"  Model = source " NAME ".model,\n"
	"  Per-request overhead time = 0.0,\n"
	"  Time scale for overheads = 2.0,\n"
	"  Bulk sector transfer time = 0.1,\n"
	"  Scheduler = disksim_ioqueue { Scheduling policy = 1 },\n"
	"  Number of buffer segments = 4, Segment size (in blks) = 64,\n"
	"  Maximum number of write segments = 1,\n"
	"  Use separate write segment = 1, Fast write level = %d,\n"
	"  Allow read hits on write data = 1,\n"
	"  Enable caching in buffer = 1, Buffer continuous read = 1,\n"
	"  Maximum read-ahead (blks) = 32,\n"
	"  Read hit over. after read = 0.1, Read hit over. after write = 0.2,\n"
	"  Read miss over. after read = 0.3, Read miss over. after write = "
	"0.4,\n"
	"  Write hit over. after read = 0.5, Write hit over. after write = "
	"0.6,\n"
	"  Write miss over. after read = 0.7,\n"
	"  Write miss over. after write = 0.8,\n"
	"  First reselect overhead = 0.05, Read completion overhead = 0.01\n"
	"}\n";

static const char model[] =
	"dm_disk MODEL {\n"
	"  Number of data surfaces = 2, Number of cylinders = 20,\n"
	"  Block count = 760,\n"
	"  Mechanical Model = dm_mech_g1 {\n"
	"    Access time type = trackSwitchPlusRotation,\n"
	"    Seek type = hplplus10, Single cylinder seek time = 1.0,\n"
	"    Add. write settling delay = 0.5, Head switch time = 0.25,\n"
	"    Rotation speed (in rpms) = 6000, Percent error in rpms = 0.0,\n"
	"    HPL seek equation values = [ 15, 2.0, 1.0, 5.0, 0.5, -1 ],\n"
	"    First ten seek times = [ 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8,\n"
	"      1.9, 2.0 ]\n"
	"  },\n"
	"  Layout Model = dm_layout_g1 {\n"
	"    LBN-to-PBN mapping scheme = 2, Sparing scheme used = %d,\n"
	"    Rangesize for sparing = 1, Skew units = revolutions,\n"
	"    Zones = [ dm_layout_g1_zone {\n"
	"      First cylinder number = 0, Last cylinder number = 9,\n"
	"      Blocks per track = 20, Offset of first block = 0.5,\n"
	"      Empty space at zone front = 4, Skew for track switch = 0.25,\n"
	"      Skew for cylinder switch = 0.3, Number of spares = 2,\n"
	"      slips = [ 6, 7, 50 ], defects = [ ]\n"
	"    } ]\n"
	"  }\n"
	"}\n";

static struct profile *convert(int fast, int scheme)
{
	const char *const argv[] = { IOBISECT_SOURCE
				     "/qemu/drives/from-disksim",
				     NAME ".parv", NULL };
	CLEANUP(str_release) struct str json = STR_INIT;
	AUTOFREE char *s = xfmt(spec, fast), *m = xfmt(model, scheme);
	struct profile *p = NULL;
	struct err e;

	if (file_write(NAME ".parv", s, strlen(s), &e) ||
	    file_write(NAME ".model", m, strlen(m), &e) ||
	    proc_capture(&json, argv, 30, &e) ||
	    file_write(NAME ".json", json.buf, json.len, &e) ||
	    profile_read(&p, NAME ".json", &e))
		TEST_FAIL("%s", e.msg);
	unlink(NAME ".parv");
	unlink(NAME ".model");
	unlink(NAME ".json");
	return p;
}

TEST(disksim__overheads_and_caches)
{
	struct profile *p = convert(2, 2);
	const struct disk_profile *d = &p->disk;

	ASSERT(p);
	EXPECT_INT(d->bus, 200000);
	EXPECT_INT(d->overhead.read_hit[0], 400000);
	EXPECT_INT(d->overhead.read_hit[1], 200000);
	EXPECT_INT(d->overhead.read_miss[1], 600000);
	EXPECT_INT(d->overhead.write[0], 1200000);
	EXPECT_INT(d->overhead.reselect, 100000);
	EXPECT_INT(d->overhead.read_end, 20000);
	EXPECT_INT(d->segments, 3);
	EXPECT_INT(d->keep_writes, 0);
	EXPECT_INT(d->ahead_until, AHEAD_TRACK);
	EXPECT_INT(d->cache_sectors, 64);
	profile_free(p);
	/* Without fast writes there is no cache, and other overheads. */
	p = convert(0, 2);
	ASSERT(p);
	EXPECT_INT(p->disk.cache_sectors, 0);
	EXPECT_INT(p->disk.overhead.write[1], 1400000);
	profile_free(p);
}

TEST(disksim__mechanics_by_equation)
{
	struct profile *p = convert(2, 2);
	const struct disk_profile *d = &p->disk;
	const struct disk_zone *z = d->zones;

	ASSERT(p);
	EXPECT_INT(d->period, 10000000);
	EXPECT_INT(d->serpentine, SERPENTINE_DISK);
	EXPECT_INT(d->seek[1], 1100000);
	EXPECT_INT(d->seek[9], 1900000);
	EXPECT_INT(z->track_skew, 5000);
	EXPECT_INT(z->cylinder_skew, 6000);
	EXPECT_INT(z->offset, 10000);
	profile_free(p);
}

/* What a zone of 400 places has for data under each scheme, and the places of
 * its sectors 2 and 45, behind slips at 6 and 7, and at 50. A cylinder has 40.
 */
TEST(disksim__sparing_schemes)
{
	static const struct {
		int scheme;
		uint64_t sectors, near, far;
	} want[] = {
		{ 2, 400 - 4 - 20, 8, 52 },  /* 49 is 38 + 11, then 50 */
		{ 3, 400 - 4 - 40, 8, 54 },  /* 49 is 2 * 18 + 13, then 50 */
		{ 4, 400 - 4 - 23, 8, 54 },  /* as 2, with all slips */
		{ 5, 400 - 4 - 20, 10, 54 }, /* as 2, behind two spares */
		{ 7, 400 - 4 - 3, 8, 52 },   /* 49 and three slips */
		{ 8, 400 - 4 - 20, 8, 52 },  /* as 2 */
		{ 9, 400 - 4 - 3, 8, 52 },   /* more slips than spares */
		{ 10, 400 - 4 - 5, 8, 52 },
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct profile *p = convert(2, want[i].scheme);
		uint64_t n;

		printf("# scheme %d\n", want[i].scheme);
		ASSERT(p);
		EXPECT_INT(p->sectors, want[i].sectors);
		EXPECT_INT(zone_place(p->disk.zones, 2, &n), want[i].near);
		EXPECT_INT(zone_place(p->disk.zones, 45, &n), want[i].far);
		profile_free(p);
	}
}
