#include "test.h"

#include "drive.h"
#include "mech.h"

/* 2 cylinders, 2 heads, 10 sectors a track. */
static struct disk_zone zone = { .cylinders = 2, .spt = 10, .every = 40 };

static void expect(const struct disk_zone *z, uint64_t index, uint64_t place,
		   uint64_t beside)
{
	uint64_t n, at = zone_place(z, index, &n);

	EXPECT_INT(at, place);
	EXPECT_INT(n, beside);
}

TEST(mech__places_leave_room_in_front)
{
	struct disk_zone z = zone;

	z.lead = 3;
	expect(&z, 0, 3, 37);
	expect(&z, 36, 39, 1);
}

TEST(mech__spares_are_last_or_first_in_their_unit)
{
	struct disk_zone z = zone;

	z.every = 10;
	z.spare = 2;
	expect(&z, 0, 0, 8);
	expect(&z, 7, 7, 1);
	expect(&z, 8, 10, 8);
	z.spare_first = 1;
	expect(&z, 0, 2, 8);
	expect(&z, 8, 12, 8);
}

TEST(mech__slips_push_what_is_behind_them)
{
	struct zone_slip slips[] = { { 4, 1, 0 }, { 6, 2, 1 }, { 20, 1, 3 } };
	struct disk_zone z = zone;

	z.slips = slips;
	z.nslips = 3;
	expect(&z, 3, 3, 1);
	expect(&z, 4, 5, 1);
	expect(&z, 5, 8, 12);
	expect(&z, 16, 19, 1);
	expect(&z, 17, 21, 23);
	/* But only within their unit, at the cost of its spares. */
	z.every = 20;
	z.spare = 4;
	expect(&z, 15, 18, 1);
	expect(&z, 16, 21, 16);
}

/* From track to track the head is in time for the next first sector. */
TEST(mech__a_stream_never_waits_for_more_than_the_skew)
{
	static const char *const names[] = { "wd-10k-sata", "ide-12g-2000",
					     "ide-1g-1996", "scsi-10k" };

	for (int i = 0; i < 4; i++) {
		const struct disk_profile *p;
		struct arm arm = { 0, 0, 0 };
		struct drive d;
		int64_t t = 0;

		drive_open_shipped(&d, names[i]);
		p = &d.profile->disk;
		for (uint64_t lba = 0; lba < 100000;) {
			int64_t seek, wait;
			struct run r;

			mech_run(&r, d.profile, lba, 1000);
			seek = mech_seek(p, &arm, &r, true);
			wait = mech_wait(p, &r, t + seek);
			if (lba)
				ASSERT(seek + wait <= p->period / 4);
			if (lba && r.sector)
				ASSERT(seek + wait == 0);
			t += seek + wait + mech_transfer(p, &r, r.sectors);
			arm = (struct arm){ r.cylinder, r.head, t };
			lba += r.sectors;
		}
		drive_close(&d);
	}
}

TEST(mech__writes_settle_after_any_move)
{
	const struct disk_profile *p;
	struct arm arm = { 100, 1, 0 };
	struct run r = { .cylinder = 100, .head = 1 };
	struct drive d;

	drive_open_shipped(&d, "ide-12g-2000");
	p = &d.profile->disk;
	EXPECT_INT(mech_seek(p, &arm, &r, true), 0);
	r.head = 2;
	EXPECT_INT(mech_seek(p, &arm, &r, false), p->head_switch);
	EXPECT_INT(mech_seek(p, &arm, &r, true),
		   p->head_switch + p->write_settle);
	/* A seek is longer than the switch, which it hides. */
	r.cylinder = 50;
	EXPECT_INT(mech_seek(p, &arm, &r, false), p->seek[50]);
	r.head = 1;
	EXPECT_INT(mech_seek(p, &arm, &r, true), p->seek[50] + p->write_settle);
	drive_close(&d);
}

TEST(mech__passed_is_the_inverse_of_transfer)
{
	struct drive d;
	struct run r;

	drive_open_shipped(&d, "wd-10k-sata");
	mech_run(&r, d.profile, 777, 500);
	for (uint64_t n = 1; n <= 500; n++) {
		int64_t t = mech_transfer(&d.profile->disk, &r, n);

		ASSERT(mech_passed(&d.profile->disk, &r, t) == n);
		ASSERT(mech_passed(&d.profile->disk, &r, t - 1) == n - 1);
	}
	EXPECT_INT(mech_passed(&d.profile->disk, &r, -5), 0);
	drive_close(&d);
}

TEST(mech__serpentine_stays_on_its_head)
{
	struct drive d;
	struct run before, r;
	uint64_t lba = 0;

	drive_open_shipped(&d, "wd-10k-sata");
	mech_run(&before, d.profile, lba, 2000);
	for (int i = 0; i < 40; i++) {
		lba += before.sectors;
		mech_run(&r, d.profile, lba, 2000);
		/* Either the head changes or the cylinder. */
		EXPECT((r.head == before.head) !=
		       (r.cylinder == before.cylinder));
		before = r;
	}
	drive_close(&d);
}
