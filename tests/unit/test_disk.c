#include "test.h"

#include <math.h>

#include "drive.h"

#define MS 1000000ll

/* The mean over all pairs of places, by the seek table. */
static double mean_seek(const struct disk_profile *p, const uint64_t *at, int n)
{
	double sum = 0;

	for (int i = 1; i < n; i++)
		sum += p->seek[llabs((int64_t)(at[i] - at[i - 1]))];
	return sum / (n - 1);
}

TEST(disk__random_reads_take_a_seek_and_half_a_turn)
{
	static const char *const names[] = { "wd-10k-sata", "ide-12g-2000",
					     "ide-1g-1996", "scsi-10k" };
	enum { N = 4000 };

	for (int i = 0; i < 4; i++) {
		double want = 0, got = 0;
		uint64_t seed = 12345, at[N];
		struct disk_cost sum = { 0 };
		struct drive d;

		drive_open_shipped(&d, names[i]);
		for (int k = 0; k < N; k++) {
			const struct disk_zone *z = d.profile->disk.zones;
			uint64_t s =
				drive_random(&seed) % (d.profile->sectors - 8);
			struct disk_done c = drive_do(&d, DISK_READ, s, 8);

			/* Not at once: the angle is then any. */
			d.now += drive_random(&seed) % (20 * MS);
			got += (double)(c.done - c.start) / N;
			sum.seek += c.cost.seek / N;
			sum.rotation += c.cost.rotation / N;
			while (s >= z->lba + z->sectors)
				z++;
			at[k] = z->cylinder +
				(s - z->lba) / (z->spt * d.profile->disk.heads);
			want += 8.0 * d.profile->disk.period / z->spt / N;
		}
		want += mean_seek(&d.profile->disk, at, N) +
			d.profile->disk.period / 2.0 +
			d.profile->disk.overhead.read_miss[1] +
			d.profile->disk.bus;
		printf("# %-14s %.2f ms, want %.2f\n", names[i], got / 1e6,
		       want / 1e6);
		EXPECT(fabs(got / want - 1) < 0.03);
		EXPECT(fabs((sum.rotation + sum.rotation) /
				    (double)d.profile->disk.period -
			    1) < 0.05);
		drive_close(&d);
	}
}

TEST(disk__cached_writes_return_at_once_and_a_flush_waits_for_them)
{
	struct disk_done c;
	struct drive d;
	uint64_t seed = 99;
	int64_t mechanics;

	drive_open_shipped(&d, "wd-10k-sata");
	for (int i = 0; i < 64; i++) {
		c = drive_do(&d, DISK_WRITE, drive_random(&seed) % 100000000,
			     8);
		EXPECT(c.done - c.start < MS / 4);
	}
	c = drive_do(&d, DISK_FLUSH, 0, 0);
	/* Each has its own place: in the best order one takes 2 ms and more. */
	EXPECT(c.done - c.start > 64 * 2 * MS);
	EXPECT(c.done - c.start < 64 * 7 * MS);
	mechanics = c.cost.seek + c.cost.rotation + c.cost.transfer;
	EXPECT(mechanics > (c.done - c.start) * 9 / 10);
	c = drive_do(&d, DISK_FLUSH, 0, 0);
	EXPECT(c.done - c.start < MS / 4);
	drive_close(&d);
}

TEST(disk__a_flush_is_a_barrier)
{
	struct disk_done c;
	struct drive d;

	drive_open_shipped(&d, "wd-10k-sata");
	drive_send(&d, DISK_READ, 50000000, 8);
	drive_send(&d, DISK_WRITE, 90000000, 8);
	drive_send(&d, DISK_FLUSH, 0, 0);
	drive_send(&d, DISK_WRITE, 0, 8);
	drive_send(&d, DISK_READ, 50000000, 8);
	for (uint64_t i = 0; i < 5; i++) {
		c = drive_wait(&d);
		if (i == 2)
			EXPECT_INT(c.id, 2);
		else
			EXPECT((c.id < 2) == (i < 2));
	}
	drive_close(&d);
}

TEST(disk__a_flush_waits_for_commands_before_it)
{
	struct drive d;

	drive_open_shipped(&d, "wd-10k-sata");
	drive_send(&d, DISK_READ, 50000000, 8);
	drive_send(&d, DISK_READ, 90000000, 8);
	drive_send(&d, DISK_FLUSH, 0, 0);
	for (int i = 0; i < 2; i++)
		EXPECT(drive_wait(&d).id < 2);
	EXPECT_INT(drive_wait(&d).id, 2);
	drive_close(&d);
}

/* What comes while the same place is written is written again. */
TEST(disk__a_rewrite_during_destaging_is_not_lost)
{
	int64_t wait[2];

	for (int again = 0; again < 2; again++) {
		struct disk_done c;
		struct drive d;

		drive_open_shipped(&d, "wd-10k-sata");
		drive_do(&d, DISK_WRITE, 300000000, 8);
		if (again)
			drive_do(&d, DISK_WRITE, 300000000, 8);
		c = drive_do(&d, DISK_FLUSH, 0, 0);
		wait[again] = c.done;
		drive_close(&d);
	}
	/* A turn later. */
	EXPECT(wait[1] - wait[0] == 6 * MS);
}

