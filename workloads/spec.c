#include "spec.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KiB   1024LL
#define MiB   (1024 * KiB)
#define GiB   (1024 * MiB)
#define BLOCK (4 * KiB)

static const struct spec_kind kinds[] = {
	{ .name = "smallfiles",
	  .summary = "many small files, each written by a process of its own",
	  .keys = {
		{ .name = "files", .help = "how many files",
		  .def = 300, .lo = 1, .hi = 1000000 },
		{ .name = "writes", .help = "write calls a file",
		  .def = 16, .lo = 1, .hi = 1000000 },
		{ .name = "size", .help = "bytes a write call",
		  .def = 1, .lo = 1, .hi = 64 * MiB, .size = true },
		{ .name = "spawn",
		  .help = "1: a new process writes each file; 0: one does all",
		  .def = 1, .lo = 0, .hi = 1 },
		{ .name = "fsync", .help = "1: fsync each file before close",
		  .def = 0, .lo = 0, .hi = 1 },
	  } },
	{ .name = "seqwrite",
	  .summary = "one big file, written from its start to its end",
	  .keys = {
		{ .name = "bs", .help = "bytes a write call",
		  .def = 16 * KiB, .lo = 1, .hi = 64 * MiB, .size = true },
		{ .name = "count",
		  .help = "write calls; when not 0, bs times count bytes are "
			  "written and total is not looked at",
		  .def = 0, .lo = 0, .hi = 1LL << 32 },
		{ .name = "total",
		  .help = "bytes to write, or NxRAM, up to a whole bs",
		  .def = -2, .lo = 1, .hi = 16384 * GiB, .ram = true,
		  .size = true },
		{ .name = "rewrite",
		  .help = "1: write the file a second time, in place",
		  .def = 0, .lo = 0, .hi = 1 },
		{ .name = "flags", .help = "sync: O_SYNC, direct: O_DIRECT",
		  .def = 0, .lo = 0, .hi = 2, .words = "none|sync|direct" },
	  } },
	{ .name = "openmany",
	  .summary = "many files open at once, written to in turn",
	  .keys = {
		{ .name = "files", .help = "files open at once, an instance",
		  .def = 1000, .lo = 1, .hi = 100000 },
		{ .name = "rounds", .help = "how often each file is written to",
		  .def = 4, .lo = 1, .hi = 1000000 },
		{ .name = "size", .help = "bytes a write call",
		  .def = 4 * KiB, .lo = 1, .hi = 64 * MiB, .size = true },
		{ .name = "instances",
		  .help = "processes at once, each in a directory of its own",
		  .def = 1, .lo = 1, .hi = 100 },
	  } },
	{ .name = "exec",
	  .summary = "exec:PROGRAM, a program of your own" },
};

/* A multiple of memory has a range of its own. */
#define MAX_RAM 64

static const struct {
	char letter;
	int shift;
} units[] = { { 'T', 40 }, { 'G', 30 }, { 'M', 20 }, { 'k', 10 } };

const struct spec_kind *spec_kind_at(int i)
{
	if (i < 0 || (size_t)i >= sizeof(kinds) / sizeof(kinds[0]))
		return NULL;
	return &kinds[i];
}

static int fail(char *why, size_t n, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(char *why, size_t n, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, n, fmt, ap);
	va_end(ap);
	for (; n && *why; why++)
		if ((unsigned char)*why < ' ' || *why == 0x7f)
			*why = '?';
	return -1;
}

/* A text of which only the first n bytes count. */
struct piece {
	const char *p;
	size_t n;
};

static bool same(struct piece a, const char *text)
{
	return strlen(text) == a.n && !memcmp(a.p, text, a.n);
}

/* How much of it a message shows. */
static int shown(struct piece a)
{
	return a.n > 40 ? 40 : (int)a.n;
}

/* Takes the digits at the front; -1 when there are none, or too many. */
static int take_digits(long long *out, struct piece *in)
{
	size_t digits = 0;
	long long v = 0;

	for (; in->n && *in->p >= '0' && *in->p <= '9'; in->p++, in->n--) {
		if (__builtin_mul_overflow(v, 10LL, &v) ||
		    __builtin_add_overflow(v, (long long)(*in->p - '0'), &v))
			return -1;
		digits++;
	}
	*out = v;
	return digits ? 0 : -1;
}

static int take_unit(long long *v, struct piece in)
{
	if (!in.n)
		return 0;
	if (in.n > 1)
		return -1;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if ((*in.p | 0x20) != (units[i].letter | 0x20))
			continue;
		return __builtin_mul_overflow(*v, 1LL << units[i].shift, v) ? -1
									    : 0;
	}
	return -1;
}

