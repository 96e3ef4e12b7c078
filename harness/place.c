#include "place.h"

#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "lab.h"
#include "question.h"
#include "scratch.h"

void place_release(struct place *pl)
{
	if (pl->s) {
		session_close(pl->s);
		free(pl->s);
	}
	history_close(pl->h);
	free(pl->dir);
	*pl = (struct place){ 0 };
}

int place_open(struct place *pl, const struct ctx *c, struct err *e)
{
	*pl = (struct place){ 0 };
	if (history_open(&pl->h, c->o.repo ? c->o.repo : ".", e))
		return -1;
	pl->dir = c->o.session ? xstrdup(c->o.session)
			       : xfmt("%s/iobisect", history_dir(pl->h));
	return 0;
}

static void keep(struct place *pl, const struct session *s)
{
	pl->s = xmalloc(sizeof(*s));
	*pl->s = *s;
}

int place_session(struct place *pl, struct ctx *c, bool writing, struct err *e)
{
	struct session s;

	if (!pl->h && place_open(pl, c, e))
		return -1;
	if (writing ? session_open(&s, pl->dir, e)
		    : session_peek(&s, pl->dir, e))
		return -1;
	keep(pl, &s);
	if (s.note)
		progress_say(c->p, "note: %s", s.note);
	return 0;
}

int place_mark(struct session *s, enum mark m, const char *hex, const char *why,
	       struct err *e)
{
	struct event ev = { .kind = EVENT_MARK, .mark = m };

	memcpy(ev.commit, hex, HEX_SIZE);
	ev.why = why ? xstrdup(why) : NULL;
	if (session_append(s, &ev, e)) {
		event_release(&ev);
		return -1;
	}
	return 0;
}

int place_check(struct bisect *b, struct err *e)
{
	CLEANUP(search_answer_release) struct search_answer a = { 0 };
	char hex[HEX_SIZE];

	if (!b->st.bad[0] || !b->st.goods.n)
		return 0;
	return bisect_base(hex, b, e) < 0 || bisect_next(&a, b, e) ? -1 : 0;
}

static int check_supposed(struct bisect *b, const struct bisect *now,
			  struct err *e)
{
	const char *old = b->s->q.term_old, *new = b->s->q.term_new;
	bool no_bad = now->st.bad[0] && !b->st.bad[0];

	if (no_bad || (now->st.goods.n && !b->st.goods.n))
		return err_set(e, "that would leave no %s commit: first mark "
				  "another one %s", no_bad ? new : old,
			       no_bad ? new : old);
	return place_check(b, e);
}

/* What contradicts already is not made worse by refusing: then a mark may be the
 * first step out of it. */
int place_mark_all(struct bisect *b, enum mark m, const struct strv *hexes,
		   struct err *e)
{
	CLEANUP(state_suppose_release) struct session supposed;
	CLEANUP(bisect_release) struct bisect try = { .h = b->h, .p = b->p };
	struct err ignored;
	bool sound = place_check(b, &ignored) == 0;

	state_suppose(&supposed, b->s, m, hexes);
	try.s = &supposed;
	if (state_load(&try.st, try.s, try.h, try.p, e) ||
	    (sound && check_supposed(&try, b, e)))
		return -1;
	session_hold(b->s);
	for (size_t i = 0; i < hexes->n; i++)
		if (place_mark(b->s, m, hexes->v[i], NULL, e))
			return -1;
	return session_sync(b->s, e);
}

static int say_base(struct ctx *c, struct bisect *b, const char *hex,
		    struct err *e)
{
	CLEANUP(commit_release) struct commit co = { 0 };

	if (history_commit(&co, b->h, hex, e) || bisect_choose(b, hex, e))
		return -1;
	fprintf(c->out, "Bisecting: a merge base must be tested\n[%s] %s\n",
		hex, co.subject);
	return 0;
}

