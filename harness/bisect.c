#include "bisect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIRM_BOOTS 3
/* What boots only sometimes fails so often before it is given up. */
#define MOST_FAILURES 2

void bisect_release(struct bisect *b)
{
	state_release(&b->st);
}

void bisect_result_release(struct bisect_result *r)
{
	strv_release(&r->suspects);
	free(r->confirmation);
	*r = (struct bisect_result){ 0 };
}

static int reload(struct bisect *b, struct err *e)
{
	return state_load(&b->st, b->s, b->h, b->p, e);
}

static int name_of(struct str *out, struct bisect *b, const char *hex,
		   struct err *e)
{
	return history_name(out, b->h, hex, e);
}

/* The kernel of a commit; its build is journalled the first time. */
static int get_kernel(struct kernel *out, struct bisect *b, const char *hex,
		      struct err *e)
{
	CLEANUP(finding_of_release) struct finding_of f = { 0 };
	CLEANUP(str_release) struct str name = STR_INIT;
	struct event ev = { .kind = EVENT_BUILD };

	if (name_of(&name, b, hex, e) ||
	    lab_kernel(out, b->lab, hex, str_c(&name), e))
		return -1;
	state_find(&f, &b->st, hex);
	if (f.kernel && !strcmp(f.kernel->identity, out->identity) &&
	    !f.kernel->reason == !out->reason)
		return 0;
	memcpy(ev.commit, hex, HEX_SIZE);
	ev.kernel = *out;
	ev.kernel.image = NULL;
	ev.kernel.reason = out->reason ? xstrdup(out->reason) : NULL;
	ev.kernel.log = out->log ? xstrdup(out->log) : NULL;
	if (session_append(b->s, &ev, e)) {
		event_release(&ev);
		return -1;
	}
	return reload(b, e);
}

static int boot(struct bisect *b, const struct kernel *k, const char *hex,
		struct err *e)
{
	CLEANUP(str_release) struct str name = STR_INIT;
	struct event ev = { .kind = EVENT_TRIAL };

	if (name_of(&name, b, hex, e) ||
	    lab_trial(&ev.trial, b->lab, k, hex, session_next_trial(b->s),
		      str_c(&name), e))
		return -1;
	memcpy(ev.commit, hex, HEX_SIZE);
	if (session_append(b->s, &ev, e)) {
		event_release(&ev);
		return -1;
	}
	return reload(b, e);
}

/* Good boots of a commit's kernel, with the session's first workload. */
static int boots_of(const struct bisect *b, const char *hex)
{
	AUTOFREE double *v = NULL;

	return state_samples(&v, &b->st, hex, b->s->q.workloads.v[0]);
}

/* The ends */

static int check_good(struct strv *bases, struct bisect *b, const char *good,
		      struct err *e)
{
	CLEANUP(str_release) struct str name = STR_INIT;
	int below = history_is_ancestor(b->h, good, b->st.bad, e), above;

	if (below < 0 || name_of(&name, b, good, e))
		return -1;
	if (below)
		return 0;
	above = history_is_ancestor(b->h, b->st.bad, good, e);
	if (above < 0)
		return -1;
	if (above)
		return err_set(e, "the %s commit is an ancestor of the %s one "
				  "(%s): the two are swapped, or what was "
				  "slow was mended in between",
			       b->s->q.term_new, b->s->q.term_old,
			       str_c(&name));
	if (history_merge_bases(bases, b->h, good, b->st.bad, e))
		return -1;
	if (!bases->n)
		return err_set(e, "%s is not an ancestor of the %s commit, and "
				  "they have no common history",
			       str_c(&name), b->s->q.term_new);
	return 0;
}

int bisect_check_ends(struct strv *bases, struct bisect *b, struct err *e)
{
	if (!b->st.bad[0] || !b->st.goods.n)
		return err_set(e, "no %s commit is known yet: iobisect %s REV",
			       b->st.bad[0] ? b->s->q.term_old
					    : b->s->q.term_new,
			       b->st.bad[0] ? b->s->q.term_old
					    : b->s->q.term_new);
	for (size_t i = 0; i < b->st.goods.n; i++)
		if (check_good(bases, b, b->st.goods.v[i], e))
			return -1;
	return 0;
}

