/* Text files of `key value` lines, as in qemu/. Blank lines and lines that
 * begin with # are skipped. */
#ifndef KEYFILE_H
#define KEYFILE_H

#include <stdbool.h>

#include "str.h"

struct keyfile_key {
	const char *name;
	/* One of the two. text: the value as it stands, at most once. words:
	 * the value's words are appended; the key may be repeated. */
	char **text;
	struct strv *words;
	bool required;
};

/* Fills in what keys (n of them) point to. -1: the file cannot be read, or has
 * an unknown key, a key without a value, one given twice, or lacks a required
 * one; the message begins with FILE:LINE. What was filled in by then is the
 * caller's to free all the same. */
int keyfile_read(const char *path, const struct keyfile_key *keys, int n,
		 struct err *e);

/* The names of the files dir/NAME+suffix, without the suffix, sorted. */
int keyfile_list(struct strv *out, const char *dir, const char *suffix,
		 struct err *e);

#endif
