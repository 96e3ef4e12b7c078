/* bench: several kernels side by side, and the reporters' table. */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "history.h"
#include "lab.h"
#include "place.h"
#include "report.h"
#include "state.h"

/* One kernel of the table. */
struct entry {
	char hex[HEX_SIZE]; /* "" for an image */
	char *name, *subject;
	struct kernel kernel;
	struct trial *trials;
	int n;
};

struct bench {
	struct question q;
	struct history *h;
	struct lab *lab;
	struct entry *v;
	int n;
};

static void bench_release(struct bench *b)
{
	for (int i = 0; i < b->n; i++) {
		for (int k = 0; k < b->v[i].n; k++)
			trial_release(&b->v[i].trials[k]);
		free(b->v[i].trials);
		free(b->v[i].name);
		free(b->v[i].subject);
		kernel_release(&b->v[i].kernel);
	}
	free(b->v);
	lab_close(b->lab);
	history_close(b->h);
	question_release(&b->q);
}

static int resolve(struct bench *b, struct entry *en, const char *arg,
		   struct err *e)
{
	CLEANUP(commit_release) struct commit co = { 0 };
	CLEANUP(str_release) struct str name = STR_INIT;

	if (place_is_image(b->h, arg)) {
		en->name = xstrdup(arg);
		return build_prebuilt(&en->kernel, arg, e);
	}
	if (history_resolve(en->hex, b->h, arg, e) ||
	    history_check_kernel(b->h, en->hex, e) ||
	    history_commit(&co, b->h, en->hex, e) ||
	    history_name(&name, b->h, en->hex, e))
		return -1;
	en->name = str_take(&name);
	en->subject = take_ptr(co.subject);
	return 0;
}

static int resolve_all(struct bench *b, struct ctx *c, struct err *e)
{
	bool images = true;
	int no_repo = history_open(&b->h, c->o.repo ? c->o.repo : ".", e);

	/* Outside of any repository images can be measured all the same. */
	for (size_t i = 0; i < c->o.args.n; i++)
		images &= place_is_image(b->h, c->o.args.v[i]);
	if (no_repo && !images)
		return -1;
	b->v = xcalloc(c->o.args.n, sizeof(*b->v));
	b->n = (int)c->o.args.n;
	for (int i = 0; i < b->n; i++)
		if (resolve(b, &b->v[i], c->o.args.v[i], e))
			return -1;
	return 0;
}

static int prepare(struct bench *b, struct ctx *c, const char *logs,
		   struct err *e)
{
	if (options_question(&b->q, &c->o, e) || place_settle(&b->q, e) ||
	    resolve_all(b, c, e))
		return -1;
	return place_lab(&b->lab, &b->q, b->h, logs, c, e);
}

/* All kernels first, then the boots in rounds: a drift of the machine falls on
 * every kernel alike. A kernel that failed once is not tried again. */
static int measure(struct bench *b, struct err *e)
{
	int number = 0;

	for (int i = 0; i < b->n; i++)
		if (b->v[i].hex[0] &&
		    lab_kernel(&b->v[i].kernel, b->lab, b->v[i].hex,
			       b->v[i].name, e))
			return -1;
	for (int round = 0; round < b->q.runs; round++) {
		for (int i = 0; i < b->n; i++) {
			struct entry *en = &b->v[i];

			if (en->kernel.reason || en->n < round ||
			    (en->n && en->trials[en->n - 1].outcome != BOOT_OK))
				continue;
			en->trials = xrealloc(en->trials,
					      (size_t)(en->n + 1) *
						      sizeof(*en->trials));
			if (lab_trial(&en->trials[en->n], b->lab, &en->kernel,
				      en->hex, ++number, en->name, e))
				return -1;
			en->n++;
		}
	}
	return 0;
}

static void fill(struct row *out, const struct entry *en, const char *workload)
{
	AUTOFREE const struct trial **t =
		xcalloc((size_t)en->n, sizeof(struct trial *));

	*out = (struct row){ .kernel = xstrdup(en->name),
			     .commit = xstrdup(en->hex),
			     .subject = xstrdup(en->subject ? en->subject
							    : "") };
	for (int i = 0; i < en->n; i++) {
		t[i] = &en->trials[i];
		if (en->trials[i].reason)
			out->note = xstrdup(en->trials[i].reason);
	}
	row_fill(out, t, en->n, workload);
	if (en->kernel.reason)
		out->note = xfmt("does not build: %s", en->kernel.reason);
}

static void print(struct ctx *c, const struct bench *b)
{
	CLEANUP(str_release) struct str t = STR_INIT;
	size_t w = b->q.workloads.n;
	int n = 0;
	struct row *rows = xcalloc(w * (size_t)b->n, sizeof(*rows));

	for (size_t k = 0; k < w; k++)
		for (int i = 0; i < b->n; i++)
			fill(&rows[n++], &b->v[i], b->q.workloads.v[k]);
	if (c->o.json) {
		struct answer a = { .state = "bench", .steps = -1,
				    .commits = -1, .rows = rows, .nrows = n };
		AUTOFREE char *text = record_answer(&a);

		fprintf(c->out, "%s\n", text);
	} else {
		report_table(&t, rows, n);
		fputs(str_c(&t), c->out);
	}
	while (n--)
		row_release(&rows[n]);
	free(rows);
}

int cmd_bench(struct ctx *c, struct err *e)
{
	CLEANUP(bench_release) struct bench b = { 0 };
	AUTOFREE char *logs = place_scratch();
	int failed = 0;

	if (!c->o.args.n)
		return err_set(e, "bench takes revisions or bzImages: iobisect "
				  "bench REV...");
	if (prepare(&b, c, logs, e) || measure(&b, e))
		return -1;
	print(c, &b);
	for (int i = 0; i < b.n; i++)
		failed |= !b.v[i].n ||
			  b.v[i].trials[b.v[i].n - 1].outcome != BOOT_OK;
	if (!failed)
		return dir_remove(logs, e);
	progress_say(c->p, "logs are in %s", logs);
	return EXIT_UNTESTABLE;
}
