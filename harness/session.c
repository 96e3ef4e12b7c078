#include "session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proc.h"
#include "question.h"

#define QUESTION "question.json"
#define JOURNAL  "journal.jsonl"

/* The pid in it is for the other's message only: that it cannot be written, on a
 * full disk, is no reason to refuse. */
static int lock(struct session *s, struct err *e)
{
	AUTOFREE char *path = xfmt("%s/lock", s->dir);
	CLEANUP(str_release) struct str pid = STR_INIT;

	s->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (s->lock_fd < 0)
		return err_set(e, "open %s: %m", path);
	if (flock(s->lock_fd, LOCK_EX | LOCK_NB) == 0) {
		str_fmt(&pid, "%d\n", (int)getpid());
		if (ftruncate(s->lock_fd, 0) ||
		    pwrite(s->lock_fd, pid.buf, pid.len, 0) < 0)
			errno = 0;
		return 0;
	}
	if (errno != EWOULDBLOCK)
		return err_set(e, "lock %s: %m", path);
	if (file_read(&pid, path, e))
		return -1;
	return err_set(e, "another iobisect (pid %d) is at work on this "
			  "session: wait for it or stop it",
		       (int)strtol(str_c(&pid), NULL, 10));
}

static void event_free(struct event *ev)
{
	event_release(ev);
	free(ev);
}

static void start(struct session *s, const char *dir)
{
	*s = (struct session){ .dir = xstrdup(dir),
			       .lock_fd = -1,
			       .journal_fd = -1 };
}

void session_close(struct session *s)
{
	for (int i = 0; i < s->n; i++)
		event_free(s->events[i]);
	free(s->events);
	question_release(&s->q);
	free(s->note);
	if (s->journal_fd >= 0)
		close(s->journal_fd);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	free(s->dir);
	*s = (struct session){ .lock_fd = -1, .journal_fd = -1 };
}

bool session_exists(const char *dir)
{
	AUTOFREE char *path = xfmt("%s/" QUESTION, dir);

	return file_exists(path);
}

static void push(struct session *s, struct event *ev)
{
	s->events = xrealloc(s->events,
			     (size_t)(s->n + 1) * sizeof(*s->events));
	s->events[s->n] = xmalloc(sizeof(*ev));
	*s->events[s->n++] = *ev;
	*ev = (struct event){ 0 };
}

/* A line without its newline was being written when the writer died: it was
 * never acted on, and is dropped. Any other line that does not parse means that
 * somebody else wrote here, and guessing would lose verdicts. */
static int replay(struct session *s, const char *path, size_t *good,
		  struct err *e)
{
	CLEANUP(str_release) struct str text = STR_INIT;
	const char *p, *end;
	int line = 0;

	if (file_read(&text, path, e))
		return -1;
	*good = 0;
	for (p = text.buf; (end = memchr(p, '\n', text.len - *good)); p = end) {
		AUTOFREE char *one = xstrndup(p, (size_t)(end - p));
		struct event ev;
		struct err why;

		if (++line % 1024 == 0 && proc_interrupted())
			return err_set(e, "interrupted");
		if (record_event_parse(&ev, one, &why))
			return err_set(e, "%s:%d: corrupt: %.200s; mend or "
					  "remove that line, or start anew "
					  "after iobisect reset",
				       path, line, why.msg);
		if (ev.kind == EVENT_RULE &&
		    !strv_has(&s->q.workloads, ev.rule.workload)) {
			event_release(&ev);
			return err_set(e, "%s:%d: corrupt: the workload of its "
					  "rule is none of the question's; "
					  "mend or remove that line",
				       path, line);
		}
		push(s, &ev);
		end++;
		*good = (size_t)(end - text.buf);
	}
	if (*good < text.len)
		s->note = xfmt("%s: dropped a half-written last line", path);
	return 0;
}

static int open_journal(struct session *s, const char *path, struct err *e)
{
	s->journal_fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	return s->journal_fd < 0 ? err_set(e, "open %s: %m", path) : 0;
}

static int load(struct session *s, bool writing, struct err *e)
{
	AUTOFREE char *question = xfmt("%s/" QUESTION, s->dir);
	AUTOFREE char *journal = xfmt("%s/" JOURNAL, s->dir);
	CLEANUP(str_release) struct str text = STR_INIT;
	struct err why;
	size_t good;

	if (!file_exists(question))
		return err_set(e, "no bisection is under way here: begin with "
				  "iobisect start --good REV --bad REV");
	if (writing && lock(s, e))
		return -1;
	if (file_read(&text, question, e))
		return -1;
	if (record_question_parse(&s->q, str_c(&text), &why))
		return err_set(e, "%s: corrupt: %.200s", question, why.msg);
	if (question_check(&s->q, &why))
		return err_set(e, "%s: %.800s", question, why.msg);
	if (writing && question_check_files(&s->q, e))
		return -1;
	if (replay(s, journal, &good, e))
		return -1;
	if (!writing)
		return 0;
	if (open_journal(s, journal, e))
		return -1;
	if (s->note && ftruncate(s->journal_fd, (off_t)good))
		return err_set(e, "truncate %s: %m", journal);
	return 0;
}

static int open_session(struct session *out, const char *dir, bool writing,
			struct err *e)
{
	start(out, dir);
	if (load(out, writing, e) == 0)
		return 0;
	session_close(out);
	return -1;
}

int session_open(struct session *out, const char *dir, struct err *e)
{
	return open_session(out, dir, true, e);
}

int session_peek(struct session *out, const char *dir, struct err *e)
{
	return open_session(out, dir, false, e);
}

/* A session is removed as a whole, when it cannot be made or nothing happened in
 * it: it must be in a directory of its own. What a killed start left is ours. */
