#include "lab.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boot.h"
#include "build.h"
#include "device.h"
#include "doctor.h"
#include "drives.h"
#include "image.h"
#include "initramfs.h"
#include "kconfig.h"
#include "kernels.h"
#include "lock.h"
#include "measure.h"
#include "pressure.h"
#include "proc.h"
#include "question.h"
#include "scratch.h"
#include "sha256.h"
#include "stats.h"
#include "treestate.h"

#define SERIAL         "IOBISECT1"
#define BOOT_TIMEOUT_S 90.0
#define RUN_TIMEOUT_S  900.0
#define MAKE_TIMEOUT_S 7200.0
/* A boot is disturbed when others wanted the processors for more than this. */
#define DISTURBED       0.5
#define DISTURBED_TRIES 3
/* ... or its modelled drive answered one in a hundred requests later than this,
 * of its own time. */
#define LATE_NS 500e3

struct lab {
	const struct question *q;
	struct history *h;
	struct progress *p;
	char *share, *cache, *logs;
	char *tree; /* src, obj, stamp, lock */
	int tree_lock;
	struct scratch scratch; /* logs, when it is no session's */
	struct device device;
	struct machine machine;
	const struct filesystem *fs;
	bool kvm;
	struct str wanted;    /* options of the kernel */
	struct str initramfs; /* with the job */
	char *compiler;	      /* as build_compiler says; NULL: not asked */
	char *image;          /* the made file system */
	char *disk, *profile; /* of a modelled drive; NULL: none */
	double image_s;       /* mkfs time not yet charged to a trial */
	struct lab_time spent;
};

/* make and QEMU work in other directories than ours. */
static char *make_absolute(char *path)
{
	AUTOFREE char *p = path, *here = *p == '/' ? NULL : getcwd(NULL, 0);

	return here ? xfmt("%s/%s", here, p) : take_ptr(p);
}

char *lab_cache_dir(void)
{
	const char *own = getenv("IOBISECT_CACHE");
	const char *xdg = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");

	if (own && *own)
		return make_absolute(xstrdup(own));
	if (xdg && *xdg)
		return make_absolute(xfmt("%s/iobisect", xdg));
	return make_absolute(
		xfmt("%s/.cache/iobisect", home && *home ? home : "/tmp"));
}

int lab_share_dir(char **out, struct err *e)
{
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	if (n < 0)
		return err_set(e, "read /proc/self/exe: %m");
	exe[n] = '\0';
	slash = strrchr(exe, '/');
	if (slash)
		*slash = '\0';
	*out = xfmt("%s/../share/iobisect", exe);
	if (file_exists(*out))
		return 0;
	err_set(e, "%s is missing: build or install iobisect again", *out);
	free(*out);
	*out = NULL;
	return -1;
}

/* Opening */

static int merge_config(struct lab *l, struct err *e)
{
	CLEANUP(strv_release) struct strv files = STRV_INIT;

	strv_addf(&files, "%s/kconfigs/base.config", l->share);
	for (size_t i = 0; i < l->device.fragments.n; i++)
		strv_addf(&files, "%s/kconfigs/%s.config", l->share,
			  l->device.fragments.v[i]);
	strv_addf(&files, "%s/kconfigs/%s.config", l->share, l->fs->name);
	for (size_t i = 0; i < l->q->config_fragments.n; i++)
		strv_add(&files, l->q->config_fragments.v[i]);
	return kconfig_merge(&l->wanted, &files, e);
}

static int choose_accel(struct lab *l, struct err *e)
{
	l->kvm = !strcmp(l->q->accel, "kvm");
	if (l->kvm && !boot_kvm_works())
		return err_set(e, "no guest runs under KVM here: use --accel "
				  "tcg, or auto");
	return 0;
}

