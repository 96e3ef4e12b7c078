/* File systems made on the host, the same bytes each time. Declared in
 * image.h. */
#include "image.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc.h"
#include "sha256.h"

#define MIB (1LL << 20)

/* Any will do that no other drive has. */
#define UUID	 "696f6269-7365-6374-8a5c-1d0e6b7f3a21"
#define UUID_HEX "696f6269736563748a5c1d0e6b7f3a21"
#define FAT_ID	 "6269f06d"
#define FAT_HEX	 "6df06962"

/* Not after the clock that qemu/pc.machine starts the guest with. */
#define MADE_AT "1262304000"

#define MKFS_TIMEOUT_S 600

/* What 2.6.12 mounts, and its inode size. ext4's set is 2.6.30's. */
#define EXT2_FEATURES                                                          \
	"ext_attr,resize_inode,dir_index,filetype,sparse_super,large_file"
#define EXT4_FEATURES                                                          \
	EXT2_FEATURES ",has_journal,extent,huge_file,flex_bg,uninit_bg,"       \
		      "dir_nlink,extra_isize"
#define EXT_EXTENDED "hash_seed=" UUID ",lazy_itable_init=0,nodiscard"

/* The one geometry for all sizes keeps kernels comparable across drives; an
 * inode for each 8 KiB leaves room for many small files. */
#define EXT_ARGS(type, inode_size, features, ...)                              \
	{                                                                      \
		"-q", "-F", "-t", type, "-b", "4096", "-I", inode_size, "-i",  \
			"8192", "-m", "0", "-U", UUID, "-O", "none," features, \
			"-E", EXT_EXTENDED, ##__VA_ARGS__, NULL                \
	}

static int settle_reiserfs(int fd);
static int settle_xfs(int fd);

#define MAX_ARGS 32

/* By the same index as the public table. The path of the image is appended. */
static const struct recipe {
	const char *args[MAX_ARGS];
	/* Overwrites what the tool takes from the clock and from chance. */
	int (*settle)(int fd);
} recipes[] = {
	{ EXT_ARGS("ext2", "128", EXT2_FEATURES), NULL },
	{ EXT_ARGS("ext3", "128", EXT2_FEATURES ",has_journal", "-J",
		   "size=32"),
	  NULL },
	{ EXT_ARGS("ext4", "256", EXT4_FEATURES, "-J", "size=32"), NULL },
	{ { "-q", "-f", "-f", "-b", "4096", "-h", "r5", "--format", "3.6", "-u",
	    UUID, NULL },
	  settle_reiserfs },
	/* Version 4 with the log and attributes of 2.6.12. */
	{ { "-q", "-f", "-K", "-m", "crc=0,finobt=0,uuid=" UUID, "-s",
	    "size=512", "-b", "size=4096", "-d", "agcount=4", "-i",
	    "size=256,attr=1,projid32bit=0,sparse=0", "-n", "ftype=0", "-l",
	    "version=1,lazy-count=0,size=64m", NULL },
	  settle_xfs },
	/* --invariant sets an identity of its own, hence first. */
	{ { "--invariant", "-F", "32", "-i", FAT_ID, "-s", "8", "-n",
	    "IOBISECT", NULL },
	  NULL },
};

static const struct filesystem filesystems[] = {
	{ "ext2", "mke2fs", "e2fsprogs", "", 1128, UUID_HEX, 16 * MIB },
	{ "ext3", "mke2fs", "e2fsprogs", "", 1128, UUID_HEX, 128 * MIB },
	{ "ext4", "mke2fs", "e2fsprogs", "", 1128, UUID_HEX, 128 * MIB },
	{ "reiserfs", "mkreiserfs", "reiserfsprogs", "", 65620, UUID_HEX,
	  64 * MIB },
	{ "xfs", "mkfs.xfs", "xfsprogs", "", 32, UUID_HEX, 300 * MIB },
	{ "vfat", "mkfs.fat", "dosfstools", "", 67, FAT_HEX, 272 * MIB },
};

