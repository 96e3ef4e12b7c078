#include "test.h"

#include "gitlog.h"
#include "gitrepo.h"

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

	ASSERT(gitlog_parse(
		       &l,
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
	gitlog_format(&s, &l, subjects, 2, A, "new", NULL, NULL);
	EXPECT_STR(str_c(&s), "# bad: [" A "] new\n# good: [" B "] old\n"
			      "git bisect start '" A "' '" B "'\n"
			      "# first bad commit: [" A "] new\n");
	EXPECT_INT(gitlog_parse(&again, str_c(&s), &e), 0);
	EXPECT_INT(again.n, 2);
}

TEST(gitlog__only_skipped_and_renamed_terms)
{
	CLEANUP(gitlog_release) struct gitlog l = { 0 };
	CLEANUP(strv_release) struct strv left = STRV_INIT;
	CLEANUP(str_release) struct str s = STR_INIT;
	static const char *const subjects[] = { "one" };
	struct err e = { "" };

	ASSERT(gitlog_parse(&l,
			    "git bisect start --term-old=fast --term-new=slow "
			    "-- 'a b!'\ngit bisect slow " A "\n",
			    &e) == 0);
	strv_add(&left, A " one");
	strv_add(&left, B);
	gitlog_format(&s, &l, subjects, 0, NULL, NULL, NULL, &left);
	EXPECT_STR(str_c(&s),
		   "git bisect start '--term-old' 'fast' '--term-new' 'slow' "
		   "'--' 'a b'\\!''\n"
		   "# slow: [" A "] one\ngit bisect slow " A "\n"
		   "# only skipped commits left to test\n"
		   "# possible first slow commit: [" A "] one\n"
		   "# possible first slow commit: [" B "] \n");
}

TEST(gitlog__new_and_old_are_terms_too)
{
	CLEANUP(gitlog_release) struct gitlog l = { 0 }, mixed = { 0 };
	struct err e = { "" };

	ASSERT(gitlog_parse(&l,
			    "git bisect start\r\n\r\ngit-bisect new " A
			    "\r\n\tgit bisect old " B "\n",
			    &e) == 0);
	EXPECT_STR(l.term_new, "new");
	EXPECT_INT(l.n, 2);
	EXPECT_INT(gitlog_parse(&mixed, "git bisect bad A\ngit bisect old B\n",
				&e),
		   -1);
	EXPECT(str_starts(e.msg, "line 2: "));
}

TEST(gitlog__notes_stay_with_their_commit)
{
	CLEANUP(gitlog_release) struct gitlog l = { 0 }, again = { 0 };
	CLEANUP(str_release) struct str s = STR_INIT;
	static const char *const subjects[] = { "new", "old", "mid" };
	struct err e = { "" };

	ASSERT(gitlog_parse(&l,
			    "git bisect start " A " " B "\ngit bisect bad " C
			    "\n",
			    &e) == 0);
	strv_add(&l.v[1].notes, "median 8.1 s\ngit bisect reset");
	strv_add(&l.v[2].notes, "one");
	strv_add(&l.v[2].notes, "two");
	gitlog_format(&s, &l, subjects, 2, NULL, NULL, NULL, NULL);
	ASSERT(gitlog_parse(&again, str_c(&s), &e) == 0);
	ASSERT(again.n == 3);
	EXPECT_INT(again.v[0].notes.n, 0);
	ASSERT(again.v[1].notes.n == 1 && again.v[2].notes.n == 2);
	EXPECT_STR(again.v[1].notes.v[0], "median 8.1 s git bisect reset");
	EXPECT_STR(again.v[2].notes.v[1], "two");
}

TEST(gitlog__refuses_what_it_cannot_do)
{
	static const char *const texts[] = {
		"git bisect start 'open\n",
		"git bisect bad\n",
		"git bisect start --term-old\n",
		"git bisect start --what\n",
		"git bisect weak " A "\n",
		"git bisect\n",
		"git bisect start --term-old=x --term-new=x\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		CLEANUP(gitlog_release) struct gitlog l = { 0 };
		struct err e = { "" };

		if (gitlog_parse(&l, texts[i], &e) != -1 ||
		    !str_starts(e.msg, "line 1: "))
			TEST_FAIL("accepted: %s", texts[i]);
	}
}

/* Four commits in a row; their names, the newest first. */
static char *make_repo(char hex[4][HEX_SIZE])
{
	CLEANUP(str_release) struct str in = STR_INIT, out = STR_INIT;
	char *dir = temp_make();

	for (int i = 0; i < 4; i++)
		str_fmt(&in,
			"commit refs/heads/main\ncommitter C <c@example.com> "
			"%d +0000\ndata 5\nit's%d\nM 644 inline f\ndata "
			"1\n%d\n",
			1000000000 + i, i, i);
	git(NULL, dir, NULL, "init", "-q", "-b", "main", ".", NULL);
	git(NULL, dir, &in, "fast-import", "--quiet", NULL);
	git(&out, dir, NULL, "rev-list", "main", NULL);
	for (int i = 0; i < 4; i++)
		snprintf(hex[i], HEX_SIZE, "%s",
			 out.len >= 41U * 4 ? out.buf + (size_t)i * 41 : "");
	return dir;
}

TEST(gitlog__what_the_real_git_wrote)
{
	CLEANUP(gitlog_release) struct gitlog l = { 0 };
	CLEANUP(str_release) struct str log = STR_INIT;
	struct err e = { "" };
	char hex[4][HEX_SIZE];
	char *dir;

	git_needed();
	dir = make_repo(hex);
	git(NULL, dir, NULL, "bisect", "start", "--no-checkout", "--term-old",
	    "fast", "--term-new", "slow", "main", "main~3", "--", "f", NULL);
	git(NULL, dir, NULL, "bisect", "skip", hex[1], NULL);
	git(NULL, dir, NULL, "bisect", "fast", hex[2], NULL);
	git(&log, dir, NULL, "bisect", "log", NULL);
	if (gitlog_parse(&l, str_c(&log), &e)) {
		TEST_FAIL("%s in %s", e.msg, str_c(&log));
	} else {
		EXPECT_INT(l.n, 4);
		EXPECT_STR(l.term_new, "slow");
		EXPECT_STR(l.v[0].rev, "main");
		EXPECT_INT(l.v[2].mark, MARK_SKIP);
		EXPECT_STR(l.v[3].rev, hex[2]);
		EXPECT_INT(l.paths.n, 1);
	}
	temp_remove(dir);
}

TEST(gitlog__the_real_git_replays_and_repeats_ours)
{
	CLEANUP(gitlog_release) struct gitlog l = { 0 };
	CLEANUP(str_release) struct str log = STR_INIT, out = STR_INIT;
	static const char *const subjects[] = { "it's3", "it's0", "it's1" };
	struct err e = { "" };
	AUTOFREE char *text = NULL;
	char hex[4][HEX_SIZE];
	char *dir;

	git_needed();
	dir = make_repo(hex);
	text = xfmt("git bisect start --no-checkout %s %s -- f\n"
		    "git bisect good %s\n",
		    hex[0], hex[3], hex[2]);
	EXPECT_INT(gitlog_parse(&l, text, &e), 0);
	if (l.n == 3)
		strv_add(&l.v[2].notes, "elapsed=1.5 git bisect weak");
	gitlog_format(&log, &l, subjects, 2, NULL, NULL, NULL, NULL);
	EXPECT_INT(git(&out, dir, &log, "bisect", "replay", "/dev/stdin", NULL),
		   0);
	EXPECT(strstr(str_c(&out), hex[1])); /* the one to test next */
	git(&out, dir, NULL, "bisect", "log", NULL);
	strv_release(&l.v[2].notes);
	str_reset(&log);
	gitlog_format(&log, &l, subjects, 2, NULL, NULL, NULL, NULL);
	EXPECT_STR(str_c(&out), str_c(&log));
	temp_remove(dir);
}
