#include "kernels.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "sha256.h"

/* Part of the cache's key: to be raised when make is called otherwise, or when
 * an identity is counted otherwise. */
#define BUILD_VERSION "1"

static void hex_of(char hex[65], const struct str *s)
{
	struct sha256 sum;

	sha256_init(&sum);
	sha256_add(&sum, str_c(s), s->len);
	sha256_hex(hex, &sum);
}

/* The cache's name for what is asked. */
static int build_key(char key[65], const struct build_request *r, struct err *e)
{
	CLEANUP(str_release) struct str config = STR_INIT;
	CLEANUP(str_release) struct str all = STR_INIT;

	if (r->config && file_read(&config, r->config, e))
		return -1;
	str_fmt(&all, "%s\n%s\n%s\n%zu %d\n%s", BUILD_VERSION, r->tree,
		r->compiler, strlen(r->wanted), !!r->config, r->wanted);
	str_add(&all, str_c(&config), config.len);
	hex_of(key, &all);
	return 0;
}

/* The value of `key value` in a cached kernel's description; NULL: none. */
static char *field(const struct strv *lines, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 0; i < lines->n; i++)
		if (!strncmp(lines->v[i], key, n) && lines->v[i][n] == ' ')
			return xstrdup(lines->v[i] + n + 1);
	return NULL;
}

/* Whether the image is the one that was described. */
static bool image_is(const char *path, const char *hex)
{
	CLEANUP(str_release) struct str bytes = STR_INIT;
	char got[65];
	struct err e;

	if (file_read(&bytes, path, &e))
		return false;
	hex_of(got, &bytes);
	return !strcmp(got, hex);
}

/* False: there is no whole entry. */
static bool cache_read(struct kernel *out, const char *dir)
{
	CLEANUP(strv_release) struct strv lines = STRV_INIT;
	CLEANUP(str_release) struct str text = STR_INIT;
	CLEANUP(kernel_release) struct kernel k = { .cached = true };
	AUTOFREE char *meta = xfmt("%s/kernel", dir);
	AUTOFREE char *image = xfmt("%s/bzImage", dir);
	AUTOFREE char *log = xfmt("%s/log", dir);
	AUTOFREE char *sum = NULL, *identity = NULL;
	struct err e;

	if (file_read(&text, meta, &e) || !str_ends(str_c(&text), "\nend\n"))
		return false;
	strv_split(&lines, str_c(&text), '\n');
	k.reason = field(&lines, "reason");
	if (!k.reason) {
		sum = field(&lines, "image");
		identity = field(&lines, "identity");
		if (!sum || !identity || strlen(identity) != 64 ||
		    !image_is(image, sum))
			return false;
		memcpy(k.identity, identity, 65);
		k.image = take_ptr(image);
	}
	if (file_exists(log))
		k.log = take_ptr(log);
	*out = k;
	k = (struct kernel){ 0 };
	return true;
}

int kernels_find(struct kernel *out, const struct build_request *r,
		 struct err *e)
{
	AUTOFREE char *dir = NULL;
	char key[65];

	if (build_key(key, r, e))
		return -1;
	dir = xfmt("%s/kernels/%s", r->cache, key);
	return cache_read(out, dir);
}

static int copy_file(const char *to, const char *from, char hex[65],
		     struct err *e)
{
	CLEANUP(str_release) struct str bytes = STR_INIT;

	if (file_read(&bytes, from, e))
		return -1;
	hex_of(hex, &bytes);
	return file_write(to, str_c(&bytes), bytes.len, e);
}

/* Fills a directory of the entry's own beside it. */
static int cache_fill(const struct kernel *k, const struct build_request *r,
		      const char *tmp, struct err *e)
{
	AUTOFREE char *meta = xfmt("%s/kernel", tmp);
	AUTOFREE char *image = xfmt("%s/bzImage", tmp);
	AUTOFREE char *log = xfmt("%s/log", tmp);
	CLEANUP(str_release) struct str text = STR_INIT;
	char hex[65];

	if (dir_remove(tmp, e) || dir_make(tmp, e))
		return -1;
	str_fmt(&text, "tree %s\nname %s\nobjects %d\nmake_s %.1f\n", r->tree,
		r->name, k->objects, k->make_s);
	if (k->image) {
		if (copy_file(image, k->image, hex, e))
			return -1;
		str_fmt(&text, "identity %s\nimage %s\n", k->identity, hex);
	} else {
		if (k->log && copy_file(log, k->log, hex, e))
			return -1;
		str_fmt(&text, "reason %s\n", k->reason);
	}
	str_puts(&text, "end\n");
	return file_write(meta, str_c(&text), text.len, e);
}

static int lock_kernels(int *fd, const struct build_request *r, struct err *e)
{
	AUTOFREE char *path = xfmt("%s/kernels/lock", r->cache);

	*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	while (*fd >= 0 && flock(*fd, LOCK_EX))
		if (errno != EINTR)
			return err_set(e, "lock %s: %m", path);
	return *fd < 0 ? err_set(e, "open %s: %m", path) : 0;
}

/* Whoever comes second has the same kernel, and uses the first one's, which is
 * in use already. Only an entry that is not whole is replaced, and the lock
 * keeps two from replacing each other's. */
static int enter(struct kernel *stored, const char *tmp, const char *dir,
		 const struct build_request *r, struct err *e)
{
	AUTOFD int lock = -1;

	if (lock_kernels(&lock, r, e))
		return -1;
	if (cache_read(stored, dir))
		return 0;
	if (dir_remove(dir, e))
		return -1;
	if (rename(tmp, dir))
		return err_set(e, "rename %s: %m", tmp);
	return cache_read(stored, dir)
		       ? 0
		       : err_set(e, "%s: cannot be read back", dir);
}

/* The entry appears whole or not at all, and out then points into it. The
 * temporary is named after the object directory, which is ours alone, so that
 * what a killed process leaves goes with the next entry. */
int kernels_add(struct kernel *out, const struct build_request *r,
		const char *obj, struct err *e)
{
	CLEANUP(str_release) struct str place = STR_INIT;
	CLEANUP(kernel_release) struct kernel stored = { NULL };
	AUTOFREE char *dir = NULL, *tmp = NULL;
	char key[65], own[65];
	int bad;

	if (build_key(key, r, e))
		return -1;
	str_puts(&place, obj);
	hex_of(own, &place);
	dir = xfmt("%s/kernels/%s", r->cache, key);
	tmp = xfmt("%s/kernels/.new-%.12s", r->cache, own);
	bad = cache_fill(out, r, tmp, e) || enter(&stored, tmp, dir, r, e);
	if (dir_remove(tmp, e) || bad)
		return -1;
	free(out->image);
	out->image = take_ptr(stored.image);
	return 0;
}
