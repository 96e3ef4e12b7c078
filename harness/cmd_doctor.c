/* doctor: is everything here that a run needs? */
#include "cmd.h"

#include <stdlib.h>

#include "boot.h"
#include "doctor.h"
#include "lab.h"

static void print_json(struct ctx *c, const struct doctor_list *l)
{
	struct finding *f = xcalloc((size_t)l->n, sizeof(*f));
	AUTOFREE char *text = NULL;

	for (int i = 0; i < l->n; i++)
		f[i] = (struct finding){ .what = l->v[i].what,
					 .detail = l->v[i].detail,
					 .install = l->v[i].package,
					 .ok = l->v[i].ok,
					 .required = l->v[i].required };
	text = record_findings(f, l->n);
	fprintf(c->out, "%s\n", text);
	free(f);
}

static void print_text(struct ctx *c, const struct doctor_list *l)
{
	CLEANUP(str_release) struct str install = STR_INIT;

	for (int i = 0; i < l->n; i++) {
		const struct doctor_item *it = &l->v[i];

		fprintf(c->out, "%-8s %-22s %s\n",
			it->ok ? "ok" : it->required ? "MISSING" : "advised",
			it->what, it->detail);
		if (!it->ok && it->package)
			str_fmt(&install, " %s", it->package);
	}
	if (install.len)
		fprintf(c->out, "\ninstall what is missing with:\n"
				"  apt-get install%s\n",
			str_c(&install));
}

int cmd_doctor(struct ctx *c, struct err *e)
{
	CLEANUP(doctor_release) struct doctor_list l = { 0 };
	AUTOFREE char *cache = lab_cache_dir();
	AUTOFREE char *share = NULL;
	AUTOFREE char *guest = NULL;
	struct doctor_query q = { .cache = cache, .fs = c->o.fs };
	int missing;

	if (lab_share_dir(&share, e))
		return -1;
	guest = xfmt("%s/init", share);
	q.guest = guest;
	q.kvm = boot_kvm_works();
	missing = doctor_check(&l, &q);
	if (c->o.json)
		print_json(c, &l);
	else
		print_text(c, &l);
	return missing ? EXIT_HARNESS : 0;
}
