#include "doctor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "image.h"
#include "proc.h"

#define QEMU	     "qemu-system-x86_64"
#define QEMU_PACKAGE "qemu-system-x86"
#define MIB	     (1LL << 20)

static const struct {
	const char *name, *package;
	enum doctor_kind kind;
	bool required;
} programs[] = {
	{ "make", "make", DOCTOR_BUILD, true },
	{ "gcc", "gcc", DOCTOR_BUILD, true },
	{ "ld", "binutils", DOCTOR_BUILD, true },
	{ "flex", "flex", DOCTOR_BUILD, true },
	{ "bison", "bison", DOCTOR_BUILD, true },
	{ "bc", "bc", DOCTOR_BUILD, true },
	{ "perl", "perl", DOCTOR_BUILD, true },
	{ "gzip", "gzip", DOCTOR_BUILD, true },
	{ "ccache", "ccache", DOCTOR_BUILD, false },
	{ QEMU, QEMU_PACKAGE, DOCTOR_BOOT, true },
};

static const struct {
	const char *what, *file, *package;
	bool required;
} headers[] = {
	{ "C headers", "stdio.h", "libc6-dev", true },
	{ "libelf headers", "gelf.h", "libelf-dev", true },
	{ "openssl headers", "openssl/bio.h", "libssl-dev", false },
};

/* What the files in qemu/ ask for. */
static const char *const qemu_devices[] = {
	"ich9-ahci",   "ide-hd",     "sdhci-pci", "sd-card",	    "usb-ehci",
	"usb-storage", "lsi53c810", "scsi-hd",	  "virtio-blk-pci",
};

void doctor_release(struct doctor_list *l)
{
	for (int i = 0; i < l->n; i++)
		free(l->v[i].detail);
	free(l->v);
	*l = (struct doctor_list){ 0 };
}

/* Takes detail over. */
static void add(struct doctor_list *l, const char *what, const char *package,
		bool ok, bool required, char *detail)
{
	l->v = xrealloc(l->v, (size_t)(l->n + 1) * sizeof(*l->v));
	l->v[l->n++] = (struct doctor_item){ .what = what,
					     .package = package,
					     .ok = ok,
					     .required = required,
					     .detail = detail };
}

/* Its first line of --version; the caller frees. */
static char *version_of(const char *program)
{
	const char *const argv[] = { program, "--version", NULL };
	CLEANUP(str_release) struct str out = STR_INIT;
	struct err none;

	if (proc_capture(&out, argv, 20, &none))
		return xfmt("does not run: %s", none.msg);
	return xstrndup(str_c(&out), strcspn(str_c(&out), "\n"));
}

static void check_programs(struct doctor_list *l, bool versions)
{
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		const char *name = programs[i].name;
		bool ok = proc_find(name);

		if (!ok)
			add(l, name, programs[i].package, false,
			    programs[i].required, xstrdup("not found"));
		else
			add(l, name, programs[i].package, true,
			    programs[i].required,
			    versions ? version_of(name) : xstrdup("found"));
	}
}

static void check_headers(struct doctor_list *l, const char *include)
{
	for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
		AUTOFREE char *path =
			xfmt("%s/%s", include ? include : "/usr/include",
			     headers[i].file);
		bool ok = file_exists(path);

		add(l, headers[i].what, headers[i].package, ok,
		    headers[i].required,
		    ok ? take_ptr(path) : xfmt("no %s", path));
	}
}

static void check_qemu_devices(struct doctor_list *l)
{
	const char *const argv[] = { QEMU, "-device", "help", NULL };
	CLEANUP(str_release) struct str out = STR_INIT;
	CLEANUP(str_release) struct str missing = STR_INIT;
	struct err none;

	if (!proc_find(QEMU) || proc_capture(&out, argv, 20, &none))
		return; /* said already */
	for (size_t i = 0; i < ARRAY_SIZE(qemu_devices); i++) {
		AUTOFREE char *quoted = xfmt("name \"%s\"", qemu_devices[i]);

		if (!strstr(str_c(&out), quoted))
			str_fmt(&missing, " %s", qemu_devices[i]);
	}
	add(l, "QEMU's drives", QEMU_PACKAGE, !missing.len, false,
	    missing.len ? xfmt("lacks%s", str_c(&missing))
			: xstrdup("all there"));
}

