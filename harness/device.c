#include "device.h"

#include <stdlib.h>
#include <string.h>

#include "keyfile.h"

/* How a real device is attached when nothing else is said. */
#define REAL_DEFAULT "sata"

void device_release(struct device *d)
{
	free(d->name);
	free(d->summary);
	free(d->real);
	strv_release(&d->fragments);
	strv_release(&d->args);
	strv_release(&d->append);
	*d = (struct device){ 0 };
}

int device_list(struct strv *out, const char *dir, struct err *e)
{
	return keyfile_list(out, dir, ".device", e);
}

static int unknown(const char *dir, const char *name, struct err *e)
{
	CLEANUP(strv_release) struct strv names = STRV_INIT;
	CLEANUP(str_release) struct str list = STR_INIT;

	if (device_list(&names, dir, e))
		return -1;
	for (size_t i = 0; i < names.n; i++)
		str_fmt(&list, "%s, ", names.v[i]);
	return err_set(e,
		       "unknown device \"%s\"; there are %sand real ones by "
		       "their path, /dev/disk/by-id/...",
		       name, str_c(&list));
}

int device_load(struct device *out, const char *dir, const char *name,
		struct err *e)
{
	CLEANUP(device_release) struct device d = { 0 };
	const char *slash = strchr(name, '/');
	bool chosen = slash && slash > name && slash[-1] == ':';
	AUTOFREE char *kind =
		slash == name ? xstrdup(REAL_DEFAULT)
		: chosen      ? xstrndup(name, (size_t)(slash - name) - 1)
			      : xstrdup(name);
	AUTOFREE char *path = xfmt("%s/%s.device", dir, kind);
	const struct keyfile_key keys[] = {
		{ "summary", .text = &d.summary, .required = true },
		{ "fragment", .words = &d.fragments, .required = true },
		{ "arg", .words = &d.args, .required = true },
		{ "append", .words = &d.append },
	};

	if (!*kind || strchr(kind, '/') || !file_exists(path))
		return unknown(dir, kind, e);
	d.name = xstrdup(name);
	d.real = slash ? xstrdup(slash) : NULL;
	if (keyfile_read(path, keys, ARRAY_SIZE(keys), e))
		return -1;
	*out = d;
	d = (struct device){ 0 };
	return 0;
}
