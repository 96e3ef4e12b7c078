#include "range.h"

#include <stdlib.h>
#include <string.h>

#include "proc.h"

enum {
	READ = 1,
	QUEUED = 2,   /* has been in the queue */
	WAITING = 4,  /* is in it */
	EXCLUDED = 8, /* a good commit reaches it */
	GOOD = 16,    /* is one of the goods */
	LISTED = 32,  /* popped while not excluded */
	CUT = 64,     /* its parents are not here: a shallow clone */
};

struct node {
	unsigned char id[ID_SIZE];
	unsigned char tree[ID_SIZE];
	int64_t time;
	int *parents;
	int nparents;
	unsigned flags;
	int index; /* in the dag, or -1 */
};

struct entry {
	int64_t time;
	int arrival, node;
};

struct range {
	const struct range_source *source;
	struct node *v;
	int n, cap;
	int *slots; /* open addressing: node + 1, 0 free */
	size_t nslots;
	struct entry *heap;
	int nheap, heap_cap, arrivals;
	int wanted; /* commits in the queue that are not excluded */
	bool first_parent;
};

static int from_hex(unsigned char *id, const char *hex)
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < 2 * ID_SIZE; i++) {
		const char *d = hex[i] ? strchr(digits, hex[i]) : NULL;

		if (!d)
			return -1;
		id[i / 2] = (unsigned char)(id[i / 2] << 4 | (d - digits));
	}
	return 0;
}

/* By hand: a range has tens of thousands. */
int range_commit_parse(struct range_commit *out, const char *text, size_t len)
{
	const char *end = text + len, *p = text, *time;

	*out = (struct range_commit){ .time = 0 };
	if (len < 46 || strncmp(p, "tree ", 5) || from_hex(out->tree, p + 5))
		return -1;
	for (p += 46; end - p >= 48 && !strncmp(p, "parent ", 7); p += 48) {
		out->parents = xrealloc(out->parents,
					(size_t)(out->nparents + 1) * ID_SIZE);
		if (from_hex(out->parents[out->nparents++], p + 7)) {
			free(take_ptr(out->parents));
			return -1;
		}
	}
	p = strstr(p, "\ncommitter ");
	time = p ? strchr(p + 1, '\n') : NULL;
	while (time && time > p && *time != '>')
		time--;
	out->time = time && *time == '>' ? strtoll(time + 1, NULL, 10) : 0;
	return 0;
}

static void range_release(struct range *r)
{
	for (int i = 0; i < r->n; i++)
		free(r->v[i].parents);
	free(r->v);
	free(r->slots);
	free(r->heap);
}

static size_t slot_of(const struct range *r, const unsigned char *id)
{
	uint64_t h;
	size_t i;

	memcpy(&h, id, sizeof(h));
	for (i = h & (r->nslots - 1); r->slots[i];
	     i = (i + 1) & (r->nslots - 1))
		if (!memcmp(r->v[r->slots[i] - 1].id, id, ID_SIZE))
			break;
	return i;
}

static void slots_grow(struct range *r)
{
	free(r->slots);
	r->nslots = r->nslots ? r->nslots * 2 : 1024;
	r->slots = xcalloc(r->nslots, sizeof(*r->slots));
	for (int i = 0; i < r->n; i++)
		r->slots[slot_of(r, r->v[i].id)] = i + 1;
}

static int node_of(struct range *r, const unsigned char *id)
{
	size_t i;

	if ((size_t)r->n * 2 >= r->nslots)
		slots_grow(r);
	i = slot_of(r, id);
	if (r->slots[i])
		return r->slots[i] - 1;
	if (r->n == r->cap) {
		r->cap = r->cap * 2 + 256;
		r->v = xrealloc(r->v, (size_t)r->cap * sizeof(*r->v));
	}
	r->v[r->n] = (struct node){ .index = -1 };
	memcpy(r->v[r->n].id, id, ID_SIZE);
	r->slots[i] = r->n + 1;
	return r->n++;
}

