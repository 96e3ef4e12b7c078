#include "options.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history.h"
#include "pathspec.h"
#include "spec.h"

enum kind { FLAG, TEXT, LIST };

struct option_row {
	const char *name, *arg;
	enum kind kind;
	size_t at;
	int takes; /* 0: every command */
	const char *help;
};

#define AT(member) offsetof(struct options, member)

static const struct option_row table[] = {
	{ "--good", "REV", LIST, AT(goods), TAKES_ENDS,
	  "a commit with fast writes; may be repeated" },
	{ "--bad", "REV", TEXT, AT(bad), TAKES_ENDS,
	  "a commit with slow writes" },
	{ "--term-old", "WORD", TEXT, AT(term_old), TAKES_ENDS,
	  "what to call good, for example fast" },
	{ "--term-new", "WORD", TEXT, AT(term_new), TAKES_ENDS,
	  "what to call bad, for example slow" },
	{ "--first-parent", NULL, FLAG, AT(first_parent), TAKES_ENDS,
	  "follow only the first parent of merges" },
	{ "--workload", "W,...", LIST, AT(workloads), TAKES_QUESTION,
	  "what to run: name:key=value,... (default: smallfiles, seqwrite, "
	  "openmany; the one that tells good from bad best decides)" },
	{ "--device", "D", TEXT, AT(device), TAKES_QUESTION,
	  "sata, ide, sd, usb, scsi, virtio, or a real drive's path under "
	  "/dev/disk/by-id, NAME:PATH to attach it as NAME's (default: sata)" },
	{ "--drive", "DRIVE", TEXT, AT(drive), TAKES_QUESTION,
	  "the mechanics behind it: a name that iobisect drives lists, or a "
	  "profile's path (default: none, as fast as the host)" },
	{ "--slow", "N", TEXT, AT(slow), TAKES_QUESTION,
	  "slow motion: that drive N times slower, and times divided by N "
	  "(default: 1)" },
	{ "--erase", "SERIAL", TEXT, AT(erase), TAKES_QUESTION,
	  "confirms that the real drive with this serial may be erased" },
	{ "--fs", "F", TEXT, AT(fs), TAKES_QUESTION,
	  "ext2, ext3, ext4, reiserfs, xfs or vfat (default: ext2)" },
	{ "--threshold", "T", TEXT, AT(threshold), TAKES_QUESTION,
	  "slower than this is bad: 20s, 800ms, or +30% of good (default: "
	  "between good and bad)" },
	{ "--runs", "N", TEXT, AT(runs), TAKES_QUESTION,
	  "boots of each endpoint or kernel (default: 3)" },
	{ "--size", "BYTES", TEXT, AT(size), TAKES_QUESTION,
	  "the drive's size, with k, M or G (default: what the workloads "
	  "need)" },
	{ "--mem", "MIB", TEXT, AT(mem), TAKES_QUESTION,
	  "the guest's memory in MiB (default: 128)" },
	{ "--config", "FILE", TEXT, AT(config), TAKES_QUESTION,
	  "a whole kernel .config to begin with (default: a minimal one)" },
	{ "--fragment", "FILE", LIST, AT(fragments), TAKES_QUESTION,
	  "further kernel options, CONFIG_X=y a line; may be repeated" },
	{ "--cc", "COMMAND", TEXT, AT(cc), TAKES_QUESTION,
	  "the compiler (default: gcc, through ccache when there is one)" },
	{ "--jobs", "N", TEXT, AT(jobs), TAKES_QUESTION,
	  "parallel jobs of make (default: one for each CPU)" },
	{ "--machine", "M", TEXT, AT(machine), TAKES_QUESTION,
	  "the virtual machine, a file of qemu/ (default: pc)" },
	{ "--accel", "A", TEXT, AT(accel), TAKES_QUESTION,
	  "auto, kvm or tcg (default: auto, KVM where it works)" },
	{ "--repo", "DIR", TEXT, AT(repo), TAKES_REPO,
	  "the kernel repository (default: the one we are in)" },
	{ "--session", "DIR", TEXT, AT(session), TAKES_REPO,
	  "where the bisection is kept (default: iobisect in the git "
	  "directory)" },
	{ "--json", NULL, FLAG, AT(json), TAKES_JSON,
	  "print the result as JSON" },
	{ "--blktrace", "FILE", TEXT, AT(blktrace), TAKES_TRACE,
	  "write it for blkparse, btt and iowatcher, who want a name that ends "
	  "in .blktrace.0" },
	{ "--verbose", NULL, FLAG, AT(verbose), 0,
	  "show every line of make and of the boots" },
	{ "--help", NULL, FLAG, AT(help), 0, "print this" },
};

