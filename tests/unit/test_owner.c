#include "test.h"

#include <fcntl.h>
#include <unistd.h>

#include "owner.h"
#include "proc.h"
#include "str.h"
#include "types.h"

#define MIB (1 << 20)

/* An image with a directory, a file of several MiB (indirect blocks), a small
 * one, made by mke2fs -d as a guest would leave it. */
static int make(char *dir, const char *type)
{
	AUTOFREE char *tree = xfmt("%s/tree", dir);
	AUTOFREE char *sub = xfmt("%s/w1", tree);
	AUTOFREE char *big = xfmt("%s/big", sub);
	AUTOFREE char *small = xfmt("%s/small", sub);
	AUTOFREE char *image = xfmt("%s/image", dir);
	AUTOFREE char *data = xcalloc(6, MIB);
	const char *const argv[] = { "mke2fs", "-q", "-F", "-t", type, "-b",
				     "4096", "-d", tree, image, "128M", NULL };
	struct err e;

	memset(data, 'x', 6 * MIB);
	if (dir_make(sub, &e) || file_write(big, data, 6 * MIB, &e) ||
	    file_write(small, data, 100, &e) ||
	    proc_capture(NULL, argv, 60, &e)) {
		printf("# %s\n", e.msg);
		return -1;
	}
	return open(image, O_RDONLY | O_CLOEXEC);
}

struct seen {
	int n[OWNER_KINDS];
	int big, small;
	bool big_path, dir_path;
};

static void count(struct seen *s, const struct owners *o)
{
	*s = (struct seen){ 0 };
	for (uint64_t sector = 0; sector < 128 * MIB / 512; sector += 8) {
		struct owner w = owner_at(o, sector);
		const char *path = w.path ? w.path : "";

		s->n[w.kind]++;
		s->big += w.kind == OWNER_DATA && !strcmp(path, "/w1/big");
		s->small += w.kind == OWNER_DATA && !strcmp(path, "/w1/small");
		s->dir_path |= w.kind == OWNER_DIRECTORY && !strcmp(path, "/w1");
	}
}

static void check(const char *type, int indirect, bool journal)
{
	char dir[] = "/tmp/iobisect-owner.XXXXXX";
	struct owners *o = NULL;
	struct seen s;
	struct err e;
	AUTOFD int fd = -1;

	EXPECT(mkdtemp(dir));
	fd = make(dir, type);
	EXPECT(fd >= 0);
	EXPECT_INT(owners_read(&o, fd, &e), 0);
	count(&s, o);
	EXPECT_INT(s.big, 6 * MIB / 4096);
	EXPECT_INT(s.small, 1);
	EXPECT(s.dir_path);
	EXPECT_INT(s.n[OWNER_INDIRECT], indirect);
	EXPECT((s.n[OWNER_JOURNAL] > 1000) == journal);
	EXPECT(s.n[OWNER_SUPERBLOCK] >= 1);
	EXPECT(s.n[OWNER_BITMAP] >= 2);
	EXPECT(s.n[OWNER_INODES] > 100);
	EXPECT(s.n[OWNER_DESCRIPTORS] >= 1);
	EXPECT(owner_at(o, 1ull << 40).kind == OWNER_FREE);
	EXPECT(owner_at(o, 0).kind == OWNER_SUPERBLOCK);
	owners_free(o);
	dir_remove(dir, &e);
}

/* 6 MiB are 1536 blocks: 12 direct, 1024 by the single indirect block, and 500
 * by one under the double indirect one. */
TEST(owner__ext2_indirect_blocks_and_data)
{
	check("ext2", 3, false);
}

TEST(owner__ext4_journal_and_extents)
{
	check("ext4", 0, true);
}

TEST(owner__refuses_what_is_no_file_system)
{
	struct owners *o = NULL;
	struct err e;
	AUTOFD int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	EXPECT_INT(owners_read(&o, fd, &e), -1);
	EXPECT(strstr(e.msg, "read the file system on the drive"));
}