static int node_read(struct range *r, int i, struct err *e)
{
	struct range_commit c = { .parents = NULL };
	AUTOFREE int *parents = NULL;

	if (r->v[i].flags & READ)
		return 0;
	if (r->source->read(&c, r->source->ctx, r->v[i].id, e))
		return -1;
	parents = xcalloc((size_t)c.nparents, sizeof(int));
	for (int k = 0; k < c.nparents; k++)
		parents[k] = node_of(r, c.parents[k]);
	free(c.parents);
	memcpy(r->v[i].tree, c.tree, ID_SIZE);
	r->v[i].time = c.time;
	r->v[i].nparents = c.nparents;
	r->v[i].parents = take_ptr(parents);
	r->v[i].flags |= READ | (c.cut ? CUT : 0);
	return 0;
}

static bool before(const struct entry *a, const struct entry *b)
{
	return a->time != b->time ? a->time > b->time : a->arrival < b->arrival;
}

static void heap_push(struct range *r, int node)
{
	struct entry x = { r->v[node].time, r->arrivals++, node };
	int i = r->nheap++;

	if (r->nheap > r->heap_cap) {
		r->heap_cap = r->heap_cap * 2 + 256;
		r->heap = xrealloc(r->heap,
				   (size_t)r->heap_cap * sizeof(*r->heap));
	}
	for (; i && before(&x, &r->heap[(i - 1) / 2]); i = (i - 1) / 2)
		r->heap[i] = r->heap[(i - 1) / 2];
	r->heap[i] = x;
}

static int heap_pop(struct range *r)
{
	int top = r->heap[0].node, i = 0;
	struct entry last = r->heap[--r->nheap];

	for (;;) {
		int c = 2 * i + 1;

		if (c + 1 < r->nheap && before(&r->heap[c + 1], &r->heap[c]))
			c++;
		if (c >= r->nheap || !before(&r->heap[c], &last))
			break;
		r->heap[i] = r->heap[c];
		i = c;
	}
	r->heap[i] = last;
	return top;
}

static int enqueue(struct range *r, int i, struct err *e)
{
	if (r->v[i].flags & QUEUED)
		return 0;
	if (node_read(r, i, e))
		return -1;
	r->v[i].flags |= QUEUED | WAITING;
	r->wanted += !(r->v[i].flags & EXCLUDED);
	heap_push(r, i);
	return 0;
}

/* Marks a commit and what is known of its ancestors. */
static void exclude(struct range *r, int first)
{
	AUTOFREE int *stack = xmalloc(sizeof(int));
	int n = 1, cap = 1;

	stack[0] = first;
	while (n) {
		struct node *c = &r->v[stack[--n]];

		if (c->flags & EXCLUDED)
			continue;
		c->flags |= EXCLUDED;
		r->wanted -= !!(c->flags & WAITING);
		if (n + c->nparents > cap) {
			cap = (n + c->nparents) * 2;
			stack = xrealloc(stack, (size_t)cap * sizeof(int));
		}
		for (int k = 0; k < c->nparents; k++)
			stack[n++] = c->parents[k];
	}
}

static int walk_step(struct range *r, int i, struct err *e)
{
	bool excluded = r->v[i].flags & EXCLUDED;
	int n = r->v[i].nparents;

	if (!excluded) {
		r->v[i].flags |= LISTED;
		if (r->first_parent && n > 1)
			n = 1;
	}
	for (int k = 0; k < n; k++) {
		int p = r->v[i].parents[k];

		if (excluded)
			exclude(r, p);
		if (enqueue(r, p, e))
			return -1;
	}
	return 0;
}

/* Clocks are wrong now and then, so that a commit can turn out to be reached
 * from a good one only late: some more are looked at after the last wanted one,
 * and all that are not clearly older. git does the same, with less margin. */
#define SLOP	     256
#define SLOP_SECONDS 86400

