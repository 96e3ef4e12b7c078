#include "test.h"

#include "options.h"

static int workloads(struct strv *l, const char *text)
{
	struct err e = { "" };

	return options_workloads(l, text, &e);
}

TEST(options__commas_part_workloads_and_their_keys)
{
	CLEANUP(strv_release) struct strv l = STRV_INIT;

	ASSERT(workloads(&l, "smallfiles:files=5,size=10,seqwrite,openmany:"
			     "files=7") == 0);
	EXPECT_INT((long long)l.n, 3);
	EXPECT_STR(l.v[0], "smallfiles:files=5,size=10");
	EXPECT_STR(l.v[1], "seqwrite");
	EXPECT_STR(l.v[2], "openmany:files=7");
}

TEST(options__wrong_workloads_are_refused)
{
	static const char *const bad[] = { "", "nothing", "smallfiles:x=1",
					   "smallfiles,nothing", "seqwrite,",
					   "smallfiles:files=0",
					   "exec:/no/such/program",
					   "seqwrite,seqwrite" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		CLEANUP(strv_release) struct strv l = STRV_INIT;

		if (workloads(&l, bad[i]) == 0)
			TEST_FAIL("'%s' was accepted", bad[i]);
	}
}

TEST(options__defaults_make_a_whole_question)
{
	CLEANUP(options_release) struct options o = { 0 };
	CLEANUP(question_release) struct question q = { 0 };
	struct err e = { "" };

	ASSERT(options_question(&q, &o, &e) == 0);
	EXPECT_INT((long long)q.workloads.n, 3);
	EXPECT_INT(q.runs, 3);
	EXPECT_STR(q.fs, "ext2");
}

TEST(options__parse_both_forms_and_refuse_what_is_not_taken)
{
	char *argv[] = { "--runs=5", "--fs", "ext4", "v1", "--", "fs", "mm",
			 NULL };
	char *unknown[] = { "--nonsense", NULL };
	char *missing[] = { "--fs", NULL };
	char *not_here[] = { "--good", "v1", NULL };
	struct options o;
	struct err e = { "" };

	ASSERT(options_parse(&o, argv, TAKES_QUESTION | TAKES_PATHS, &e) == 0);
	EXPECT_STR(o.runs, "5");
	EXPECT_STR(o.fs, "ext4");
	EXPECT_STR(o.args.v[0], "v1");
	EXPECT_INT((long long)o.paths.n, 2);
	options_release(&o);
	EXPECT_INT(options_parse(&o, unknown, ~0, &e), -1);
	options_release(&o);
	EXPECT_INT(options_parse(&o, missing, ~0, &e), -1);
	options_release(&o);
	EXPECT_INT(options_parse(&o, not_here, TAKES_QUESTION, &e), -1);
	options_release(&o);
}