/* One boot more of an endpoint. */
static int boot_end(struct bisect *b, const char *hex, enum mark m,
		    struct err *e)
{
	CLEANUP(kernel_release) struct kernel k = { 0 };
	CLEANUP(str_release) struct str name = STR_INIT;

	if (get_kernel(&k, b, hex, e) || name_of(&name, b, hex, e))
		return -1;
	if (k.reason)
		return err_set(e, "the %s commit %s does not build: %s (%s)",
			       state_term(b->s, m), str_c(&name), k.reason,
			       k.log ? k.log : "no log");
	for (int failed = 0; failed < MOST_FAILURES; failed++) {
		int before = boots_of(b, hex);

		if (boot(b, &k, hex, e))
			return -1;
		if (boots_of(b, hex) > before)
			return 0;
		if (!before)
			break;
	}
	return err_set(e, "the %s commit %s cannot be tested: %s",
		       state_term(b->s, m), str_c(&name),
		       b->s->events[b->s->n - 1]->trial.reason);
}

/* The workload that tells the two apart best decides; the others are measured
 * and shown. */
static enum verdict_gap pick_rule(struct verdict_rule *out,
				  const struct bisect *b, const char *good,
				  struct err *why)
{
	struct verdict_limit limit = { 0 };
	struct verdict_ends ends = {
		.limit = &limit,
		.runs = b->s->q.runs,
		.comparisons = (int)b->s->q.workloads.n * VERDICT_LOOKS,
	};
	enum verdict_gap best = GAP_NONE;
	double widest = 0;
	struct err first = { "" };

	if (b->s->q.threshold &&
	    verdict_limit_parse(&limit, b->s->q.threshold, why))
		return GAP_NONE;
	for (size_t i = 0; i < b->s->q.workloads.n; i++) {
		const char *w = b->s->q.workloads.v[i];
		AUTOFREE double *g = NULL;
		AUTOFREE double *d = NULL;
		struct verdict_rule r = { 0 };
		struct err one = { "" };
		enum verdict_gap gap;
		double z;

		ends.ngood = state_samples(&g, &b->st, good, w);
		ends.nbad = state_samples(&d, &b->st, b->st.bad, w);
		ends.good = g;
		ends.bad = d;
		gap = verdict_between(&r, &ends, &one);
		z = gap == GAP_CLEAR ? log(r.bad / r.good) / r.sigma : 0;
		if (gap != GAP_CLEAR && (!first.msg[0] || gap == GAP_SWAPPED))
			err_set(&first, "%s: %.700s", w, one.msg);
		if (gap != GAP_CLEAR && best == GAP_NONE)
			best = gap;
		if (gap != GAP_CLEAR || z <= widest)
			continue;
		widest = z;
		best = GAP_CLEAR;
		verdict_rule_release(out);
		*out = r;
		out->workload = xstrdup(w);
	}
	*why = first;
	return best;
}

static int append_rule(struct bisect *b, struct verdict_rule *r, struct err *e)
{
	struct event ev = { .kind = EVENT_RULE };

	ev.rule = *r;
	if (session_append(b->s, &ev, e)) {
		event_release(&ev);
		return -1;
	}
	progress_say(b->p, "%s: %s %.3g s, %s %.3g s (%.2fx); threshold %.3g s, "
			   "noise %.1f%%",
		     r->workload, b->s->q.term_old, r->good, b->s->q.term_new,
		     r->bad, r->bad / r->good, r->threshold, r->sigma * 100);
	return reload(b, e);
}

/* ABBA: a drift of the machine falls on both alike. */
static int boot_ends(struct bisect *b, int boots, struct err *e)
{
	for (;;) {
		const char *good = b->st.goods.v[0], *bad = b->st.bad;
		int g = boots_of(b, good), d = boots_of(b, bad);
		bool good_next = g < d || (g == d && g % 2 == 0);

		if (g >= boots && d >= boots)
			return 0;
		if (good_next ? boot_end(b, good, MARK_GOOD, e)
			      : boot_end(b, bad, MARK_BAD, e))
			return -1;
	}
}

