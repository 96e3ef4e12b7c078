#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image.h"
#include "proc.h"

/* A directory for the test; removed by name. */
struct place {
	char dir[64];
};

static struct place place_make(void)
{
	struct place p;
	const char *tmp = getenv("TMPDIR");

	snprintf(p.dir, sizeof(p.dir), "%.30s/test_image.XXXXXX",
		 tmp ? tmp : "/tmp");
	if (!mkdtemp(p.dir))
		TEST_FAIL("mkdtemp %s", p.dir);
	return p;
}

static void place_release(struct place *p)
{
	struct err e;

	dir_remove(p->dir, &e);
}

/* One entry of an archive, as the kernel would read it. */
struct entry {
	unsigned mode, major, minor;
	char name[128];
	const char *data;
	unsigned n;
};

static unsigned field(const char *p, int i)
{
	char hex[9] = "";

	memcpy(hex, p + 6 + 8 * i, 8);
	return (unsigned)strtoul(hex, NULL, 16);
}

/* The entry at *at; false at the trailer or at the first thing that is wrong.
 */
static bool next_entry(struct entry *x, const struct str *s, size_t *at)
{
	const char *p = s->buf + *at;
	unsigned namesize;

	if (*at % 4 || *at + 110 > s->len || memcmp(p, "070701", 6)) {
		TEST_FAIL("no header at %zu", *at);
		return false;
	}
	x->mode = field(p, 1);
	x->n = field(p, 6);
	x->major = field(p, 9);
	x->minor = field(p, 10);
	namesize = field(p, 11);
	EXPECT_INT(field(p, 5), 0);  /* time */
	EXPECT_INT(field(p, 12), 0); /* checksum: none in this format */
	if (namesize > sizeof(x->name) || strlen(p + 110) + 1 != namesize) {
		TEST_FAIL("name of %u bytes at %zu", namesize, *at);
		return false;
	}
	memcpy(x->name, p + 110, namesize);
	*at = (*at + 110 + namesize + 3) / 4 * 4;
	x->data = s->buf + *at;
	*at = (*at + x->n + 3) / 4 * 4;
	return strcmp(x->name, "TRAILER!!!") != 0;
}

static bool find_entry(struct entry *x, const struct str *s, const char *name)
{
	size_t at = 0;

	while (next_entry(x, s, &at))
		if (!strcmp(x->name, name))
			return true;
	return false;
}

TEST(image__cpio_is_what_the_kernel_reads)
{
	CLEANUP(str_release) struct str s = STR_INIT;
	const struct image_file files[] = {
		{ "a/b/c", "hello", 5, S_IFREG | 0644 },
		{ "a/b/d", "", 0, S_IFREG | 0755 },
		{ "a", NULL, 0, S_IFDIR | 0700 },
		{ "dev/x", NULL, 0, S_IFBLK | 0600, 8, 17 },
		{ "sh", "busybox", 7, S_IFLNK | 0777 },
	};
	static const char *const order[] = { "a",   "a/b",   "a/b/c", "a/b/d",
					     "dev", "dev/x", "sh" };
	struct entry x;
	size_t at = 0;

	image_cpio(&s, files, ARRAY_SIZE(files));
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		ASSERT(next_entry(&x, &s, &at));
		EXPECT_STR(x.name, order[i]);
	}
	EXPECT(!next_entry(&x, &s, &at));
	EXPECT_STR(x.name, "TRAILER!!!");
	EXPECT_INT(at, s.len);
	ASSERT(find_entry(&x, &s, "a/b/c"));
	EXPECT(x.n == 5 && !memcmp(x.data, "hello", 5));
	EXPECT_INT(x.mode, S_IFREG | 0644);
	ASSERT(find_entry(&x, &s, "dev/x"));
	EXPECT_INT(x.mode, S_IFBLK | 0600);
	EXPECT(x.major == 8 && x.minor == 17);
	ASSERT(find_entry(&x, &s, "sh"));
	EXPECT_INT(x.mode, S_IFLNK | 0777);
}

