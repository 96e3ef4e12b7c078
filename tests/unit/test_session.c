#include "test.h"

#include <sys/wait.h>
#include <unistd.h>

#include "options.h"
#include "session.h"

static char dir[64], where[80];

static void setup(void)
{
	snprintf(dir, sizeof(dir), "/tmp/iobisect-session.XXXXXX");
	if (!mkdtemp(dir))
		abort();
	snprintf(where, sizeof(where), "%s/s", dir);
}

static void teardown(void)
{
	struct err e;

	dir_remove(dir, &e);
}

static int create(struct session *s, struct err *e)
{
	CLEANUP(options_release) struct options o = { 0 };
	CLEANUP(question_release) struct question q = { 0 };

	return options_question(&q, &o, e) || session_create(s, where, &q, e)
		       ? -1
		       : 0;
}

static int append(struct session *s, char digit, struct err *e)
{
	struct event ev = { .kind = EVENT_TRIAL };
	struct sample *smp = xcalloc(1, sizeof(*smp));

	memset(ev.commit, digit, HEX_LEN);
	*smp = (struct sample){ .workload = xstrdup("seqwrite"),
				.elapsed = 1.25, .user = 0.5 };
	ev.trial.number = digit - '0';
	ev.trial.reason = xstrdup("caf\xe9 \"quoted\"\n");
	ev.trial.samples = smp;
	ev.trial.nsamples = 1;
	return session_append(s, &ev, e);
}

TEST(session__replays_what_was_appended)
{
	struct session s;
	struct err e = { "" };

	setup();
	ASSERT(create(&s, &e) == 0);
	EXPECT_INT(append(&s, '1', &e), 0);
	EXPECT_INT(append(&s, '2', &e), 0);
	session_close(&s);
	ASSERT(session_open(&s, where, &e) == 0);
	EXPECT_INT(s.n, 2);
	EXPECT_INT(s.events[1]->trial.number, 2);
	EXPECT(s.events[1]->trial.samples[0].elapsed == 1.25);
	EXPECT_STR(s.events[0]->trial.reason, "caf? \"quoted\"\n");
	EXPECT_STR(s.q.device, "sata");
	EXPECT_INT(session_next_trial(&s), 3);
	session_close(&s);
	teardown();
}

TEST(session__second_process_is_refused_with_the_pid)
{
	struct session s, t;
	struct err e = { "" };
	char pid[32];

	setup();
	ASSERT(create(&s, &e) == 0);
	EXPECT_INT(session_open(&t, where, &e), -1);
	snprintf(pid, sizeof(pid), "pid %d", (int)getpid());
	EXPECT(strstr(e.msg, pid));
	EXPECT_INT(session_peek(&t, where, &e), 0);
	session_close(&t);
	session_close(&s);
	EXPECT_INT(session_open(&t, where, &e), 0);
	session_close(&t);
	teardown();
}

/* Whatever prefix of the journal a kill leaves behind, the session opens, with
 * every whole line and no other, and can be written on. */
TEST(session__any_torn_end_is_dropped)
{
	CLEANUP(str_release) struct str whole = STR_INIT;
	AUTOFREE char *journal = NULL;
	struct session s;
	struct err e = { "" };

	setup();
	journal = xfmt("%s/journal.jsonl", where);
	ASSERT(create(&s, &e) == 0);
	append(&s, '1', &e);
	append(&s, '2', &e);
	session_close(&s);
	ASSERT(file_read(&whole, journal, &e) == 0);
	for (size_t n = 0; n <= whole.len; n++) {
		size_t lines = 0;

		for (size_t i = 0; i < n; i++)
			lines += whole.buf[i] == '\n';
		ASSERT(file_write(journal, whole.buf, n, &e) == 0);
		ASSERT(session_open(&s, where, &e) == 0);
		EXPECT_INT(s.n, (int)lines);
		EXPECT(!s.note == (!n || whole.buf[n - 1] == '\n'));
		EXPECT_INT(append(&s, '3', &e), 0);
		session_close(&s);
		ASSERT(session_open(&s, where, &e) == 0);
		EXPECT_INT(s.n, (int)lines + 1);
		EXPECT(!s.note);
		session_close(&s);
	}
	teardown();
}

TEST(session__corrupt_line_is_named)
{
	AUTOFREE char *journal = NULL;
	struct session s;
	struct err e = { "" };
	static const char bad[] = "{\"event\":\"mark\"}\n";

	setup();
	journal = xfmt("%s/journal.jsonl", where);
	ASSERT(create(&s, &e) == 0);
	session_close(&s);
	ASSERT(file_write(journal, bad, strlen(bad), &e) == 0);
	EXPECT_INT(session_open(&s, where, &e), -1);
	EXPECT(strstr(e.msg, "journal.jsonl:1: corrupt"));
	teardown();
}

TEST(session__retire_keeps_what_happened)
{
	AUTOFREE char *kept = NULL;
	struct session s;
	struct err e = { "" };

	setup();
	ASSERT(create(&s, &e) == 0);
	EXPECT_INT(session_retire(&kept, where, &e), -1); /* locked */
	append(&s, '1', &e);
	session_close(&s);
	EXPECT_INT(session_retire(&kept, where, &e), 0);
	ASSERT(kept);
	EXPECT(!session_exists(where));
	EXPECT(session_exists(kept));
	teardown();
}

TEST(session__retire_removes_an_empty_one)
{
	AUTOFREE char *kept = NULL;
	struct session s;
	struct err e = { "" };

	setup();
	ASSERT(create(&s, &e) == 0);
	session_close(&s);
	EXPECT_INT(session_retire(&kept, where, &e), 0);
	EXPECT(!kept && !file_exists(where));
	teardown();
}
