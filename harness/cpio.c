/* The initramfs. Declared in image.h. */
#include "image.h"

#include <string.h>
#include <sys/stat.h>

static void pad(struct str *out, size_t start)
{
	while ((out->len - start) % 4)
		str_putc(out, '\0');
}

static void entry(struct str *out, size_t start, unsigned ino,
		  const struct image_file *f)
{
	unsigned links = S_ISDIR(f->mode) ? 2 : 1;

	str_fmt(out,
		"070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X",
		ino, f->mode, 0, 0, links, 0, (unsigned)f->n, 0, 0, f->major,
		f->minor, (unsigned)strlen(f->name) + 1, 0);
	str_add(out, f->name, strlen(f->name) + 1);
	pad(out, start);
	str_add(out, f->data, f->n);
	pad(out, start);
}

/* The kernel makes no directory by itself. */
static void parents(struct str *out, size_t start, unsigned *ino,
		    struct strv *seen, const char *name)
{
	for (const char *s = strchr(name, '/'); s; s = strchr(s + 1, '/')) {
		AUTOFREE char *dir = xstrndup(name, (size_t)(s - name));
		struct image_file f = { .name = dir, .mode = S_IFDIR | 0755 };

		if (strv_has(seen, dir))
			continue;
		strv_add(seen, dir);
		entry(out, start, ++*ino, &f);
	}
}

void image_cpio(struct str *out, const struct image_file *files, int n)
{
	CLEANUP(strv_release) struct strv seen = STRV_INIT;
	static const struct image_file trailer = { .name = "TRAILER!!!" };
	size_t start = out->len;
	unsigned ino = 0;

	for (int i = 0; i < n; i++) {
		parents(out, start, &ino, &seen, files[i].name);
		if (S_ISDIR(files[i].mode)) {
			if (strv_has(&seen, files[i].name))
				continue;
			strv_add(&seen, files[i].name);
		}
		entry(out, start, ++ino, &files[i]);
	}
	entry(out, start, 0, &trailer);
}

static const struct image_file skeleton[] = {
	{ "proc", .mode = S_IFDIR | 0755 },
	{ "sys", .mode = S_IFDIR | 0755 },
	{ "dev", .mode = S_IFDIR | 0755 },
	{ "mnt", .mode = S_IFDIR | 0755 },
	{ "tmp", .mode = S_IFDIR | 01777 },
	{ "bin", .mode = S_IFDIR | 0755 },
	{ "exec", .mode = S_IFDIR | 0755 },
	{ "dev/console", .mode = S_IFCHR | 0600, .major = 5, .minor = 1 },
	{ "dev/null", .mode = S_IFCHR | 0666, .major = 1, .minor = 3 },
	{ "dev/zero", .mode = S_IFCHR | 0666, .major = 1, .minor = 5 },
	{ "dev/urandom", .mode = S_IFCHR | 0666, .major = 1, .minor = 9 },
	{ "dev/tty", .mode = S_IFCHR | 0666, .major = 5, .minor = 0 },
	{ "dev/ttyS0", .mode = S_IFCHR | 0600, .major = 4, .minor = 64 },
	{ "dev/ttyS1", .mode = S_IFCHR | 0600, .major = 4, .minor = 65 },
	{ "dev/hda", .mode = S_IFBLK | 0600, .major = 3, .minor = 0 },
	{ "dev/hdb", .mode = S_IFBLK | 0600, .major = 3, .minor = 64 },
	{ "dev/hdc", .mode = S_IFBLK | 0600, .major = 22, .minor = 0 },
	{ "dev/hdd", .mode = S_IFBLK | 0600, .major = 22, .minor = 64 },
	{ "dev/sda", .mode = S_IFBLK | 0600, .major = 8, .minor = 0 },
	{ "dev/sdb", .mode = S_IFBLK | 0600, .major = 8, .minor = 16 },
	{ "dev/sdc", .mode = S_IFBLK | 0600, .major = 8, .minor = 32 },
	{ "dev/sdd", .mode = S_IFBLK | 0600, .major = 8, .minor = 48 },
	{ "dev/mmcblk0", .mode = S_IFBLK | 0600, .major = 179, .minor = 0 },
	/* a guess: the number is given out at boot */
	{ "dev/vda", .mode = S_IFBLK | 0600, .major = 254, .minor = 0 },
};

int image_initramfs(struct str *out, const char *init_path, const char *job,
		    const struct image_file *extra, int nextra, struct err *e)
{
	CLEANUP(str_release) struct str init = STR_INIT;
	AUTOFREE struct image_file *files = NULL;
	size_t n = ARRAY_SIZE(skeleton);

	if (file_read(&init, init_path, e))
		return -1;
	files = xcalloc(n + 2 + (size_t)nextra, sizeof(*files));
	memcpy(files, skeleton, sizeof(skeleton));
	files[n++] = (struct image_file){ .name = "init",
					  .data = init.buf,
					  .n = init.len,
					  .mode = S_IFREG | 0755 };
	files[n++] = (struct image_file){ .name = "job",
					  .data = job,
					  .n = strlen(job),
					  .mode = S_IFREG | 0644 };
	for (int i = 0; i < nextra; i++)
		files[n++] = extra[i];
	image_cpio(out, files, (int)n);
	return 0;
}
