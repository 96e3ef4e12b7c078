#include "test.h"

#include "report.h"

static struct row row(double elapsed)
{
	struct row r = { .kernel = xstrdup("v6.1"),
			 .workload = xstrdup("seqwrite") };
	double x[] = { elapsed, elapsed * 1.1, elapsed * 0.9 };

	verdict_summarize(&r.elapsed, x, 3);
	verdict_summarize(&r.user, x, 3);
	verdict_summarize(&r.sys, x, 3);
	return r;
}

TEST(report__table_has_medians_spread_and_boots)
{
	CLEANUP(str_release) struct str s = STR_INIT;
	struct row r = row(8.17);

	report_table(&s, &r, 1);
	EXPECT(strstr(str_c(&s), "kernel |         user s |"));
	EXPECT(strstr(str_c(&s), "8.17 +-10%"));
	EXPECT(strstr(str_c(&s), "| 3\n"));
	EXPECT(!strstr(str_c(&s), "verdict"));
	EXPECT(!strstr(str_c(&s), "unresponsive"));
	row_release(&r);
}

TEST(report__a_listing_of_over_two_seconds_is_unresponsive)
{
	CLEANUP(str_release) struct str s = STR_INIT;
	struct row r = row(8.17);
	double worst[] = { 0.1, 2.5 };

	verdict_summarize(&r.worst, worst, 2);
	r.verdict = xstrdup("slow");
	report_table(&s, &r, 1);
	EXPECT(strstr(str_c(&s), "2.5 s unresponsive"));
	EXPECT(strstr(str_c(&s), "| verdict\n"));
	EXPECT(strstr(str_c(&s), "| slow\n"));
	row_release(&r);
}

TEST(report__a_kernel_without_boots_shows_why)
{
	CLEANUP(str_release) struct str s = STR_INIT;
	struct row r = { .kernel = xstrdup("v6.1"),
			 .verdict = xstrdup("skip"),
			 .note = xstrdup("does not build: x") };

	report_table(&s, &r, 1);
	EXPECT(strstr(str_c(&s), "v6.1   | skip: does not build: x\n"));
	row_release(&r);
}

TEST(report__answer_names_the_commit_and_how_sure)
{
	CLEANUP(str_release) struct str s = STR_INIT;
	char subject[] = "ext2: slower", who[] = "A", mail[] = "a@example.org";
	struct commit c = { .hex = "1234567890123456789012345678901234567890",
			    .subject = subject,
			    .author = who,
			    .email = mail,
			    .time = 86400 };
	struct report_found f = { .culprit = &c,
				  .term_new = "bad",
				  .confirmation = "3 s",
				  .confirmed = false };

	report_answer(&s, &f);
	EXPECT(strstr(str_c(&s), "1234567890123456789012345678901234567890 is "
				 "the first bad commit"));
	EXPECT(strstr(str_c(&s), "A <a@example.org>, 1970-01-02"));
	EXPECT(strstr(str_c(&s), "confirmation: FAIL (3 s)"));
}

TEST(report__time_adds_up)
{
	CLEANUP(str_release) struct str s = STR_INIT;
	struct event ev = { .kind = EVENT_TIME,
			    .wall_s = 100,
			    .make_s = 70,
			    .qemu_s = 28,
			    .mkfs_s = 1 };

	report_time(&s, &ev);
	EXPECT_STR(str_c(&s), "took 1 min 40 s: make 70.0%, QEMU 28.0%, mkfs "
			      "1.0%, iobisect itself 1.0%\n");
}