void options_release(struct options *o)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].kind == TEXT)
			free(*(char **)((char *)o + table[i].at));
	strv_release(&o->goods);
	strv_release(&o->workloads);
	strv_release(&o->fragments);
	strv_release(&o->args);
	strv_release(&o->paths);
	*o = (struct options){ 0 };
}

bool options_given(const struct options *o, int takes)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const char *at = (const char *)o + table[i].at;

		if (!(table[i].takes & takes))
			continue;
		if (table[i].kind == FLAG ? *(const bool *)at
		    : table[i].kind == LIST
			    ? ((const struct strv *)at)->n > 0
			    : *(char *const *)at != NULL)
			return true;
	}
	return false;
}

const char *options_name(int i)
{
	return (size_t)i < ARRAY_SIZE(table) ? table[i].name : NULL;
}

static bool taken(const struct option_row *r, int takes)
{
	return !r->takes || (r->takes & takes);
}

static const struct option_row *find(const char *arg, size_t n, int takes)
{
	if (n == 2 && !strncmp(arg, "-C", n))
		return find("--repo", 6, takes);
	if (n == 2 && !strncmp(arg, "-h", n))
		return find("--help", 6, takes);
	if (n == 2 && !strncmp(arg, "-v", n))
		return find("--verbose", 9, takes);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (strlen(table[i].name) == n &&
		    !strncmp(table[i].name, arg, n) && taken(&table[i], takes))
			return &table[i];
	return NULL;
}

static int set(struct options *o, const struct option_row *r, const char *value,
	       struct err *e)
{
	char *at = (char *)o + r->at;

	if (r->kind == FLAG) {
		if (value)
			return err_set(e, "%s takes no argument", r->name);
		*(bool *)at = true;
		return 0;
	}
	if (!value || !*value)
		return err_set(e, "%s needs an argument: %s", r->name, r->arg);
	if (r->kind == LIST) {
		strv_add((struct strv *)at, value);
		return 0;
	}
	free(*(char **)at);
	*(char **)at = xstrdup(value);
	return 0;
}

int options_parse(struct options *out, char **argv, int takes, struct err *e)
{
	*out = (struct options){ 0 };
	for (; *argv; argv++) {
		const char *eq = strchrnul(*argv, '=');
		const struct option_row *r;
		const char *value = NULL;

		if (!strcmp(*argv, "--")) {
			if (argv[1] && !(takes & TAKES_PATHS))
				return err_set(e, "no paths after -- here");
			while (*++argv)
				strv_add(&out->paths, *argv);
			return 0;
		}
		if (**argv != '-' || !(*argv)[1]) {
			strv_add(&out->args, *argv);
			continue;
		}
		r = find(*argv, (size_t)(eq - *argv), takes);
		if (!r)
			return err_set(e, "unknown option '%.*s': see --help",
				       (int)(eq - *argv), *argv);
		if (*eq)
			value = eq + 1;
		else if (r->kind != FLAG && argv[1])
			value = *++argv;
		if (set(out, r, value, e))
			return -1;
	}
	return 0;
}

/* Breaks the text at 78 columns under itself. */
static void wrapped(struct str *out, const char *text, int indent)
{
	int col = indent;

	while (*text) {
		int n = (int)strcspn(text, " ");

		if (col + n > 78 && col > indent) {
			str_fmt(out, "\n%*s", indent, "");
			col = indent;
		}
		str_fmt(out, "%.*s ", n, text);
		col += n + 1;
		text += n;
		while (*text == ' ')
			text++;
	}
	while (out->len && out->buf[out->len - 1] == ' ')
		out->buf[--out->len] = '\0';
	str_putc(out, '\n');
}

void options_help(struct str *out, int takes)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		AUTOFREE char *left = NULL;

		if (!taken(&table[i], takes))
			continue;
		left = xfmt("%s %s", table[i].name,
			    table[i].arg ? table[i].arg : "");
		str_fmt(out, "  %-19s ", left);
		wrapped(out, table[i].help, 22);
	}
}

/* The question */

/* "a:b=c" and "a" do, "b=c" goes on with the one before. */
static bool begins_workload(const char *piece)
{
	return piece[strcspn(piece, ":=")] != '=';
}

/* For a file: a directory or a pipe would fail, or be empty, only later. */
static int full_path(char **out, const char *path, struct err *e)
{
	*out = realpath(path, NULL);
	if (!*out)
		return err_set(e, "%s: %m", path);
	if (!file_is_regular(*out))
		return err_set(e, "%s: not a regular file", path);
	return access(*out, R_OK) ? err_set(e, "read %s: %m", path) : 0;
}

static int add_exec(struct strv *out, const char *path, struct err *e)
{
	AUTOFREE char *full = NULL;
	struct err why;

	if (full_path(&full, path, &why))
		return err_set(e, "workload exec:%.800s", why.msg);
	if (strlen(full) > 200)
		return err_set(e, "workload exec:%s: the path is too long",
			       full);
	strv_addf(out, "exec:%s", full);
	return 0;
}

