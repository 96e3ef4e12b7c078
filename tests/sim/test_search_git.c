/* search_next against the real git bisect: random histories, the same marks,
 * the same commit at every step. */
#include "search.h"

#include "gitrepo.h"
#include "history.h"
#include "test.h"

#define MAX_COMMITS 160
#define NFILES	    6

struct world {
	char *dir;
	char hex[MAX_COMMITS][HEX_SIZE];
	int parents[MAX_COMMITS][3], nparents[MAX_COMMITS];
	int n;
	bool above[MAX_COMMITS][MAX_COMMITS]; /* [a][b]: b is a or above it */
	bool skip[MAX_COMMITS];
	int culprit, bad, goods[3], ngoods;
	uint64_t seed;
};

/* How a history is drawn. */
struct shape {
	const char *name;
	int commits;	 /* about */
	unsigned merges; /* percent */
	unsigned skew;	 /* percent of commits whose clock is wrong */
	unsigned skips;	 /* percent */
	unsigned max_goods;
	bool first_parent, limited;
};

/* A commit changes one file, and a merge is often equal to one parent in some
 * files, so that path limits have merges to simplify. */
static void draw_commit(struct str *s, struct world *w, int i,
			const struct shape *shape, int *clock)
{
	unsigned late = draw(&w->seed, 100);
	int time;

	/* Often the same second as before: order among equals matters. */
	*clock += (int)draw(&w->seed, 3);
	time = *clock;
	if (late < shape->skew)
		time += (int)draw(&w->seed, 61) - 30;
	w->nparents[i] = 0;
	if (i)
		w->parents[i][w->nparents[i]++] =
			draw(&w->seed, 100) < 60
				? i - 1
				: i - 1 - (int)draw(&w->seed, i < 9 ? i : 9);
	while (i > 2 && w->nparents[i] < 3 &&
	       draw(&w->seed, 100) < shape->merges / (unsigned)w->nparents[i]) {
		int p = i - 1 - (int)draw(&w->seed, i < 25 ? i : 25);
		bool twice = false;

		for (int k = 0; k < w->nparents[i]; k++)
			twice |= w->parents[i][k] == p;
		if (twice)
			break;
		w->parents[i][w->nparents[i]++] = p;
	}
	str_fmt(s, "commit refs/heads/main\nmark :%d\n", i + 1);
	str_fmt(s, "committer C <c@example.com> %d +0000\n", time);
	str_fmt(s, "data 4\nc%03d", i);
	for (int k = 0; k < w->nparents[i]; k++)
		str_fmt(s, "\n%s :%d", k ? "merge" : "from",
			w->parents[i][k] + 1);
	str_puts(s, "\n");
	if (w->nparents[i] < 2 || draw(&w->seed, 3) == 0)
		str_fmt(s, "M 644 inline d/f%u\ndata 4\n%04d\n",
			draw(&w->seed, NFILES), i);
}

static bool world_make(struct world *w, const struct shape *shape)
{
	CLEANUP(str_release) struct str in = STR_INIT, out = STR_INIT;
	AUTOFREE char *marks = NULL;
	AUTOFREE char *option = NULL;
	struct err e;
	int clock = 1000000000;

	w->dir = temp_make();
	marks = xfmt("%s/marks", w->dir);
	option = xfmt("--export-marks=%s", marks);
	w->n = shape->commits / 2 +
	       (int)draw(&w->seed, (unsigned)shape->commits);
	if (w->n > MAX_COMMITS)
		w->n = MAX_COMMITS;
	for (int i = 0; i < w->n; i++) {
		draw_commit(&in, w, i, shape, &clock);
		memset(w->above[i], 0, sizeof(w->above[i]));
		w->above[i][i] = true;
		for (int k = 0; k < w->nparents[i]; k++)
			for (int j = 0; j < w->n; j++)
				w->above[i][j] |= w->above[w->parents[i][k]][j];
	}
	if (git(&out, w->dir, NULL, "init", "-q", "-b", "main", ".", NULL) ||
	    git(&out, w->dir, &in, "fast-import", "--quiet", option, NULL)) {
		printf("# %s\n", out.buf);
		return false;
	}
	str_reset(&out);
	if (file_read(&out, marks, &e))
		return false;
	for (char *p = out.buf; *p == ':'; p = strchr(p, '\n') + 1) {
		int i = (int)strtol(p + 1, &p, 10) - 1;

		memcpy(w->hex[i], p + 1, HEX_LEN);
	}
	return true;
}

