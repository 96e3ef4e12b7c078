/* Unit tests: TEST(module__behaviour) { ... } registers itself; EXPECT keeps
 * going, ASSERT leaves the test. Each file is one program; TAP on stdout. */
#ifndef TEST_H
#define TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test {
	const char *name;
	void (*fn)(void);
	struct test *next;
};

static struct test *test_first, **test_last = &test_first;
static int test_failed;

#define TEST(id)                                                           \
	static void id(void);                                              \
	static struct test test_##id = { .name = #id, .fn = id };          \
	__attribute__((constructor)) static void test_register_##id(void)  \
	{                                                                  \
		*test_last = &test_##id;                                   \
		test_last = &test_##id.next;                               \
	}                                                                  \
	static void id(void)

#define TEST_FAIL(...)                                     \
	do {                                               \
		printf("# %s:%d: ", __FILE__, __LINE__);   \
		printf(__VA_ARGS__);                       \
		putchar('\n');                             \
		test_failed = 1;                           \
	} while (0)

#define EXPECT(cond)                          \
	do {                                  \
		if (!(cond))                  \
			TEST_FAIL("%s", #cond); \
	} while (0)
#define ASSERT(cond)                          \
	do {                                  \
		if (!(cond)) {                \
			TEST_FAIL("%s", #cond); \
			return;               \
		}                             \
	} while (0)
#define EXPECT_INT(a, b)                                                   \
	do {                                                               \
		long long a_ = (a), b_ = (b);                              \
		if (a_ != b_)                                              \
			TEST_FAIL("%s = %lld, want %s = %lld", #a, a_, #b, \
				  b_);                                     \
	} while (0)
#define EXPECT_STR(a, b)                                               \
	do {                                                           \
		const char *a_ = (a), *b_ = (b);                       \
		if (!a_ || strcmp(a_, b_))                             \
			TEST_FAIL("%s = \"%s\", want \"%s\"", #a,      \
				  a_ ? a_ : "(null)", b_);             \
	} while (0)

int main(void)
{
	int n = 0, bad = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (struct test *t = test_first; t; t = t->next) {
		test_failed = 0;
		t->fn();
		printf("%sok %d - %s\n", test_failed ? "not " : "", ++n,
		       t->name);
		bad |= test_failed;
	}
	printf("1..%d\n", n);
	return bad;
}

#endif