static int parse_word(long long *out, const struct spec_key *k, struct piece in)
{
	const char *w = k->words;

	for (long long i = 0;; i++) {
		size_t n = strcspn(w, "|");

		if (n == in.n && !memcmp(w, in.p, n)) {
			*out = i;
			return 0;
		}
		if (!w[n])
			return -1;
		w += n + 1;
	}
}

static int parse_value(long long *out, const struct spec_key *k,
		       struct piece in)
{
	if (k->words)
		return parse_word(out, k, in);
	if (take_digits(out, &in))
		return -1;
	if (k->ram && same(in, "xRAM")) {
		if (*out < 1 || *out > MAX_RAM)
			return -1;
		*out = -*out;
		return 0;
	}
	if (take_unit(out, in))
		return -1;
	return *out < k->lo || *out > k->hi ? -1 : 0;
}

static void format_value(char out[64], const struct spec_key *k, long long v)
{
	const char *w = k->words;

	if (w) {
		while (v--)
			w += strcspn(w, "|") + 1;
		snprintf(out, 64, "%.*s", (int)strcspn(w, "|"), w);
		return;
	}
	if (k->ram && v < 0) {
		snprintf(out, 64, "%lldxRAM", -v);
		return;
	}
	for (size_t i = 0; k->size && v && i < sizeof(units) / sizeof(units[0]);
	     i++) {
		if (v & ((1LL << units[i].shift) - 1))
			continue;
		snprintf(out, 64, "%lld%c", v >> units[i].shift,
			 units[i].letter);
		return;
	}
	snprintf(out, 64, "%lld", v);
}

static int bad_value(const struct spec_kind *kind, const struct spec_key *k,
		     struct piece value, char *why, size_t n)
{
	char lo[64], hi[64];

	if (k->words)
		return fail(why, n, "%s: %s=%.*s: it is one of %s", kind->name,
			    k->name, shown(value), value.p, k->words);
	format_value(lo, k, k->lo);
	format_value(hi, k, k->hi);
	return fail(why, n, "%s: %s=%.*s: it is a number from %s to %s%s",
		    kind->name, k->name, shown(value), value.p, lo, hi,
		    k->ram ? ", or 1xRAM to 64xRAM" : "");
}

static int bad_key(const struct spec_kind *kind, struct piece key, char *why,
		   size_t n)
{
	char all[256] = "";
	size_t len = 0;

	for (int i = 0; i < SPEC_MAX_KEYS && kind->keys[i].name; i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s",
					i ? ", " : "", kind->keys[i].name);
	return fail(why, n, "%s: no key \"%.*s\": it has %s", kind->name,
		    shown(key), key.p, all);
}

static int bad_kind(struct piece name, char *why, size_t n)
{
	char all[256] = "";
	size_t len = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s",
					i ? ", " : "", kinds[i].name);
	return fail(why, n, "no workload \"%.*s\": there are %s", shown(name),
		    name.p, all);
}

static int parse_pair(struct spec *s, unsigned *seen, struct piece pair,
		      char *why, size_t n)
{
	const char *eq = memchr(pair.p, '=', pair.n);
	struct piece key = { pair.p, eq ? (size_t)(eq - pair.p) : pair.n };
	struct piece value = { eq ? eq + 1 : "", eq ? pair.n - key.n - 1 : 0 };

	for (int i = 0; i < SPEC_MAX_KEYS && s->kind->keys[i].name; i++) {
		const struct spec_key *k = &s->kind->keys[i];

		if (!same(key, k->name))
			continue;
		if (!eq)
			return fail(why, n, "%s: %s has no value: write %s=...",
				    s->kind->name, k->name, k->name);
		if (*seen & (1u << i))
			return fail(why, n, "%s: %s is given twice",
				    s->kind->name, k->name);
		*seen |= 1u << i;
		if (parse_value(&s->value[i], k, value))
			return bad_value(s->kind, k, value, why, n);
		return 0;
	}
	return bad_key(s->kind, key, why, n);
}