static int commit_of(const struct world *w, const char *hex)
{
	for (int i = 0; i < w->n; i++)
		if (!strncmp(w->hex[i], hex, HEX_LEN))
			return i;
	return -1;
}

/* Any ancestor of bad may be good, if it is not above the culprit. */
static void draw_question(struct world *w, const struct shape *shape)
{
	w->bad = w->n - 1;
	w->ngoods = 0;
	for (int tries = 0; w->ngoods <= (int)draw(&w->seed, shape->max_goods);
	     tries++) {
		int g = (int)draw(&w->seed,
				  tries < 20 ? (unsigned)w->n / 3 + 1 : 1);

		if (w->above[w->bad][g])
			w->goods[w->ngoods++] = g;
	}
	for (int tries = 0; tries < 1000; tries++) {
		bool good = false;

		w->culprit = (int)draw(&w->seed, (unsigned)w->n);
		for (int k = 0; k < w->ngoods; k++)
			good |= w->above[w->goods[k]][w->culprit];
		if (!good && w->above[w->bad][w->culprit])
			break;
		w->culprit = w->bad;
	}
	for (int i = 0; i < w->n; i++)
		w->skip[i] = i != w->bad && draw(&w->seed, 100) < shape->skips;
}

static enum mark oracle(const struct world *w, int i)
{
	if (w->skip[i])
		return MARK_SKIP;
	return w->above[i][w->culprit] ? MARK_BAD : MARK_GOOD;
}

/* What git said: the commit to test next, or how it ended. */
struct said {
	enum search_kind kind;
	int commit, steps;
};

static struct said understand(const struct world *w, const struct str *out)
{
	struct said s = { .kind = SEARCH_CONFLICT, .commit = -1 };
	const char *p = strstr(out->buf, "(roughly ");

	if (strstr(out->buf, "There are only 'skip'ped commits")) {
		s.kind = SEARCH_RANGE;
	} else if (strstr(out->buf, "No testable commit found")) {
		s.kind = SEARCH_FOUND;
	} else if (p) {
		s.kind = SEARCH_TEST;
		s.steps = (int)strtol(p + 9, NULL, 10);
		p = strchr(p, '[');
		s.commit = p ? commit_of(w, p + 1) : -1;
	} else if ((p = strstr(out->buf, " is the first bad commit")) &&
		   p - out->buf >= HEX_LEN) {
		s.kind = SEARCH_FOUND;
		s.commit = commit_of(w, p - HEX_LEN);
	}
	return s;
}

static struct said git_start(struct world *w, const struct shape *shape)
{
	CLEANUP(str_release) struct str out = STR_INIT;
	const char *args[16] = { NULL };
	int n = 0;

	if (shape->first_parent)
		args[n++] = "--first-parent";
	args[n++] = w->hex[w->bad];
	for (int k = 0; k < w->ngoods; k++)
		args[n++] = w->hex[w->goods[k]];
	if (shape->limited) {
		args[n++] = "--";
		args[n++] = "d/f1";
		args[n++] = "d/f[23]";
	}
	git(&out, w->dir, NULL, "bisect", "start", "--no-checkout", args[0],
	    args[1], args[2], args[3], args[4], args[5], args[6], args[7],
	    NULL);
	return understand(w, &out);
}

static struct said git_mark(struct world *w, int i)
{
	static const char *const words[] = {
		[MARK_GOOD] = "good", [MARK_BAD] = "bad", [MARK_SKIP] = "skip"
	};
	CLEANUP(str_release) struct str out = STR_INIT;

	git(&out, w->dir, NULL, "bisect", words[oracle(w, i)], w->hex[i], NULL);
	return understand(w, &out);
}

static bool load(struct dag *dag, struct world *w, const struct shape *shape)
{
	CLEANUP(strv_release) struct strv goods = STRV_INIT, paths = STRV_INIT;
	struct range_query q = { .bad = w->hex[w->bad],
				 .goods = &goods,
				 .first_parent = shape->first_parent,
				 .paths = &paths };
	struct history *h;
	struct err e;
	int bad;

	for (int k = 0; k < w->ngoods; k++)
		strv_add(&goods, w->hex[w->goods[k]]);
	if (shape->limited) {
		strv_add(&paths, "d/f1");
		strv_add(&paths, "d/f[23]");
	}
	if (history_open(&h, w->dir, &e)) {
		printf("# %s\n", e.msg);
		return false;
	}
	bad = history_range(dag, h, &q, NULL, &e);
	if (bad)
		printf("# %s\n", e.msg);
	history_close(h);
	return !bad;
}

