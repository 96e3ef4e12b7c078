#include "test.h"

#include "str.h"

TEST(str__numbers_are_whole_and_in_range)
{
	static const char *const bad[] = { "", " 1", "1 ", "x", "1x", "0x1",
					   "99999999999999999999", "-1" };
	long long v = 0;

	EXPECT(parse_int(&v, "42", 0, 100) == 0 && v == 42);
	EXPECT(parse_int(&v, "101", 0, 100) == -1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (parse_int(&v, bad[i], 0, 100) == 0)
			TEST_FAIL("'%s' was accepted", bad[i]);
}

TEST(str__sizes_have_suffixes_and_do_not_overflow)
{
	long long v = 0;

	EXPECT(parse_size(&v, "16k") == 0 && v == 16384);
	EXPECT(parse_size(&v, "2G") == 0 && v == 2LL << 30);
	EXPECT(parse_size(&v, "1kb") == -1);
	EXPECT(parse_size(&v, "-1") == -1);
	EXPECT(parse_size(&v, "9000000T") == -1);
}

TEST(str__split_keeps_empty_pieces)
{
	CLEANUP(strv_release) struct strv l = STRV_INIT;

	strv_split(&l, "a,,b,", ',');
	EXPECT_INT((long long)l.n, 4);
	EXPECT_STR(l.v[1], "");
	EXPECT(l.v[4] == NULL);
	EXPECT(strv_has(&l, "b") && !strv_has(&l, "c"));
}

TEST(str__file_write_replaces_whole_and_names_what_fails)
{
	char path[] = "/tmp/iobisect-str.XXXXXX";
	CLEANUP(str_release) struct str s = STR_INIT;
	AUTOFREE char *f = NULL;
	struct err e = { "" };

	ASSERT(mkdtemp(path));
	f = xfmt("%s/a", path);
	EXPECT_INT(file_write(f, "one", 3, &e), 0);
	EXPECT_INT(file_write(f, "two!", 4, &e), 0);
	EXPECT_INT(file_read(&s, f, &e), 0);
	EXPECT_STR(str_c(&s), "two!");
	EXPECT_INT(file_write("/nowhere/at/all", "x", 1, &e), -1);
	EXPECT(strstr(e.msg, "/nowhere/at/all"));
	EXPECT_INT(dir_remove(path, &e), 0);
	EXPECT(!file_exists(path));
}