static int parse_program(struct spec *s, const char *path, char *why, size_t n)
{
	size_t len = strlen(path);

	if (!len)
		return fail(why, n, "exec: no program: write exec:PROGRAM");
	if (len >= sizeof(s->program))
		return fail(why, n, "exec: the path is longer than %zu bytes",
			    sizeof(s->program) - 1);
	for (const char *p = path; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return fail(why, n,
				    "exec: %.40s: a control character "
				    "in the path",
				    path);
	memcpy(s->program, path, len + 1);
	return 0;
}

/* What no single key's range says. */
static int check_whole(const struct spec *s, char *why, size_t n)
{
	if (!strcmp(s->kind->name, "seqwrite") && spec_get(s, "flags") == 2 &&
	    spec_get(s, "bs") % 512)
		return fail(why, n,
			    "seqwrite: flags=direct needs a bs that is "
			    "a multiple of 512");
	return 0;
}

int spec_parse(struct spec *out, const char *text, char *why, size_t n)
{
	struct piece name = { text, strcspn(text, ":") };
	const char *p = text + name.n;
	struct spec s = { 0 };
	unsigned seen = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (same(name, kinds[i].name))
			s.kind = &kinds[i];
	if (!s.kind)
		return bad_kind(name, why, n);
	for (int i = 0; i < SPEC_MAX_KEYS && s.kind->keys[i].name; i++)
		s.value[i] = s.kind->keys[i].def;
	if (!s.kind->keys[0].name) {
		if (parse_program(&s, *p ? p + 1 : p, why, n))
			return -1;
		*out = s;
		return 0;
	}
	while (*p) {
		struct piece pair = { p + 1, strcspn(p + 1, ",") };

		if (parse_pair(&s, &seen, pair, why, n))
			return -1;
		p += 1 + pair.n;
	}
	if (check_whole(&s, why, n))
		return -1;
	*out = s;
	return 0;
}

void spec_resolve(struct spec *s, long long mem_bytes)
{
	for (int i = 0; i < SPEC_MAX_KEYS && s->kind->keys[i].name; i++) {
		const struct spec_key *k = &s->kind->keys[i];
		long long v = s->value[i];

		if (!k->ram || v >= 0)
			continue;
		if (__builtin_mul_overflow(-v, mem_bytes, &v) || v > k->hi)
			v = k->hi;
		s->value[i] = v < k->lo ? k->lo : v;
	}
}

void spec_format(char out[SPEC_TEXT], const struct spec *s)
{
	size_t len = (size_t)snprintf(out, SPEC_TEXT, "%s", s->kind->name);
	char sep = ':';

	if (s->program[0])
		snprintf(out + len, SPEC_TEXT - len, ":%s", s->program);
	for (int i = 0; i < SPEC_MAX_KEYS && s->kind->keys[i].name; i++) {
		const struct spec_key *k = &s->kind->keys[i];
		char value[64];

		if (s->value[i] == k->def)
			continue;
		format_value(value, k, s->value[i]);
		len += (size_t)snprintf(out + len, SPEC_TEXT - len, "%c%s=%s",
					sep, k->name, value);
		sep = ',';
	}
}

long long spec_get(const struct spec *s, const char *key)
{
	for (int i = 0; i < SPEC_MAX_KEYS && s->kind->keys[i].name; i++)
		if (!strcmp(s->kind->keys[i].name, key))
			return s->value[i];
	abort(); /* a key that the table does not have: our own mistake */
}

static long long times(long long a, long long b)
{
	long long v;

	return __builtin_mul_overflow(a, b, &v) ? LLONG_MAX : v;
}

static long long whole(long long n, long long unit)
{
	long long v = n / unit + (n % unit != 0);

	return n == LLONG_MAX ? n : times(v, unit);
}

long long spec_bytes(const struct spec *s)
{
	if (!strcmp(s->kind->name, "smallfiles"))
		return times(
			spec_get(s, "files"),
			whole(times(spec_get(s, "writes"), spec_get(s, "size")),
			      BLOCK));
	if (!strcmp(s->kind->name, "openmany"))
		return times(
			times(spec_get(s, "files"), spec_get(s, "instances")),
			whole(times(spec_get(s, "rounds"), spec_get(s, "size")),
			      BLOCK));
	if (!strcmp(s->kind->name, "seqwrite")) {
		long long bs = spec_get(s, "bs"), count = spec_get(s, "count");
		long long total = spec_get(s, "total");

		if (count)
			return whole(times(bs, count), BLOCK);
		return total < 0 ? LLONG_MAX : whole(whole(total, bs), BLOCK);
	}
	return 0;
}

long long spec_files(const struct spec *s)
{
	if (!strcmp(s->kind->name, "smallfiles"))
		return spec_get(s, "files") + 1;
	if (!strcmp(s->kind->name, "openmany"))
		return times(spec_get(s, "files") + 1,
			     spec_get(s, "instances")) +
		       1;
	return strcmp(s->kind->name, "seqwrite") ? 0 : 2;
}
