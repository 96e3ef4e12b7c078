#include "build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "identity.h"
#include "kconfig.h"
#include "makelog.h"
#include "proc.h"
#include "sha256.h"

/* Part of the cache's key: to be raised when make is called otherwise, or when
 * an identity is counted otherwise. */
#define BUILD_VERSION "1"
/* Objects of base + sata + ext2 on 6.1; only for the first progress bar. */
#define TYPICAL_OBJECTS 700
#define CONFIG_TIMEOUT	600.0

/* What every make sees, so that a kernel depends on nothing but its key. */
static const char *const make_env[] = {
	"LC_ALL=C",
	"KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 1970",
	"KBUILD_BUILD_USER=iobisect",
	"KBUILD_BUILD_HOST=iobisect",
	"KBUILD_BUILD_VERSION=1",
	"KCONFIG_CONFIG=.config",
	"KCONFIG_ALLCONFIG=",
	"KBUILD_EXTMOD=",
	"KCFLAGS=",
	"KCPPFLAGS=",
	"KAFLAGS=",
	"CROSS_COMPILE=",
	"LLVM=",
	"MAKEFLAGS=", /* we may run under a make of the user's */
	"MFLAGS=",
	NULL,
};

/* One build under way. */
struct work {
	const struct build_request *r;
	struct progress *progress;
	struct kernel *out;
	char *src, *obj; /* absolute: make leaves our directory */
	char *log;
	struct makelog make; /* of the make that runs */
	int expected;	     /* objects, 0: unknown */
};

static void work_release(struct work *w)
{
	free(w->src);
	free(w->obj);
	free(w->log);
	makelog_release(&w->make);
}

static bool is_bzimage(const char *path)
{
	char buf[0x206];
	FILE *f = fopen(path, "rbe");
	size_t n;

	if (!f)
		return false;
	n = fread(buf, 1, sizeof(buf), f);
	fclose(f);
	return n == sizeof(buf) && !memcmp(buf + 0x202, "HdrS", 4) &&
	       !memcmp(buf + 0x1fe, "\x55\xaa", 2);
}

static void hex_of(char hex[65], const struct str *s)
{
	struct sha256 sum;

	sha256_init(&sum);
	sha256_add(&sum, str_c(s), s->len);
	sha256_hex(hex, &sum);
}

/* The cache's name for what is asked. */
static int build_key(char key[65], const struct build_request *r, struct err *e)
{
	CLEANUP(strv_release) struct strv cc = STRV_INIT;
	CLEANUP(str_release) struct str version = STR_INIT;
	CLEANUP(str_release) struct str config = STR_INIT;
	CLEANUP(str_release) struct str all = STR_INIT;
	struct err none;

	strv_split(&cc, r->cc ? r->cc : "gcc", ' ');
	if (!proc_find(cc.v[0])) {
		const char *package = makelog_package(cc.v[0]);

		return err_set(e, "%s is missing: %s%s", cc.v[0],
			       package ? "apt-get install " : "give a compiler",
			       package ? package : "");
	}
	strv_add(&cc, "--version");
	if (proc_capture(&version, (const char *const *)cc.v, 30, &none))
		return err_set(e, "%s: no compiler: %s", r->cc ? r->cc : "gcc",
			       none.msg);
	if (r->config && file_read(&config, r->config, e))
		return -1;
	str_fmt(&all, "%s\n%s\n%s\n%.*s\n%zu %d\n%s", BUILD_VERSION, r->tree,
		r->cc ? r->cc : "gcc", (int)strcspn(str_c(&version), "\n"),
		str_c(&version), strlen(r->wanted), !!r->config, r->wanted);
	str_add(&all, str_c(&config), config.len);
	hex_of(key, &all);
	return 0;
}

/* The value of `key value` in a cached kernel's description; NULL: none. */
static char *field(const struct strv *lines, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 0; i < lines->n; i++)
		if (!strncmp(lines->v[i], key, n) && lines->v[i][n] == ' ')
			return xstrdup(lines->v[i] + n + 1);
	return NULL;
}

/* Whether the image is the one that was described. */
static bool image_is(const char *path, const char *hex)
{
	CLEANUP(str_release) struct str bytes = STR_INIT;
	char got[65];
	struct err e;

	if (file_read(&bytes, path, &e))
		return false;
	hex_of(got, &bytes);
	return !strcmp(got, hex);
}