static int make_image(struct lab *l, struct err *e)
{
	AUTOFREE char *dir = xfmt("%s/images", l->cache);
	AUTOFREE char *path = xfmt("%s/lock", dir);
	AUTOFD int lock = -1;
	double start = now_s();

	if (dir_make(dir, e) ||
	    lock_wait(&lock, path,
		      "wait for another iobisect that makes a file system",
		      l->p, e))
		return -1;
	l->spent.wait_s += now_s() - start;
	if (image_filesystem(&l->image, &l->image_s, l->fs, l->q->drive_bytes,
			     dir, e))
		return -1;
	l->spent.mkfs_s += l->image_s;
	return 0;
}

static int find_drive(struct lab *l, struct err *e)
{
	if (!l->q->drive)
		return 0;
	l->disk = xfmt("%s/../../bin/iobisect-disk", l->share);
	if (!file_is_regular(l->disk))
		return err_set(e, "%s is missing: build or install iobisect "
				  "again",
			       l->disk);
	return drives_find(&l->profile, NULL, l->share, l->q->drive, e);
}

static int prepare(struct lab *l, struct err *e)
{
	AUTOFREE char *dir = xfmt("%s/qemu", l->share);
	AUTOFREE char *trials = xfmt("%s/trials", l->logs);

	l->fs = question_fs(l->q->fs, e);
	if (!l->fs || question_device(&l->device, l->q, l->share, e) ||
	    machine_load(&l->machine, dir, l->q->machine, e) ||
	    doctor_require(l->h ? DOCTOR_BUILD : DOCTOR_BOOT, l->fs->name, e))
		return -1;
	if (scratch_is(l->logs, l->cache) &&
	    scratch_claim(&l->scratch, l->logs, l->p, e))
		return -1;
	if (find_drive(l, e) || dir_make(trials, e) || merge_config(l, e) || choose_accel(l, e) ||
	    initramfs_make(&l->initramfs, l->q, l->fs, l->share, e) ||
	    make_image(l, e))
		return -1;
	return 0;
}

int lab_open(struct lab **out, const struct question *q, struct history *h,
	     const struct lab_dirs *dirs, struct progress *p, struct err *e)
{
	struct lab *l = xcalloc(1, sizeof(*l));

	l->q = q;
	l->h = h;
	l->p = p;
	l->share = xstrdup(dirs->share);
	l->cache = xstrdup(dirs->cache);
	l->logs = xstrdup(dirs->logs);
	l->tree_lock = -1;
	if (prepare(l, e)) {
		lab_close(l);
		return -1;
	}
	*out = l;
	return 0;
}

void lab_close(struct lab *l)
{
	if (!l)
		return;
	if (l->tree_lock >= 0)
		close(l->tree_lock);
	scratch_release(&l->scratch);
	device_release(&l->device);
	machine_release(&l->machine);
	str_release(&l->wanted);
	str_release(&l->initramfs);
	free(l->compiler);
	free(l->image);
	free(l->disk);
	free(l->profile);
	free(l->tree);
	free(l->share);
	free(l->cache);
	free(l->logs);
	free(l);
}

const struct lab_time *lab_spent(const struct lab *l)
{
	return &l->spent;
}

/* Kernels */

/* Sessions on one repository share its source tree and objects; one builds at a
 * time. */
static int lock_tree(struct lab *l, struct err *e)
{
	AUTOFREE char *path = xfmt("%s/lock", l->tree);
	double start = now_s();

	if (l->tree_lock >= 0)
		return 0;
	if (dir_make(l->tree, e) ||
	    lock_wait(&l->tree_lock, path,
		      "wait for another iobisect that builds from this "
		      "repository",
		      l->p, e))
		return -1;
	l->spent.wait_s += now_s() - start;
	return 0;
}

/* Removes one iobisect's claim: others may build while we boot. */
static void unlock_tree(struct lab *l)
{
	close(l->tree_lock);
	l->tree_lock = -1;
}

