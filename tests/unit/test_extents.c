#include "test.h"

#include "drive.h"
#include "extents.h"

static void expect(const struct extents *x, const char *want)
{
	CLEANUP(str_release) struct str s = STR_INIT;

	for (size_t i = 0; i < x->n; i++)
		str_fmt(&s, "%llu-%llu@%lld ",
			(unsigned long long)x->v[i].first,
			(unsigned long long)x->v[i].end,
			(long long)x->v[i].since);
	EXPECT_STR(str_c(&s), want);
}

TEST(extents__merge_what_touches)
{
	struct extents x = { .v = NULL };

	extents_add(&x, 10, 20, 5);
	extents_add(&x, 30, 40, 3);
	extents_add(&x, 0, 2, 9);
	expect(&x, "0-2@9 10-20@5 30-40@3 ");
	extents_add(&x, 20, 30, 7);
	expect(&x, "0-2@9 10-40@3 ");
	extents_add(&x, 2, 4, 1);
	expect(&x, "0-4@1 10-40@3 ");
	extents_add(&x, 0, 50, 8);
	expect(&x, "0-50@1 ");
	EXPECT_INT(x.sectors, 50);
	extents_release(&x);
}

TEST(extents__cut_splits)
{
	struct extents x = { .v = NULL };

	extents_add(&x, 10, 20, 1);
	extents_add(&x, 30, 40, 2);
	extents_cut(&x, 12, 14);
	expect(&x, "10-12@1 14-20@1 30-40@2 ");
	extents_cut(&x, 18, 35);
	expect(&x, "10-12@1 14-18@1 35-40@2 ");
	extents_cut(&x, 20, 30);
	extents_cut(&x, 0, 100);
	expect(&x, "");
	EXPECT_INT(x.sectors, 0);
	extents_release(&x);
}

/* Against a plain map of sectors. */
TEST(extents__agree_with_a_bitmap)
{
	enum { SIZE = 300 };
	bool map[SIZE + 1] = { false };
	struct extents x = { .v = NULL };
	uint64_t seed = 42;

	for (int i = 0; i < 5000; i++) {
		uint64_t first = drive_random(&seed) % SIZE;
		uint64_t end = first + 1 + drive_random(&seed) % 9, n = 0;
		bool add = drive_random(&seed) % 2;

		end = end < SIZE ? end : SIZE;
		if (add)
			extents_add(&x, first, end, i);
		else
			extents_cut(&x, first, end);
		for (uint64_t s = first; s < end; s++)
			map[s] = add;
		for (uint64_t s = 0, end_s; s < SIZE; s++) {
			n += map[s];
			end_s = s;
			while (map[end_s])
				end_s++;
			ASSERT(extents_covered(&x, s) == end_s);
		}
		ASSERT(x.sectors == n);
		for (size_t k = 1; k < x.n; k++)
			ASSERT(x.v[k - 1].end < x.v[k].first);
	}
	extents_release(&x);
}
