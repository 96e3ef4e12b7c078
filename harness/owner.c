#include "owner.h"

#include <com_err.h>
#include <ext2fs/ext2fs.h>
#include <stdlib.h>
#include <string.h>

#include "str.h"
#include "types.h"

struct owners {
	unsigned sectors_per_block;
	uint64_t nblocks;
	uint8_t *kind;
	uint32_t *inode;
	uint32_t ninodes;
	char **path; /* by inode number; NULL: unknown */
};

const char *owner_name(enum owner_kind k)
{
	static const char *const names[OWNER_KINDS] = {
		[OWNER_FREE] = "free",
		[OWNER_DATA] = "file data",
		[OWNER_DIRECTORY] = "directory",
		[OWNER_INDIRECT] = "indirect block",
		[OWNER_INODES] = "inode table",
		[OWNER_BITMAP] = "bitmap",
		[OWNER_DESCRIPTORS] = "group descriptor",
		[OWNER_SUPERBLOCK] = "superblock",
		[OWNER_JOURNAL] = "journal",
	};

	return names[k];
}

void owners_free(struct owners *o)
{
	if (!o)
		return;
	for (uint32_t i = 0; o->path && i <= o->ninodes; i++)
		free(o->path[i]);
	free(o->path);
	free(o->kind);
	free(o->inode);
	free(o);
}

static void set(struct owners *o, uint64_t block, uint64_t n,
		enum owner_kind kind, uint32_t inode)
{
	for (; n && block < o->nblocks; block++, n--) {
		o->kind[block] = (uint8_t)kind;
		o->inode[block] = inode;
	}
}

static void set_group(struct owners *o, ext2_filsys fs, dgrp_t g)
{
	blk64_t super, old, new;
	blk_t used;

	if (ext2fs_super_and_bgd_loc2(fs, g, &super, &old, &new, &used))
		return;
	if (super || g == 0)
		set(o, super, 1, OWNER_SUPERBLOCK, 0);
	if (old)
		set(o, old, fs->desc_blocks + fs->super->s_reserved_gdt_blocks,
		    OWNER_DESCRIPTORS, 0);
	if (new)
		set(o, new, 1, OWNER_DESCRIPTORS, 0);
	set(o, ext2fs_block_bitmap_loc(fs, g), 1, OWNER_BITMAP, 0);
	set(o, ext2fs_inode_bitmap_loc(fs, g), 1, OWNER_BITMAP, 0);
	set(o, ext2fs_inode_table_loc(fs, g), fs->inode_blocks_per_group,
	    OWNER_INODES, 0);
}

struct walk {
	struct owners *o;
	enum owner_kind kind;
	ext2_ino_t inode;
};

static int take_block(ext2_filsys fs, blk64_t *block, e2_blkcnt_t count,
		      blk64_t ref_block, int ref_offset, void *ctx)
{
	struct walk *w = ctx;
	bool own = w->kind == OWNER_JOURNAL || w->kind == OWNER_DESCRIPTORS;

	(void)fs;
	(void)ref_block;
	(void)ref_offset;
	set(w->o, *block, 1, count < 0 && !own ? OWNER_INDIRECT : w->kind,
	    w->inode);
	return 0;
}

static bool is_dir(const struct ext2_inode *i)
{
	return LINUX_S_ISDIR(i->i_mode);
}

static enum owner_kind kind_of(const struct ext2_inode *i, ext2_ino_t ino)
{
	if (ino == EXT2_JOURNAL_INO)
		return OWNER_JOURNAL;
	if (ino == EXT2_RESIZE_INO)
		return OWNER_DESCRIPTORS;
	return is_dir(i) ? OWNER_DIRECTORY : OWNER_DATA;
}