static void name_tree(struct lab *l)
{
	struct sha256 s;
	char hex[65];

	if (l->tree)
		return;
	sha256_init(&s);
	sha256_add(&s, history_dir(l->h), strlen(history_dir(l->h)));
	sha256_hex(hex, &s);
	l->tree = xfmt("%s/trees/%.12s", l->cache, hex);
}

/* kconfigs/left-out, unless this repository's kernels have needed the whole. */
static int read_left_out(struct strv *out, bool *whole, const struct lab *l,
			 struct err *e)
{
	AUTOFREE char *path = xfmt("%s/kconfigs/left-out", l->share);
	AUTOFREE char *mark = xfmt("%s/whole", l->tree);
	CLEANUP(str_release) struct str text = STR_INIT;
	CLEANUP(strv_release) struct strv lines = STRV_INIT;

	*whole = file_exists(mark);
	if (*whole)
		return 0;
	if (file_read(&text, path, e))
		return -1;
	strv_split(&lines, str_c(&text), '\n');
	for (size_t i = 0; i < lines.n; i++)
		if (lines.v[i][0] && lines.v[i][0] != '#')
			strv_add(out, lines.v[i]);
	return 0;
}

static int export_tree(struct lab *l, const char *hex, const char *name,
		       bool *whole, struct err *e)
{
	CLEANUP(strv_release) struct strv left_out = STRV_INIT;
	struct export_stats st;

	progress_stage(l->p, "%s: write the source tree", name);
	if (read_left_out(&left_out, whole, l, e) ||
	    history_export(&st, l->h, hex, l->tree, &left_out, l->p, e))
		return -1;
	/* quick steps are not worth a line each */
	if (st.written + st.removed > 5000)
		progress_done(l->p, "%ld files", st.written);
	return 0;
}

/* Compares every file with git's. */
struct tree_check {
	struct lab *l;
	const char *hex;
};

static int check_tree(void *ctx, struct err *e)
{
	const struct tree_check *c = ctx;
	struct lab *l = c->l;
	CLEANUP(strv_release) struct strv left_out = STRV_INIT;
	struct export_stats st;
	bool whole;

	if (read_left_out(&left_out, &whole, l, e) ||
	    treestate_distrust(l->tree, e) ||
	    history_export(&st, l->h, c->hex, l->tree, &left_out, NULL, e))
		return -1;
	return st.written + st.removed > 0;
}

static int export_and_build(struct kernel *out, struct lab *l,
			    struct build_request *r, const char *hex,
			    struct err *e)
{
	AUTOFREE char *mark = xfmt("%s/whole", l->tree);
	struct tree_check check = { .l = l, .hex = hex };
	bool whole;

	if (export_tree(l, hex, r->name, &whole, e))
		return -1;
	r->partial = !whole;
	r->check = check_tree;
	r->ctx = &check;
	progress_stage(l->p, "%s: build", r->name);
	if (build_kernel(out, r, l->p, e))
		return -1;
	if (out->incomplete) {
		progress_done(l->p, "%s", out->reason);
		progress_say(l->p, "a file may be missing: once more with the "
				   "whole source tree");
		l->spent.make_s += out->make_s;
		kernel_release(out);
		return file_write(mark, "", 0, e) ||
				       export_and_build(out, l, r, hex, e)
			       ? -1
			       : 0;
	}
	l->spent.make_s += out->make_s;
	if (out->reason)
		progress_done(l->p, "%s", out->reason);
	else
		progress_done(l->p, "%d objects", out->objects);
	return 0;
}

