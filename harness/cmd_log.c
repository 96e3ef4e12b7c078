/* log and replay: a bisection as git writes it down. */
#include "cmd.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bisect.h"
#include "place.h"
#include "gitlog.h"
#include "proc.h"

#define MOST_LOG ((size_t)1 << 30)

static int add_entry(struct gitlog *l, struct strv *subjects, struct bisect *b,
		     const char *hex, enum mark m, struct err *e)
{
	CLEANUP(commit_release) struct commit co = { 0 };
	CLEANUP(finding_of_release) struct finding_of f = { 0 };
	struct gitlog_entry *en;
	struct verdict_summary s;

	if (history_commit(&co, b->h, hex, e))
		return -1;
	l->v = xrealloc(l->v, (size_t)(l->n + 1) * sizeof(*l->v));
	en = &l->v[l->n++];
	*en = (struct gitlog_entry){ .mark = m, .rev = xstrdup(hex) };
	strv_add(subjects, co.subject);
	state_find(&f, &b->st, hex);
	verdict_summarize(&s, f.elapsed, f.n);
	if (f.n)
		strv_addf(&en->notes,
			  "median=%.4gs boots=%d spread=%.1f%% workload=%s",
			  s.median, s.n, s.spread * 100, b->st.rule->workload);
	if (f.reason)
		strv_add(&en->notes, f.reason);
	if (f.by_user && f.n)
		strv_add(&en->notes, "marked by hand");
	return 0;
}

/* The marks that start made, one bad and then goods, are its arguments. */
static int start_entries(struct gitlog *l, struct strv *subjects, int *nstart,
			 struct bisect *b, struct err *e)
{
	const struct session *s = b->s;

	for (int i = 0; i < s->n && s->events[i]->kind == EVENT_MARK; i++) {
		CLEANUP(finding_of_release) struct finding_of f = { 0 };
		enum mark m = s->events[i]->mark;

		state_find(&f, &b->st, s->events[i]->commit);
		if (m == MARK_SKIP || (m == MARK_BAD) != (i == 0) ||
		    m != f.mark) /* taken back since */
			break;
		if (add_entry(l, subjects, b, s->events[i]->commit, m, e))
			return -1;
	}
	*nstart = l->n;
	return 0;
}

static bool in_log(const struct gitlog *l, const char *hex)
{
	for (int i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].rev, hex))
			return true;
	return false;
}

/* For git the newest bad commit is the end, whatever it is an ancestor of, and
 * every good one limits the range. So what was only tested, and says nothing new
 * of this range, is a remark. */
static int is_remark(struct bisect *b, const struct gitlog *l,
		     const struct finding_of *f, struct err *e)
{
	const char *bad = NULL;

	if (f->by_user)
		return 0;
	for (int i = 0; i < l->n; i++)
		if (l->v[i].mark == MARK_BAD && !l->v[i].remark)
			bad = l->v[i].rev;
	if (dag_find(&b->st.dag, f->hex) < 0)
		return 1;
	return f->mark == MARK_BAD && bad
		       ? !history_is_ancestor(b->h, f->hex, bad, e)
		       : 0;
}

static int fill_log(struct gitlog *l, struct strv *subjects, int *nstart,
		    struct bisect *b, struct err *e)
{
	CLEANUP(strv_release) struct strv tested = STRV_INIT;

	l->term_old = xstrdup(b->s->q.term_old);
	l->term_new = xstrdup(b->s->q.term_new);
	l->first_parent = b->s->q.first_parent;
	for (size_t i = 0; i < b->s->q.paths.n; i++)
		strv_add(&l->paths, b->s->q.paths.v[i]);
	if (start_entries(l, subjects, nstart, b, e))
		return -1;
	state_tested(&tested, &b->st);
	for (size_t i = 0; i < tested.n; i++) {
		CLEANUP(finding_of_release) struct finding_of f = { 0 };
		int remark;

		if (proc_interrupted())
			return err_set(e, "interrupted");
		state_find(&f, &b->st, tested.v[i]);
		if (f.mark == MARK_NONE || f.mark == MARK_WEAK ||
		    in_log(l, tested.v[i]) || !history_has(b->h, f.hex))
			continue;
		remark = is_remark(b, l, &f, e);
		if (remark < 0 ||
		    add_entry(l, subjects, b, tested.v[i], f.mark, e))
			return -1;
		l->v[l->n - 1].remark = remark;
	}
	return 0;
}

int cmd_log(struct ctx *c, struct err *e)
{
	CLEANUP(place_release) struct place pl = { 0 };
	CLEANUP(bisect_release) struct bisect b = { 0 };
	CLEANUP(gitlog_release) struct gitlog l = { 0 };
	CLEANUP(strv_release) struct strv subjects = STRV_INIT;
	CLEANUP(strv_release) struct strv suspects = STRV_INIT;
	CLEANUP(search_answer_release) struct search_answer a = { 0 };
	CLEANUP(commit_release) struct commit found = { 0 };
	CLEANUP(str_release) struct str text = STR_INIT;
	AUTOFREE char *remark = NULL;
	const struct event *end;
	char base[HEX_SIZE];
	struct err wrong;
	int nstart;

	if (place_session(&pl, c, false, e) || place_load(&b, &pl, c, e) ||
	    fill_log(&l, &subjects, &nstart, &b, e))
		return -1;
	end = state_end(&b.st);
	if (end && end->why)
		remark = xfmt("confirmation: %s (%s)",
			      end->mark == MARK_BAD ? "PASS" : "FAIL",
			      end->why);
	if (b.st.has_dag && b.st.dag.n && !bisect_base(base, &b, &wrong))
		search_next(&a, &b.st.dag, b.st.marks);
	if (a.kind == SEARCH_FOUND && b.st.has_dag && b.st.dag.n &&
	    history_commit(&found, pl.h, b.st.dag.v[a.commit].hex, e))
		return -1;
	for (int i = 0; a.kind == SEARCH_RANGE && i < a.nsuspects; i++)
		strv_add(&suspects, b.st.dag.v[a.suspects[i]].hex);
	gitlog_format(&text, &l, (const char *const *)subjects.v, nstart,
		      found.hex[0] ? found.hex : NULL, found.subject, remark,
		      suspects.n ? &suspects : NULL);
	fputs(str_c(&text), c->out);
	return 0;
}

