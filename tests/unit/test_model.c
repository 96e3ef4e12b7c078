/* What holds for every drive: time, order, costs. */
#include "test.h"

#include "drive.h"

static const char *const names[] = {
	"wd-10k-sata", "ide-12g-2000", "ide-1g-1996",
	"scsi-10k",    "sdhc-class10", "usb2-stick",
	"sata-ssd",    "none",	       NULL
};
#define REQUESTS 2000

/* Bursts, pauses, streams, rewrites, every operation. */
static void draw(struct disk_request *out, uint64_t *seed, uint64_t id,
		 const struct disk_request *before)
{
	uint64_t n = drive_random(seed) % 100;

	*out = (struct disk_request){ .id = id, .op = DISK_WRITE };
	out->arrival = before->arrival;
	if (n % 3 == 0)
		out->arrival += drive_random(seed) % 20000000;
	if (n < 35)
		out->op = DISK_READ;
	if (n > 92)
		out->op = n > 96 ? DISK_FLUSH : n > 95 ? DISK_TRIM : DISK_ZERO;
	out->fua = out->op == DISK_WRITE && n > 88;
	if (out->op == DISK_FLUSH)
		return;
	out->sectors = 1 + drive_random(seed) % (n % 2 ? 8 : 300);
	out->sector = drive_random(seed) % 1900000;
	if (n % 5 < 2)
		out->sector = before->sector + before->sectors;
	else if (n % 5 < 4)
		out->sector %= 4000;
	if (out->sector > 1900000)
		out->sector = 0;
}

struct world {
	struct disk_request r[REQUESTS];
	struct disk_done done[REQUESTS];
	struct disk_cost idle;
	size_t n;
};

/* All requests at their times; model_next is called at least every `step` ns of
 * the drive's time, or at arrivals only. */
static void run(struct world *w, struct drive *d, uint64_t seed, int64_t step)
{
	struct disk_request before = { .arrival = 5 };
	struct disk_done last;
	int64_t now = 0;

	w->n = 0;
	for (int i = 0; i <= REQUESTS; i++) {
		int64_t until = INT64_MAX / 2;

		if (i < REQUESTS) {
			draw(&w->r[i], &seed, i, &before);
			before = w->r[i];
			until = before.arrival;
		}
		while (step && now + step < until && w->n < REQUESTS) {
			now += step;
			while (w->n < REQUESTS &&
			       model_next(&w->done[w->n], d->model, now))
				w->n++;
		}
		if (i < REQUESTS)
			model_submit(d->model, &w->r[i]);
	}
	while (model_next(&last, d->model, INT64_MAX / 2))
		w->done[w->n++] = last;
	w->idle = model_idle_cost(d->model);
}

TEST(model__late_calls_change_nothing)
{
	static const int64_t steps[] = { 0, 1000, 7777777 };
	static struct world first, other;

	for (int i = 0; names[i]; i++) {
		for (int k = 0; k < 3; k++) {
			struct world *w = k ? &other : &first;
			struct drive d;

			/* Steps of 1 us take long: not for slow drives. */
			if (k == 1 && strcmp(names[i], "wd-10k-sata") &&
			    strcmp(names[i], "none"))
				continue;
			drive_open_shipped(&d, names[i]);
			run(w, &d, 88172645463325252ull, steps[k]);
			drive_close(&d);
			EXPECT_INT(w->n, REQUESTS);
			if (!k)
				continue;
			EXPECT(!memcmp(first.done, other.done,
				       sizeof(first.done)));
			EXPECT(!memcmp(&first.idle, &other.idle,
				       sizeof(first.idle)));
		}
	}
}

static int64_t total(const struct disk_cost *c)
{
	return c->overhead + c->transfer + c->seek + c->rotation + c->flush +
	       c->eviction;
}

static bool negative(const struct disk_cost *c)
{
	return c->overhead < 0 || c->transfer < 0 || c->seek < 0 ||
	       c->rotation < 0 || c->flush < 0 || c->eviction < 0;
}

TEST(model__times_and_costs_add_up)
{
	static struct world w;

	for (int i = 0; names[i]; i++) {
		bool seen[REQUESTS] = { false };
		struct drive d;

		drive_open_shipped(&d, names[i]);
		run(&w, &d, 4101842887655102017ull, 0);
		drive_close(&d);
		ASSERT(w.n == REQUESTS);
		for (int k = 0; k < REQUESTS; k++) {
			const struct disk_done *c = &w.done[k];

			ASSERT(c->id < REQUESTS && !seen[c->id]);
			seen[c->id] = true;
			EXPECT(c->start >= w.r[c->id].arrival);
			EXPECT(c->done >= c->start);
			EXPECT(!k || c->done >= c[-1].done);
			EXPECT(!negative(&c->cost));
			/* Flat drives overlap the latency of one with the
			 * transfer of another. */
			EXPECT(total(&c->cost) <= c->done - c->start);
		}
		EXPECT(!negative(&w.idle));
	}
}

TEST(model__refuses_a_guest_disk_that_is_too_large)
{
	struct model *m = NULL;
	struct drive d;
	struct err e;

	drive_open_shipped(&d, "ide-1g-1996");
	EXPECT_INT(model_new(&m, d.profile, d.profile->sectors + 1, &e), -1);
	EXPECT(strstr(e.msg, "ide-1g-1996 has"));
	EXPECT_INT(model_new(&m, d.profile, d.profile->sectors, &e), 0);
	model_free(m);
	drive_close(&d);
}

TEST(model__is_freed_with_work_in_it)
{
	for (int i = 0; names[i]; i++) {
		struct drive d;

		drive_open_shipped(&d, names[i]);
		for (int k = 0; k < 100; k++) {
			drive_send(&d, k % 3 ? DISK_WRITE : DISK_READ,
				   k * 9999 % 1000000, 64);
			d.now += 100000;
		}
		drive_send(&d, DISK_FLUSH, 0, 0);
		drive_close(&d);
	}
}