int lab_kernel(struct kernel *out, struct lab *l, const char *hex,
	       const char *name, struct err *e)
{
	CLEANUP(commit_release) struct commit c = { 0 };
	AUTOFREE char *builds = xfmt("%s/builds", l->logs);
	AUTOFREE char *src = NULL;
	AUTOFREE char *obj = NULL;
	int got;

	name_tree(l);
	src = xfmt("%s/src", l->tree);
	obj = xfmt("%s/obj", l->tree);
	if (history_commit(&c, l->h, hex, e) || dir_make(builds, e) ||
	    (!l->compiler && build_compiler(&l->compiler, l->q->cc, e)))
		return -1;
	struct build_request r = {
		.src = src,
		.obj = obj,
		.cache = l->cache,
		.tree = c.tree,
		.name = name,
		.wanted = str_c(&l->wanted),
		.config = l->q->config,
		.cc = l->q->cc,
		.compiler = l->compiler,
		.logs = builds,
		.jobs = l->q->jobs ? l->q->jobs
				   : (int)sysconf(_SC_NPROCESSORS_ONLN),
		.timeout = MAKE_TIMEOUT_S,
	};
	got = kernels_find(out, &r, e);
	if (got)
		return got < 0 ? -1 : 0;
	if (lock_tree(l, e))
		return -1;
	/* whoever held the lock may have built it meanwhile */
	got = kernels_find(out, &r, e);
	if (!got)
		got = export_and_build(out, l, &r, hex, e);
	unlock_tree(l);
	return got < 0 ? -1 : 0;
}

/* Trials */

static int fresh_drive(int *fd, struct lab *l, struct err *e)
{
	long long bytes;

	if (!l->device.real)
		return image_drive(fd, l->image, l->cache, e);
	if (device_open(fd, &bytes, l->device.real, l->q->erase, e))
		return -1;
	if (bytes < l->q->drive_bytes)
		return err_set(e, "%s has %lld MiB, %lld are needed",
			       l->device.real, bytes >> 20,
			       l->q->drive_bytes >> 20);
	return image_onto_device(*fd, l->image, l->p, e);
}

static int boot_once(struct boot *out, struct lab *l, const struct kernel *k,
		     const char *console, const char *trace, bool verbose,
		     struct err *e)
{
	CLEANUP(image_drive_close) int fd = -1;
	struct boot_request r = {
		.machine = &l->machine,
		.device = &l->device,
		.kvm = l->kvm,
		.mem_mb = l->q->mem_mb,
		.kernel = k->image,
		.initramfs = &l->initramfs,
		.drive_bytes = l->q->drive_bytes,
		.drive_is_device = l->device.real != NULL,
		.serial = SERIAL,
		.console = console,
		.verbose_console = verbose,
		.boot_timeout = BOOT_TIMEOUT_S,
		.run_timeout = RUN_TIMEOUT_S * l->q->slow,
		.disk_program = l->disk,
		.profile = l->profile,
		.slow = l->q->slow,
		.trace = trace,
	};

	if (fresh_drive(&fd, l, e))
		return -1;
	r.drive_fd = fd;
	if (unlink(console) && errno != ENOENT)
		return err_set(e, "remove %s: %m", console);
	if (boot_run(out, &r, l->p, e))
		return -1;
	l->spent.qemu_s += out->qemu_s;
	return 0;
}

/* What was asked must be answered: a verdict waits for it. */
static int check_samples(const struct trial *t, const struct strv *workloads,
			 struct err *e)
{
	for (size_t i = 0; i < workloads->n; i++)
		if (!trial_sample(t, workloads->v[i]))
			return err_set(e, "the guest says nothing of %s",
				       workloads->v[i]);
	return 0;
}

/* A frame that is whole but for an error of the guest's own (a drive that this
 * kernel does not see, a mount that fails) is the kernel's failure. */
static void take_boot(struct trial *t, struct boot *b,
		      const struct strv *workloads)
{
	struct err why;

	t->outcome = b->outcome;
	t->qemu_s = b->qemu_s;
	t->to_init_s = b->to_init_s;
	t->to_workload_s = b->to_workload_s;
	free(t->reason);
	t->reason = take_ptr(b->reason);
	if (b->outcome == BOOT_OK &&
	    (measure_parse(t, str_c(&b->results), &why) ||
	     check_samples(t, workloads, &why))) {
		t->outcome = BOOT_DIED;
		t->reason = xstrdup(why.msg);
	}
}