/* What to measure comes from the options, or from the session that is
 * replaced. */
static int replay_question(struct question *q, struct place *pl, struct ctx *c,
			   struct err *e)
{
	CLEANUP(question_release) struct question given = { 0 };
	bool told = options_given(&c->o, TAKES_QUESTION);

	if (options_question(&given, &c->o, e))
		return -1;
	if (session_exists(pl->dir)) {
		if (place_session(pl, c, true, e))
			return -1;
		if (!told) {
			question_release(&given);
			given = pl->s->q;
			pl->s->q = (struct question){ 0 };
		}
		session_close(pl->s);
		free(pl->s);
		pl->s = NULL;
	}
	*q = given;
	given = (struct question){ 0 };
	return 0;
}

/* The marks' side of it comes from the log. */
static void take_terms(struct question *q, const struct gitlog *l)
{
	free(q->term_old);
	free(q->term_new);
	q->term_old = xstrdup(l->term_old);
	q->term_new = xstrdup(l->term_new);
	q->first_parent = l->first_parent;
	strv_release(&q->paths);
	for (size_t i = 0; i < l->paths.n; i++)
		strv_add(&q->paths, l->paths.v[i]);
}

static int resolve_all(struct strv *hexes, struct history *h,
		       const struct gitlog *l, struct err *e)
{
	for (int i = 0; i < l->n; i++) {
		char hex[HEX_SIZE];

		if (proc_interrupted())
			return err_set(e, "interrupted");
		if (history_resolve(hex, h, l->v[i].rev, e))
			return -1;
		strv_add(hexes, hex);
	}
	return 0;
}

/* A log may have very many marks, and nothing is done on the first before the
 * last is there. */
static int replay_marks(struct session *s, const struct gitlog *l,
			const struct strv *hexes, struct err *e)
{
	session_hold(s);
	for (int i = 0; i < l->n; i++) {
		const struct gitlog_entry *en = &l->v[i];

		if (proc_interrupted())
			return err_set(e, "interrupted");
		if (place_mark(s, en->mark, hexes->v[i],
			       en->notes.n ? en->notes.v[0] : NULL, e))
			return -1;
	}
	return session_sync(s, e);
}

/* It may be a pipe that does not end, and a signal can fall between two reads. */
static int read_text(struct str *out, const char *path, struct err *e)
{
	AUTOFD int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char buf[65536];
	ssize_t n = 1;

	if (fd < 0)
		return err_set(e, "open %s: %m", path);
	while (n > 0) {
		if (proc_interrupted())
			return err_set(e, "interrupted");
		if (poll(&p, 1, 100) <= 0)
			continue;
		n = read(fd, buf, sizeof(buf));
		if (n < 0)
			return err_set(e, "read %s: %m", path);
		str_add(out, buf, (size_t)n);
		if (out->len > MOST_LOG)
			return err_set(e, "%s: larger than a gigabyte", path);
	}
	return 0;
}

static int read_log(struct gitlog *l, const char *path, struct err *e)
{
	CLEANUP(str_release) struct str text = STR_INIT;
	struct err why;

	if (read_text(&text, path, e))
		return -1;
	if (strlen(str_c(&text)) != text.len)
		return err_set(e, "%s: not a log: it has zero bytes", path);
	if (gitlog_parse(l, str_c(&text), &why))
		return err_set(e, "%s: %.800s", path, why.msg);
	return 0;
}

static int replay(struct place *pl, struct ctx *c, const struct question *q,
		  const struct gitlog *l, const struct strv *hexes,
		  struct err *e)
{
	CLEANUP(bisect_release) struct bisect b = { 0 };

	if (place_create(pl, q, e))
		return -1;
	if (replay_marks(pl->s, l, hexes, e) || place_load(&b, pl, c, e) ||
	    place_check(&b, e))
		return place_undo(pl);
	return place_say_next(c, &b, e);
}

int cmd_replay(struct ctx *c, struct err *e)
{
	CLEANUP(place_release) struct place pl = { 0 };
	CLEANUP(question_release) struct question q = { 0 };
	CLEANUP(gitlog_release) struct gitlog l = { 0 };
	CLEANUP(strv_release) struct strv hexes = STRV_INIT;
	AUTOFREE char *kept = NULL;
	int code;

	if (c->o.args.n != 1)
		return err_set(e, "replay takes one file, the log");
	if (read_log(&l, c->o.args.v[0], e) || place_open(&pl, c, e) ||
	    resolve_all(&hexes, pl.h, &l, e) ||
	    replay_question(&q, &pl, c, e))
		return -1;
	take_terms(&q, &l);
	if (place_settle(&q, e))
		return -1;
	if (session_exists(pl.dir) && session_put_aside(&kept, pl.dir, e))
		return -1;
	code = replay(&pl, c, &q, &l, &hexes, e);
	/* The session before, whose question it may be, comes back. */
	if (code < 0 && kept && !pl.s)
		rename(kept, pl.dir);
	else if (kept)
		progress_say(c->p, "the session before is kept in %s", kept);
	return code;
}
