#include "test.h"

#include "drive.h"

#define UNIT 8192 /* sectors */

/* MB/s of 256 KiB writes that go round so many units, each a stream. */
static double alternate(int units)
{
	struct drive d;
	double mb;

	drive_open_shipped(&d, "sdhc-class10");
	for (int i = 0; i < 16 * units; i++)
		drive_do(&d, DISK_WRITE,
			 (uint64_t)(i % units) * 10 * UNIT + i / units * 512,
			 512);
	mb = 16 * units * 512 * 512e3 / d.now;
	drive_close(&d);
	return mb;
}

/* flashbench's README on such a card: 6.3-8.8 MB/s with two, 0.912 with three.
 */
TEST(card__two_units_are_fast_and_three_are_slow)
{
	double one = alternate(1), two = alternate(2), three = alternate(3);

	printf("# 1: %.2f MB/s, 2: %.2f, 3: %.3f\n", one, two, three);
	EXPECT(one > 11);
	EXPECT(two > 6.3);
	EXPECT(three > 0.8 && three < 1.1);
}

TEST(card__a_stream_of_single_sectors_is_one_command)
{
	struct drive d;
	double mb;

	drive_open_shipped(&d, "sdhc-class10");
	mb = drive_stream(&d, DISK_WRITE, 0, 1, 100000, 1);
	EXPECT(mb > 11.8 && mb < 12.2);
	drive_close(&d);
}

TEST(card__a_page_is_written_whole)
{
	struct disk_done c;
	struct drive d;
	int64_t program;

	drive_open_shipped(&d, "sdhc-class10");
	program = d.profile->card.program;
	drive_do(&d, DISK_WRITE, 0, 32);
	/* 8 in the middle of a page: what is before them is copied, and what
	 * is behind them, when the next write is elsewhere. */
	c = drive_do(&d, DISK_WRITE, 40, 8);
	EXPECT_INT(c.cost.transfer, 16 * program);
	c = drive_do(&d, DISK_WRITE, 96, 32);
	EXPECT_INT(c.cost.transfer, (16 + 32) * program);
	EXPECT_INT(c.cost.eviction, 0);
	drive_close(&d);
}

TEST(card__eviction_copies_what_was_not_written)
{
	struct disk_done c;
	struct drive d;

	drive_open_shipped(&d, "sdhc-class10");
	drive_do(&d, DISK_WRITE, 0, UNIT); /* whole: nothing to copy */
	drive_do(&d, DISK_WRITE, 10 * UNIT, UNIT / 2);
	c = drive_do(&d, DISK_WRITE, 20 * UNIT, 32);
	EXPECT_INT(c.cost.eviction, 0);
	c = drive_do(&d, DISK_WRITE, 30 * UNIT, 32);
	EXPECT_INT(c.cost.eviction, 125000000);
	/* Out of order: all of it. */
	drive_do(&d, DISK_WRITE, 30 * UNIT + 320, 32);
	drive_do(&d, DISK_WRITE, 20 * UNIT + 32, 32);
	c = drive_do(&d, DISK_WRITE, 40 * UNIT, 32);
	EXPECT_INT(c.cost.eviction, 250000000);
	drive_close(&d);
}

TEST(card__rewriting_one_page_fills_the_unit_in_the_end)
{
	struct drive d;
	int64_t evicted = 0;

	drive_open_shipped(&d, "sdhc-class10");
	for (int i = 0; i < 2 * UNIT / 32; i++)
		evicted += drive_do(&d, DISK_WRITE, 64, 32).cost.eviction;
	EXPECT_INT(evicted, 250000000);
	drive_close(&d);
}

TEST(card__reads_do_not_close_units)
{
	struct disk_done c;
	struct drive d;

	drive_open_shipped(&d, "sdhc-class10");
	drive_do(&d, DISK_WRITE, 0, 32);
	for (int i = 1; i < 10; i++) {
		c = drive_do(&d, DISK_READ, i * 10 * UNIT, 32);
		EXPECT_INT(c.cost.overhead, 750000);
	}
	c = drive_do(&d, DISK_WRITE, 32, 32);
	EXPECT_INT(c.cost.eviction, 0);
	drive_close(&d);
}
