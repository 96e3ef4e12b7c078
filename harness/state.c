#include "state.h"

#include <stdlib.h>
#include <string.h>

void finding_of_release(struct finding_of *f)
{
	free(f->reason);
	free(f->elapsed);
	*f = (struct finding_of){ 0 };
}

void state_release(struct state *st)
{
	strv_release(&st->goods);
	dag_release(&st->dag);
	free(st->marks);
	*st = (struct state){ 0 };
}

const char *state_term(const struct session *s, enum mark m)
{
	switch (m) {
	case MARK_GOOD:
		return s->q.term_old;
	case MARK_BAD:
		return s->q.term_new;
	case MARK_SKIP:
		return "skip";
	case MARK_WEAK:
		return "weak";
	case MARK_NONE:
		break;
	}
	return "";
}

static const struct kernel *kernel_of(const struct state *st, const char *hex)
{
	const struct kernel *k = NULL;

	for (int i = 0; i < st->s->n; i++) {
		const struct event *ev = st->s->events[i];

		if (ev->kind == EVENT_BUILD && !strcmp(ev->commit, hex))
			k = &ev->kernel;
	}
	return k;
}

/* Two commits of one identity are one kernel: its boots count for both. */
static bool is_boot_of(const struct event *ev, const char *hex,
		       const struct kernel *k)
{
	if (ev->kind != EVENT_TRIAL)
		return false;
	if (!strcmp(ev->commit, hex))
		return true;
	return k && k->identity[0] &&
	       !strcmp(ev->trial.identity, k->identity);
}

/* Boots of a kernel after event number since: how many failed, and why last. */
struct boots {
	double *v; /* elapsed of one workload, one a good boot */
	int n, failed;
	const char *reason;
};

static void boots_release(struct boots *b)
{
	free(b->v);
}

static void boots_since(struct boots *out, const struct state *st,
			const char *hex, const struct kernel *k,
			const char *workload, int since)
{
	*out = (struct boots){ .v = xcalloc((size_t)st->s->n, sizeof(double)) };
	for (int i = since; i < st->s->n; i++) {
		const struct event *ev = st->s->events[i];
		const struct sample *s;

		if (!is_boot_of(ev, hex, k))
			continue;
		s = trial_sample(&ev->trial, workload);
		if (ev->trial.outcome != BOOT_OK) {
			out->failed++;
			out->reason = ev->trial.reason ? ev->trial.reason
						       : "no reason";
		} else if (s) {
			out->v[out->n++] = s->elapsed;
		}
	}
}

int state_samples(double **out, const struct state *st, const char *hex,
		  const char *workload)
{
	struct boots b;

	boots_since(&b, st, hex, kernel_of(st, hex), workload, 0);
	*out = b.v;
	return b.n;
}

static const struct event *user_mark(const struct state *st, const char *hex)
{
	for (int i = st->s->n; i-- > 0;) {
		const struct event *ev = st->s->events[i];

		if (ev->kind == EVENT_MARK && !strcmp(ev->commit, hex))
			return ev;
	}
	return NULL;
}

/* A kernel that never booted is out at once (its boot was tried twice). One that
 * boots only sometimes is still judged by what it did, if that is clear. */
static void judge(struct finding_of *out, const struct boots *b,
		  const struct verdict_rule *rule)
{
	struct verdict v = { .mark = MARK_NONE };

	if (rule)
		verdict_judge(&v, rule, out->elapsed, out->n);
	out->mark = v.mark;
	if (b->failed && !b->n) {
		out->mark = MARK_SKIP;
		out->reason = xstrdup(b->reason);
	} else if (b->failed > 1 &&
		   (v.mark == MARK_WEAK || v.mark == MARK_SKIP)) {
		out->mark = MARK_SKIP;
		out->reason = xfmt("boots only sometimes (%d of %d): %s", b->n,
				   b->n + b->failed, b->reason);
	} else if (v.mark == MARK_SKIP) {
		out->reason = xfmt("undecided after %d boots: %.3g s +-%.0f%% "
				   "is too near the threshold %.3g s",
				   v.at.n, v.at.median, v.at.spread * 100,
				   rule->threshold);
	}
}

