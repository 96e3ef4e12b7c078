/* What a workload is asked to do: "name:key=value,...". Used by the harness and
 * by the guest, so that both mean the same. Pure, libc only. */
#ifndef SPEC_H
#define SPEC_H

#include <stdbool.h>
#include <stddef.h>

#define SPEC_MAX_KEYS 10
#define SPEC_TEXT     512

struct spec_key {
	const char *name, *help;
	long long def, lo, hi; /* in the key's own unit */
	const char *words;     /* "none|sync|direct": a value is one of these,
				* and is kept as its index; NULL: a number, with
				* k, M, G */
	bool ram;	       /* may be a multiple of memory: "2xRAM", kept as
				* its negative until spec_resolve */
	bool size;	       /* bytes: spec_format prints k, M, G */
};

struct spec_kind {
	const char *name, *summary;
	struct spec_key keys[SPEC_MAX_KEYS]; /* up to a NULL name */
};

struct spec {
	const struct spec_kind *kind;
	long long value[SPEC_MAX_KEYS];
	char program[256]; /* exec: the path given */
};

const struct spec_kind *spec_kind_at(int i); /* NULL past the last */

/* 0, or -1 with one line in why: an unknown name or key (with those there are),
 * a value out of range (with the range). "exec:PATH" takes the rest as path. */
int spec_parse(struct spec *out, const char *text, char *why, size_t n);
/* Replaces multiples of memory by bytes. */
void spec_resolve(struct spec *s, long long mem_bytes);
/* The canonical text: the name and only the keys that differ from their
 * default, in the table's order. */
void spec_format(char out[SPEC_TEXT], const struct spec *s);
long long spec_get(const struct spec *s, const char *key);
/* What it needs on an empty drive, in bytes and in inodes, file system overhead
 * not counted: whole blocks of 4 KiB, its directories' inodes too. exec: 0,
 * unknown. LLONG_MAX when it is more than fits, or not yet resolved. */
long long spec_bytes(const struct spec *s);
long long spec_files(const struct spec *s);

#endif