static int check_dir(const char *dir, struct err *e)
{
	static const char *const ours[] = { "lock", "trials", "builds" };
	DIR *d = opendir(dir);
	struct dirent *entry;
	int bad = 0;

	if (!d)
		return err_set(e, "open directory %s: %m", dir);
	while (!bad && (entry = readdir(d))) {
		const char *name = entry->d_name;
		bool known = !strcmp(name, ".") || !strcmp(name, "..") ||
			     str_starts(name, QUESTION) ||
			     str_starts(name, JOURNAL);

		for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
			known |= !strcmp(name, ours[i]);
		if (!known)
			bad = err_set(e, "%s holds %s: a session needs a "
					 "directory of its own (--session)",
				      dir, name);
	}
	closedir(d);
	return bad;
}

/* Verdicts without their question are not ours to write over. */
static int check_journal(const char *journal, struct err *e)
{
	struct stat st;

	if (stat(journal, &st) || !st.st_size)
		return 0;
	return err_set(e, "%s is there, and no " QUESTION " beside it: put "
			  "that back, or move the directory away",
		       journal);
}

static int under_way(const char *dir, struct err *e)
{
	return err_set(e, "a bisection is under way in %s: look at it with "
			  "iobisect status, end it with iobisect reset",
		       dir);
}

/* The question comes last: it is what makes the directory a session. */
static int fill(struct session *s, const struct question *q, struct err *e)
{
	static const char *const subdirs[] = { "trials", "builds" };
	AUTOFREE char *question = xfmt("%s/" QUESTION, s->dir);
	AUTOFREE char *journal = xfmt("%s/" JOURNAL, s->dir);
	AUTOFREE char *text = record_question(q);

	for (size_t i = 0; i < ARRAY_SIZE(subdirs); i++) {
		AUTOFREE char *sub = xfmt("%s/%s", s->dir, subdirs[i]);

		if (dir_make(sub, e))
			return -1;
	}
	if (record_question_parse(&s->q, text, e) ||
	    file_write(journal, "", 0, e) || open_journal(s, journal, e))
		return -1;
	return file_write(question, text, strlen(text), e);
}

int session_create(struct session *out, const char *dir,
		   const struct question *q, struct err *e)
{
	AUTOFREE char *journal = xfmt("%s/" JOURNAL, dir);
	struct err ignored;
	int bad;

	if (session_exists(dir))
		return under_way(dir, e);
	start(out, dir);
	bad = dir_make(dir, e) || check_dir(dir, e) || lock(out, e);
	if (!bad && session_exists(dir)) /* by another, meanwhile */
		bad = under_way(dir, e);
	if (!bad)
		bad = check_journal(journal, e);
	if (!bad && fill(out, q, e) == 0)
		return 0;
	if (!bad)
		dir_remove(dir, &ignored);
	session_close(out);
	return -1;
}

int session_append(struct session *s, struct event *ev, struct err *e)
{
	AUTOFREE char *text = NULL;
	AUTOFREE char *line = NULL;
	size_t n;
	ssize_t done;

	if (s->journal_fd < 0)
		BUG("append to a session that is open for reading");
	if (!ev->time)
		ev->time = time(NULL);
	text = record_event(ev);
	line = xfmt("%s\n", text);
	n = strlen(line);
	done = write(s->journal_fd, line, n);
	if (done == (ssize_t)n && (s->held || !fdatasync(s->journal_fd))) {
		push(s, ev);
		return 0;
	}
	err_set(e, "write %s/" JOURNAL ": %s", s->dir,
		done < 0 || done == (ssize_t)n ? strerror(errno)
					       : strerror(ENOSPC));
	/* Half a line would be glued to the next one. */
	if (done > 0) {
		off_t end = lseek(s->journal_fd, 0, SEEK_END);

		if (end < done || ftruncate(s->journal_fd, end - done))
			return -1;
	}
	return -1;
}

void session_hold(struct session *s)
{
	s->held = true;
}

int session_sync(struct session *s, struct err *e)
{
	s->held = false;
	return fdatasync(s->journal_fd)
		       ? err_set(e, "write %s/" JOURNAL ": %m", s->dir)
		       : 0;
}

int session_next_trial(const struct session *s)
{
	int last = 0;

	for (int i = 0; i < s->n; i++)
		if (s->events[i]->kind == EVENT_TRIAL &&
		    s->events[i]->trial.number > last)
			last = s->events[i]->trial.number;
	return last + 1;
}

static int put_aside(char **kept, const char *dir, struct err *e)
{
	char stamp[32];
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	for (int i = 0; i < 100; i++) {
		AUTOFREE char *name = i ? xfmt("%s-%s.%d", dir, stamp, i)
					: xfmt("%s-%s", dir, stamp);

		if (file_exists(name))
			continue;
		if (rename(dir, name))
			return err_set(e, "rename %s to %s: %m", dir, name);
		*kept = take_ptr(name);
		return 0;
	}
	return err_set(e, "put %s aside: too many of this second", dir);
}

int session_put_aside(char **kept, const char *dir, struct err *e)
{
	CLEANUP(session_close) struct session s;

	*kept = NULL;
	start(&s, dir);
	return lock(&s, e) ? -1 : put_aside(kept, dir, e);
}

int session_retire(char **kept, const char *dir, struct err *e)
{
	CLEANUP(session_close) struct session s;
	AUTOFREE char *journal = xfmt("%s/" JOURNAL, dir);
	struct err why;
	struct stat st;

	*kept = NULL;
	start(&s, dir);
	if (lock(&s, e))
		return -1;
	if (stat(journal, &st) == 0 && !st.st_size && !check_dir(dir, &why))
		return dir_remove(dir, e);
	return put_aside(kept, dir, e);
}
