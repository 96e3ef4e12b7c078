#include "test.h"

#include "pathspec.h"

static enum pathspec_match match(const char *spec, const char *path, bool dir)
{
	CLEANUP(strv_release) struct strv in = STRV_INIT, out = STRV_INIT;
	struct err e = { "" };

	strv_add(&in, spec);
	if (pathspec_parse(&out, &in, &e))
		TEST_FAIL("%s", e.msg);
	return pathspec_match(&out, path, dir);
}

TEST(pathspec__a_directory_is_all_below_it)
{
	EXPECT_INT(match("fs/ext2", "fs/ext2/inode.c", false), PATHSPEC_YES);
	EXPECT_INT(match("./fs/ext2/", "fs/ext2", true), PATHSPEC_YES);
	EXPECT_INT(match("fs/ext2", "fs", true), PATHSPEC_INSIDE);
	EXPECT_INT(match("fs/ext2", "fs", false), PATHSPEC_NO);
	EXPECT_INT(match("fs/ext2", "fs/ext", true), PATHSPEC_NO);
	EXPECT_INT(match("fs/ext2", "fs/ext23/a", false), PATHSPEC_NO);
	EXPECT_INT(match(".", "any/thing", false), PATHSPEC_YES);
	EXPECT_INT(match(":/mm", "mm/slab.c", false), PATHSPEC_YES);
}

TEST(pathspec__a_star_matches_slashes)
{
	EXPECT_INT(match("*.c", "fs/ext2/inode.c", false), PATHSPEC_YES);
	EXPECT_INT(match("*.c", "fs/ext2", true), PATHSPEC_INSIDE);
	EXPECT_INT(match("drivers/a*/x.h", "drivers/ata/x.h", false),
		   PATHSPEC_YES);
	EXPECT_INT(match("drivers/a*", "drivers", true), PATHSPEC_INSIDE);
	EXPECT_INT(match("drivers/a*", "fs", true), PATHSPEC_NO);
	EXPECT_INT(match("fs/ext[34]", "fs/ext2/a", false), PATHSPEC_NO);
	EXPECT_INT(match("fs/ext[34]", "fs/ext4", true), PATHSPEC_YES);
}

TEST(pathspec__refuses_what_it_does_not_know)
{
	static const char *const specs[] = { ":!fs", ":(icase)FS", "/fs",
					     "../fs", ".." };

	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		CLEANUP(strv_release) struct strv in = STRV_INIT;
		CLEANUP(strv_release) struct strv out = STRV_INIT;
		struct err e = { "" };

		strv_add(&in, specs[i]);
		if (!pathspec_parse(&out, &in, &e) || !strstr(e.msg, specs[i]))
			TEST_FAIL("%s: %s", specs[i], e.msg);
	}
}

/* As git takes them in a subdirectory. */
TEST(pathspec__is_relative_to_where_it_was_given)
{
	static const struct {
		const char *prefix, *given, *top;
	} rows[] = {
		{ "", "fs/ext2", "fs/ext2" },
		{ "fs", "ext2", "fs/ext2" },
		{ "fs", "../mm/", "mm" },
		{ "fs/ext2", "../..", "." },
		{ "fs/ext2", ".", "fs/ext2" },
		{ "fs/ext2", "./../ext3//x", "fs/ext3/x" },
		{ "fs", ":/mm", ":/mm" },
		{ "", "../mm", NULL },
		{ "fs", "../../mm", NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		CLEANUP(strv_release) struct strv in = STRV_INIT;
		CLEANUP(strv_release) struct strv out = STRV_INIT;
		struct err e = { "" };
		int bad;

		strv_add(&in, rows[i].given);
		bad = pathspec_from(&out, rows[i].prefix, &in, &e);
		EXPECT(!bad == (rows[i].top != NULL));
		if (!bad && rows[i].top)
			EXPECT_STR(out.v[0], rows[i].top);
		else
			EXPECT(strstr(e.msg, rows[i].given));
	}
}