TEST(disk__fua_goes_to_the_medium)
{
	struct disk_request r = {
		.op = DISK_WRITE, .sector = 9000000, .sectors = 8, .fua = true
	};
	struct disk_done c;
	struct drive d;
	int64_t done;

	drive_open_shipped(&d, "wd-10k-sata");
	drive_do(&d, DISK_READ, 0, 8);
	/* The older data of the same place need not be written any more. */
	drive_do(&d, DISK_WRITE, 9000000, 8);
	r.arrival = d.now;
	model_submit(d.model, &r);
	c = drive_wait(&d);
	EXPECT(c.done - c.start > 2 * MS);
	EXPECT(c.cost.rotation + c.cost.seek > 0 && c.cost.transfer > 0);
	done = c.done;
	c = drive_do(&d, DISK_FLUSH, 0, 0);
	EXPECT(c.done - done < MS / 4);
	drive_close(&d);
}

/* MB/s of writes through the cache in a row. */
static double through(int depth)
{
	struct disk_request r = { .op = DISK_WRITE,
				  .sectors = 128,
				  .fua = true };
	struct drive d;
	double mb;

	drive_open_shipped(&d, "wd-10k-sata");
	for (int i = 0; i < 1000 + depth; i++) {
		if (i >= depth)
			drive_wait(&d);
		r.arrival = d.now;
		if (i < 1000)
			model_submit(d.model, &r);
		r.sector += r.sectors;
	}
	mb = 1000 * 128 * 512e3 / d.now;
	drive_close(&d);
	return mb;
}

TEST(disk__writes_through_need_a_queue_to_stream)
{
	double one = through(1), many = through(16);

	printf("# depth 1: %.1f MB/s, 16: %.1f\n", one, many);
	EXPECT(one > 9 && one < 12); /* a turn each */
	EXPECT(many > 110);
}

TEST(disk__a_rewrite_replaces_what_is_in_the_cache)
{
	struct disk_done c;
	struct drive d;

	drive_open_shipped(&d, "wd-10k-sata");
	/* Keeps the head away. */
	drive_send(&d, DISK_READ, 500000000, 64);
	for (int i = 0; i < 20; i++)
		drive_send(&d, DISK_WRITE, 1000, 8);
	for (int i = 0; i < 21; i++)
		drive_wait(&d);
	c = drive_do(&d, DISK_FLUSH, 0, 0);
	EXPECT(c.done - c.start < 20 * MS);
	drive_close(&d);
}

TEST(disk__neighbours_in_the_cache_are_written_in_one_go)
{
	struct disk_done c;
	struct drive d;

	drive_open_shipped(&d, "ide-12g-2000");
	drive_send(&d, DISK_READ, 20000000, 64);
	/* 64 KiB, the last first. */
	for (int i = 15; i >= 0; i--)
		drive_send(&d, DISK_WRITE, 1000 + i * 8, 8);
	for (int i = 0; i < 17; i++)
		drive_wait(&d);
	c = drive_do(&d, DISK_FLUSH, 0, 0);
	EXPECT(c.done - c.start < 40 * MS);
	drive_close(&d);
}

TEST(disk__a_full_cache_slows_writes_down_to_the_medium)
{
	struct disk_done c, last = { .done = 0 };
	struct drive d;
	uint64_t seed = 5;
	int waited = 0;

	drive_open_shipped(&d, "ide-12g-2000");
	for (int i = 0; i < 64; i++) {
		c = drive_do(&d, DISK_WRITE, drive_random(&seed) % 20000000, 8);
		if (c.cost.seek + c.cost.rotation > 0) {
			waited++;
			EXPECT(i >= 16);
		}
		last = c;
	}
	EXPECT(waited > 30);
	EXPECT(last.done > 30 * 8 * MS);
	drive_close(&d);
}

TEST(disk__no_read_starves)
{
	struct disk_done c;
	struct drive d;
	uint64_t seed = 7;
	int64_t limit;
	bool seen = false;

	drive_open_shipped(&d, "wd-10k-sata");
	limit = d.profile->disk.age_limit;
	/* The head always has something near. */
	for (int i = 0; i < 15; i++)
		drive_send(&d, DISK_READ, drive_random(&seed) % 20000, 8);
	drive_wait(&d);
	drive_send(&d, DISK_READ, 580000000, 8);
	for (int i = 0; i < 4000 && !seen; i++) {
		drive_send(&d, DISK_READ, drive_random(&seed) % 2000000, 8);
		c = drive_wait(&d);
		seen = c.id == 15;
	}
	EXPECT(seen);
	EXPECT(c.done - c.start > limit);
	EXPECT(c.done - c.start < limit + 30 * MS);
	drive_close(&d);
}