/* An archive may follow other text in the buffer. */
TEST(image__cpio_pads_from_its_own_start)
{
	CLEANUP(str_release) struct str a = STR_INIT, b = STR_INIT;
	const struct image_file f = { "f", "12345", 5, S_IFREG | 0644 };

	image_cpio(&a, &f, 1);
	str_puts(&b, "x");
	image_cpio(&b, &f, 1);
	EXPECT_INT(b.len, a.len + 1);
	EXPECT(!memcmp(a.buf, b.buf + 1, a.len));
}

TEST(image__initramfs_has_all_a_guest_needs)
{
	CLEANUP(place_release) struct place p = place_make();
	CLEANUP(str_release) struct str s = STR_INIT, again = STR_INIT;
	AUTOFREE char *init = xfmt("%s/init", p.dir);
	const struct image_file extra = { "exec/program", "#!", 2,
					  S_IFREG | 0755 };
	static const struct {
		const char *name;
		unsigned mode, major, minor;
	} nodes[] = {
		{ "dev/console", S_IFCHR, 5, 1 },
		{ "dev/null", S_IFCHR, 1, 3 },
		{ "dev/ttyS1", S_IFCHR, 4, 65 },
		{ "dev/hda", S_IFBLK, 3, 0 },
		{ "dev/hdc", S_IFBLK, 22, 0 },
		{ "dev/sdb", S_IFBLK, 8, 16 },
		{ "dev/mmcblk0", S_IFBLK, 179, 0 },
	};
	struct entry x;
	struct err e = { "" };

	ASSERT(file_write(init, "ELF", 3, &e) == 0);
	ASSERT(image_initramfs(&s, init, "fs ext2\n", &extra, 1, &e) == 0);
	ASSERT(find_entry(&x, &s, "init"));
	EXPECT_INT(x.mode, S_IFREG | 0755);
	EXPECT(x.n == 3 && !memcmp(x.data, "ELF", 3));
	ASSERT(find_entry(&x, &s, "job"));
	EXPECT(x.n == 8 && !memcmp(x.data, "fs ext2\n", 8));
	EXPECT(find_entry(&x, &s, "exec/program"));
	EXPECT(find_entry(&x, &s, "proc") && find_entry(&x, &s, "sys") &&
	       find_entry(&x, &s, "mnt") && find_entry(&x, &s, "tmp"));
	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++) {
		ASSERT(find_entry(&x, &s, nodes[i].name));
		EXPECT_INT(x.mode & S_IFMT, nodes[i].mode);
		EXPECT_INT(x.major, nodes[i].major);
		EXPECT_INT(x.minor, nodes[i].minor);
	}
	ASSERT(image_initramfs(&again, init, "fs ext2\n", &extra, 1, &e) == 0);
	EXPECT(s.len == again.len && !memcmp(s.buf, again.buf, s.len));
	EXPECT_INT(image_initramfs(&again, "/nowhere/init", "", NULL, 0, &e),
		   -1);
	EXPECT(strstr(e.msg, "/nowhere/init"));
}

/* Offset of the first difference of two files of equal size, or -1. */
static long long first_difference(int a, int b)
{
	static char x[1 << 20], y[1 << 20];
	long long at = 0;

	for (;;) {
		ssize_t n = pread(a, x, sizeof(x), at),
			m = pread(b, y, sizeof(y), at);

		if (n != m || n < 0)
			return at;
		if (n == 0)
			return -1;
		if (memcmp(x, y, (size_t)n))
			for (ssize_t i = 0;; i++)
				if (x[i] != y[i])
					return at + i;
		at += n;
	}
}

static void expect_same_files(const char *what, const char *a, const char *b)
{
	AUTOFD int x = open(a, O_RDONLY | O_CLOEXEC);
	AUTOFD int y = open(b, O_RDONLY | O_CLOEXEC);
	long long at = first_difference(x, y);

	if (x < 0 || y < 0 || at >= 0)
		TEST_FAIL("%s: %s and %s differ at %lld", what, a, b, at);
}

/* The bytes that the guest looks for. */
static void expect_id(const struct filesystem *fs, const char *path)
{
	AUTOFD int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned char id[16] = { 0 };
	size_t n = strlen(fs->id_hex) / 2;
	CLEANUP(str_release) struct str hex = STR_INIT;

	ASSERT(n <= sizeof(id));
	ASSERT(pread(fd, id, n, fs->id_offset) == (ssize_t)n);
	for (size_t i = 0; i < n; i++)
		str_fmt(&hex, "%02x", id[i]);
	EXPECT_STR(str_c(&hex), fs->id_hex);
}

