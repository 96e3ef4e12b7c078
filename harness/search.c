#include "search.h"

#include <stdlib.h>
#include <string.h>

/* This follows git's bisect.c and limit_list() step by step, with their
 * quirks: a choice is only the same as git's if the order in which equals are
 * met is the same too. Only the counting of ancestors is another, faster one.
 */

enum {
	ABOVE = 1,  /* an ancestor of a good commit, or good itself */
	COMMON = 2, /* an ancestor of every bad commit, or it */
	SEEN = 4,   /* met by the walk */
	SAME = 8,   /* in the walk, but it does not count: git's TREESAME */
	SKIPPED = 16,
};

enum { FOLLOW_NONE = -2, FOLLOW_ALL = -1 };

struct work {
	const struct dag *dag;
	const enum mark *marks;
	unsigned char *flags; /* a node */
	int *follow; /* a node: the one parent to follow, or FOLLOW_* */
	int *list;   /* git's list of commits, oldest first */
	int nlist;
	int *weight; /* a node: how many that count it can reach */
	int nr;	     /* how many count */
	int bad;     /* the bad commit above all others, or -1 */
};

static void work_release(struct work *w)
{
	free(w->flags);
	free(w->follow);
	free(w->list);
	free(w->weight);
}

static bool is_bad(const struct work *w, int i)
{
	return i == 0 || w->marks[i] == MARK_BAD;
}

static bool is_good(const struct work *w, int i)
{
	return i != 0 && w->marks[i] == MARK_GOOD;
}

/* Sets bit on everything above the nodes that have it: a parent's index is
 * larger than its child's, so one pass is enough. */
static void flood(const struct dag *dag, unsigned char *flags, unsigned bit)
{
	for (int i = 0; i < dag->n; i++) {
		const struct dag_node *c = &dag->v[i];

		if (!(flags[i] & bit))
			continue;
		for (int k = 0; k < c->nparents; k++)
			flags[c->parents[k]] |= (unsigned char)bit;
	}
}

static int conflict(struct search_answer *out, const struct work *w, int bad)
{
	int n = w->dag->n, good = -1;
	AUTOFREE unsigned char *flags = xmalloc((size_t)n);

	for (int g = 1; g <= bad && good < 0; g++) {
		if (!is_good(w, g))
			continue;
		memset(flags, 0, (size_t)n);
		flags[g] = ABOVE;
		flood(w->dag, flags, ABOVE);
		if (flags[bad] & ABOVE)
			good = g;
	}
	out->kind = SEARCH_CONFLICT;
	out->commit = good;
	out->suspects = xmalloc(sizeof(int));
	out->suspects[0] = bad;
	out->nsuspects = 1;
	return -1;
}

/* Marks what every bad commit has above it. Two bad commits with nothing bad
 * in common have a culprit each: the first one's is then looked for. */
static int narrow(struct search_answer *out, struct work *w)
{
	int n = w->dag->n;
	AUTOFREE unsigned char *above = xmalloc((size_t)n);

	for (int i = 0; i < n; i++)
		w->flags[i] = is_good(w, i) ? COMMON | ABOVE : COMMON;
	flood(w->dag, w->flags, ABOVE);
	for (int b = 0; b < n; b++) {
		bool any = false;

		if (!is_bad(w, b))
			continue;
		if (w->flags[b] & ABOVE)
			return conflict(out, w, b);
		memset(above, 0, (size_t)n);
		above[b] = COMMON;
		flood(w->dag, above, COMMON);
		for (int i = b; i < n && !any; i++)
			any = above[i] && (w->flags[i] & COMMON) &&
			      !(w->flags[i] & ABOVE);
		for (int i = 0; i < n && any; i++)
			if (!above[i])
				w->flags[i] &= (unsigned char)~COMMON;
	}
	return 0;
}

/* git's try_to_simplify_commit(). A parent is relevant unless it is known to
 * be good only through another commit. */