static int add_workload(struct strv *out, const char *text, struct err *e)
{
	struct spec s;
	char why[256], canonical[SPEC_TEXT];

	if (spec_parse(&s, text, why, sizeof(why)))
		return err_set(e, "%s", why);
	spec_format(canonical, &s);
	if (strv_has(out, canonical))
		return err_set(e, "workload '%s' is given twice", canonical);
	strv_add(out, canonical);
	return 0;
}

int options_workloads(struct strv *out, const char *text, struct err *e)
{
	CLEANUP(strv_release) struct strv pieces = STRV_INIT;
	size_t next;

	strv_split(&pieces, text, ',');
	for (size_t i = 0; i < pieces.n; i = next) {
		CLEANUP(str_release) struct str one = STR_INIT;

		str_puts(&one, pieces.v[i]);
		for (next = i + 1; next < pieces.n; next++) {
			if (begins_workload(pieces.v[next]))
				break;
			str_fmt(&one, ",%s", pieces.v[next]);
		}
		if (str_starts(str_c(&one), "exec:")
			    ? add_exec(out, str_c(&one) + strlen("exec:"), e)
			    : add_workload(out, str_c(&one), e))
			return -1;
	}
	return 0;
}

static int number(int *out, const char *name, const char *text, int def, int lo,
		  int hi, struct err *e)
{
	long long v = def;

	if (text && parse_int(&v, text, lo, hi))
		return err_set(e, "%s '%s': a whole number from %d to %d", name,
			       text, lo, hi);
	*out = (int)v;
	return 0;
}

static char *copy(const char *s, const char *def)
{
	return s ? xstrdup(s) : def ? xstrdup(def) : NULL;
}

static int files(struct question *q, const struct options *o, struct err *e)
{
	if (o->drive && strchr(o->drive, '/')) {
		free(q->drive);
		q->drive = NULL;
		if (full_path(&q->drive, o->drive, e))
			return -1;
	}
	if (o->config && full_path(&q->config, o->config, e))
		return -1;
	for (size_t i = 0; i < o->fragments.n; i++) {
		AUTOFREE char *full = NULL;

		if (full_path(&full, o->fragments.v[i], e))
			return -1;
		strv_add(&q->config_fragments, full);
	}
	return 0;
}

static int workloads(struct question *q, const struct options *o, struct err *e)
{
	static const char *const usual[] = { "smallfiles", "seqwrite",
					     "openmany" };

	for (size_t i = 0; i < o->workloads.n; i++)
		if (options_workloads(&q->workloads, o->workloads.v[i], e))
			return -1;
	for (size_t i = 0; !o->workloads.n && i < ARRAY_SIZE(usual); i++)
		strv_add(&q->workloads, usual[i]);
	return 0;
}

/* Where it is started says what the paths mean; later it may be elsewhere. */
static int paths(struct question *q, const struct options *o, struct err *e)
{
	CLEANUP(strv_release) struct strv checked = STRV_INIT;
	AUTOFREE char *prefix = NULL;

	if (!o->paths.n)
		return 0;
	return history_prefix(&prefix, o->repo ? o->repo : ".", e) ||
			       pathspec_from(&q->paths, prefix, &o->paths, e) ||
			       pathspec_parse(&checked, &q->paths, e)
		       ? -1
		       : 0;
}

int options_question(struct question *q, const struct options *o, struct err *e)
{
	*q = (struct question){ .first_parent = o->first_parent };
	q->term_old = copy(o->term_old, "good");
	q->term_new = copy(o->term_new, "bad");
	q->device = copy(o->device, "sata");
	q->drive = copy(o->drive, NULL);
	q->erase = copy(o->erase, NULL);
	q->fs = copy(o->fs, "ext2");
	q->threshold = copy(o->threshold, NULL);
	q->machine = copy(o->machine, "pc");
	q->accel = copy(o->accel, "auto");
	q->cc = copy(o->cc, NULL);
	if (number(&q->runs, "--runs", o->runs, 3, 1, 1000, e) ||
	    number(&q->mem_mb, "--mem", o->mem, 128, 32, 65536, e) ||
	    number(&q->slow, "--slow", o->slow, 1, 1, 100, e) ||
	    number(&q->jobs, "--jobs", o->jobs, 0, 1, 1024, e))
		return -1;
	if (o->size && (parse_size(&q->drive_bytes, o->size) ||
			q->drive_bytes < 1 << 20))
		return err_set(e, "--size '%s': a size like 1G, from 1M to 1T",
			       o->size);
	return workloads(q, o, e) || files(q, o, e) || paths(q, o, e) ? -1 : 0;
}