static bool has_tool(const struct filesystem *fs)
{
	AUTOFREE char *tool = image_fs_tool(fs);

	return tool != NULL;
}

/* The checkers' opinion, where they are installed. */
static void expect_sound(const char *name, const char *path)
{
	static const struct {
		const char *fs, *argv[5];
	} checkers[] = {
		{ "ext2", { "/usr/sbin/e2fsck", "-fn" } },
		{ "ext3", { "/usr/sbin/e2fsck", "-fn" } },
		{ "ext4", { "/usr/sbin/e2fsck", "-fn" } },
		{ "xfs", { "/usr/sbin/xfs_repair", "-n" } },
		{ "vfat", { "/usr/sbin/fsck.fat", "-n" } },
		{ "reiserfs", { "/usr/sbin/reiserfsck", "--yes", "--quiet" } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(checkers); i++) {
		const char *const *given = checkers[i].argv;
		const char *argv[6] = { given[0], given[1] };
		CLEANUP(str_release) struct str out = STR_INIT;
		struct err e;

		if (strcmp(checkers[i].fs, name) || !file_exists(given[0]))
			continue;
		if (given[2])
			argv[2] = given[2];
		argv[given[2] ? 3 : 2] = path;
		if (proc_capture(&out, argv, 60, &e))
			TEST_FAIL("%s: %s", name, e.msg);
	}
}

TEST(image__file_systems_are_the_same_bytes_each_time)
{
	CLEANUP(place_release) struct place p = place_make();
	const struct filesystem *fs;
	char *first[16] = { NULL };
	AUTOFREE char *one = xfmt("%s/one", p.dir),
		      *two = xfmt("%s/two", p.dir);
	struct err e = { "" };
	double took;

	for (int i = 0; (fs = image_fs_at(i)); i++) {
		if (!has_tool(fs)) {
			printf("# %s: skipped, no %s\n", fs->name, fs->tool);
			continue;
		}
		if (image_filesystem(&first[i], &took, fs, fs->min_bytes, one,
				     &e))
			TEST_FAIL("%s: %s", fs->name, e.msg);
		EXPECT(took > 0);
	}
	usleep(1100000); /* the clock of the tools ticks in seconds */
	for (int i = 0; (fs = image_fs_at(i)); i++) {
		AUTOFREE char *second = NULL;

		if (!first[i])
			continue;
		if (image_filesystem(&second, &took, fs, fs->min_bytes, two,
				     &e)) {
			TEST_FAIL("%s: %s", fs->name, e.msg);
		} else {
			expect_same_files(fs->name, first[i], second);
			expect_id(fs, second);
			expect_sound(fs->name, second);
		}
		free(first[i]);
	}
}

TEST(image__a_made_file_system_is_kept)
{
	CLEANUP(place_release) struct place p = place_make();
	const struct filesystem *fs = image_fs_find("ext2");
	AUTOFREE char *a = NULL, *b = NULL, *c = NULL;
	struct stat st, st2;
	struct err e = { "" };
	double took;

	ASSERT(fs);
	if (!has_tool(fs))
		return;
	ASSERT(image_filesystem(&a, &took, fs, 16 << 20, p.dir, &e) == 0);
	ASSERT(stat(a, &st) == 0);
	EXPECT_INT(st.st_size, 16 << 20);
	EXPECT(st.st_blocks * 512 < st.st_size / 2); /* sparse */
	ASSERT(image_filesystem(&b, &took, fs, 16 << 20, p.dir, &e) == 0);
	EXPECT_STR(b, a);
	EXPECT(took == 0);
	ASSERT(stat(b, &st2) == 0);
	EXPECT(st.st_ino == st2.st_ino);
	ASSERT(image_filesystem(&c, &took, fs, 32 << 20, p.dir, &e) == 0);
	EXPECT(strcmp(a, c));
}

TEST(image__refuses_what_mkfs_would)
{
	CLEANUP(place_release) struct place p = place_make();
	const struct filesystem *fs = image_fs_find("ext2");
	AUTOFREE char *path = NULL;
	struct err e = { "" };
	double took;

	ASSERT(fs);
	EXPECT(!image_fs_find("ntfs"));
	EXPECT(!image_fs_at(-1) && !image_fs_at(1000));
	if (!has_tool(fs))
		return;
	EXPECT_INT(image_filesystem(&path, &took, fs, 1 << 20, p.dir, &e), -1);
	EXPECT(strstr(e.msg, "16 MiB"));
	EXPECT_INT(
		image_filesystem(&path, &took, fs, (64 << 20) + 512, p.dir, &e),
		-1);
	EXPECT_INT(image_filesystem(&path, &took, fs, 64 << 20, "/proc/nowhere",
				    &e),
		   -1);
	EXPECT(strstr(e.msg, "/proc/nowhere"));
}

/* A file of that size with data in two places. */
static char *sparse_file(const struct place *p, off_t size)
{
	char *path = xfmt("%s/sparse", p->dir);
	AUTOFD int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (ftruncate(fd, size) || pwrite(fd, "begin", 5, 1000) != 5 ||
	    pwrite(fd, "middle", 6, size / 2 + 3) != 6)
		TEST_FAIL("write %s", path);
	return path;
}

TEST(image__a_drive_is_a_copy_without_a_name)
{
	CLEANUP(place_release) struct place p = place_make();
	AUTOFREE char *path = sparse_file(&p, 64 << 20);
	AUTOFD int fd = -1, from = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	struct err e = { "" };

	ASSERT(image_drive(&fd, path, p.dir, &e) == 0);
	EXPECT_INT(first_difference(fd, from), -1);
	ASSERT(fstat(fd, &st) == 0);
	EXPECT_INT(st.st_size, 64 << 20);
	EXPECT_INT(st.st_nlink, 0);
	EXPECT(st.st_blocks * 512 < 1 << 20);
	/* what a guest writes stays out of the image */
	EXPECT(pwrite(fd, "x", 1, 0) == 1);
	EXPECT_INT(first_difference(fd, from), 0);
	EXPECT_INT(image_drive(&fd, "/nowhere/x", p.dir, &e), -1);
	EXPECT(strstr(e.msg, "/nowhere/x"));
	image_drive_close(&fd);
	EXPECT_INT(fd, -1);
	image_drive_close(&fd);
}

/* More than any memory has: it goes to the disk, which has not the room. */
TEST(image__says_when_there_is_no_room)
{
	CLEANUP(place_release) struct place p = place_make();
	AUTOFREE char *path = sparse_file(&p, 8LL << 40);
	AUTOFD int fd = -1;
	struct err e = { "" };

	EXPECT_INT(image_drive(&fd, path, p.dir, &e), -1);
	EXPECT(strstr(e.msg, "no room for the drive"));
}

TEST(image__onto_a_device_writes_the_holes_too)
{
	CLEANUP(place_release) struct place p = place_make();
	AUTOFREE char *path = sparse_file(&p, 8 << 20);
	AUTOFREE char *dev = xfmt("%s/device", p.dir);
	AUTOFD int from = open(path, O_RDONLY | O_CLOEXEC);
	AUTOFD int fd = open(dev, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	static char dirt[(8 << 20) + 4096];
	char tail[4096];
	struct err e = { "" };

	memset(dirt, 0xff, sizeof(dirt));
	ASSERT(pwrite(fd, dirt, sizeof(dirt), 0) == (ssize_t)sizeof(dirt));
	ASSERT(image_onto_device(fd, path, NULL, &e) == 0);
	/* beyond the image nothing was touched */
	ASSERT(pread(fd, tail, sizeof(tail), 8 << 20) == sizeof(tail));
	EXPECT(!memcmp(tail, dirt, sizeof(tail)));
	ASSERT(ftruncate(fd, 8 << 20) == 0);
	EXPECT_INT(first_difference(fd, from), -1);
	ASSERT(ftruncate(fd, 4 << 20) == 0);
	EXPECT_INT(image_onto_device(fd, path, NULL, &e), -1);
	EXPECT(strstr(e.msg, "too small"));
}
