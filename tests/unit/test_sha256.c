#include "test.h"

#include "sha256.h"

static void sum(char hex[65], const char *text, size_t chunk)
{
	struct sha256 s;
	size_t n = strlen(text);

	sha256_init(&s);
	for (size_t i = 0; i < n; i += chunk)
		sha256_add(&s, text + i, n - i < chunk ? n - i : chunk);
	sha256_hex(hex, &s);
}

TEST(sha256__fips_vectors)
{
	char hex[65];

	sum(hex, "", 1);
	EXPECT_STR(hex,
		   "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b"
		   "7852b855");
	sum(hex, "abc", 3);
	EXPECT_STR(hex,
		   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61"
		   "f20015ad");
	sum(hex, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	    56);
	EXPECT_STR(hex,
		   "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd4"
		   "19db06c1");
}

TEST(sha256__million_a)
{
	static char a[1000];
	struct sha256 s;
	char hex[65];

	memset(a, 'a', sizeof(a));
	sha256_init(&s);
	for (int i = 0; i < 1000; i++)
		sha256_add(&s, a, sizeof(a));
	sha256_hex(hex, &s);
	EXPECT_STR(hex,
		   "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39cc"
		   "c7112cd0");
}

TEST(sha256__pieces_do_not_matter)
{
	char text[201], whole[65], part[65];

	for (size_t n = 0; n <= 200; n++) {
		memset(text, 'x', n);
		text[n] = '\0';
		sum(whole, text, 1000);
		for (size_t chunk = 1; chunk < 70; chunk += 7) {
			sum(part, text, chunk);
			EXPECT_STR(part, whole);
		}
	}
}
