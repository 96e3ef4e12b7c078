#include "drives.h"

#include <stdlib.h>
#include <string.h>

#include "keyfile.h"
#include "profile.h"

void drives_entry_release(struct drives_entry *d)
{
	free(d->name);
	free(d->description);
	*d = (struct drives_entry){ 0 };
}

int drives_list(struct strv *out, const char *share, struct err *e)
{
	AUTOFREE char *dir = xfmt("%s/qemu/drives", share);

	return keyfile_list(out, dir, ".json", e);
}

static int unknown(const char *share, const char *name, struct err *e)
{
	CLEANUP(strv_release) struct strv names = STRV_INIT;
	CLEANUP(str_release) struct str list = STR_INIT;

	if (drives_list(&names, share, e))
		return -1;
	for (size_t i = 0; i < names.n; i++)
		str_fmt(&list, "%s%s", i ? ", " : "", names.v[i]);
	return err_set(e, "unknown drive \"%s\"; there are %s, and profiles of "
			  "your own by their path, ./NAME.json",
		       name, str_c(&list));
}

int drives_find(char **path, struct drives_entry *out, const char *share,
		const char *name, struct err *e)
{
	AUTOFREE char *file = strchr(name, '/')
				      ? xstrdup(name)
				      : xfmt("%s/qemu/drives/%s.json", share,
					     name);
	struct profile *p;

	if (!strchr(name, '/') && !file_exists(file))
		return unknown(share, name, e);
	if (profile_read(&p, file, e))
		return -1;
	if (out)
		*out = (struct drives_entry){
			.name = xstrdup(p->name),
			.description = xstrdup(p->description),
			.rated = p->rated,
			.bytes = (long long)p->sectors * 512,
		};
	profile_free(p);
	*path = take_ptr(file);
	return 0;
}
