#include "build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hostboot.h"
#include "identity.h"
#include "kconfig.h"
#include "kernels.h"
#include "makelog.h"
#include "proc.h"
#include "sha256.h"

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
	char *sound;	 /* a file: obj is as make left it, in this boot */
	char *log;
	struct makelog make; /* of the make that runs */
	int expected;	     /* objects, 0: unknown */
	bool lacks;	     /* it fails for an option that did not survive */
	bool diagnosed;	     /* the failure is a fact about the source */
};

static void work_release(struct work *w)
{
	free(w->src);
	free(w->obj);
	free(w->sound);
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

int build_compiler(char **out, const char *cc, struct err *e)
{
	const char *command = cc ? cc : "gcc";
	CLEANUP(strv_release) struct strv argv = STRV_INIT;
	CLEANUP(str_release) struct str version = STR_INIT;
	struct err why;

	strv_split(&argv, command, ' ');
	if (!proc_find(argv.v[0])) {
		const char *package = makelog_package(argv.v[0]);

		return err_set(e, "%s is missing: %s%s", argv.v[0],
			       package ? "apt-get install " : "give a compiler",
			       package ? package : "");
	}
	strv_add(&argv, "--version");
	if (proc_capture(&version, (const char *const *)argv.v, 30, &why))
		return err_set(e, "%s: no compiler: %s", command, why.msg);
	*out = xfmt("%s\n%.*s", command, (int)strcspn(str_c(&version), "\n"),
		    str_c(&version));
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
	w->lacks = w->diagnosed = true;
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

/* One try. 1: out has the image; 0: out has the reason; -1: harness. */
static int attempt(struct work *w, struct err *e)
{
	AUTOFREE char *vmlinux = xfmt("%s/vmlinux", w->obj);
	int ok;

	free(take_ptr(w->out->reason));
	w->lacks = w->diagnosed = false;
	ok = configure(w, e);
	if (ok > 0) {
		ok = survivors(w, e);
		if (ok <= 0)
			return ok;
		ok = run_make(w, "bzImage", NULL, w->r->timeout, e);
		w->out->objects = w->make.objects;
	}
	if (ok < 0)
		return -1;
	if (!ok) {
		w->diagnosed = w->make.diagnosed;
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

	if (dir_own(w->r->obj, e) || dir_make(w->r->logs, e) ||
	    dir_make(kernels, e) || absolute(&w->src, w->r->src, e) ||
	    absolute(&w->obj, w->r->obj, e) || absolute(&logs, w->r->logs, e))
		return -1;
	w->sound = xfmt("%s.sound", w->obj);
	w->log = xfmt("%s/%.100s.log", logs, w->r->name);
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

/* Empties obj, because of why. */
static int start_clean(struct work *w, const char *why, struct err *e)
{
	AUTOFREE char *line = xfmt("==== %s", why);

	progress_say(w->progress, "  %s: %s", w->r->name, why);
	if (note(w, line, e) || dir_remove(w->obj, e) || dir_make(w->obj, e))
		return -1;
	w->expected = read_expected(w->r);
	return 0;
}

/* A make that was cut short leaves half a file with a fresh time, which the
 * next one takes for a whole file. So obj is sound only while a file beside it
 * says so, which is away while make works, and says in which boot that was:
 * objects are not flushed, and a power cut would tear them likewise. */
static int open_objects(struct work *w, bool *clean, struct err *e)
{
	AUTOFREE char *config = xfmt("%s/.config", w->obj);
	CLEANUP(str_release) struct str made = STR_INIT, boot = STR_INIT;
	struct err none;

	*clean = !file_exists(config);
	w->expected = *clean ? read_expected(w->r) : 0;
	hostboot_id(&boot);
	if (file_read(&made, w->sound, &none) == 0 &&
	    !strcmp(str_c(&made), str_c(&boot)))
		return unlink(w->sound) ? err_set(e, "remove %s: %m", w->sound)
					: 0;
	if (rmdir(w->obj) == 0) /* nothing was in it */
		return dir_make(w->obj, e);
	*clean = true;
	return start_clean(w,
			   made.len
				   ? "the machine was restarted since the last "
				     "build: a clean object directory"
				   : "the last build was cut short: a clean "
				     "object directory",
			   e);
}

static int close_objects(const struct work *w, struct err *e)
{
	CLEANUP(str_release) struct str boot = STR_INIT;

	hostboot_id(&boot);
	return file_write(w->sound, str_c(&boot), boot.len, e);
}

/* Why a failure may not be the kernel's, and another try is due; NULL: it is.
 */
static int doubt(const char **why, const struct work *w, bool clean,
		 struct err *e)
{
	int repaired = w->r->check ? w->r->check(w->r->ctx, e) : 0;

	if (repaired < 0)
		return -1;
	*why = repaired	       ? "the source tree was damaged: repaired, again"
	       : w->lacks      ? NULL
	       : w->make.crash ? "a compiler crashed: again from a clean "
				 "object directory"
	       : clean	       ? NULL
			       : "failed: again from a clean object directory";
	return 0;
}

/* Tries until it is known whose fault a failure is. */
static int build(struct work *w, struct err *e)
{
	AUTOFREE char *crash = NULL;
	const char *why = NULL;
	bool clean;
	int ok;

	if (open_objects(w, &clean, e))
		return -1;
	ok = attempt(w, e);
	if (ok == 0 && doubt(&why, w, clean, e))
		return -1;
	if (ok == 0 && why) {
		crash = take_ptr(w->make.crash);
		clean = true;
		if (start_clean(w, why, e))
			return -1;
		ok = attempt(w, e);
	}
	if (ok == 0 && crash && w->make.crash && strcmp(crash, w->make.crash))
		return err_set(e,
			       "%.200s, and then %.200s: a compiler that "
			       "crashes at random; check the memory",
			       crash, w->make.crash);
	if (ok < 0 ||
	    (ok > 0 && clean && write_expected(w->r, w->out->objects, e)))
		return -1;
	/* What a failure that nobody explains has left is not to be trusted. */
	return ok > 0 || w->diagnosed ? close_objects(w, e) : 0;
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
	if (!k.incomplete && (k.image || w.diagnosed) &&
	    kernels_add(&k, r, w.obj, e))
		return -1;
	*out = k;
	k = (struct kernel){ 0 };
	return 0;
}

int build_prebuilt(struct kernel *out, const char *path, struct err *e)
{
	CLEANUP(str_release) struct str bytes = STR_INIT;
	struct kernel k = { .cached = true };
	struct sha256 sum;

	if (file_read(&bytes, path, e))
		return -1;
	if (!is_bzimage(path))
		return err_set(e, "%s: not a bzImage (no HdrS at byte 0x202)",
			       path);
	sha256_init(&sum);
	sha256_add(&sum, bytes.buf, bytes.len);
	sha256_hex(k.identity, &sum);
	k.image = xstrdup(path);
	*out = k;
	return 0;
}