static void simplify(struct work *w, int i)
{
	const struct dag_node *c = &w->dag->v[i];
	bool relevant = false, relevant_change = false;
	bool change = c->limit & DAG_OUT_DIFFERS, same = false;

	w->follow[i] = FOLLOW_ALL;
	if (!(c->limit & DAG_LIMITED)) {
		if (!c->candidate)
			w->flags[i] |= SAME;
		return;
	}
	for (int k = 0; k < c->nparents && !same; k++) {
		int p = c->parents[k];
		bool counts = !(w->flags[p] & ABOVE) || is_good(w, p);

		if (k < 64 && (c->same >> k & 1)) {
			same = counts;
			if (same)
				w->follow[i] = p;
		} else if (counts) {
			relevant_change = true;
		} else {
			change = true;
		}
		relevant |= counts;
	}
	if (!same && (c->limit & DAG_GOOD_SAME)) {
		w->follow[i] = FOLLOW_NONE;
		same = true;
	}
	if (c->limit & DAG_GOOD_DIFFERS)
		relevant = relevant_change = true;
	if (same || (relevant ? !relevant_change : !change))
		w->flags[i] |= SAME;
}

/* Calls once for each parent that the walk goes on to: for (k...) p = ... */
static int next_parent(const struct work *w, int i, int *k)
{
	const struct dag_node *c = &w->dag->v[i];

	while (*k < c->nparents) {
		int p = c->parents[(*k)++];

		if (w->follow[i] != FOLLOW_ALL && w->follow[i] != p)
			continue;
		if (!(w->flags[p] & ABOVE))
			return p;
	}
	return -1;
}

/* A queue by time, newest first; equals in the order of their arrival. */
struct queued {
	int64_t time;
	int arrival, node;
};

struct queue {
	struct queued *v;
	int n, arrivals;
};

static bool queued_before(const struct queued *a, const struct queued *b)
{
	return a->time != b->time ? a->time > b->time : a->arrival < b->arrival;
}

