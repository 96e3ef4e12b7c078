#include "question.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "drives.h"
#include "pathspec.h"
#include "proc.h"
#include "sha256.h"
#include "spec.h"

#define LONGEST_TERM 100
#define LEAST_DRIVE (512LL << 20)
/* Old controllers and file systems end at two, and SD cards are powers of two. */
#define MOST_DRIVE (1LL << 40)

/* Nothing that a guest does is timed more finely, or lasts longer. */
#define LEAST_THRESHOLD_S 0.001
#define MOST_THRESHOLD_S  1e6
#define LEAST_PERCENT	  0.1
#define MOST_PERCENT	  1e5

static int check_number(const char *name, long long v, long long lo,
			long long hi, struct err *e)
{
	return v < lo || v > hi ? err_set(e, "%s %lld: from %lld to %lld", name,
					  v, lo, hi)
				: 0;
}

static int check_numbers(const struct question *q, struct err *e)
{
	if (check_number("runs", q->runs, 1, 1000, e) ||
	    check_number("slow", q->slow, 1, 100, e) ||
	    check_number("mem_mb", q->mem_mb, 32, 65536, e) ||
	    check_number("jobs", q->jobs, 0, 1024, e))
		return -1;
	/* 0: not yet settled */
	if (q->drive_bytes && (q->drive_bytes < 1 << 20 ||
			       q->drive_bytes > MOST_DRIVE ||
			       q->drive_bytes % 512))
		return err_set(e, "drive_bytes %lld: from 1M to 1T, and a "
				  "multiple of 512",
			       q->drive_bytes);
	return 0;
}

static int check_term(const char *name, const char *term, struct err *e)
{
	static const char *const taken[] = {
		"start", "run",	   "skip",  "next",   "test", "bench", "log",
		"help",	 "replay", "reset", "status", "doctor",
		"terms", "view",   "visualize",
	};

	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		if (!strcmp(term, taken[i]))
			return err_set(e, "%s '%s' cannot be a term: it is a "
					  "command",
				       name, term);
	/* git keeps a term in the name of a ref */
	for (const char *s = term; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("-_", *s) &&
		    (unsigned char)*s < 0x80)
			return err_set(e, "%s '%s': one plain word", name, term);
	return !*term || *term == '-' || strlen(term) > LONGEST_TERM
		       ? err_set(e, "%s '%s': one plain word", name, term)
		       : 0;
}

static int check_words(const struct question *q, struct err *e)
{
	if (check_term("term_old", q->term_old, e) ||
	    check_term("term_new", q->term_new, e))
		return -1;
	if (!strcmp(q->term_old, q->term_new))
		return err_set(e, "term_new '%s': the two terms must differ",
			       q->term_new);
	/* git's own words keep their sense */
	if (!strcmp(q->term_old, "bad") || !strcmp(q->term_old, "new"))
		return err_set(e, "term_old '%s' means the opposite in git "
				  "bisect",
			       q->term_old);
	if (!strcmp(q->term_new, "good") || !strcmp(q->term_new, "old"))
		return err_set(e, "term_new '%s' means the opposite in git "
				  "bisect",
			       q->term_new);
	if (strcmp(q->accel, "auto") && strcmp(q->accel, "kvm") &&
	    strcmp(q->accel, "tcg"))
		return err_set(e, "accel '%s': auto, kvm or tcg", q->accel);
	if (q->cc && !q->cc[strspn(q->cc, " \t")])
		return err_set(e, "cc '%s': no command", q->cc);
	return 0;
}

static int check_threshold(const char *text, struct err *e)
{
	struct verdict_limit l;

	if (!text)
		return 0;
	if (verdict_limit_parse(&l, text, e))
		return -1;
	if (l.percent && (l.percent < LEAST_PERCENT || l.percent > MOST_PERCENT))
		return err_set(e, "threshold '%s': from +%g%% to +%g%%", text,
			       LEAST_PERCENT, MOST_PERCENT);
	if (l.seconds && (l.seconds < LEAST_THRESHOLD_S ||
			  l.seconds > MOST_THRESHOLD_S))
		return err_set(e, "threshold '%s': from %g s to %g s", text,
			       LEAST_THRESHOLD_S, MOST_THRESHOLD_S);
	return 0;
}