static int walk(struct range *r, struct progress *p, struct err *e)
{
	int slop = SLOP;
	long done = 0;
	int64_t oldest = INT64_MAX;

	while (r->nheap) {
		int i = heap_pop(r);
		const struct node *c = &r->v[i];

		r->v[i].flags &= ~(unsigned)WAITING;
		if (!(c->flags & EXCLUDED)) {
			r->wanted--;
			slop = SLOP;
			if (c->time < oldest)
				oldest = c->time;
		} else if (!r->wanted &&
			   (oldest == INT64_MAX ||
			    c->time < oldest - SLOP_SECONDS) &&
			   !slop--) {
			break;
		}
		if (walk_step(r, i, e))
			return -1;
		if (++done % 1024)
			continue;
		progress_count(p, done, 0);
		if (proc_interrupted())
			return err_set(e, "interrupted");
	}
	return 0;
}

static bool inside(const struct range *r, int i)
{
	return (r->v[i].flags & LISTED) && !(r->v[i].flags & EXCLUDED);
}

static int limited_parents(const struct range *r, const struct node *c)
{
	return r->first_parent && c->nparents > 1 ? 1 : c->nparents;
}

static void to_hex(char *hex, const unsigned char *id)
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < ID_SIZE; i++) {
		hex[2 * i] = digits[id[i] >> 4];
		hex[2 * i + 1] = digits[id[i] & 15];
	}
	hex[2 * ID_SIZE] = '\0';
}

/* What lies behind could change the answer. */
static int cut_off(const struct range *r, int i, struct err *e)
{
	char hex[HEX_SIZE];

	to_hex(hex, r->v[i].id);
	return err_set(e,
		       "the history is cut off at %.12s (a shallow clone): git "
		       "fetch --unshallow",
		       hex);
}

static void emit(struct dag *out, struct range *r, int i)
{
	struct dag_node *c = &out->v[out->n];

	*c = (struct dag_node){ .candidate = true, .time = r->v[i].time };
	to_hex(c->hex, r->v[i].id);
	r->v[i].index = out->n++;
}

/* Newest first, but children before parents whatever the clocks say. */
static void sort(struct dag *out, struct range *r, int bad)
{
	AUTOFREE int *children = xcalloc((size_t)r->n, sizeof(int));
	AUTOFREE int *order = xcalloc((size_t)r->n, sizeof(int));
	int n = 0;

	for (int i = 0; i < r->n; i++)
		for (int k = 0;
		     inside(r, i) && k < limited_parents(r, &r->v[i]); k++)
			children[r->v[i].parents[k]]++;
	out->v = xcalloc((size_t)r->n, sizeof(*out->v));
	r->nheap = 0;
	heap_push(r, bad);
	while (r->nheap) {
		int i = heap_pop(r);

		order[n++] = i;
		emit(out, r, i);
		for (int k = 0; k < limited_parents(r, &r->v[i]); k++) {
			int p = r->v[i].parents[k];

			if (!--children[p] && inside(r, p))
				heap_push(r, p);
		}
	}
	for (int j = 0; j < n; j++) {
		const struct node *c = &r->v[order[j]];
		struct dag_node *d = &out->v[j];

		d->parents = xcalloc((size_t)c->nparents, sizeof(int));
		for (int k = 0; k < limited_parents(r, c); k++)
			if (r->v[c->parents[k]].index >= 0)
				d->parents[d->nparents++] =
					r->v[c->parents[k]].index;
	}
}

/* How a commit compares with each parent, within the limits. */
static int compare(struct dag_node *out, struct range *r, const struct node *c,
		   struct err *e)
{
	int nth = 0, n = limited_parents(r, c);
	const struct range_source *s = r->source;

	out->limit = DAG_LIMITED;
	for (int k = 0; k < n; k++) {
		int p = c->parents[k], differs;

		if (node_read(r, p, e))
			return -1;
		differs = s->differs(s->ctx, r->v[p].tree, c->tree, e);
		if (differs < 0)
			return -1;
		if (r->v[p].index >= 0) {
			if (!differs && nth < 64)
				out->same |= 1ULL << nth;
			nth++;
		} else if (r->v[p].flags & GOOD) {
			out->limit |=
				differs ? DAG_GOOD_DIFFERS : DAG_GOOD_SAME;
		} else if (differs) {
			out->limit |= DAG_OUT_DIFFERS;
		}
	}
	if (!n) {
		int differs = s->differs(s->ctx, NULL, c->tree, e);

		if (differs < 0)
			return -1;
		out->limit |= differs ? DAG_OUT_DIFFERS : 0;
	}
	return 0;
}