void state_find_since(struct finding_of *out, const struct state *st,
		      const char *hex, int since)
{
	const struct kernel *k = kernel_of(st, hex);
	CLEANUP(boots_release) struct boots b;

	*out = (struct finding_of){ .kernel = k };
	memcpy(out->hex, hex, HEX_SIZE);
	/* Any workload tells whether it booted. */
	boots_since(&b, st, hex, k,
		    st->rule ? st->rule->workload : st->s->q.workloads.v[0],
		    since);
	out->failed = b.failed;
	if (st->rule) {
		out->n = b.n;
		out->elapsed = take_ptr(b.v);
	}
	if (k && k->reason) {
		out->mark = MARK_SKIP;
		out->reason = xfmt("does not build: %s", k->reason);
		return;
	}
	judge(out, &b, st->rule);
}

void state_find(struct finding_of *out, const struct state *st, const char *hex)
{
	const struct event *user = user_mark(st, hex);

	state_find_since(out, st, hex, 0);
	if (!user)
		return;
	out->mark = user->mark;
	out->by_user = true;
	free(out->reason);
	out->reason = user->why ? xstrdup(user->why) : NULL;
}

void state_suppose(struct session *out, const struct session *s, enum mark m,
		   const struct strv *hexes)
{
	size_t n = (size_t)s->n;
	struct event *marks = xcalloc(hexes->n + 1, sizeof(*marks));

	*out = *s;
	out->events = xcalloc(n + hexes->n + 1, sizeof(*out->events));
	if (n)
		memcpy(out->events, s->events, n * sizeof(*s->events));
	for (size_t i = 0; i < hexes->n; i++) {
		marks[i] = (struct event){ .kind = EVENT_MARK, .mark = m };
		memcpy(marks[i].commit, hexes->v[i], HEX_SIZE);
		out->events[out->n++] = &marks[i];
	}
	out->events[out->n] = marks; /* for the release */
}

void state_suppose_release(struct session *supposed)
{
	if (supposed->events)
		free(supposed->events[supposed->n]);
	free(supposed->events);
	*supposed = (struct session){ 0 };
}

/* Whether an earlier word on the commit was another one. */
static bool takes_back(const struct session *s, int at)
{
	const struct event *ev = s->events[at];

	for (int i = 0; i < at; i++)
		if (s->events[i]->kind == EVENT_MARK &&
		    s->events[i]->mark != ev->mark &&
		    !strcmp(s->events[i]->commit, ev->commit))
			return true;
	return false;
}

/* The newest word on bad wins, as in git; goods add up. A later word takes an
 * earlier one on the same commit back, and with it the rule: it may rest on that
 * commit. (Making it anew from the boots there are costs nothing.) */
static void replay_ends(struct state *st, struct strv *goods)
{
	st->bad[0] = st->next[0] = '\0';
	st->rule = NULL;
	for (int i = 0; i < st->s->n; i++) {
		const struct event *ev = st->s->events[i];

		if (ev->kind == EVENT_RULE)
			st->rule = &ev->rule;
		if (ev->kind == EVENT_NEXT)
			memcpy(st->next, ev->commit, HEX_SIZE);
		if (ev->kind != EVENT_MARK)
			continue;
		if (takes_back(st->s, i))
			st->rule = NULL;
		if (user_mark(st, ev->commit) != ev)
			continue;
		if (ev->mark == MARK_BAD)
			memcpy(st->bad, ev->commit, HEX_SIZE);
		if (ev->mark == MARK_GOOD)
			strv_add(goods, ev->commit);
	}
}

static bool same(const struct strv *a, const struct strv *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->v[i], b->v[i]) != 0)
			return false;
	return true;
}

static int walk(struct state *st, struct history *h, struct progress *p,
		struct err *e)
{
	struct range_query q = { .bad = st->bad,
				 .goods = &st->goods,
				 .first_parent = st->s->q.first_parent,
				 .paths = &st->s->q.paths };

	dag_release(&st->dag);
	st->has_dag = false;
	if (!st->bad[0] || !st->goods.n)
		return 0;
	if (history_range(&st->dag, h, &q, p, e))
		return -1;
	st->has_dag = true;
	return 0;
}

int state_load(struct state *st, const struct session *s, struct history *h,
	       struct progress *p, struct err *e)
{
	struct strv goods = STRV_INIT;
	char before[HEX_SIZE];
	bool again;

