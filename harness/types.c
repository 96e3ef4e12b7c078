#include "types.h"

#include <stdlib.h>
#include <string.h>

void dag_release(struct dag *d)
{
	for (int i = 0; i < d->n; i++)
		free(d->v[i].parents);
	free(d->v);
	*d = (struct dag){ 0 };
}

int dag_find(const struct dag *d, const char *hex)
{
	for (int i = 0; i < d->n; i++)
		if (!strcmp(d->v[i].hex, hex))
			return i;
	return -1;
}

void commit_release(struct commit *c)
{
	free(c->subject);
	free(c->author);
	free(c->email);
	strv_release(&c->parents);
	*c = (struct commit){ 0 };
}

void kernel_release(struct kernel *k)
{
	free(k->image);
	free(k->reason);
	free(k->log);
	*k = (struct kernel){ 0 };
}

void boot_release(struct boot *b)
{
	free(b->reason);
	str_release(&b->results);
	*b = (struct boot){ 0 };
}

void trial_release(struct trial *t)
{
	for (int i = 0; i < t->nsamples; i++)
		free(t->samples[i].workload);
	free(t->samples);
	free(t->reason);
	free(t->clock);
	free(t->release);
	*t = (struct trial){ 0 };
}

const struct sample *trial_sample(const struct trial *t, const char *workload)
{
	for (int i = 0; i < t->nsamples; i++)
		if (!strcmp(t->samples[i].workload, workload))
			return &t->samples[i];
	return NULL;
}
