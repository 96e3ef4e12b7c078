/* The commands that keep a bisection: start, marking, next, status, reset. None
 * of them builds or boots. */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "place.h"
#include "lab.h"
#include "report.h"

/* start */

static int resolve_kernel(char hex[HEX_SIZE], struct place *pl, const char *rev,
			  struct err *e)
{
	return history_resolve(hex, pl->h, rev, e) ||
			       history_check_kernel(pl->h, hex, e)
		       ? -1
		       : 0;
}

static int mark_rev(struct place *pl, enum mark m, const char *rev,
		    struct err *e)
{
	char hex[HEX_SIZE];

	return resolve_kernel(hex, pl, rev, e) ||
			       place_mark(pl->s, m, hex, NULL, e)
		       ? -1
		       : 0;
}

/* Everything is resolved before the session is made: a wrong revision leaves
 * nothing behind. */
static int check_revs(struct place *pl, const struct question *q,
		      const char *bad, const struct strv *goods, struct err *e)
{
	char hex[HEX_SIZE], bad_hex[HEX_SIZE] = "";

	if (bad && resolve_kernel(bad_hex, pl, bad, e))
		return -1;
	for (size_t i = 0; i < goods->n; i++) {
		if (resolve_kernel(hex, pl, goods->v[i], e))
			return -1;
		if (!strcmp(hex, bad_hex))
			return err_set(e, "%s is both %s and %s", goods->v[i],
				       q->term_old, q->term_new);
	}
	/* With no revision yet, say at least early that this is no kernel. */
	if (!bad && !goods->n)
		return resolve_kernel(hex, pl, "HEAD", e);
	return 0;
}

static int begin(struct ctx *c, struct place *pl, const char *bad,
		 const struct strv *goods, struct err *e)
{
	CLEANUP(bisect_release) struct bisect b = { 0 };
	int code;

	if (bad && mark_rev(pl, MARK_BAD, bad, e))
		return place_undo(pl);
	for (size_t i = 0; i < goods->n; i++)
		if (mark_rev(pl, MARK_GOOD, goods->v[i], e))
			return place_undo(pl);
	if (place_load(&b, pl, c, e) || place_check(&b, e))
		return place_undo(pl);
	code = place_say_next(c, &b, e);
	if (code < 0)
		return place_undo(pl);
	if (bad && goods->n)
		fprintf(c->out, "run it with: iobisect run\n");
	return code;
}

int cmd_start(struct ctx *c, struct err *e)
{
	CLEANUP(place_release) struct place pl = { 0 };
	CLEANUP(question_release) struct question q = { 0 };
	CLEANUP(strv_release) struct strv goods = STRV_INIT;
	const char *bad = c->o.bad;
	size_t first = 0;

	if (!bad && c->o.args.n)
		bad = c->o.args.v[first++];
	for (size_t i = 0; i < c->o.goods.n; i++)
		strv_add(&goods, c->o.goods.v[i]);
	for (size_t i = first; i < c->o.args.n; i++)
		strv_add(&goods, c->o.args.v[i]);
	if (options_question(&q, &c->o, e) || place_open(&pl, c, e) ||
	    check_revs(&pl, &q, bad, &goods, e) || place_settle(&q, e) ||
	    place_create(&pl, &q, e))
		return -1;
	return begin(c, &pl, bad, &goods, e);
}

/* good, bad, skip, and the session's own terms */

static int which_mark(enum mark *out, const struct session *s, const char *verb,
		      struct err *e)
{
	if (!strcmp(verb, s->q.term_old))
		*out = MARK_GOOD;
	else if (!strcmp(verb, s->q.term_new))
		*out = MARK_BAD;
	else if (!strcmp(verb, "skip"))
		*out = MARK_SKIP;
	else
		return err_set(e, "'%s' is no term of this bisection: %s, %s or "
				  "skip",
			       verb, s->q.term_old, s->q.term_new);
	return 0;
}

/* skip takes A..B, as git's does; what is good or bad in it stays so. */
static int add_range(struct strv *hexes, struct place *pl,
		     const struct state *st, const char *range, struct err *e)
{
	CLEANUP(dag_release) struct dag dag = { 0 };
	CLEANUP(strv_release) struct strv goods = STRV_INIT;
	const char *dots = strstr(range, "..");
	AUTOFREE char *from = xstrndup(range, (size_t)(dots - range));
	char a[HEX_SIZE], b[HEX_SIZE];
	struct range_query q = { .bad = b, .goods = &goods };

	if (history_resolve(a, pl->h, *from ? from : "HEAD", e) ||
	    history_resolve(b, pl->h, dots[2] ? dots + 2 : "HEAD", e))
		return -1;
	strv_add(&goods, a);
	if (history_range(&dag, pl->h, &q, NULL, e))
		return -1;
	if (!dag.n)
		return err_set(e, "%s holds no commit", range);
	for (int i = 0; i < dag.n; i++)
		if (strcmp(dag.v[i].hex, st->bad) != 0 &&
		    !strv_has(&st->goods, dag.v[i].hex))
			strv_add(hexes, dag.v[i].hex);
	return 0;
}

static int mark_args(struct place *pl, struct ctx *c, enum mark m,
		     struct bisect *b, struct err *e)
{
	CLEANUP(strv_release) struct strv hexes = STRV_INIT;

	if (!c->o.args.n && !b->st.next[0])
		return err_set(e, "which commit? no one was chosen yet: "
				  "iobisect %s REV",
			       c->verb);
	if (!c->o.args.n)
		strv_add(&hexes, b->st.next);
	for (size_t i = 0; i < c->o.args.n; i++) {
		const char *rev = c->o.args.v[i];
		char hex[HEX_SIZE];

		if (m == MARK_SKIP && strstr(rev, "..")) {
			if (add_range(&hexes, pl, &b->st, rev, e))
				return -1;
			continue;
		}
		if (resolve_kernel(hex, pl, rev, e))
			return -1;
		strv_add(&hexes, hex);
	}
	return place_mark_all(b, m, &hexes, e);
}

