#include "spec.h"

#include <limits.h>
#include <stdint.h>

#include "test.h"

static char why[300];

static int parse(struct spec *s, const char *text)
{
	why[0] = '\0';
	return spec_parse(s, text, why, sizeof(why));
}

/* The canonical text of a text; NULL when it does not parse. */
static const char *canonical(const char *text)
{
	static char out[SPEC_TEXT];
	struct spec s;

	if (parse(&s, text))
		return NULL;
	spec_format(out, &s);
	return out;
}

static uint32_t next(uint32_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	*x ^= *x << 5;
	return *x;
}

TEST(spec__defaults_are_the_reporters)
{
	struct spec s;

	ASSERT(!parse(&s, "smallfiles"));
	EXPECT_INT(spec_get(&s, "files"), 300);
	EXPECT_INT(spec_get(&s, "writes"), 16);
	EXPECT_INT(spec_get(&s, "size"), 1);
	EXPECT_INT(spec_get(&s, "spawn"), 1);
	EXPECT_INT(spec_get(&s, "fsync"), 0);
	ASSERT(!parse(&s, "seqwrite"));
	EXPECT_INT(spec_get(&s, "bs"), 16384);
	EXPECT_INT(spec_get(&s, "count"), 0);
	EXPECT_INT(spec_get(&s, "total"), -2);
	EXPECT_INT(spec_get(&s, "rewrite"), 0);
	EXPECT_INT(spec_get(&s, "flags"), 0);
	ASSERT(!parse(&s, "openmany"));
	EXPECT_INT(spec_get(&s, "files"), 1000);
	EXPECT_INT(spec_get(&s, "rounds"), 4);
	EXPECT_INT(spec_get(&s, "size"), 4096);
	EXPECT_INT(spec_get(&s, "instances"), 1);
}

TEST(spec__canonical_text)
{
	EXPECT_STR(canonical("smallfiles"), "smallfiles");
	EXPECT_STR(canonical("smallfiles:"
			     "files=300"),
		   "smallfiles");
	EXPECT_STR(canonical("smallfiles:size=10240,files=7"),
		   "smallfiles:files=7,size=10k");
	EXPECT_STR(canonical("seqwrite:bs=65536,rewrite=1,total=512m"),
		   "seqwrite:bs=64k,total=512M,rewrite=1");
	EXPECT_STR(canonical("seqwrite:count=32768"), "seqwrite:count=32768");
	EXPECT_STR(canonical("seqwrite:count=32K"), "seqwrite:count=32768");
	EXPECT_STR(canonical("seqwrite:total=3xRAM,flags=direct"),
		   "seqwrite:total=3xRAM,flags=direct");
	EXPECT_STR(canonical("seqwrite:total=2xRAM,flags=none"), "seqwrite");
	EXPECT_STR(canonical("exec:./a,b:c d=e"), "exec:./a,b:c d=e");
}

static void random_spec(struct spec *s, uint32_t *x)
{
	const struct spec_kind *kind = spec_kind_at((int)(next(x) % 3));

	*s = (struct spec){ .kind = kind };
	for (int i = 0; i < SPEC_MAX_KEYS && kind->keys[i].name; i++) {
		const struct spec_key *k = &kind->keys[i];
		uint64_t span = (uint64_t)(k->hi - k->lo) + 1;
		uint64_t r = (uint64_t)next(x) << 32 | next(x);

		r >>= next(x) % 63; /* small values as often as large */
		s->value[i] = k->lo + (long long)(r % span);
		if (k->ram && next(x) % 2)
			s->value[i] = -(long long)(1 + next(x) % 64);
		if (!strcmp(k->name, "bs"))
			s->value[i] = (s->value[i] + 511) & ~511LL;
	}
}

TEST(spec__what_is_formatted_parses_to_the_same)
{
	uint32_t x = 20240607;

	for (int i = 0; i < 20000; i++) {
		char text[SPEC_TEXT], again[SPEC_TEXT];
		struct spec a, b;

		random_spec(&a, &x);
		spec_format(text, &a);
		if (parse(&b, text)) {
			TEST_FAIL("%s: %s", text, why);
			return;
		}
		spec_format(again, &b);
		EXPECT_STR(again, text);
		EXPECT(b.kind == a.kind);
		EXPECT(!memcmp(a.value, b.value, sizeof(a.value)));
		if (test_failed)
			return;
	}
}