/* git bisect's two lines: how much is left, and which commit is next. */
int place_say_next(struct ctx *c, struct bisect *b, struct err *e)
{
	CLEANUP(search_answer_release) struct search_answer a = { 0 };
	CLEANUP(commit_release) struct commit co = { 0 };
	const struct event *end = state_end(&b->st);
	char base[HEX_SIZE];
	const char *hex;
	int first;

	if (!b->st.bad[0] || !b->st.goods.n) {
		fprintf(c->out, "status: waiting for %s%s%s commit%s\n",
			b->st.goods.n ? "" : b->s->q.term_old,
			b->st.goods.n || b->st.bad[0] ? "" : " and ",
			b->st.bad[0] ? "" : b->s->q.term_new,
			b->st.goods.n || b->st.bad[0] ? "" : "s");
		return 0;
	}
	first = bisect_base(base, b, e);
	if (first < 0 || bisect_next(&a, b, e))
		return -1;
	if (first)
		return say_base(c, b, base, e);
	if (a.kind == SEARCH_RANGE) {
		fprintf(c->out, "only untestable commits are left: the first "
				"%s one is among these %d\n",
			b->s->q.term_new, a.nsuspects);
		for (int i = 0; i < a.nsuspects; i++)
			fprintf(c->out, "%s\n",
				b->st.dag.v[a.suspects[i]].hex);
		return EXIT_RANGE;
	}
	hex = b->st.dag.v[a.commit].hex;
	if (history_commit(&co, b->h, hex, e))
		return -1;
	if (a.kind == SEARCH_FOUND) {
		fprintf(c->out, "%s is the first %s commit\n%s\n", hex,
			b->s->q.term_new, co.subject);
		if (end && end->mark == MARK_WEAK)
			fprintf(c->out, "confirmation: FAIL (%s)\n",
				end->why ? end->why : "");
		return 0;
	}
	if (bisect_choose(b, hex, e))
		return -1;
	fprintf(c->out, "Bisecting: %d revisions left (roughly %d step%s after "
			"this)\n[%s] %s\n",
		a.nsuspects, a.steps, a.steps == 1 ? "" : "s", hex, co.subject);
	return 0;
}

int place_load(struct bisect *b, struct place *pl, struct ctx *c,
	       struct err *e)
{
	b->s = pl->s;
	b->h = pl->h;
	b->p = c->p;
	return state_load(&b->st, pl->s, pl->h, c->p, e);
}

int place_settle(struct question *q, struct err *e)
{
	AUTOFREE char *share = NULL;

	return lab_share_dir(&share, e) ||
			       question_settle(q, share, e)
		       ? -1
		       : 0;
}

int place_create(struct place *pl, const struct question *q, struct err *e)
{
	struct session s;

	if (session_create(&s, pl->dir, q, e))
		return -1;
	keep(pl, &s);
	return 0;
}

/* A session whose ends cannot be right is taken back. */
int place_undo(struct place *pl)
{
	struct err ignored;
	AUTOFREE char *dir = xstrdup(pl->s->dir);

	session_close(pl->s);
	free(pl->s);
	pl->s = NULL;
	dir_remove(dir, &ignored);
	return -1;
}

int place_lab(struct lab **out, const struct question *q, struct history *h,
	      const char *logs, struct ctx *c, struct err *e)
{
	AUTOFREE char *share = NULL;
	AUTOFREE char *cache = lab_cache_dir();
	struct lab_dirs dirs = { .cache = cache, .logs = logs };

	if (lab_share_dir(&share, e))
		return -1;
	dirs.share = share;
	return lab_open(out, q, h, &dirs, c->p, e);
}

char *place_scratch(void)
{
	AUTOFREE char *cache = lab_cache_dir();

	return scratch_path(cache);
}

bool place_is_image(struct history *h, const char *arg)
{
	char hex[HEX_SIZE];
	struct err ignored;

	if (h && history_resolve(hex, h, arg, &ignored) == 0)
		return false;
	return file_is_regular(arg);
}
