#include "test.h"

#include "gitlog.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define C "cccccccccccccccccccccccccccccccccccccccc"

TEST(gitlog__reads_what_git_2_39_writes)
{
	CLEANUP(gitlog_release) struct gitlog l = { 0 };
	struct err e = { "" };

	ASSERT(gitlog_parse(&l,
			    "# bad: [" A "] new\n# good: [" B "] old\n"
			    "git bisect start '" A "' '" B "'\n"
			    "# skip: [" C "] broken\ngit bisect skip " C "\n"
			    "# first bad commit: [" A "] new\n",
			    &e) == 0);
	ASSERT(l.n == 3);
	EXPECT_INT(l.v[0].mark, MARK_BAD);
	EXPECT_STR(l.v[0].rev, A);
	EXPECT_INT(l.v[1].mark, MARK_GOOD);
	EXPECT_INT(l.v[2].mark, MARK_SKIP);
	EXPECT_STR(l.term_old, "good");
}

TEST(gitlog__reads_quoted_terms_and_options)
{
	CLEANUP(gitlog_release) struct gitlog l = { 0 };
	struct err e = { "" };

	ASSERT(gitlog_parse(&l,
			    "git bisect start '--term-old' 'fast' '--term-new' "
			    "'slow' '--first-parent' '--' 'fs/ext4' 'it'\\''s'\n"
			    "# 'slow': [" A "] new\ngit bisect slow " A "\n"
			    "# 'fast': [" B "] old\ngit bisect fast " B "\n"
			    "# status: waiting\n"
			    "# first 'slow' commit: [" A "] new\n",
			    &e) == 0);
	ASSERT(l.n == 2 && l.paths.n == 2);
	EXPECT_STR(l.term_new, "slow");
	EXPECT(l.first_parent);
	EXPECT_STR(l.paths.v[1], "it's");
	EXPECT_INT(l.v[1].mark, MARK_GOOD);
}

TEST(gitlog__refuses_other_text_with_its_line)
{
	CLEANUP(gitlog_release) struct gitlog l = { 0 };
	struct err e = { "" };

	EXPECT_INT(gitlog_parse(&l, "git bisect start\nrm -rf /\n", &e), -1);
	EXPECT(strstr(e.msg, "2"));
}

TEST(gitlog__writes_what_git_writes)
{
	CLEANUP(gitlog_release) struct gitlog l = { 0 }, again = { 0 };
	CLEANUP(str_release) struct str s = STR_INIT;
	static const char *const subjects[] = { "new", "old" };
	struct err e = { "" };

	ASSERT(gitlog_parse(&l, "git bisect start '" A "' '" B "'\n", &e) == 0);
	gitlog_format(&s, &l, subjects, 2, A, "new", NULL);
	EXPECT_STR(str_c(&s), "# bad: [" A "] new\n# good: [" B "] old\n"
			      "git bisect start '" A "' '" B "'\n"
			      "# first bad commit: [" A "] new\n");
	EXPECT_INT(gitlog_parse(&again, str_c(&s), &e), 0);
	EXPECT_INT(again.n, 2);
}
