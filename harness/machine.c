#include "boot.h"

#include <stdlib.h>
#include <string.h>

#include "keyfile.h"

void machine_release(struct machine *m)
{
	free(m->name);
	free(m->summary);
	free(m->program);
	strv_release(&m->args);
	strv_release(&m->tcg);
	strv_release(&m->kvm);
	strv_release(&m->append);
	*m = (struct machine){ 0 };
}

static int unknown(const char *dir, const char *name, struct err *e)
{
	CLEANUP(strv_release) struct strv names = STRV_INIT;
	CLEANUP(str_release) struct str list = STR_INIT;

	if (keyfile_list(&names, dir, ".machine", e))
		return -1;
	for (size_t i = 0; i < names.n; i++)
		str_fmt(&list, "%s%s", i ? ", " : "", names.v[i]);
	return err_set(e, "unknown machine \"%s\"; %s has %s", name, dir,
		       names.n ? str_c(&list) : "none");
}

int machine_load(struct machine *out, const char *dir, const char *name,
		 struct err *e)
{
	CLEANUP(machine_release) struct machine m = { 0 };
	AUTOFREE char *path = xfmt("%s/%s.machine", dir, name);
	const struct keyfile_key keys[] = {
		{ "summary", .text = &m.summary, .required = true },
		{ "program", .text = &m.program, .required = true },
		{ "arg", .words = &m.args, .required = true },
		{ "tcg", .words = &m.tcg, .required = true },
		{ "kvm", .words = &m.kvm, .required = true },
		{ "append", .words = &m.append },
	};

	if (!*name || strchr(name, '/') || !file_exists(path))
		return unknown(dir, name, e);
	m.name = xstrdup(name);
	if (keyfile_read(path, keys, ARRAY_SIZE(keys), e))
		return -1;
	*out = m;
	m = (struct machine){ 0 };
	return 0;
}