int bisect_rule(struct bisect *b, struct err *e)
{
	int runs = b->s->q.runs;

	if (b->st.rule)
		return 0;
	for (int boots = runs;; boots += runs) {
		struct verdict_rule r = { 0 };
		enum verdict_gap gap;

		if (boot_ends(b, boots, e))
			return -1;
		gap = pick_rule(&r, b, b->st.goods.v[0], e);
		if (gap == GAP_CLEAR)
			return append_rule(b, &r, e);
		if (gap != GAP_UNSURE || boots >= runs * VERDICT_LOOKS)
			return -1;
		progress_say(b->p, "%s and %s differ, but not clearly yet: "
				   "booting them again",
			     b->s->q.term_old, b->s->q.term_new);
	}
}

/* Candidates */

int bisect_test(struct finding_of *out, struct bisect *b, const char *hex,
		struct err *e)
{
	CLEANUP(kernel_release) struct kernel k = { 0 };

	if (get_kernel(&k, b, hex, e))
		return -1;
	for (;;) {
		state_find(out, &b->st, hex);
		if (k.reason ||
		    (out->mark != MARK_NONE && out->mark != MARK_WEAK))
			return 0;
		finding_of_release(out);
		if (boot(b, &k, hex, e))
			return -1;
	}
}

static void say_verdict(struct bisect *b, const struct finding_of *f,
			const char *name, const char *subject)
{
	struct verdict_summary s;

	verdict_summarize(&s, f->elapsed, f->n);
	if (f->n && !f->reason)
		progress_say(b->p, "%s is %s: %.3g s, %d boot%s  (%s)", name,
			     state_term(b->s, f->mark), s.median, s.n,
			     s.n == 1 ? "" : "s", subject);
	else
		progress_say(b->p, "%s: %s: %s  (%s)", name,
			     state_term(b->s, f->mark),
			     f->reason ? f->reason : "", subject);
}

static int test_and_say(struct finding_of *out, struct bisect *b,
			const char *hex, struct err *e)
{
	CLEANUP(commit_release) struct commit c = { 0 };
	CLEANUP(str_release) struct str name = STR_INIT;

	if (history_commit(&c, b->h, hex, e) || name_of(&name, b, hex, e) ||
	    bisect_test(out, b, hex, e))
		return -1;
	say_verdict(b, out, str_c(&name), c.subject);
	return 0;
}

int bisect_base(char hex[HEX_SIZE], struct bisect *b, struct err *e)
{
	CLEANUP(strv_release) struct strv bases = STRV_INIT;

	if (bisect_check_ends(&bases, b, e))
		return -1;
	for (size_t i = 0; i < bases.n; i++) {
		CLEANUP(finding_of_release) struct finding_of f = { 0 };

		state_find(&f, &b->st, bases.v[i]);
		if (f.mark == MARK_BAD)
			return err_set(e, "the merge base %.12s is %s: what "
					  "made the difference lies between it "
					  "and the %s commit; bisect that",
				       f.hex, b->s->q.term_new,
				       b->s->q.term_old);
		if (f.mark == MARK_GOOD || f.mark == MARK_SKIP)
			continue;
		memcpy(hex, f.hex, HEX_SIZE);
		return 1;
	}
	return 0;
}

static int test_bases(struct bisect *b, struct err *e)
{
	char hex[HEX_SIZE];
	int more;

	while ((more = bisect_base(hex, b, e)) > 0) {
		CLEANUP(finding_of_release) struct finding_of f = { 0 };

		progress_say(b->p, "a %s commit is not an ancestor of the %s "
				   "one: testing their merge base %.12s",
			     b->s->q.term_old, b->s->q.term_new, hex);
		if (test_and_say(&f, b, hex, e))
			return -1;
		if (f.mark == MARK_SKIP)
			progress_say(b->p, "the merge base %.12s cannot be "
					   "tested; going on",
				     hex);
	}
	return more;
}

int bisect_choose(struct bisect *b, const char *hex, struct err *e)
{
	struct event ev = { .kind = EVENT_NEXT };

	if (!strcmp(b->st.next, hex))
		return 0;
	memcpy(ev.commit, hex, HEX_SIZE);
	return session_append(b->s, &ev, e) ? -1 : reload(b, e);
}