static errcode_t walk_inodes(struct owners *o, ext2_filsys fs)
{
	ext2_inode_scan scan;
	struct ext2_inode inode;
	ext2_ino_t ino;
	errcode_t bad = ext2fs_open_inode_scan(fs, 0, &scan);

	if (bad)
		return bad;
	while (!(bad = ext2fs_get_next_inode(scan, &ino, &inode)) && ino) {
		struct walk w = { .o = o, .inode = ino };

		if (!inode.i_links_count && ino >= EXT2_FIRST_INO(fs->super))
			continue;
		if (!ext2fs_inode_has_valid_blocks2(fs, &inode))
			continue;
		w.kind = kind_of(&inode, ino);
		bad = ext2fs_block_iterate3(fs, ino, BLOCK_FLAG_READ_ONLY, NULL,
					    take_block, &w);
		if (bad)
			break;
	}
	ext2fs_close_inode_scan(scan);
	return bad;
}

/* Paths: from the root down, each directory once. */
struct naming {
	struct owners *o;
	const char *dir; /* without a slash at its end */
	ext2_ino_t *todo;
	size_t n;
};

static int take_entry(ext2_ino_t dir, int entry, struct ext2_dir_entry *d,
		      int offset, int blocksize, char *buf, void *ctx)
{
	struct naming *n = ctx;
	int len = ext2fs_dirent_name_len(d);

	(void)dir;
	(void)offset;
	(void)blocksize;
	(void)buf;
	if (entry != DIRENT_OTHER_FILE || d->inode > n->o->ninodes ||
	    n->o->path[d->inode])
		return 0;
	n->o->path[d->inode] = xfmt("%s/%.*s", n->dir, len, d->name);
	n->todo = xrealloc(n->todo, (n->n + 1) * sizeof(*n->todo));
	n->todo[n->n++] = d->inode;
	return 0;
}

static errcode_t name_inodes(struct owners *o, ext2_filsys fs)
{
	struct naming n = { .o = o };
	errcode_t bad;

	o->path[EXT2_ROOT_INO] = xstrdup("/");
	n.dir = "";
	bad = ext2fs_dir_iterate2(fs, EXT2_ROOT_INO, 0, NULL, take_entry, &n);
	for (size_t i = 0; !bad && i < n.n; i++) {
		if (ext2fs_check_directory(fs, n.todo[i]))
			continue; /* a file */
		n.dir = o->path[n.todo[i]];
		bad = ext2fs_dir_iterate2(fs, n.todo[i], 0, NULL, take_entry,
					  &n);
	}
	free(n.todo);
	return bad;
}

static errcode_t read_all(struct owners *o, ext2_filsys fs)
{
	errcode_t bad;

	o->sectors_per_block = fs->blocksize / 512;
	o->nblocks = ext2fs_blocks_count(fs->super);
	o->ninodes = fs->super->s_inodes_count;
	o->kind = xcalloc(o->nblocks, sizeof(*o->kind));
	o->inode = xcalloc(o->nblocks, sizeof(*o->inode));
	o->path = xcalloc((size_t)o->ninodes + 1, sizeof(*o->path));
	bad = walk_inodes(o, fs);
	/* last: the places that every file system has by its geometry */
	for (dgrp_t g = 0; g < fs->group_desc_count; g++)
		set_group(o, fs, g);
	return bad ? bad : name_inodes(o, fs);
}

int owners_read(struct owners **out, int fd, struct err *e)
{
	AUTOFREE char *path = xfmt("/proc/self/fd/%d", fd);
	struct owners *o;
	ext2_filsys fs;
	errcode_t bad = ext2fs_open(path, EXT2_FLAG_64BITS, 0, 0,
				    unix_io_manager, &fs);

	if (bad)
		return err_set(e, "read the file system on the drive: %s",
			       error_message(bad));
	o = xcalloc(1, sizeof(*o));
	bad = read_all(o, fs);
	ext2fs_free(fs);
	if (bad) {
		owners_free(o);
		return err_set(e, "the file system on the drive is damaged: %s",
			       error_message(bad));
	}
	*out = o;
	return 0;
}

struct owner owner_at(const struct owners *o, uint64_t sector)
{
	uint64_t block = sector / o->sectors_per_block;
	struct owner found = { .kind = OWNER_FREE };

	if (block >= o->nblocks)
		return found;
	found.kind = (enum owner_kind)o->kind[block];
	found.inode = o->inode[block];
	if (found.inode && found.inode <= o->ninodes)
		found.path = o->path[found.inode];
	return found;
}