static bool agree(const struct world *w, const struct dag *dag,
		  const struct said *git_says, const struct search_answer *we,
		  bool vague)
{
	int ours = we->commit < 0 ? -1 : commit_of(w, dag->v[we->commit].hex);

	if (we->kind != git_says->kind)
		return false;
	if (we->kind == SEARCH_RANGE)
		return true;
	/* git has no name for "nothing within the path limits". */
	if (we->kind == SEARCH_FOUND && !we->nsuspects)
		return git_says->commit == -1;
	/* While git walks it may count a commit before it learns that a good
	 * one reaches it: its estimate is then one step off. */
	return ours == git_says->commit &&
	       (we->kind != SEARCH_TEST ||
		abs(we->steps - git_says->steps) <= vague);
}

/* The number of steps that were the same, or -1. */
static int duel(uint64_t seed, const struct shape *shape)
{
	struct world *w = xcalloc(1, sizeof(*w));
	CLEANUP(dag_release) struct dag dag = { .n = 0 };
	AUTOFREE enum mark *marks = NULL;
	struct said git_says;
	int steps = 0;
	bool same = false;

	w->seed = seed;
	if (world_make(w, shape)) {
		draw_question(w, shape);
		git_says = git_start(w, shape);
		same = load(&dag, w, shape);
	}
	marks = xcalloc((size_t)dag.n, sizeof(*marks));
	while (same && steps < MAX_COMMITS) {
		struct search_answer a;
		enum search_kind kind;
		int next;

		search_next(&a, &dag, marks);
		same = agree(w, &dag, &git_says, &a,
			     shape->limited || shape->skew);
		next = a.commit;
		kind = a.kind;
		if (!same)
			printf("# %s seed %llu step %d: git %d %d (%d), we %d "
			       "%d (%d)\n",
			       shape->name, (unsigned long long)seed, steps,
			       git_says.kind, git_says.commit, git_says.steps,
			       a.kind,
			       next < 0 ? -1 : commit_of(w, dag.v[next].hex),
			       a.steps);
		search_answer_release(&a);
		if (!same || kind != SEARCH_TEST)
			break;
		steps++;
		next = commit_of(w, dag.v[next].hex);
		marks[dag_find(&dag, w->hex[next])] = oracle(w, next);
		git_says = git_mark(w, next);
	}
	temp_remove(w->dir);
	free(w);
	return same ? steps : -1;
}

static void duels(const struct shape *shape, uint64_t seed, int n)
{
	int steps = 0, lost = 0;
	const char *more = getenv("IOBISECT_DUELS");

	git_needed();
	if (more)
		n = (int)strtol(more, NULL, 10);
	for (int i = 0; i < n; i++) {
		int k = duel(seed + (uint64_t)i, shape);

		if (k < 0)
			lost++;
		else
			steps += k;
	}
	printf("# %s: %d histories, %d steps, %d differ\n", shape->name, n,
	       steps, lost);
	EXPECT_INT(lost, 0);
}

TEST(search_git__linear_with_equal_times)
{
	static const struct shape shape = { .name = "linear",
					    .commits = 60,
					    .max_goods = 1 };

	duels(&shape, 1, 3);
}

TEST(search_git__merges)
{
	static const struct shape shape = {
		.name = "merges", .commits = 100, .merges = 30, .max_goods = 3
	};

	duels(&shape, 100, 12);
}

TEST(search_git__wrong_clocks)
{
	static const struct shape shape = { .name = "clocks",
					    .commits = 100,
					    .merges = 30,
					    .skew = 15,
					    .max_goods = 2 };

	duels(&shape, 200, 8);
}

TEST(search_git__skips)
{
	static const struct shape shape = { .name = "skips",
					    .commits = 80,
					    .merges = 25,
					    .skew = 5,
					    .skips = 25,
					    .max_goods = 3 };

	duels(&shape, 300, 10);
}

TEST(search_git__almost_all_skipped)
{
	static const struct shape shape = { .name = "all skipped",
					    .commits = 14,
					    .merges = 25,
					    .skips = 75,
					    .max_goods = 1 };

	duels(&shape, 400, 4);
}

TEST(search_git__first_parent)
{
	static const struct shape shape = { .name = "first parent",
					    .commits = 100,
					    .merges = 30,
					    .skips = 10,
					    .max_goods = 2,
					    .first_parent = true };

	duels(&shape, 500, 5);
}

TEST(search_git__path_limits)
{
	static const struct shape shape = { .name = "paths",
					    .commits = 110,
					    .merges = 35,
					    .skips = 8,
					    .max_goods = 2,
					    .limited = true };

	duels(&shape, 600, 8);
}