static int check_workloads(const struct strv *workloads, struct err *e)
{
	if (!workloads->n)
		return err_set(e, "workloads: there is none");
	for (size_t i = 0; i < workloads->n; i++) {
		struct spec s;
		char why[256];

		if (spec_parse(&s, workloads->v[i], why, sizeof(why)))
			return err_set(e, "workloads: %s", why);
		for (size_t k = 0; k < i; k++)
			if (!strcmp(workloads->v[k], workloads->v[i]))
				return err_set(e, "workloads: '%s' is given "
						  "twice",
					       workloads->v[i]);
	}
	return 0;
}

/* The user's files: what is in them is part of the question. */

static int add_sum(struct strv *out, const char *path, struct err *e)
{
	CLEANUP(str_release) struct str bytes = STR_INIT;
	struct sha256 sum;
	char hex[65];

	if (file_read(&bytes, path, e))
		return -1;
	sha256_init(&sum);
	sha256_add(&sum, bytes.buf, bytes.len);
	sha256_hex(hex, &sum);
	strv_addf(out, "%s %s", hex, path);
	return 0;
}

static int sum_files(struct strv *out, const struct question *q, struct err *e)
{
	const struct strv *f = &q->config_fragments;

	for (size_t i = 0; i < q->workloads.n; i++)
		if (str_starts(q->workloads.v[i], "exec:") &&
		    add_sum(out, q->workloads.v[i] + strlen("exec:"), e))
			return -1;
	if (q->drive && strchr(q->drive, '/') && add_sum(out, q->drive, e))
		return -1;
	if (q->config && add_sum(out, q->config, e))
		return -1;
	for (size_t i = 0; i < f->n; i++)
		if (add_sum(out, f->v[i], e))
			return -1;
	return 0;
}

int question_check_files(const struct question *q, struct err *e)
{
	CLEANUP(strv_release) struct strv now = STRV_INIT;

	if (!q->sums.n)
		return 0;
	if (sum_files(&now, q, e))
		return -1;
	for (size_t i = 0; i < now.n; i++)
		if (!strv_has(&q->sums, now.v[i]))
			return err_set(e, "%s is not what it was at start: "
					  "put it back, or start anew after "
					  "iobisect reset",
				       now.v[i] + 65);
	return 0;
}

int question_check(const struct question *q, struct err *e)
{
	CLEANUP(strv_release) struct strv specs = STRV_INIT;
	struct err why;

	if (!image_fs_find(q->fs)) {
		question_fs(q->fs, &why);
		return err_set(e, "fs: %.800s", why.msg);
	}
	if (pathspec_parse(&specs, &q->paths, &why))
		return err_set(e, "paths: %.800s", why.msg);
	return check_numbers(q, e) || check_words(q, e) ||
			       check_threshold(q->threshold, e) ||
			       check_workloads(&q->workloads, e)
		       ? -1
		       : 0;
}

static int check_drive(const struct question *q, const char *share,
		       struct err *e)
{
	CLEANUP(drives_entry_release) struct drives_entry d = { 0 };
	AUTOFREE char *path = NULL;

	if (!q->drive && q->slow > 1)
		return err_set(e, "slow motion is of a modelled drive: name one "
				  "with --drive");
	if (!q->drive)
		return 0;
	if (strchr(q->device, '/'))
		return err_set(e, "%s is a real drive: it has mechanics of its "
				  "own (--drive)",
			       q->device);
	if (drives_find(&path, &d, share, q->drive, e))
		return -1;
	return d.bytes && q->drive_bytes > d.bytes
		       ? err_set(e, "the drive %s has %lld MiB, and %lld are "
				    "needed",
				 q->drive, d.bytes >> 20, q->drive_bytes >> 20)
		       : 0;
}