/* False: there is no whole entry. */
static bool cache_read(struct kernel *out, const char *dir)
{
	CLEANUP(strv_release) struct strv lines = STRV_INIT;
	CLEANUP(str_release) struct str text = STR_INIT;
	CLEANUP(kernel_release) struct kernel k = { .cached = true };
	AUTOFREE char *meta = xfmt("%s/kernel", dir);
	AUTOFREE char *image = xfmt("%s/bzImage", dir);
	AUTOFREE char *log = xfmt("%s/log", dir);
	AUTOFREE char *sum = NULL, *identity = NULL;
	struct err e;

	if (file_read(&text, meta, &e) || !str_ends(str_c(&text), "\nend\n"))
		return false;
	strv_split(&lines, str_c(&text), '\n');
	k.reason = field(&lines, "reason");
	if (!k.reason) {
		sum = field(&lines, "image");
		identity = field(&lines, "identity");
		if (!sum || !identity || strlen(identity) != 64 ||
		    !image_is(image, sum))
			return false;
		memcpy(k.identity, identity, 65);
		k.image = take_ptr(image);
	}
	if (file_exists(log))
		k.log = take_ptr(log);
	*out = k;
	k = (struct kernel){ 0 };
	return true;
}

int build_lookup(struct kernel *out, const struct build_request *r,
		 struct err *e)
{
	AUTOFREE char *dir = NULL;
	char key[65];

	if (build_key(key, r, e))
		return -1;
	dir = xfmt("%s/kernels/%s", r->cache, key);
	return cache_read(out, dir);
}

static int copy_file(const char *to, const char *from, char hex[65],
		     struct err *e)
{
	CLEANUP(str_release) struct str bytes = STR_INIT;

	if (file_read(&bytes, from, e))
		return -1;
	hex_of(hex, &bytes);
	return file_write(to, str_c(&bytes), bytes.len, e);
}

/* Fills a directory of the entry's own beside it. */
static int cache_fill(const struct kernel *k, const struct build_request *r,
		      const char *tmp, struct err *e)
{
	AUTOFREE char *meta = xfmt("%s/kernel", tmp);
	AUTOFREE char *image = xfmt("%s/bzImage", tmp);
	AUTOFREE char *log = xfmt("%s/log", tmp);
	CLEANUP(str_release) struct str text = STR_INIT;
	char hex[65];

	if (dir_remove(tmp, e) || dir_make(tmp, e))
		return -1;
	str_fmt(&text, "tree %s\nname %s\nobjects %d\nmake_s %.1f\n", r->tree,
		r->name, k->objects, k->make_s);
	if (k->image) {
		if (copy_file(image, k->image, hex, e))
			return -1;
		str_fmt(&text, "identity %s\nimage %s\n", k->identity, hex);
	} else {
		if (k->log && copy_file(log, k->log, hex, e))
			return -1;
		str_fmt(&text, "reason %s\n", k->reason);
	}
	str_puts(&text, "end\n");
	return file_write(meta, str_c(&text), text.len, e);
}

/* The entry appears whole or not at all, and out then points into it. */
static int cache_write(struct kernel *out, const struct build_request *r,
		       struct err *e)
{
	AUTOFREE char *dir = NULL, *tmp = NULL;
	CLEANUP(kernel_release) struct kernel stored = { NULL };
	char key[65];

	if (build_key(key, r, e))
		return -1;
	dir = xfmt("%s/kernels/%s", r->cache, key);
	tmp = xfmt("%s/kernels/.new-%s", r->cache, key);
	if (cache_fill(out, r, tmp, e) || dir_remove(dir, e))
		return -1;
	if (rename(tmp, dir))
		return err_set(e, "rename %s: %m", tmp);
	if (!cache_read(&stored, dir))
		return err_set(e, "%s: cannot be read back", dir);
	free(out->image);
	out->image = take_ptr(stored.image);
	return 0;
}

static void on_line(void *ctx, const char *line)
{
	struct work *w = ctx;
	int before = w->make.objects;

	makelog_line(&w->make, line);
	progress_line(w->progress, line);
	if (w->make.objects == before)
		return;
	if (w->expected && w->make.objects > w->expected)
		w->expected = w->make.objects;
	progress_count(w->progress, w->make.objects, w->expected);
}

static int on_tick(void *ctx)
{
	struct work *w = ctx;

	progress_tick(w->progress);
	return 0;
}

/* A failing make that the kernel is not to blame for. */
static int harness_failure(const struct work *w, struct err *e)
{
	const struct makelog *l = &w->make;

	if (l->machine)
		return err_set(e, "make in %s: %.300s: %s", w->obj, l->machine,
			       l->advice);
	/* Many a Makefile asks for tools that it can do without. */
	if (l->tool && !l->error && !proc_find(l->tool))
		return err_set(e, "%s is missing: apt-get install %s", l->tool,
			       makelog_package(l->tool));
	return 0;
}

static void add_compilers(struct strv *argv, const struct build_request *r)
{
	if (r->cc) {
		strv_addf(argv, "CC=%s", r->cc);
	} else if (proc_find("ccache")) {
		strv_add(argv, "CC=ccache gcc");
		strv_add(argv, "HOSTCC=ccache gcc");
	}
}

