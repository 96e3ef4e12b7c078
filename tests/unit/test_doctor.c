#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "doctor.h"
#include "proc.h"

/* A PATH with nothing but empty programs of these names. */
struct bench {
	char dir[48];
	char *path; /* as it was */
};

static void have(const struct bench *b, const char *name)
{
	AUTOFREE char *p = xfmt("%s/%s", b->dir, name);
	const char *text = "#!/bin/sh\necho \"$0 version 7\"\necho more\n";
	struct err e;

	if (file_write(p, text, strlen(text), &e) || chmod(p, 0755))
		abort();
}

static void bench_init(struct bench *b)
{
	static const char *const all[] = {
		"make", "gcc",	"ld",	"flex",	  "bison",
		"bc",	"perl", "gzip", "mke2fs", "qemu-system-x86_64",
	};

	*b = (struct bench){ .dir = "/tmp/iobisect-doctor-XXXXXX",
			     .path = xstrdup(getenv("PATH")) };
	if (!mkdtemp(b->dir))
		abort();
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		have(b, all[i]);
	setenv("PATH", b->dir, 1);
}

static void bench_done(struct bench *b)
{
	struct err e;

	setenv("PATH", b->path, 1);
	free(b->path);
	dir_remove(b->dir, &e);
}

static void lose(const struct bench *b, const char *name)
{
	AUTOFREE char *p = xfmt("%s/%s", b->dir, name);

	unlink(p);
}

static const struct doctor_item *item(const struct doctor_list *l,
				      const char *what)
{
	for (int i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].what, what))
			return &l->v[i];
	printf("# no item %s\n", what);
	abort();
}

TEST(doctor__require_names_what_is_missing)
{
	CLEANUP(bench_done) struct bench b;
	struct err e = { "" };

	bench_init(&b);
	if (!file_exists("/usr/include/gelf.h")) {
		EXPECT_INT(doctor_require(DOCTOR_BUILD, "ext2", &e), -1);
		EXPECT_STR(e.msg, "libelf headers are missing: apt-get install "
				  "libelf-dev");
		return;
	}
	if (doctor_require(DOCTOR_BUILD, "ext2", &e))
		TEST_FAIL("%s", e.msg);
	lose(&b, "flex");
	EXPECT_INT(doctor_require(DOCTOR_BUILD, "ext2", &e), -1);
	EXPECT_STR(e.msg, "flex is missing: apt-get install flex");
	EXPECT_INT(doctor_require(DOCTOR_BOOT, "ext2", &e), 0);
	lose(&b, "qemu-system-x86_64");
	EXPECT_INT(doctor_require(DOCTOR_BOOT, "ext2", &e), -1);
	EXPECT_STR(e.msg, "qemu-system-x86_64 is missing: apt-get install "
			  "qemu-system-x86");
}

/* It may lie in sbin, whatever PATH says. */
static bool in_sbin(const char *tool)
{
	AUTOFREE char *path = xfmt("/usr/sbin/%s", tool);

	return file_exists(path);
}

TEST(doctor__require_the_file_systems_own_mkfs)
{
	CLEANUP(bench_done) struct bench b;
	struct err e = { "" };

	bench_init(&b);
	EXPECT_INT(doctor_require(DOCTOR_BOOT, "xfs", &e),
		   in_sbin("mkfs.xfs") ? 0 : -1);
	if (!in_sbin("mkfs.xfs"))
		EXPECT_STR(e.msg, "mkfs.xfs is missing: apt-get install "
				  "xfsprogs");
	have(&b, "mkfs.xfs");
	EXPECT_INT(doctor_require(DOCTOR_BOOT, "xfs", &e), 0);
}