static int workloads_need(long long *bytes, const struct question *q,
			  struct err *e)
{
	*bytes = 0;
	for (size_t i = 0; i < q->workloads.n; i++) {
		struct spec s;
		char why[256];
		long long files, one;

		if (spec_parse(&s, q->workloads.v[i], why, sizeof(why)))
			return err_set(e, "%s", why);
		spec_resolve(&s, (long long)q->mem_mb << 20);
		/* one block more for each file, and its inode */
		if (__builtin_mul_overflow(spec_files(&s), 4096, &files) ||
		    __builtin_add_overflow(spec_bytes(&s), files, &one) ||
		    __builtin_add_overflow(*bytes, one, bytes) ||
		    *bytes > MOST_DRIVE / 2)
			return err_set(e, "workload '%s' needs more than any "
					  "drive here holds (1T)",
				       q->workloads.v[i]);
	}
	return 0;
}

/* Inode tables, bitmaps, a journal, and the reserve for root. */
static long long with_overhead(long long bytes)
{
	return bytes + bytes / 8 + (48LL << 20);
}

const struct filesystem *question_fs(const char *name, struct err *e)
{
	const struct filesystem *fs = image_fs_find(name), *f;
	CLEANUP(str_release) struct str names = STR_INIT;

	for (int i = 0; !fs && (f = image_fs_at(i)); i++)
		str_fmt(&names, " %s", f->name);
	if (!fs)
		err_set(e, "unknown file system '%s': there are%s", name,
			str_c(&names));
	return fs;
}

int question_device(struct device *out, const struct question *q,
		       const char *share, struct err *e)
{
	AUTOFREE char *dir = xfmt("%s/qemu", share);

	if (device_load(out, dir, q->device, e))
		return -1;
	if (!out->real)
		return 0;
	if (!q->erase)
		return err_set(e, "%s is a real drive and would be erased: "
				  "confirm with --erase and its serial",
			       out->real);
	return device_check(out->real, q->erase, NULL, e);
}

/* What only the machine that it is asked on can say. */
static int check_here(const struct question *q, const char *share,
		      struct err *e)
{
	AUTOFREE char *dir = xfmt("%s/qemu", share);
	CLEANUP(device_release) struct device device = { 0 };
	CLEANUP(machine_release) struct machine machine = { 0 };
	CLEANUP(strv_release) struct strv cc = STRV_INIT;
	long long mib = (long long)sysconf(_SC_PHYS_PAGES) *
			sysconf(_SC_PAGESIZE) >> 20;

	if (question_device(&device, q, share, e) ||
	    machine_load(&machine, dir, q->machine, e))
		return -1;
	if (mib > 0 && q->mem_mb > mib)
		return err_set(e, "a guest with %d MiB of memory: this machine "
				  "has %lld (--mem)",
			       q->mem_mb, mib);
	strv_split(&cc, q->cc ? q->cc : "gcc", ' ');
	return q->cc && !proc_find(cc.v[0])
		       ? err_set(e, "compiler '%s': no program '%s' (--cc)",
				 q->cc, cc.v[0])
		       : 0;
}

int question_settle(struct question *q, const char *share, struct err *e)
{
	const struct filesystem *fs;
	long long need;

	strv_release(&q->sums);
	if (question_check(q, e) || check_here(q, share, e) ||
	    workloads_need(&need, q, e) || sum_files(&q->sums, q, e))
		return -1;
	fs = image_fs_find(q->fs);
	need = with_overhead(need);
	if (!q->drive_bytes) {
		/* SD cards must have a power of two; the others may. */
		q->drive_bytes = LEAST_DRIVE;
		while (q->drive_bytes < need || q->drive_bytes < fs->min_bytes)
			q->drive_bytes *= 2;
	}
	if (q->drive_bytes < need)
		return err_set(e, "a drive of %lld MiB is too small: the "
				  "workloads need %lld MiB (--size)",
			       q->drive_bytes >> 20, need >> 20);
	if (q->drive_bytes < fs->min_bytes)
		return err_set(e, "a drive of %lld MiB is too small for %s: at "
				  "least %lld MiB (--size)",
			       q->drive_bytes >> 20, fs->name,
			       fs->min_bytes >> 20);
	if (check_drive(q, share, e))
		return -1;
	/* Once and for all: times under KVM and TCG cannot be compared. */
	if (!strcmp(q->accel, "auto")) {
		free(q->accel);
		q->accel = xstrdup(boot_kvm_works() ? "kvm" : "tcg");
	}
	return 0;
}