/* Whether it changes what the limits name. */
static bool touches(const struct dag_node *c)
{
	return !c->same && !(c->limit & DAG_GOOD_SAME) &&
	       (c->nparents ||
		(c->limit & (DAG_GOOD_DIFFERS | DAG_OUT_DIFFERS)));
}

/* Which commits count, and which of them git's simplification of merges still
 * reaches: from a merge that equals a parent it goes to that parent alone.
 * False: none that changes anything. */
static bool choose(struct dag *dag)
{
	AUTOFREE unsigned char *reached = xcalloc((size_t)dag->n, 1);
	bool any = false;

	reached[0] = 1;
	for (int i = 0; i < dag->n; i++) {
		struct dag_node *c = &dag->v[i];
		int same = c->same ? __builtin_ctzll(c->same) : -1;
		bool good_same = c->limit & DAG_GOOD_SAME;

		c->candidate = reached[i] && touches(c);
		any |= c->candidate;
		if (!reached[i] || (same < 0 && good_same))
			continue;
		for (int k = 0; k < c->nparents; k++)
			if (same < 0 || k == same)
				reached[c->parents[k]] = 1;
	}
	dag->v[0].candidate = true;
	return any;
}

static int limit(struct dag *dag, struct range *r, struct progress *p,
		 struct err *e)
{
	long done = 0;
	int n = r->n; /* reading parents out of range adds nodes */

	for (int i = 0; i < n; i++) {
		struct node c = r->v[i];

		if (c.index < 0)
			continue;
		if (compare(&dag->v[c.index], r, &c, e))
			return -1;
		if (++done % 64)
			continue;
		progress_count(p, done, dag->n);
		if (proc_interrupted())
			return err_set(e, "interrupted");
	}
	if (choose(dag))
		return 0;
	return err_set(e,
		       "no commit of the range changes anything within the path "
		       "limits:%s",
		       r->source->limits);
}

/* What good reaches, and what top does; top's index. */
static int reach(struct range *r, const unsigned char *top_id,
		 unsigned char (*goods)[ID_SIZE], int ngoods,
		 struct progress *p, struct err *e)
{
	int top = node_of(r, top_id);

	for (int k = 0; k < ngoods; k++) {
		int g = node_of(r, goods[k]);

		r->v[g].flags |= GOOD;
		exclude(r, g);
	}
	for (int i = 0, n = r->n; i < n; i++)
		if (enqueue(r, i, e))
			return -1;
	return walk(r, p, e) ? -1 : top;
}

int range_walk(struct dag *out, const struct range_source *source,
	       const unsigned char *bad, unsigned char (*goods)[ID_SIZE],
	       int ngoods, bool first_parent, struct progress *p, struct err *e)
{
	CLEANUP(range_release)
	struct range r = {
		.source = source,
		.first_parent = first_parent,
	};
	int top = reach(&r, bad, goods, ngoods, p, e);

	*out = (struct dag){ 0 };
	if (top < 0)
		return -1;
	if (!inside(&r, top)) /* bad is part of a good one */
		return 0;
	for (int i = 0; i < r.n; i++)
		if ((r.v[i].flags & CUT) && inside(&r, i))
			return cut_off(&r, i, e);
	sort(out, &r, top);
	if (source->differs && limit(out, &r, p, e)) {
		dag_release(out);
		return -1;
	}
	return 0;
}

/* An ancestor is not younger, so a cut that is older than it hides nothing. */
int range_reaches(const struct range_source *source, unsigned char *from,
		  const unsigned char *to, struct err *e)
{
	CLEANUP(range_release) struct range r = { .source = source };
	int top = reach(&r, to, (unsigned char(*)[ID_SIZE])from, 1, NULL, e);

	if (top < 0)
		return -1;
	if (!inside(&r, top))
		return 1;
	for (int i = 0; i < r.n; i++)
		if ((r.v[i].flags & CUT) && (r.v[i].flags & EXCLUDED) &&
		    r.v[i].time >= r.v[top].time)
			return cut_off(&r, i, e);
	return 0;
}