TEST(spec__errors_name_what_there_is)
{
	static const struct {
		const char *text, *part;
	} cases[] = {
		{ "", "smallfiles, seqwrite, openmany, exec" },
		{ "foo:files=1", "no workload \"foo\"" },
		{ "SmallFiles", "no workload" },
		{ "smallfiles,files=1", "no workload" },
		{ "smallfiles:fils=1", "files, writes, size, spawn, fsync" },
		{ "smallfiles:", "no key \"\"" },
		{ "smallfiles:files=1,", "no key \"\"" },
		{ "smallfiles:,files=1", "no key \"\"" },
		{ "smallfiles:files", "write files=" },
		{ "smallfiles:files=", "from 1 to 1000000" },
		{ "smallfiles:files=0", "from 1 to 1000000" },
		{ "smallfiles:files=-1", "from 1" },
		{ "smallfiles:files=+1", "from 1" },
		{ "smallfiles:files= 1", "from 1" },
		{ "smallfiles:files=1 ", "from 1" },
		{ "smallfiles:files=0x10", "from 1" },
		{ "smallfiles:files=1.5", "from 1" },
		{ "smallfiles:files=1kb", "from 1" },
		{ "smallfiles:files=k", "from 1" },
		{ "smallfiles:files=1000001", "to 1000000" },
		{ "smallfiles:files=1,files=2", "given twice" },
		{ "smallfiles:spawn=2", "from 0 to 1" },
		{ "smallfiles:size=2xRAM", "from 1 to 64M" },
		{ "seqwrite:total=0xRAM", "1xRAM to 64xRAM" },
		{ "seqwrite:total=65xRAM", "1xRAM to 64xRAM" },
		{ "seqwrite:total=2xram", "1xRAM to 64xRAM" },
		{ "seqwrite:total=xRAM", "1xRAM to 64xRAM" },
		{ "seqwrite:total=-2", "1xRAM to 64xRAM" },
		{ "seqwrite:flags=fast", "none|sync|direct" },
		{ "seqwrite:flags=", "none|sync|direct" },
		{ "seqwrite:flags=none|sync", "none|sync|direct" },
		{ "seqwrite:flags=direct,bs=1000", "multiple of 512" },
		{ "exec", "write exec:PROGRAM" },
		{ "exec:", "write exec:PROGRAM" },
		{ "exec:a\nb", "control character" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct spec s = { .program = "untouched" };

		if (!parse(&s, cases[i].text))
			TEST_FAIL("\"%s\" parses", cases[i].text);
		else if (!strstr(why, cases[i].part) || strchr(why, '\n'))
			TEST_FAIL("\"%s\": %s", cases[i].text, why);
		EXPECT_STR(s.program, "untouched");
	}
}

TEST(spec__numbers_do_not_overflow)
{
	static const char *const values[] = {
		"9223372036854775807",
		"9223372036854775808",
		"18446744073709551617",
		"99999999999999999999999999",
		"9223372036854775807k",
		"8388608T",
		"16777216T",
		"9223372036854775807xRAM",
		"18446744073709551615xRAM",
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		char text[100];
		struct spec s;

		snprintf(text, sizeof(text), "seqwrite:total=%s", values[i]);
		if (!parse(&s, text))
			TEST_FAIL("%s parses to %lld", text,
				  spec_get(&s, "total"));
	}
}

TEST(spec__long_programs)
{
	char text[400] = "exec:", out[SPEC_TEXT];
	struct spec s;

	memset(text + 5, 'a', 255);
	ASSERT(!parse(&s, text));
	spec_format(out, &s);
	EXPECT_STR(out, text);
	text[260] = 'a';
	EXPECT(parse(&s, text));
	EXPECT(strstr(why, "longer than 255") != NULL);
}

/* Random bytes, and random changes of a good text: no crash, and a message
 * always. */
TEST(spec__junk_is_refused_or_understood)
{
	static const char good[] = "seqwrite:bs=64k,total=2xRAM,flags=sync";
	uint32_t x = 42;

	for (int i = 0; i < 50000; i++) {
		char text[64], out[SPEC_TEXT];
		struct spec s, again;
		size_t n = sizeof(good);

		memcpy(text, good, n);
		for (uint32_t k = next(&x) % 4; k; k--)
			text[next(&x) % (n - 1)] = (char)next(&x);
		text[next(&x) % 4 ? n - 1 : next(&x) % n] = '\0';
		if (parse(&s, text)) {
			EXPECT(why[0] && strlen(why) < sizeof(why) - 1);
			continue;
		}
		spec_format(out, &s);
		EXPECT(!parse(&again, out));
		EXPECT(!memcmp(s.value, again.value, sizeof(s.value)));
	}
}

TEST(spec__a_short_message_buffer_is_enough)
{
	char small[8];
	struct spec s;

	EXPECT(spec_parse(&s, "nonsense", small, sizeof(small)));
	EXPECT_INT(strlen(small), 7);
	EXPECT(spec_parse(&s, "nonsense", NULL, 0));
}

TEST(spec__multiples_of_memory_are_resolved)
{
	struct spec s;

	ASSERT(!parse(&s, "seqwrite:total=3xRAM"));
	EXPECT_INT(spec_bytes(&s), LLONG_MAX);
	spec_resolve(&s, 128 << 20);
	EXPECT_INT(spec_get(&s, "total"), 384 << 20);
	EXPECT_INT(spec_get(&s, "bs"), 16384);
	EXPECT_INT(spec_bytes(&s), 384 << 20);
	spec_resolve(&s, 1); /* it is no multiple any more */
	EXPECT_INT(spec_get(&s, "total"), 384 << 20);
	ASSERT(!parse(&s, "seqwrite:total=64xRAM"));
	spec_resolve(&s, LLONG_MAX / 2);
	EXPECT_INT(spec_get(&s, "total"), 16384LL << 30);
}

static long long bytes(const char *text)
{
	struct spec s;

	return parse(&s, text) ? -1 : spec_bytes(&s);
}

static long long files(const char *text)
{
	struct spec s;

	return parse(&s, text) ? -1 : spec_files(&s);
}

TEST(spec__room_is_counted_in_blocks)
{
	EXPECT_INT(bytes("smallfiles"), 300 * 4096);
	EXPECT_INT(bytes("smallfiles:size=10240"), 300 * 163840);
	EXPECT_INT(bytes("smallfiles:size=257"), 300 * 8192);
	EXPECT_INT(files("smallfiles"), 301);
	EXPECT_INT(bytes("openmany"), 1000 * 16384);
	EXPECT_INT(bytes("openmany:rounds=1,size=1,instances=5"),
		   5 * 1000 * 4096);
	EXPECT_INT(files("openmany:instances=5"), 5006);
	EXPECT_INT(bytes("seqwrite:count=65536"), 1 << 30);
	EXPECT_INT(bytes("seqwrite:count=65536,rewrite=1"), 1 << 30);
	EXPECT_INT(bytes("seqwrite:count=10,total=1G"), 163840);
	EXPECT_INT(bytes("seqwrite:bs=10000,total=10001"), 20480);
	EXPECT_INT(files("seqwrite"), 2);
	EXPECT_INT(bytes("exec:./x"), 0);
	EXPECT_INT(files("exec:./x"), 0);
}

TEST(spec__room_does_not_overflow)
{
	EXPECT_INT(bytes("openmany:files=100000,rounds=1000000,size=64M,"
			 "instances=100"),
		   LLONG_MAX);
	EXPECT_INT(bytes("smallfiles:files=1000000,writes=1000000,size=64M"),
		   LLONG_MAX);
	EXPECT_INT(bytes("seqwrite:count=4G,bs=64M"), 1LL << 58);
}

TEST(spec__every_key_is_documented)
{
	for (int i = 0; spec_kind_at(i); i++) {
		const struct spec_kind *kind = spec_kind_at(i);

		EXPECT(kind->summary && kind->summary[0]);
		for (int k = 0; k < SPEC_MAX_KEYS && kind->keys[k].name; k++)
			EXPECT(kind->keys[k].help && kind->keys[k].help[0]);
	}
	EXPECT(!spec_kind_at(-1));
}
