/* What a boot is given: the initramfs and the drive's content. */
#ifndef IMAGE_H
#define IMAGE_H

#include "progress.h"
#include "types.h"

/* One file for the initramfs. */
struct image_file {
	const char *name; /* path inside, without a leading slash */
	const void *data;
	size_t n;
	unsigned mode; /* as in stat: file type and permissions */
	unsigned major, minor; /* device nodes */
};
/* Appends a newc cpio archive (uncompressed, times 0) with these files, their
 * directories, and the trailer. Pure. */
void image_cpio(struct str *out, const struct image_file *files, int n);
/* The whole initramfs: /init, device nodes for consoles and for every drive name
 * that a kernel since 2.6.12 may give (a guest makes further nodes from /sys),
 * /job with the given text, and extra files. */
int image_initramfs(struct str *out, const char *init_path, const char *job,
		    const struct image_file *extra, int nextra, struct err *e);

/* A file system that we can make: the same bytes each time. */
struct filesystem {
	const char *name;    /* also kconfigs/NAME.config and the mount type */
	const char *tool;    /* mkfs program, and its Debian package */
	const char *package;
	const char *options; /* mount options, may be "" */
	/* 16 bytes (vfat: 4) at this offset of the image are its UUID: the guest
	 * finds the drive by them and by its size. */
	long long id_offset;
	const char *id_hex;
	long long min_bytes; /* the smallest image that mkfs takes */
};
const struct filesystem *image_fs_find(const char *name);
const struct filesystem *image_fs_at(int i); /* NULL past the last */
/* Where its tool is, also in sbin, which is in few users' PATH; NULL: nowhere.
 * The caller frees. */
char *image_fs_tool(const struct filesystem *fs);

/* The path of a made file system of that size in cache (made when it is not
 * there; sparse). The caller holds a lock on cache, and frees *path. mkfs
 * failing is an error. *mkfs_s is the time it took, 0 from the cache. */
int image_filesystem(char **path, double *mkfs_s, const struct filesystem *fs,
		     long long bytes, const char *cache, struct err *e);
/* A fresh drive from such an image: an unnamed file in memory (or in dir when
 * memory has not the room), so that nothing is left behind by a kill. */
int image_drive(int *fd, const char *image, const char *dir, struct err *e);
/* Closes it, or a device. Giving a file's memory back takes the kernel up to a
 * tenth of a second, for which nobody waits here. Sets *fd to -1. */
void image_drive_close(int *fd);
/* The same onto a real device: writes the image's data, and zeroes where it has
 * holes, over its first image-size bytes. */
int image_onto_device(int fd, const char *image, struct progress *p,
		      struct err *e);

#endif
