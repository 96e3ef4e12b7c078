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

/* Thirty years, and all that any drive holds. */
#define MOST_SECONDS 1e9
#define MOST_BYTES   1e15
/* What can be busy at once, and how far a count by ticks can be off. */
#define MOST_CPUS  256
#define TICK_ERROR 1.0

static bool between(double v, double lo, double hi)
{
	return v >= lo && v <= hi; /* false for NaN */
}

/* Verdicts take the elapsed time's logarithm. */
const char *sample_fault(const struct sample *s)
{
	double cpu = s->elapsed * MOST_CPUS + TICK_ERROR;

	const struct {
		const char *name;
		double v, lo, hi;
	} rows[] = {
		{ "elapsed_s", s->elapsed, 1e-6, MOST_SECONDS },
		{ "user_s", s->user, 0, cpu },
		{ "sys_s", s->sys, 0, cpu },
		{ "sync_s", s->sync, 0, s->elapsed + TICK_ERROR },
		{ "written_bytes", s->written, 0, MOST_BYTES },
		{ "probe_n", s->probe_n, 0, INT32_MAX },
		{ "probe_median_s", s->probe_median, 0, MOST_SECONDS },
		{ "probe_p99_s", s->probe_p99, 0, MOST_SECONDS },
		{ "probe_worst_s", s->probe_worst, 0, MOST_SECONDS },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!between(rows[i].v, rows[i].lo, rows[i].hi))
			return rows[i].name;
	return NULL;
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