/* 1: it went well; 0: it failed, and w->make says how; -1: harness. */
static int run_make(struct work *w, const char *target, const char *extra,
		    double timeout, struct err *e)
{
	CLEANUP(strv_release) struct strv argv = STRV_INIT;
	struct proc_stream s = { .child_fd = 1,
				 .line = on_line,
				 .log = w->log };
	struct proc_spec spec = { .env = make_env,
				  .streams = &s,
				  .nstreams = 1,
				  .timeout = timeout,
				  .tick = on_tick,
				  .ctx = w };
	struct proc_result res;

	strv_add(&argv, "make");
	strv_addf(&argv, "-j%d", w->r->jobs > 0 ? w->r->jobs : 1);
	strv_add(&argv, "-C");
	strv_add(&argv, w->src);
	strv_addf(&argv, "O=%s", w->obj);
	strv_add(&argv, "ARCH=x86_64");
	strv_add(&argv, "LOCALVERSION=");
	strv_add(&argv, "V=0");
	add_compilers(&argv, w->r);
	if (extra)
		strv_add(&argv, extra);
	strv_add(&argv, target);
	spec.argv = (const char *const *)argv.v;
	makelog_release(&w->make);
	if (!proc_find("make"))
		return err_set(e, "make is missing: apt-get install make");
	if (proc_run(&res, &spec, e))
		return -1;
	w->out->make_s += res.wall;
	if (res.timed_out)
		return err_set(e, "make %s did not end within %.0f s: see %s",
			       target, timeout, w->log);
	if (res.signal)
		return err_set(e, "make %s was killed by signal %d: see %s",
			       target, res.signal, w->log);
	if (res.code == 0)
		return 1;
	return harness_failure(w, e);
}

static bool lacks_target(const struct makelog *l, const char *target)
{
	AUTOFREE char *quoted = xfmt("%s'", target); /* `x' or 'x' */

	return l->stop && strstr(l->stop, "No rule to make target") &&
	       strstr(l->stop, quoted);
}

/* A full configuration of the user's with wanted on top. */
static int configure_full(struct work *w, struct err *e)
{
	/* The last one takes its answers from standard input; at its end, every
	 * answer is the default. */
	static const char *const targets[] = { "olddefconfig", "oldnoconfig",
					       "oldconfig" };
	CLEANUP(str_release) struct str text = STR_INIT;
	AUTOFREE char *path = xfmt("%s/.config", w->obj);
	int ok = 0;

	if (file_read(&text, w->r->config, e))
		return -1;
	str_fmt(&text, "\n%s", w->r->wanted);
	if (file_write(path, str_c(&text), text.len, e))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		ok = run_make(w, targets[i], NULL, CONFIG_TIMEOUT, e);
		if (ok || !lacks_target(&w->make, targets[i]))
			break;
	}
	return ok;
}

static int configure(struct work *w, struct err *e)
{
	AUTOFREE char *path = xfmt("%s/iobisect.config", w->obj);
	AUTOFREE char *extra = xfmt("KCONFIG_ALLCONFIG=%s", path);

	if (w->r->config)
		return configure_full(w, e);
	if (file_write(path, w->r->wanted, strlen(w->r->wanted), e))
		return -1;
	return run_make(w, "allnoconfig", extra, CONFIG_TIMEOUT, e);
}

/* 1: all options survived; 0: not, with the reason. */
static int survivors(struct work *w, struct err *e)
{
	CLEANUP(strv_release) struct strv missing = STRV_INIT;
	CLEANUP(str_release) struct str text = STR_INIT;
	CLEANUP(str_release) struct str reason = STR_INIT;
	AUTOFREE char *path = xfmt("%s/.config", w->obj);

	if (file_read(&text, path, e))
		return -1;
	kconfig_check(&missing, w->r->wanted, str_c(&text));
	if (!missing.n)
		return 1;
	str_fmt(&reason, "the configuration lacks %s", missing.v[0]);
	for (size_t i = 1; i < missing.n && i < 5; i++)
		str_fmt(&reason, ", %s", missing.v[i]);
	if (missing.n > 5)
		str_fmt(&reason, " and %zu more", missing.n - 5);
	w->out->reason = str_take(&reason);
	return 0;
}

/* Where bzImage lies; the second place is that of the oldest trees. */
static char *find_image(const struct work *w)
{
	static const char *const arch[] = { "x86", "x86_64" };

	for (size_t i = 0; i < ARRAY_SIZE(arch); i++) {
		AUTOFREE char *p =
			xfmt("%s/arch/%s/boot/bzImage", w->obj, arch[i]);

		if (is_bzimage(p))
			return take_ptr(p);
	}
	return NULL;
}

/* One try. 1: out has the image; 0: out has the reason, and *again whether a
 * clean object directory might make a difference. */