int bisect_next(struct search_answer *out, struct bisect *b, struct err *e)
{
	if (!b->st.has_dag || !b->st.dag.n)
		return err_set(e, "nothing lies between %s and %s: the %s "
				  "commit is part of a %s one (are they "
				  "swapped?)",
			       b->s->q.term_old, b->s->q.term_new,
			       b->s->q.term_new, b->s->q.term_old);
	search_next(out, &b->st.dag, b->st.marks);
	if (out->kind == SEARCH_CONFLICT)
		return err_set(e, "%.12s is %s, but its ancestor %.12s is %s: "
				  "there is more than one change here, or a "
				  "verdict is wrong; look at iobisect log",
			       b->st.dag.v[out->commit].hex, b->s->q.term_old,
			       b->st.dag.v[out->suspects[0]].hex,
			       b->s->q.term_new);
	return 0;
}

static int step(struct bisect *b, const struct search_answer *a, int i,
		struct err *e)
{
	CLEANUP(finding_of_release) struct finding_of f = { 0 };
	char hex[HEX_SIZE];

	memcpy(hex, b->st.dag.v[a->commit].hex, HEX_SIZE);
	progress_say(b->p, "step %d of about %d: %d commits left", i,
		     i + a->steps, a->nsuspects);
	return bisect_choose(b, hex, e) || test_and_say(&f, b, hex, e) ? -1 : 0;
}

/* Confirmation */

static double median_of(const struct finding_of *f)
{
	struct verdict_summary s;

	verdict_summarize(&s, f->elapsed, f->n);
	return s.median;
}

/* Number of the event after which the boots count; made when there is none. */
static int confirm_since(int *out, struct bisect *b, const char *hex,
			 struct err *e)
{
	struct event ev = { .kind = EVENT_CONFIRM };

	for (*out = b->s->n - 1; *out >= 0; --*out)
		if (b->s->events[*out]->kind == EVENT_CONFIRM &&
		    !strcmp(b->s->events[*out]->commit, hex))
			return 0;
	memcpy(ev.commit, hex, HEX_SIZE);
	*out = b->s->n;
	return session_append(b->s, &ev, e) ? -1 : reload(b, e);
}

/* Boots a commit once more if it needs that to be sure of it, or has not had its
 * three. */
static int boot_again(bool *more, struct bisect *b, const char *hex, int since,
		      struct err *e)
{
	CLEANUP(finding_of_release) struct finding_of f = { 0 };
	CLEANUP(kernel_release) struct kernel k = { 0 };

	state_find_since(&f, &b->st, hex, since);
	if (f.mark == MARK_SKIP || f.failed >= MOST_FAILURES ||
	    (f.n >= CONFIRM_BOOTS && f.mark != MARK_WEAK))
		return 0;
	if (get_kernel(&k, b, hex, e))
		return -1;
	if (k.reason)
		return 0;
	*more = true;
	return boot(b, &k, hex, e);
}

/* "1.2 s in 3 boots is good", and whether that is what it should be. */
static bool say_fresh(double *median, struct str *out, struct bisect *b,
		      const char *hex, int since, enum mark want)
{
	CLEANUP(finding_of_release) struct finding_of fresh = { 0 };
	CLEANUP(finding_of_release) struct finding_of all = { 0 };

	state_find_since(&fresh, &b->st, hex, since);
	state_find(&all, &b->st, hex);
	*median = median_of(&fresh);
	if (fresh.n < CONFIRM_BOOTS && fresh.failed)
		str_fmt(out, "boots only sometimes (%d of %d)", fresh.n,
			fresh.n + fresh.failed);
	else if (fresh.n)
		str_fmt(out, "%.3g s in %d boots is %s", *median, fresh.n,
			state_term(b->s, fresh.mark));
	else
		str_puts(out, fresh.reason ? fresh.reason : "was not booted");
	if (all.by_user && all.mark != fresh.mark)
		str_fmt(out, ", but marked %s by hand",
			state_term(b->s, all.mark));
	return fresh.mark == want && fresh.n >= CONFIRM_BOOTS;
}

/* The culprit and its parents are booted again, interleaved, and judged by these
 * boots alone: the ones that led here were a choice of the search, and a mark by
 * hand is what is to be checked. out has the numbers, or what contradicts. */