static void queue_push(struct queue *q, int64_t time, int node)
{
	struct queued x = { time, q->arrivals++, node };
	int i = q->n++;

	while (i && queued_before(&x, &q->v[(i - 1) / 2])) {
		q->v[i] = q->v[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	q->v[i] = x;
}

static int queue_pop(struct queue *q)
{
	int top = q->v[0].node, i = 0;
	struct queued last = q->v[--q->n];

	for (;;) {
		int c = 2 * i + 1;

		if (c + 1 < q->n && queued_before(&q->v[c + 1], &q->v[c]))
			c++;
		if (c >= q->n || !queued_before(&q->v[c], &last))
			break;
		q->v[i] = q->v[c];
		i = c;
	}
	q->v[i] = last;
	return top;
}

/* git's limit_list() and the reversal that find_bisection() begins with. */
static void walk(struct work *w)
{
	const struct dag *dag = w->dag;
	AUTOFREE void *buf =
		xmalloc(((size_t)dag->n + 1) * sizeof(struct queued));
	AUTOFREE unsigned char *inner = xcalloc((size_t)dag->n, 1);
	struct queue q = { .v = buf };
	int tips = 0;

	for (int i = 0; i < dag->n; i++) {
		if (!(w->flags[i] & COMMON) || (w->flags[i] & ABOVE))
			continue;
		if (!inner[i]) {
			queue_push(&q, dag->v[i].time, i);
			w->flags[i] |= SEEN;
			w->bad = !tips++ && is_bad(w, i) ? i : -1;
		}
		for (int k = 0; k < dag->v[i].nparents; k++)
			inner[dag->v[i].parents[k]] = 1;
	}
	while (q.n) {
		int i = queue_pop(&q), k = 0, p;

		w->list[w->nlist++] = i;
		simplify(w, i);
		w->nr += !(w->flags[i] & SAME);
		while ((p = next_parent(w, i, &k)) >= 0) {
			if (w->flags[p] & SEEN)
				continue;
			w->flags[p] |= SEEN;
			queue_push(&q, dag->v[p].time, p);
		}
	}
	for (int a = 0, b = w->nlist - 1; a < b; a++, b--) {
		int t = w->list[a];

		w->list[a] = w->list[b];
		w->list[b] = t;
	}
}

#define WORDS	8
#define COLUMNS (WORDS * 64)

/* How many commits that count each one reaches, itself included. Sets of
 * ancestors as bits, a strip of columns at a time, so that they stay in the
 * processor's cache. */
static void weigh(struct work *w)
{
	int n = w->dag->n, lo = 0;
	uint64_t(*bits)[WORDS] = xmalloc((size_t)n * sizeof(*bits));
	AUTOFREE void *owner = bits;

	memset(w->weight, 0, (size_t)n * sizeof(int));
	for (; lo < n; lo += COLUMNS) {
		int hi = lo + COLUMNS < n ? lo + COLUMNS : n;

		for (int i = hi - 1; i >= 0; i--) {
			int k = 0, p;

			if (!(w->flags[i] & SEEN))
				continue;
			memset(bits[i], 0, sizeof(bits[i]));
			if (i >= lo && !(w->flags[i] & SAME))
				bits[i][(i - lo) / 64] |= 1ULL
							  << ((i - lo) % 64);
			while ((p = next_parent(w, i, &k)) >= 0)
				for (int j = 0; p < hi && j < WORDS; j++)
					bits[i][j] |= bits[p][j];
			for (int j = 0; j < WORDS; j++)
				w->weight[i] +=
					__builtin_popcountll(bits[i][j]);
		}
	}
}

static bool halfway(const struct work *w, int i)
{
	int diff = 2 * w->weight[i] - w->nr;

	if (w->flags[i] & SAME)
		return false;
	return abs(diff) <= 1 || abs(diff) < w->nr / 1024;
}

static int distance(const struct work *w, int i)
{
	int up = w->weight[i], down = w->nr - up;

	return up < down ? up : down;
}

/* git weighs the merges first, then what hangs on a weighed parent, and takes
 * the first that is near enough to the middle: -1 if none is, or if all are to
 * be weighed. It stops when it has weighed as many as count, which a merge that
 * does not count can make too early: what is left then is never the best. */
static int first_halfway(struct work *w, bool all)
{
	enum { STRAND, MERGE, DONE };
	AUTOFREE unsigned char *state = xcalloc((size_t)w->dag->n, 1);
	int counted = 0;

	for (int j = 0; j < w->nlist; j++) {
		int i = w->list[j], k = 0, parents = 0;

		while (next_parent(w, i, &k) >= 0)
			parents++;
		state[i] = !parents ? DONE : parents > 1 ? MERGE : STRAND;
		counted += !parents && !(w->flags[i] & SAME);
	}
	for (int j = 0; j < w->nlist; j++) {
		int i = w->list[j];

		if (state[i] != MERGE)
			continue;
		state[i] = DONE;
		if (!all && halfway(w, i))
			return i;
		counted++;
	}
	while (counted < w->nr) {
		for (int j = 0; j < w->nlist; j++) {
			int i = w->list[j], k = 0, p;

			if (state[i] == DONE)
				continue;
			while ((p = next_parent(w, i, &k)) >= 0)
				if (state[p] == DONE)
					break;
			if (p < 0)
				continue;
			state[i] = DONE;
			counted += !(w->flags[i] & SAME);
			if (!all && halfway(w, i))
				return i;
		}
	}
	for (int j = 0; j < w->nlist; j++)
		if (state[w->list[j]] != DONE)
			w->weight[w->list[j]] = -1;
	return -1;
}

static int best(struct work *w)
{
	int top = first_halfway(w, false), top_distance = -1;

	if (top >= 0)
		return top;
	for (int j = 0; j < w->nlist; j++) {
		int i = w->list[j];

		if ((w->flags[i] & SAME) || distance(w, i) <= top_distance)
			continue;
		top = i;
		top_distance = distance(w, i);
	}
	return top;
}

static int better(const void *a_, const void *b_, void *ctx)
{
	const struct work *w = ctx;
	int a = *(const int *)a_, b = *(const int *)b_;
	int diff = distance(w, b) - distance(w, a);

	return diff ? diff : strcmp(w->dag->v[a].hex, w->dag->v[b].hex);
}

/* In float, as git has it: its rounding is part of the choice. */
static int sqrti(int val)
{
	float d, x = (float)val;

	if (!val)
		return 0;
	do {
		float y = (x + (float)val / x) / 2;

		d = y > x ? y - x : x - y;
		x = y;
	} while (d >= 0.5F);
	return (int)x;
}

/* git's rule around skipped commits: if the best one is skipped, go some
 * pseudo-random way down the others, the best first. The bad commit's
 * neighbour instead of the bad one. -1: none is left. */
static int best_unskipped(struct work *w, const int *suspects, int n)
{
	AUTOFREE int *v = xmalloc(((size_t)n + 1) * sizeof(int));
	int count = 0, index;
	unsigned prn;
	bool first_skipped;

	if (!n)
		return -1;
	first_halfway(w, true);
	memcpy(v, suspects, (size_t)n * sizeof(int));
	qsort_r(v, (size_t)n, sizeof(int), better, w);
	first_skipped = w->flags[v[0]] & SKIPPED;
	for (int i = 0; i < n; i++)
		if (!(w->flags[v[i]] & SKIPPED))
			v[count++] = v[i];
	if (!count)
		return -1;
	if (!first_skipped)
		return v[0];
	prn = ((unsigned)count * 1103515245U + 12345U) / 65536U % 32768U;
	/* The product wraps for more than 65536 commits in git too. */
	index = (int)((unsigned)count * prn) / 32768 * sqrti((int)prn) /
		sqrti(32768);
	if (index < 0 || index >= count)
		index = 0;
	if (v[index] == w->bad && index)
		index--;
	return v[index];
}

/* git's estimate of the steps after this one. */
static int steps_left(int all)
{
	int n = 0, x;

	if (all < 3)
		return 0;
	while (all >> (n + 1))
		n++;
	x = all - (1 << n);
	return (1 << n) < 3 * x ? n : n - 1;
}

static void answer(struct search_answer *out, struct work *w)
{
	bool skips = false, skipped_suspect = false;

	for (int i = 0; i < w->dag->n; i++) {
		if (!is_bad(w, i) && w->marks[i] == MARK_SKIP) {
			w->flags[i] |= SKIPPED;
			skips = true;
		}
		if (!(w->flags[i] & SEEN) || (w->flags[i] & SAME))
			continue;
		out->suspects[out->nsuspects++] = i;
		skipped_suspect |= w->flags[i] & SKIPPED;
	}
	out->steps = steps_left(w->nr);
	out->commit = skips ? best_unskipped(w, out->suspects, out->nsuspects)
			    : best(w);
	if (!out->nsuspects) {
		out->kind = SEARCH_FOUND;
		out->commit = w->bad >= 0 ? w->bad : 0;
	} else if (out->nsuspects == 1 && w->bad < 0) {
		out->kind = SEARCH_FOUND;
		out->commit = out->suspects[0];
	} else if (out->commit < 0) {
		out->kind = SEARCH_RANGE;
	} else if (out->commit == w->bad) {
		out->kind = skipped_suspect ? SEARCH_RANGE : SEARCH_FOUND;
	} else {
		out->kind = SEARCH_TEST;
	}
}

void search_next(struct search_answer *out, const struct dag *dag,
		 const enum mark *marks)
{
	size_t n = (size_t)dag->n;
	CLEANUP(work_release)
	struct work w = {
		.dag = dag,
		.marks = marks,
		.flags = xcalloc(n, 1),
		.follow = xcalloc(n, sizeof(int)),
		.list = xcalloc(n, sizeof(int)),
		.weight = xcalloc(n, sizeof(int)),
		.bad = -1,
	};

	*out = (struct search_answer){ .commit = -1 };
	if (!n)
		BUG("search in an empty range");
	if (narrow(out, &w))
		return;
	out->suspects = xcalloc(n, sizeof(int));
	walk(&w);
	weigh(&w);
	answer(out, &w);
}

void search_answer_release(struct search_answer *a)
{
	free(a->suspects);
	*a = (struct search_answer){ 0 };
}