const struct filesystem *image_fs_at(int i)
{
	_Static_assert(ARRAY_SIZE(recipes) == ARRAY_SIZE(filesystems),
		       "one recipe for each file system");
	return i >= 0 && i < (int)ARRAY_SIZE(filesystems) ? &filesystems[i]
							  : NULL;
}

const struct filesystem *image_fs_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(filesystems); i++)
		if (!strcmp(filesystems[i].name, name))
			return &filesystems[i];
	return NULL;
}

static int put(int fd, long long at, const void *data, size_t n)
{
	return pwrite(fd, data, n, at) == (ssize_t)n ? 0 : -1;
}

static int put32(int fd, long long at, uint32_t little)
{
	uint32_t v = htole32(little);

	return put(fd, at, &v, sizeof(v));
}

static int get32(uint32_t *out, int fd, long long at)
{
	if (pread(fd, out, sizeof(*out), at) != (ssize_t)sizeof(*out))
		return -1;
	*out = le32toh(*out);
	return 0;
}

/* Superblock at 64 KiB: root block +8, journal's first block +12 and size +20,
 * its random magic +28 (a copy is in the journal's header block, +28), last
 * check +120. The root directory's stat data is the first item of the leaf:
 * item heads follow a 24-byte block head, +20 is the item's place, and three
 * times are at +24 in it. */
static int settle_reiserfs(int fd)
{
	enum { BLOCK = 4096, SUPER = 65536, MAGIC = 0x1057b1c5 };
	uint32_t root, first, size, place;
	long long leaf, header;

	if (get32(&root, fd, SUPER + 8) || get32(&first, fd, SUPER + 12) ||
	    get32(&size, fd, SUPER + 20))
		return -1;
	leaf = (long long)root * BLOCK;
	header = ((long long)first + size) * BLOCK;
	if (get32(&place, fd, leaf + 24 + 20))
		return -1;
	place &= 0xffff;
	if (place > BLOCK - 44)
		return -1;
	if (put32(fd, SUPER + 28, MAGIC) || put32(fd, header + 28, MAGIC) ||
	    put32(fd, SUPER + 120, (uint32_t)atoll(MADE_AT)))
		return -1;
	for (int i = 0; i < 3; i++)
		if (put32(fd, leaf + place + 24 + 4 * i,
			  (uint32_t)atoll(MADE_AT)))
			return -1;
	return 0;
}

/* Superblock, big-endian: the numbers of the three inodes that there are from
 * +56. All are in the first allocation group, where an inode's place is its
 * number times its size. Access, modification and change time are at +32 in it,
 * eight bytes each. Without checksums nothing else depends on them. */
static int settle_xfs(int fd)
{
	enum { INODE = 256, MAGIC = 0x494e };

	for (int i = 0; i < 3; i++) {
		unsigned char times[24] = { 0 };
		uint32_t now = htobe32((uint32_t)atoll(MADE_AT));
		uint64_t ino;
		uint16_t magic;

		if (pread(fd, &ino, 8, 56 + 8 * i) != 8)
			return -1;
		ino = be64toh(ino);
		if (ino > 65536 ||
		    pread(fd, &magic, 2, (off_t)ino * INODE) != 2)
			return -1;
		if (be16toh(magic) != MAGIC)
			return -1;
		for (int t = 0; t < 3; t++)
			memcpy(times + 8 * t, &now, sizeof(now));
		if (put(fd, (long long)ino * INODE + 32, times, sizeof(times)))
			return -1;
	}
	return 0;
}

char *image_fs_tool(const struct filesystem *fs)
{
	return proc_which(fs->tool, "/usr/sbin:/sbin");
}

/* The tool's own version would cost a process each time; its file says as
 * much. */
static char *cache_path(const struct filesystem *fs, long long bytes,
			const struct strv *argv, const char *cache)
{
	struct sha256 sum;
	struct stat st = { 0 };
	char hex[65];
	AUTOFREE char *tool = NULL;

	stat(argv->v[0], &st);
	tool = xfmt("%lld %lld %s", (long long)st.st_size,
		    (long long)st.st_mtime, MADE_AT);
	sha256_init(&sum);
	sha256_add(&sum, tool, strlen(tool) + 1);
	for (size_t i = 0; i < argv->n; i++)
		sha256_add(&sum, argv->v[i], strlen(argv->v[i]) + 1);
	sha256_hex(hex, &sum);
	return xfmt("%s/%s-%lld-%.16s.img", cache, fs->name, bytes, hex);
}