static void say_trial(struct lab *l, const struct trial *t)
{
	CLEANUP(str_release) struct str s = STR_INIT;

	for (int i = 0; i < t->nsamples; i++)
		str_fmt(&s, "%s%s %.3g s", i ? ", " : "",
			t->samples[i].workload, t->samples[i].elapsed);
	progress_done(l->p, "%s", t->reason ? t->reason : str_c(&s));
}

/* A boot that fails is repeated once with every message on the console. */
static int one_trial(struct trial *t, struct lab *l, const struct kernel *k,
		     const char *name, struct err *e)
{
	AUTOFREE char *console = xfmt("%s/trials/%d.log", l->logs, t->number);
	AUTOFREE char *results =
		xfmt("%s/trials/%d.results", l->logs, t->number);
	AUTOFREE char *trace = xfmt("%s/trials/%d.trace", l->logs, t->number);

	for (int try = 0; try < 2; try++) {
		CLEANUP(boot_release) struct boot b = { 0 };

		progress_stage(l->p, "%s: boot %d%s", name, t->number,
			       try ? " again, with all messages" : "");
		if (boot_once(&b, l, k, console, trace, try > 0, e) ||
		    file_write(results, str_c(&b.results), b.results.len, e))
			return -1;
		take_boot(t, &b, &l->q->workloads);
		say_trial(l, t);
		if (t->outcome == BOOT_OK)
			break;
	}
	return 0;
}

/* A modelled drive knows how late it answered: 1 is as much as may be. */
static int lateness(double *out, const struct lab *l, int number,
		    struct err *e)
{
	CLEANUP(trace_release) struct trace t = { .n = 0 };
	AUTOFREE char *path = xfmt("%s/trials/%d.trace", l->logs, number);
	struct stats s;

	*out = 0;
	if (!l->profile)
		return 0;
	if (trace_read(&t, path, e))
		return -1;
	stats_of(&s, &t);
	*out = (double)s.late_p99 / (LATE_NS * l->q->slow);
	return 0;
}

/* Share of the boot in which some task waited for a processor. Our own two
 * threads rarely do where there are two. */
static double disturbance(double before, double start)
{
	double after = pressure_cpu(), wall = now_s() - start;

	if (before < 0 || after < before || wall <= 0 ||
	    sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return 0;
	return (after - before) / wall;
}

/* What others do on the machine can only make a time longer, so a disturbed boot is
 * repeated, and the least disturbed one counts. This looks at the machine alone,
 * never at the result. */
int lab_trial(struct trial *out, struct lab *l, const struct kernel *k,
	      const char *hex, int number, const char *name, struct err *e)
{
	double least = 2;

	*out = (struct trial){ 0 };
	for (int try = 0; try < DISTURBED_TRIES; try++) {
		struct trial t = { .number = number, .mkfs_s = l->image_s };
		double before = pressure_cpu(), start = now_s(), share, late;

		snprintf(t.commit, sizeof(t.commit), "%s", hex);
		snprintf(t.identity, sizeof(t.identity), "%s", k->identity);
		l->image_s = 0;
		if (one_trial(&t, l, k, name, e)) {
			trial_release(&t);
			trial_release(out);
			return -1;
		}
		if (lateness(&late, l, number, e)) {
			trial_release(&t);
			trial_release(out);
			return -1;
		}
		share = fmax(disturbance(before, start), late * DISTURBED);
		if (share < least) {
			trial_release(out);
			*out = t;
			least = share;
		} else {
			trial_release(&t);
		}
		if (share <= DISTURBED || out->outcome != BOOT_OK)
			return 0;
	}
	progress_say(l->p, "  the machine is busy with other work (%.0f%% of "
			   "that boot): the least disturbed of %d boots counts",
		     least * 100, DISTURBED_TRIES);
	return 0;
}