static void check_mkfs(struct doctor_list *l, const char *fs)
{
	const struct filesystem *f;

	for (int i = 0; (f = image_fs_at(i)); i++) {
		AUTOFREE char *tool = image_fs_tool(f);
		bool ok = tool != NULL, again = false;

		for (int j = 0; j < l->n; j++)
			if (!strcmp(l->v[j].what, f->tool)) {
				again = true;
				l->v[j].required |= !strcmp(f->name, fs);
			}
		if (!again)
			add(l, f->tool, f->package, ok, !strcmp(f->name, fs),
			    ok ? xfmt("for %s", f->name)
			       : xstrdup("not found"));
	}
}

/* The directory itself, or the nearest one above it that is there. */
static char *existing(const char *path)
{
	AUTOFREE char *p = xstrdup(path);

	while (!file_exists(p)) {
		char *slash = strrchr(p, '/');

		if (!slash)
			return xstrdup(".");
		slash[slash == p] = '\0';
	}
	return take_ptr(p);
}

/* A kernel's tree and objects take 2 GiB; little runs with nearly none. */
static void check_cache(struct doctor_list *l, const char *cache)
{
	AUTOFREE char *dir = existing(cache);
	struct statvfs v;
	long long avail;

	if (access(dir, W_OK | X_OK) || statvfs(dir, &v)) {
		add(l, "cache directory", NULL, false, true,
		    xfmt("%s: %s: set IOBISECT_CACHE to another directory", dir,
			 strerror(errno)));
		return;
	}
	avail = (long long)v.f_bavail * (long long)v.f_frsize;
	add(l, "cache directory", NULL, avail >= 3072 * MIB, avail < 256 * MIB,
	    xfmt("%s: %.1f GiB free%s", cache, (double)avail / (1024.0 * MIB),
		 avail < 3072 * MIB ? ", 3 wanted" : ""));
}

static void check_memory(struct doctor_list *l, const char *meminfo)
{
	CLEANUP(str_release) struct str text = STR_INIT;
	const char *at;
	struct err none;
	long long mib = 0;

	if (file_read(&text, meminfo ? meminfo : "/proc/meminfo", &none))
		return;
	at = strstr(str_c(&text), "MemAvailable:");
	if (!at || sscanf(at, "MemAvailable: %lld kB", &mib) != 1)
		return; /* older than 3.14 */
	mib /= 1024;
	add(l, "memory", NULL, mib >= 1024, false,
	    xfmt("%lld MiB available%s", mib,
		 mib < 1024 ? ", 1024 wanted: use --jobs 1" : ""));
}

int doctor_check(struct doctor_list *out, const struct doctor_query *q)
{
	int missing = 0;
	bool ok;

	*out = (struct doctor_list){ 0 };
	check_programs(out, true);
	check_qemu_devices(out);
	check_headers(out, q->include);
	check_mkfs(out, q->fs ? q->fs : "ext2");
	if (q->guest) {
		ok = access(q->guest, R_OK) == 0;
		add(out, "guest program", NULL, ok, true,
		    ok ? xstrdup(q->guest)
		       : xfmt("no %s: build or install iobisect again",
			      q->guest));
	}
	if (q->cache)
		check_cache(out, q->cache);
	check_memory(out, q->meminfo);
	add(out, "KVM", NULL, q->kvm, false,
	    xstrdup(q->kvm ? "runs guests"
			   : "not usable: guests are emulated (TCG)"));
	for (int i = 0; i < out->n; i++)
		missing += out->v[i].required && !out->v[i].ok;
	return missing;
}

static int missing(struct err *e, const char *what, const char *verb,
		   const char *package)
{
	return err_set(e, "%s %s missing: apt-get install %s", what, verb,
		       package);
}

int doctor_require(enum doctor_kind kind, const char *fs, struct err *e)
{
	const struct filesystem *f = image_fs_find(fs);
	AUTOFREE char *tool = f ? image_fs_tool(f) : NULL;
	bool build = kind == DOCTOR_BUILD;

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (programs[i].required && !proc_find(programs[i].name) &&
		    (build || programs[i].kind == DOCTOR_BOOT))
			return missing(e, programs[i].name, "is",
				       programs[i].package);
	for (size_t i = 0; build && i < ARRAY_SIZE(headers); i++) {
		AUTOFREE char *path = xfmt("/usr/include/%s", headers[i].file);

		if (headers[i].required && !file_exists(path))
			return missing(e, headers[i].what, "are",
				       headers[i].package);
	}
	if (f && !tool)
		return missing(e, f->tool, "is", f->package);
	return 0;
}