static int confirm(struct bisect_result *out, struct bisect *b,
		   const struct commit *c, int since, struct err *e)
{
	size_t parents = b->s->q.first_parent && c->parents.n ? 1
							      : c->parents.n;
	CLEANUP(str_release) struct str s = STR_INIT;
	double slow, fast;
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < parents; i++)
			if (boot_again(&more, b, c->parents.v[i], since, e))
				return -1;
		if (boot_again(&more, b, c->hex, since, e))
			return -1;
	}
	out->confirmed = say_fresh(&slow, &s, b, c->hex, since, MARK_BAD);
	for (size_t i = 0; i < parents; i++) {
		str_fmt(&s, "; its parent %.12s: ", c->parents.v[i]);
		if (!say_fresh(&fast, &s, b, c->parents.v[i], since, MARK_GOOD))
			out->confirmed = false;
		if (fast > out->fast)
			out->fast = fast;
	}
	if (!out->confirmed && b->s->q.paths.n)
		str_puts(&s, "; what made it slow may not be in the paths that "
			     "the search was limited to");
	out->slow = slow;
	free(out->confirmation);
	out->confirmation = str_take(&s);
	return 0;
}

static int finish(struct bisect_result *out, struct bisect *b, struct err *e)
{
	struct event ev = { .kind = EVENT_END };

	memcpy(ev.commit, out->culprit, HEX_SIZE);
	ev.mark = out->end != BISECT_FOUND ? MARK_SKIP
		  : out->confirmed	   ? MARK_BAD
					   : MARK_WEAK;
	ev.why = out->confirmation ? xstrdup(out->confirmation) : NULL;
	if (session_append(b->s, &ev, e)) {
		event_release(&ev);
		return -1;
	}
	return reload(b, e);
}

static int found(struct bisect_result *out, struct bisect *b, int at,
		 bool *again, struct err *e)
{
	CLEANUP(search_answer_release) struct search_answer a = { 0 };
	CLEANUP(commit_release) struct commit c = { 0 };
	int since;

	bisect_result_release(out);
	memcpy(out->culprit, b->st.dag.v[at].hex, HEX_SIZE);
	out->end = BISECT_FOUND;
	progress_say(b->p, "confirming %.12s", out->culprit);
	if (history_commit(&c, b->h, out->culprit, e) ||
	    confirm_since(&since, b, out->culprit, e) ||
	    confirm(out, b, &c, since, e) || bisect_next(&a, b, e))
		return -1;
	/* More boots can change a verdict; then the search goes on. */
	*again = a.kind != SEARCH_FOUND ||
		 strcmp(b->st.dag.v[a.commit].hex, out->culprit) != 0;
	if (*again)
		progress_say(b->p, "it did not hold (%s): going on",
			     out->confirmation);
	return 0;
}

static int loop(struct bisect_result *out, struct bisect *b, struct err *e)
{
	for (int i = 1;; i++) {
		CLEANUP(search_answer_release) struct search_answer a = { 0 };
		bool again = false;

		if (bisect_next(&a, b, e))
			return -1;
		if (a.kind == SEARCH_TEST) {
			if (step(b, &a, i, e))
				return -1;
			continue;
		}
		if (a.kind == SEARCH_FOUND) {
			if (found(out, b, a.commit, &again, e))
				return -1;
			if (again)
				continue;
		} else {
			out->end = BISECT_RANGE;
			out->culprit[0] = '\0';
			for (int k = 0; k < a.nsuspects; k++)
				strv_add(&out->suspects,
					 b->st.dag.v[a.suspects[k]].hex);
		}
		return finish(out, b, e);
	}
}

int bisect_run(struct bisect_result *out, struct bisect *b, struct err *e)
{
	char hex[HEX_SIZE];

	*out = (struct bisect_result){ 0 };
	if (reload(b, e) || bisect_base(hex, b, e) < 0)
		return -1;
	progress_say(b->p, "%d commits between %s and %s, workload%s %s",
		     b->st.dag.n, b->s->q.term_old, b->s->q.term_new,
		     b->s->q.workloads.n > 1 ? "s" : "",
		     b->s->q.workloads.v[0]);
	if (bisect_rule(b, e) || test_bases(b, e))
		return -1;
	return loop(out, b, e);
}