TEST(doctor__check_counts_required_things_only)
{
	CLEANUP(bench_done) struct bench b;
	CLEANUP(doctor_release) struct doctor_list all = { NULL };
	CLEANUP(doctor_release) struct doctor_list less = { NULL };
	struct doctor_query q = { .fs = "ext2" };
	int n;

	bench_init(&b);
	n = doctor_check(&all, &q);
	EXPECT(item(&all, "flex")->ok);
	EXPECT(str_ends(item(&all, "flex")->detail, "/flex version 7"));
	EXPECT(!item(&all, "ccache")->ok && !item(&all, "ccache")->required);
	EXPECT(item(&all, "mke2fs")->ok && item(&all, "mke2fs")->required);
	EXPECT_INT(item(&all, "mkfs.xfs")->ok, in_sbin("mkfs.xfs"));
	EXPECT(!item(&all, "mkfs.xfs")->required);
	EXPECT_STR(item(&all, "mkfs.xfs")->package, "xfsprogs");
	lose(&b, "bison");
	lose(&b, "perl");
	EXPECT_INT(doctor_check(&less, &q), n + 2);
	EXPECT(!item(&less, "bison")->ok);
}

TEST(doctor__qemu_without_a_drive)
{
	CLEANUP(bench_done) struct bench b;
	CLEANUP(doctor_release) struct doctor_list l = { NULL };
	struct doctor_query q = { 0 };

	bench_init(&b);
	doctor_check(&l, &q);
	EXPECT(!item(&l, "QEMU's drives")->ok);
	EXPECT(strstr(item(&l, "QEMU's drives")->detail, "lacks ich9-ahci"));
}

TEST(doctor__headers)
{
	CLEANUP(bench_done) struct bench b;
	CLEANUP(doctor_release) struct doctor_list l = { NULL };
	struct doctor_query q = { .include = b.dir };

	bench_init(&b);
	have(&b, "gelf.h");
	doctor_check(&l, &q);
	EXPECT(item(&l, "libelf headers")->ok);
	EXPECT(!item(&l, "C headers")->ok && item(&l, "C headers")->required);
	EXPECT(!item(&l, "openssl headers")->required);
}

TEST(doctor__cache_directory)
{
	CLEANUP(bench_done) struct bench b;
	CLEANUP(doctor_release) struct doctor_list l = { NULL };
	CLEANUP(doctor_release) struct doctor_list bad = { NULL };
	AUTOFREE char *deep = NULL;
	struct doctor_query q = { 0 };

	bench_init(&b);
	deep = xfmt("%s/not/yet/there", b.dir);
	q.cache = deep;
	doctor_check(&l, &q);
	EXPECT(strstr(item(&l, "cache directory")->detail, "GiB free"));
	EXPECT(!file_exists(deep));
	q.cache = "/proc/1/x"; /* not even for root */
	doctor_check(&bad, &q);
	EXPECT(!item(&bad, "cache directory")->ok);
}

TEST(doctor__memory_guest_and_kvm)
{
	CLEANUP(bench_done) struct bench b;
	CLEANUP(doctor_release) struct doctor_list l = { NULL };
	CLEANUP(doctor_release) struct doctor_list m = { NULL };
	AUTOFREE char *info = NULL;
	struct doctor_query q = { .guest = "/nonesuch/init", .kvm = true };
	const char *text = "MemTotal: 9999999 kB\nMemAvailable:  524288 kB\n";
	struct err e;

	bench_init(&b);
	info = xfmt("%s/meminfo", b.dir);
	EXPECT_INT(file_write(info, text, strlen(text), &e), 0);
	q.meminfo = info;
	doctor_check(&l, &q);
	EXPECT(!item(&l, "memory")->ok);
	EXPECT(str_starts(item(&l, "memory")->detail, "512 MiB"));
	EXPECT(!item(&l, "guest program")->ok);
	EXPECT(item(&l, "guest program")->required);
	EXPECT(item(&l, "KVM")->ok);
	q.kvm = false;
	q.guest = info;
	doctor_check(&m, &q);
	EXPECT(item(&m, "guest program")->ok);
	EXPECT(!item(&m, "KVM")->ok && !item(&m, "KVM")->required);
}