	memcpy(before, st->bad, sizeof(before));
	st->s = s;
	replay_ends(st, &goods);
	again = strcmp(before, st->bad) != 0 || !same(&goods, &st->goods);
	/* Callers may hold names out of the list while nothing changes. */
	strv_release(again ? &st->goods : &goods);
	if (again)
		st->goods = goods;
	if (again && walk(st, h, p, e))
		return -1;
	free(st->marks);
	st->marks = xcalloc((size_t)st->dag.n, sizeof(*st->marks));
	/* Only commits that the journal speaks of can have a mark, or share a
	 * kernel with one that has. */
	for (int i = 0; i < s->n; i++) {
		const char *hex = s->events[i]->commit;
		int at = hex[0] ? dag_find(&st->dag, hex) : -1;

		if (at >= 0 && st->marks[at] == MARK_NONE) {
			CLEANUP(finding_of_release) struct finding_of f;

			state_find(&f, st, hex);
			/* Outside of the path limits the search would go on
			 * from parent to parent. */
			if (st->dag.v[at].candidate || f.by_user)
				st->marks[at] = f.mark;
		}
	}
	return 0;
}

const struct event *state_end(const struct state *st)
{
	for (int i = st->s->n - 1; i >= 0; i--) {
		if (st->s->events[i]->kind == EVENT_END)
			return st->s->events[i];
		if (st->s->events[i]->kind == EVENT_MARK)
			return NULL;
	}
	return NULL;
}

void state_tested(struct strv *out, const struct state *st)
{
	for (int i = 0; i < st->s->n; i++) {
		const char *hex = st->s->events[i]->commit;

		if (hex[0] && !strv_has(out, hex))
			strv_add(out, hex);
	}
}

/* Rows */

void row_fill(struct row *out, const struct trial *const *trials, int n,
	      const char *workload)
{
	AUTOFREE double *v = xcalloc((size_t)n * 7 + 1, sizeof(*v));
	double *elapsed = v, *user = v + n, *sys = v + 2 * n, *cpu = v + 3 * n;
	double *sync = v + 4 * n, *rate = v + 5 * n, *worst = v + 6 * n;
	int k = 0;

	out->workload = xstrdup(workload);
	for (int i = 0; i < n; i++) {
		const struct sample *s = trial_sample(trials[i], workload);

		if (!s || trials[i]->outcome != BOOT_OK)
			continue;
		elapsed[k] = s->elapsed;
		user[k] = s->user;
		sys[k] = s->sys;
		cpu[k] = (s->user + s->sys) / s->elapsed * 100;
		sync[k] = s->sync;
		rate[k] = s->written / s->elapsed;
		worst[k++] = s->probe_worst;
	}
	verdict_summarize(&out->elapsed, elapsed, k);
	verdict_summarize(&out->user, user, k);
	verdict_summarize(&out->sys, sys, k);
	verdict_summarize(&out->cpu, cpu, k);
	verdict_summarize(&out->sync, sync, k);
	verdict_summarize(&out->throughput, rate, k);
	verdict_summarize(&out->worst, worst, k);
}

int state_row(struct row *out, const struct state *st, struct history *h,
	      const char *hex, const char *workload, struct err *e)
{
	CLEANUP(finding_of_release) struct finding_of f = { 0 };
	CLEANUP(commit_release) struct commit c = { 0 };
	CLEANUP(str_release) struct str name = STR_INIT;
	AUTOFREE const struct trial **trials =
		xcalloc((size_t)st->s->n, sizeof(struct trial *));
	int n = 0;

	*out = (struct row){ 0 };
	state_find(&f, st, hex);
	if (!history_has(h, hex)) { /* a test of a branch that was deleted */
		c.subject = xstrdup("");
		str_fmt(&name, "%.12s", hex);
	} else if (history_commit(&c, h, hex, e) ||
		   history_name(&name, h, hex, e)) {
		return -1;
	}
	for (int i = 0; i < st->s->n; i++)
		if (is_boot_of(st->s->events[i], hex, f.kernel))
			trials[n++] = &st->s->events[i]->trial;
	row_fill(out, trials, n, workload);
	out->kernel = str_take(&name);
	out->commit = xstrdup(hex);
	out->subject = take_ptr(c.subject);
	if (f.mark != MARK_NONE)
		out->verdict = xstrdup(state_term(st->s, f.mark));
	out->note = take_ptr(f.reason);
	return 0;
}

int state_rows(struct row **rows, int *n, const struct state *st,
	       struct history *h, const char *workload, struct err *e)
{
	CLEANUP(strv_release) struct strv tested = STRV_INIT;

	state_tested(&tested, st);
	*rows = xrealloc(*rows, ((size_t)*n + tested.n + 1) * sizeof(**rows));
	for (size_t i = 0; i < tested.n; i++)
		if (state_row(&(*rows)[(*n)++], st, h, tested.v[i], workload,
			      e))
			return -1;
	return 0;
}
