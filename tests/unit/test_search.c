#include "test.h"

#include "search.h"

/* A dag from text: a line a commit, children first, "PARENT PARENT..." as
 * indices. Times fall as the index grows. */
static void make(struct dag *dag, const char *const *parents, int n)
{
	*dag = (struct dag){ .v = xcalloc((size_t)n, sizeof(*dag->v)), .n = n };
	for (int i = 0; i < n; i++) {
		struct dag_node *c = &dag->v[i];
		const char *p = parents[i];
		char *end;

		snprintf(c->hex, HEX_SIZE, "%040d", i);
		c->candidate = true;
		c->time = 1000 - i;
		c->parents = xcalloc(strlen(p) + 1, sizeof(int));
		for (; *p; p = end + strspn(end, " "))
			c->parents[c->nparents++] = (int)strtol(p, &end, 10);
	}
}

static const char *const line[] = { "1", "2", "3", "4", "5", "6", "7", "" };
/* 0 merges 1-3 and 2-4, which both stand on 5. */
static const char *const diamond[] = { "1 2", "3", "4", "5", "5", "" };

TEST(search__halves_a_line_until_one_is_found)
{
	CLEANUP(dag_release) struct dag dag;
	enum mark marks[8] = { MARK_BAD };
	int steps = 0, culprit = 5;
	struct search_answer a;

	make(&dag, line, 8);
	for (;; steps++) {
		search_next(&a, &dag, marks);
		if (a.kind != SEARCH_TEST)
			break;
		marks[a.commit] = a.commit <= culprit ? MARK_BAD : MARK_GOOD;
		search_answer_release(&a);
	}
	EXPECT_INT(a.kind, SEARCH_FOUND);
	EXPECT_INT(a.commit, culprit);
	EXPECT_INT(a.nsuspects, 1);
	EXPECT_INT(steps, 3);
	search_answer_release(&a);
}

TEST(search__a_weak_commit_is_asked_again)
{
	CLEANUP(dag_release) struct dag dag;
	enum mark marks[8] = { MARK_BAD };
	struct search_answer a;
	int first;

	make(&dag, line, 8);
	search_next(&a, &dag, marks);
	first = a.commit;
	search_answer_release(&a);
	marks[first] = MARK_WEAK;
	search_next(&a, &dag, marks);
	EXPECT_INT(a.kind, SEARCH_TEST);
	EXPECT_INT(a.commit, first);
	search_answer_release(&a);
}

TEST(search__one_side_of_a_merge_that_is_good_leaves_the_other)
{
	CLEANUP(dag_release) struct dag dag;
	enum mark marks[6] = { [0] = MARK_BAD, [1] = MARK_GOOD };
	struct search_answer a;

	make(&dag, diamond, 6);
	search_next(&a, &dag, marks);
	EXPECT_INT(a.kind, SEARCH_TEST);
	ASSERT(a.nsuspects == 3);
	EXPECT_INT(a.suspects[0], 0);
	EXPECT_INT(a.suspects[1], 2);
	EXPECT_INT(a.suspects[2], 4);
	search_answer_release(&a);
}

TEST(search__a_merge_can_be_the_first_bad_one)
{
	CLEANUP(dag_release) struct dag dag;
	enum mark marks[6] = { MARK_BAD, MARK_GOOD, MARK_GOOD };
	struct search_answer a;

	make(&dag, diamond, 6);
	search_next(&a, &dag, marks);
	EXPECT_INT(a.kind, SEARCH_FOUND);
	EXPECT_INT(a.commit, 0);
	search_answer_release(&a);
}

TEST(search__only_skipped_ones_left_are_an_honest_range)
{
	CLEANUP(dag_release) struct dag dag;
	enum mark marks[8] = { MARK_BAD, MARK_SKIP, MARK_SKIP, MARK_GOOD };
	struct search_answer a;

	make(&dag, line, 8);
	search_next(&a, &dag, marks);
	EXPECT_INT(a.kind, SEARCH_RANGE);
	EXPECT_INT(a.nsuspects, 3);
	search_answer_release(&a);
}

TEST(search__a_good_commit_above_a_bad_one_is_a_conflict)
{
	CLEANUP(dag_release) struct dag dag;
	enum mark marks[8] = {
		[0] = MARK_BAD, [2] = MARK_GOOD, [5] = MARK_BAD
	};
	struct search_answer a;

	make(&dag, line, 8);
	search_next(&a, &dag, marks);
	EXPECT_INT(a.kind, SEARCH_CONFLICT);
	EXPECT_INT(a.commit, 2);
	ASSERT(a.nsuspects == 1);
	EXPECT_INT(a.suspects[0], 5);
	search_answer_release(&a);
}

TEST(search__two_bad_branches_share_their_culprit)
{
	CLEANUP(dag_release) struct dag dag;
	enum mark marks[6] = { MARK_BAD, MARK_BAD, MARK_BAD };
	struct search_answer a;

	make(&dag, diamond, 6);
	search_next(&a, &dag, marks);
	EXPECT_INT(a.kind, SEARCH_FOUND);
	EXPECT_INT(a.commit, 5);
	search_answer_release(&a);
	marks[5] =
		MARK_GOOD; /* a culprit each: the first one's is looked for */
	search_next(&a, &dag, marks);
	EXPECT_INT(a.kind, SEARCH_TEST);
	EXPECT_INT(a.commit, 3);
	search_answer_release(&a);
}

TEST(search__nothing_within_the_path_limits)
{
	CLEANUP(dag_release) struct dag dag;
	enum mark marks[8] = { [0] = MARK_BAD, [3] = MARK_GOOD };
	struct search_answer a;

	make(&dag, line, 8);
	for (int i = 0; i < 3; i++)
		dag.v[i].candidate = false;
	search_next(&a, &dag, marks);
	EXPECT_INT(a.kind, SEARCH_FOUND);
	EXPECT_INT(a.commit, 0);
	EXPECT_INT(a.nsuspects, 0);
	search_answer_release(&a);
}

TEST(search__a_node_zero_marked_good_is_bad_all_the_same)
{
	CLEANUP(dag_release) struct dag dag;
	enum mark marks[8] = { [0] = MARK_GOOD, [1] = MARK_GOOD };
	struct search_answer a;

	make(&dag, line, 8);
	search_next(&a, &dag, marks);
	EXPECT_INT(a.kind, SEARCH_FOUND);
	EXPECT_INT(a.commit, 0);
	search_answer_release(&a);
}