static int settle(const struct recipe *r, const char *tool, const char *image,
		  struct err *e)
{
	AUTOFD int fd = open(image, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return err_set(e, "open %s: %m", image);
	if (r->settle && r->settle(fd))
		return err_set(e,
			       "%s wrote a layout that is not understood: "
			       "please report its version",
			       tool);
	return fsync(fd) ? err_set(e, "write %s: %m", image) : 0;
}

static int make_sparse(const char *path, long long bytes, struct err *e)
{
	AUTOFD int fd =
		open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		return err_set(e, "create %s: %m", path);
	return ftruncate(fd, bytes) ? err_set(e, "create %s with %lld MiB: %m",
					      path, bytes / MIB)
				    : 0;
}

static void last_line(void *ctx, const char *line)
{
	char **last = ctx;

	if (!*line)
		return;
	free(*last);
	*last = xstrdup(line);
}

static int run_mkfs(const struct strv *argv, struct err *e)
{
	static const char *const env[] = { "E2FSPROGS_FAKE_TIME=" MADE_AT,
					   "MKE2FS_CONFIG=/dev/null",
					   "LC_ALL=C", "TZ=UTC", NULL };
	AUTOFREE char *last = NULL;
	struct proc_stream s = { .child_fd = 1, .line = last_line };
	struct proc_spec spec = {
		.argv = (const char *const *)argv->v,
		.env = env,
		.streams = &s,
		.nstreams = 1,
		.timeout = MKFS_TIMEOUT_S,
		.ctx = &last,
	};
	struct proc_result r;

	if (proc_run(&r, &spec, e))
		return -1;
	if (r.timed_out)
		return err_set(e, "%s: no end after %d s", argv->v[0],
			       MKFS_TIMEOUT_S);
	if (r.code)
		return err_set(e, "%s: exit %d: %s", argv->v[0], r.code,
			       last ? last : "no message");
	return 0;
}

static int make(const char *path, const struct recipe *recipe,
		struct strv *argv, long long bytes, struct err *e)
{
	AUTOFREE char *tmp = xfmt("%s.tmp", path); /* ours: see image.h */

	strv_add(argv, tmp);
	if (make_sparse(tmp, bytes, e) || run_mkfs(argv, e) ||
	    settle(recipe, argv->v[0], tmp, e)) {
		unlink(tmp);
		return -1;
	}
	if (rename(tmp, path)) {
		err_set(e, "rename %s: %m", tmp);
		unlink(tmp);
		return -1;
	}
	return 0;
}

int image_filesystem(char **path, double *mkfs_s, const struct filesystem *fs,
		     long long bytes, const char *cache, struct err *e)
{
	const struct recipe *recipe = &recipes[fs - filesystems];
	CLEANUP(strv_release) struct strv argv = STRV_INIT;
	AUTOFREE char *tool = image_fs_tool(fs), *image = NULL;
	double start = now_s();

	*mkfs_s = 0;
	if (!tool)
		return err_set(e, "no %s: install %s", fs->tool, fs->package);
	if (bytes < fs->min_bytes || bytes % 4096)
		return err_set(e,
			       "%s cannot be made with %lld bytes: at least "
			       "%lld MiB, and whole 4096-byte blocks",
			       fs->name, bytes, fs->min_bytes / MIB);
	strv_add(&argv, tool);
	for (int i = 0; recipe->args[i]; i++)
		strv_add(&argv, recipe->args[i]);
	image = cache_path(fs, bytes, &argv, cache);
	if (!file_exists(image)) {
		if (dir_make(cache, e) || make(image, recipe, &argv, bytes, e))
			return -1;
		*mkfs_s = now_s() - start;
	}
	*path = take_ptr(image);
	return 0;
}