TEST(disk__nothing_stays_in_the_cache_while_a_stream_goes_on)
{
	struct drive d;
	double alone, disturbed;
	int64_t begin;

	drive_open_shipped(&d, "wd-10k-sata");
	drive_stream(&d, DISK_WRITE, 0, 256, 200, 16);
	alone = drive_stream(&d, DISK_WRITE, 51200, 256, 2000, 16);
	drive_rest(&d);
	begin = d.now;
	/* A block far away, again and again: each time it is written costs two
	 * seeks, but it is so only every now and then. */
	for (int i = 0; i < 2000; i++) {
		drive_do(&d, DISK_WRITE, 1000000 + i * 256, 256);
		drive_do(&d, DISK_WRITE, 400000000, 8);
	}
	disturbed = 2000 * 256 * 512e3 / (d.now - begin);
	printf("# alone %.1f MB/s, disturbed %.1f\n", alone, disturbed);
	EXPECT(disturbed < 0.85 * alone);
	EXPECT(disturbed > 0.40 * alone);
	drive_close(&d);
}

TEST(disk__what_was_read_ahead_is_a_hit)
{
	struct disk_done c;
	struct drive d;

	drive_open_shipped(&d, "wd-10k-sata");
	drive_do(&d, DISK_READ, 100000, 8);
	d.now += 50 * MS;
	c = drive_do(&d, DISK_READ, 100400, 8);
	EXPECT(c.done - c.start < MS / 4);
	/* Not any more, once it has been written over... */
	drive_do(&d, DISK_WRITE, 100400, 8);
	d.now += 50 * MS;
	c = drive_do(&d, DISK_READ, 100400, 8);
	EXPECT(c.done - c.start < MS / 4); /* ...but that is kept too. */
	c = drive_do(&d, DISK_READ, 100416, 8);
	EXPECT(c.done - c.start > MS / 4);
	drive_close(&d);
}

/* How many of some reads find the sectors before them in the buffer later. */
static int hits_before(bool free_reads)
{
	struct disk_done c;
	struct drive d;
	int hits = 0;

	drive_open_shipped(&d, "wd-10k-sata");
	d.profile->disk.free_reads = free_reads;
	for (uint64_t i = 1; i < 50; i++) {
		uint64_t sector = i * 1000003;

		drive_do(&d, DISK_READ, sector, 8);
		d.now += 30 * MS;
		c = drive_do(&d, DISK_READ, sector - 100, 8);
		hits += c.cost.seek + c.cost.rotation == 0;
	}
	drive_close(&d);
	return hits;
}

TEST(disk__what_passes_before_a_read_is_kept)
{
	EXPECT_INT(hits_before(false), 0);
	printf("# %d hits\n", hits_before(true));
	EXPECT(hits_before(true) > 30);
}

/* The mean time of reads of a whole track. */
static int64_t track_reads(bool on_arrival)
{
	struct drive d;
	int64_t sum = 0;

	drive_open_shipped(&d, "wd-10k-sata");
	d.profile->disk.on_arrival = on_arrival;
	d.profile->disk.ahead_sectors = 0;
	for (uint64_t i = 0; i < 50; i++) {
		struct disk_done c =
			drive_do(&d, DISK_READ, 1460 * (1000 + 7 * i), 1460);

		sum += c.done - c.start - c.cost.seek;
		d.now += i * 777777;
	}
	drive_close(&d);
	return sum / 50;
}

TEST(disk__a_read_begins_where_the_head_lands)
{
	int64_t whole = track_reads(false), landed = track_reads(true);

	/* A turn, and half a turn before it if not, and the bus behind. */
	printf("# whole %.2f ms, on arrival %.2f\n", whole / 1e6, landed / 1e6);
	EXPECT(llabs(whole - 9 * MS) < MS);
	EXPECT(landed > 6 * MS && landed < whole - MS / 2);
}

TEST(disk__a_trim_forgets_dirty_data)
{
	struct disk_done c;
	struct drive d;
	uint64_t seed = 3;

	drive_open_shipped(&d, "wd-10k-sata");
	drive_send(&d, DISK_READ, 500000000, 64);
	for (int i = 0; i < 30; i++)
		drive_send(&d, DISK_WRITE, drive_random(&seed) % 1000000, 8);
	drive_send(&d, DISK_TRIM, 0, 1000000);
	for (int i = 0; i < 32; i++)
		drive_wait(&d);
	c = drive_do(&d, DISK_FLUSH, 0, 0);
	EXPECT(c.done - c.start < 10 * MS);
	drive_close(&d);
}

TEST(disk__destaging_is_charged_to_nobody_when_nobody_waits)
{
	struct disk_cost idle;
	struct drive d;

	drive_open_shipped(&d, "wd-10k-sata");
	drive_do(&d, DISK_WRITE, 300000000, 8);
	drive_rest(&d);
	idle = model_idle_cost(d.model);
	EXPECT(idle.seek > MS && idle.transfer > 0);
	EXPECT_INT(model_wake(d.model), -1);
	drive_close(&d);
}