/* Any word may be a session's term, but where there is no session it is more
 * likely a slip. */
static bool is_usual(const char *verb)
{
	return !strcmp(verb, "good") || !strcmp(verb, "bad") ||
	       !strcmp(verb, "skip");
}

static int no_command(const char *verb, struct err *e)
{
	return err_set(e, "'%s' is no command of iobisect: see --help", verb);
}

int cmd_mark(struct ctx *c, struct err *e)
{
	CLEANUP(place_release) struct place pl = { 0 };
	CLEANUP(bisect_release) struct bisect b = { 0 };
	enum mark m;

	if (place_session(&pl, c, true, e))
		return is_usual(c->verb) ? -1 : no_command(c->verb, e);
	if (which_mark(&m, pl.s, c->verb, e))
		return -1;
	if (m == MARK_BAD && c->o.args.n > 1)
		return err_set(e, "%s takes one commit", c->verb);
	if (place_load(&b, &pl, c, e) || mark_args(&pl, c, m, &b, e) ||
	    place_load(&b, &pl, c, e))
		return -1;
	return place_say_next(c, &b, e);
}

int cmd_next(struct ctx *c, struct err *e)
{
	CLEANUP(place_release) struct place pl = { 0 };
	CLEANUP(bisect_release) struct bisect b = { 0 };

	if (place_session(&pl, c, true, e) || place_load(&b, &pl, c, e))
		return -1;
	return place_say_next(c, &b, e);
}

/* status and reset */

static void status_text(struct ctx *c, struct bisect *b, const struct answer *a)
{
	CLEANUP(str_release) struct str t = STR_INIT;
	const struct question *q = &b->s->q;
	const struct verdict_rule *r = a->rule;

	fprintf(c->out, "on %s, %s, %d MiB of memory, %s; kept in %s\n",
		q->device, q->fs, q->mem_mb, q->accel, b->s->dir);
	if (r)
		fprintf(c->out, "%s decides: %s %.3g s, %s %.3g s, threshold "
				"%.3g s\n",
			r->workload, q->term_old, r->good, q->term_new, r->bad,
			r->threshold);
	if (a->culprit)
		fprintf(c->out, "%s is the first %s commit%s%s\n", a->culprit,
			q->term_new,
			a->note ? "; its confirmation failed: " : "",
			a->note ? a->note : "");
	else if (a->next)
		fprintf(c->out, "%d commits left, about %d more step%s; next "
				"%s\n",
			a->commits, a->steps, a->steps == 1 ? "" : "s",
			a->next);
	else
		fprintf(c->out, "%s\n", a->note ? a->note : a->state);
	fputc('\n', c->out);
	report_table(&t, a->rows, a->nrows);
	fputs(str_c(&t), c->out);
}

int cmd_status(struct ctx *c, struct err *e)
{
	CLEANUP(place_release) struct place pl = { 0 };
	CLEANUP(bisect_release) struct bisect b = { 0 };
	CLEANUP(search_answer_release) struct search_answer s = { 0 };
	struct answer a = { .state = "waiting", .steps = -1, .commits = -1 };
	struct row *rows = NULL;
	const struct event *end;
	char base[HEX_SIZE];
	int first;
	struct err conflict = { "" };
	int n = 0, bad = 0;

	if (place_session(&pl, c, false, e) || place_load(&b, &pl, c, e))
		return -1;
	a.rule = b.st.rule;
	end = state_end(&b.st);
	first = b.st.has_dag ? bisect_base(base, &b, &conflict) : 0;
	if (first < 0 || (b.st.has_dag && bisect_next(&s, &b, &conflict))) {
		a.state = "conflict";
		a.note = conflict.msg;
	} else if (b.st.has_dag) {
		a.state = s.kind == SEARCH_RANGE ? "range" : "running";
		a.commits = s.nsuspects;
		a.steps = s.steps;
		if (first)
			a.next = base;
		else if (s.kind == SEARCH_TEST)
			a.next = b.st.dag.v[s.commit].hex;
		else if (s.kind == SEARCH_FOUND)
			a.culprit = b.st.dag.v[s.commit].hex;
	}
	if (end && a.culprit) {
		a.state = "found";
		if (end->mark == MARK_WEAK) {
			a.verdict = "unconfirmed";
			a.note = end->why;
		}
	}
	for (size_t i = 0; i < pl.s->q.workloads.n && !bad; i++)
		bad = state_rows(&rows, &n, &b.st, pl.h,
				 pl.s->q.workloads.v[i], e);
	if (!bad) {
		a.rows = rows;
		a.nrows = n;
		if (c->o.json) {
			AUTOFREE char *text = record_answer(&a);

			fprintf(c->out, "%s\n", text);
		} else {
			status_text(c, &b, &a);
		}
	}
	for (int i = 0; i < n; i++)
		row_release(&rows[i]);
	free(rows);
	return bad;
}

int cmd_reset(struct ctx *c, struct err *e)
{
	CLEANUP(place_release) struct place pl = { 0 };
	AUTOFREE char *kept = NULL;

	if (place_open(&pl, c, e))
		return -1;
	if (!session_exists(pl.dir)) {
		fprintf(c->out, "no bisection is under way\n");
		return 0;
	}
	if (session_retire(&kept, pl.dir, e))
		return -1;
	if (kept)
		fprintf(c->out, "the session is kept in %s\n", kept);
	return 0;
}