static int attempt(struct work *w, bool *again, struct err *e)
{
	AUTOFREE char *vmlinux = xfmt("%s/vmlinux", w->obj);
	int ok;

	*again = true;
	if (dir_make(w->obj, e))
		return -1;
	ok = configure(w, e);
	if (ok > 0) {
		ok = survivors(w, e);
		if (ok <= 0) {
			*again = false;
			return ok;
		}
		ok = run_make(w, "bzImage", NULL, w->r->timeout, e);
		w->out->objects = w->make.objects;
	}
	if (ok < 0)
		return -1;
	if (!ok) {
		w->out->reason = makelog_reason(&w->make, w->src);
		return 0;
	}
	w->out->image = find_image(w);
	if (!w->out->image) {
		w->out->reason = xstrdup("make ended well but made no bzImage");
		return 0;
	}
	return identity_vmlinux(w->out->identity, vmlinux, e) ? -1 : 1;
}

/* How many objects a clean build had last time, for the progress. */
static int read_expected(const struct build_request *r)
{
	AUTOFREE char *path = xfmt("%s/kernels/objects", r->cache);
	CLEANUP(str_release) struct str text = STR_INIT;
	struct err none;
	long long n;

	if (file_read(&text, path, &none) ||
	    parse_int(&n, str_c(&text), 1, 1000000))
		return r->config ? 0 : TYPICAL_OBJECTS;
	return (int)n;
}

static int write_expected(const struct build_request *r, int objects,
			  struct err *e)
{
	AUTOFREE char *path = xfmt("%s/kernels/objects", r->cache);
	AUTOFREE char *text = xfmt("%d", objects);

	return file_write(path, text, strlen(text), e);
}

static int absolute(char **out, const char *path, struct err *e)
{
	*out = realpath(path, NULL);
	return *out ? 0 : err_set(e, "%s: %m", path);
}

/* The log starts empty; a second try goes on in it. */
static int prepare(struct work *w, struct err *e)
{
	AUTOFREE char *logs = NULL;
	AUTOFREE char *kernels = xfmt("%s/kernels", w->r->cache);

	if (dir_make(w->r->obj, e) || dir_make(w->r->logs, e) ||
	    dir_make(kernels, e) || absolute(&w->src, w->r->src, e) ||
	    absolute(&w->obj, w->r->obj, e) || absolute(&logs, w->r->logs, e))
		return -1;
	w->log = xfmt("%s/%s.log", logs, w->r->name);
	for (char *p = w->log + strlen(logs) + 1; *p; p++)
		if (*p == '/')
			*p = '-';
	return file_write(w->log, "", 0, e);
}

static int note(const struct work *w, const char *text, struct err *e)
{
	FILE *f = fopen(w->log, "ae");

	if (!f)
		return err_set(e, "open %s: %m", w->log);
	fprintf(f, "%s\n", text);
	return fclose(f) ? err_set(e, "write %s: %m", w->log) : 0;
}

static int build(struct work *w, struct err *e)
{
	AUTOFREE char *config = xfmt("%s/.config", w->obj);
	bool clean = !file_exists(config), again;
	int ok;

	w->expected = clean ? read_expected(w->r) : 0;
	ok = attempt(w, &again, e);
	if (ok == 0 && again && !clean) {
		clean = true;
		free(take_ptr(w->out->reason));
		progress_line(w->progress,
			      "failed: again from a clean object directory");
		if (note(w, "==== again from a clean object directory", e) ||
		    dir_remove(w->obj, e))
			return -1;
		w->expected = read_expected(w->r);
		ok = attempt(w, &again, e);
	}
	if (ok > 0 && clean && write_expected(w->r, w->out->objects, e))
		return -1;
	return ok < 0 ? -1 : 0;
}

int build_kernel(struct kernel *out, const struct build_request *r,
		 struct progress *p, struct err *e)
{
	CLEANUP(kernel_release) struct kernel k = { NULL };
	CLEANUP(work_release)
	struct work w = { .r = r, .progress = p, .out = &k };

	if (prepare(&w, e) || build(&w, e))
		return -1;
	k.log = xstrdup(w.log);
	k.incomplete = k.reason && r->partial && w.make.missing;
	if (!k.incomplete && cache_write(&k, r, e))
		return -1;
	*out = k;
	k = (struct kernel){ 0 };
	return 0;
}

int build_prebuilt(struct kernel *out, const char *path, struct err *e)
{
	CLEANUP(str_release) struct str bytes = STR_INIT;
	struct kernel k = { .cached = true };

	if (file_read(&bytes, path, e))
		return -1;
	if (!is_bzimage(path))
		return err_set(e, "%s: not a bzImage (no HdrS at byte 0x202)",
			       path);
	hex_of(k.identity, &bytes);
	k.image = xstrdup(path);
	*out = k;
	return 0;
}
