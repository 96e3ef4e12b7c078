/* The commands that build and boot within a bisection: run and test. */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "build.h"
#include "lab.h"
#include "place.h"
#include "report.h"

/* run */

static void account(struct event *ev, const struct lab *l, double start)
{
	const struct lab_time *t = lab_spent(l);

	*ev = (struct event){ .kind = EVENT_TIME, .wall_s = now_s() - start,
			      .make_s = t->make_s, .qemu_s = t->qemu_s,
			      .mkfs_s = t->mkfs_s, .wait_s = t->wait_s };
}

static int suspects_text(struct strv *out, struct bisect *b,
			 const struct strv *hexes, struct err *e)
{
	for (size_t i = 0; i < hexes->n; i++) {
		CLEANUP(commit_release) struct commit co = { 0 };

		if (history_commit(&co, b->h, hexes->v[i], e))
			return -1;
		strv_addf(out, "%.12s %s", co.hex, co.subject);
	}
	return 0;
}

static void print_json(struct ctx *c, struct bisect *b,
		      const struct bisect_result *r, const struct commit *co,
		      const struct row *rows, int n)
{
	struct answer a = { .state = r->end == BISECT_FOUND ? "found" : "range",
			    .culprit = co->hex, .subject = co->subject,
			    .suspects = r->end == BISECT_RANGE ? &r->suspects
							       : NULL,
			    .verdict = r->end == BISECT_FOUND && !r->confirmed
					       ? "unconfirmed"
					       : NULL,
			    .rule = b->st.rule, .steps = -1, .commits = -1,
			    .rows = rows, .nrows = n };
	AUTOFREE char *text = record_answer(&a);

	fprintf(c->out, "%s\n", text);
}

static int print_result(struct ctx *c, struct bisect *b,
			const struct bisect_result *r, struct err *e)
{
	CLEANUP(commit_release) struct commit co = { 0 };
	CLEANUP(strv_release) struct strv paths = STRV_INIT;
	CLEANUP(strv_release) struct strv suspects = STRV_INIT;
	CLEANUP(str_release) struct str t = STR_INIT;
	struct report_found f = { .suspects = &suspects, .paths = &paths,
				  .rule = b->st.rule,
				  .term_new = b->s->q.term_new,
				  .confirmation = r->confirmation,
				  .confirmed = r->confirmed,
				  .slow = r->slow, .fast = r->fast };
	struct row *rows = NULL;
	int n = 0, bad = 0;

	if (r->end == BISECT_FOUND) {
		if (history_commit(&co, b->h, r->culprit, e) ||
		    history_paths(&paths, b->h, r->culprit, e))
			return -1;
		f.culprit = &co;
	} else if (suspects_text(&suspects, b, &r->suspects, e)) {
		return -1;
	}
	bad = state_rows(&rows, &n, &b->st, b->h, b->st.rule->workload, e);
	if (!bad && c->o.json) {
		print_json(c, b, r, &co, rows, n);
	} else if (!bad) {
		report_table(&t, rows, n);
		str_putc(&t, '\n');
		report_answer(&t, &f);
		fputs(str_c(&t), c->out);
	}
	for (int i = 0; i < n; i++)
		row_release(&rows[i]);
	free(rows);
	return bad;
}

static int run_session(struct ctx *c, struct bisect *b, struct err *e)
{
	CLEANUP(bisect_result_release) struct bisect_result r = { 0 };
	CLEANUP(str_release) struct str t = STR_INIT;
	struct event ev;
	struct err later;
	double start = now_s();
	int bad;

	if (place_lab(&b->lab, &b->s->q, b->h, b->s->dir, c, e))
		return -1;
	bad = bisect_run(&r, b, e);
	account(&ev, b->lab, start);
	report_time(&t, &ev);
	if (session_append(b->s, &ev, &later) && !bad) {
		*e = later;
		bad = -1;
	}
	if (bad || print_result(c, b, &r, e))
		return -1;
	if (!c->o.json)
		fputs(str_c(&t), c->out);
	return r.end == BISECT_FOUND && r.confirmed ? EXIT_FOUND : EXIT_RANGE;
}

int cmd_run(struct ctx *c, struct err *e)
{
	CLEANUP(place_release) struct place pl = { 0 };
	CLEANUP(bisect_release) struct bisect b = { 0 };
	int code;

	if (place_session(&pl, c, true, e) || place_load(&b, &pl, c, e))
		return -1;
	code = run_session(c, &b, e);
	lab_close(b.lab);
	return code;
}

/* test */

/* Kernels and trials outside of any session, or of a prebuilt image in one. */
struct lone {
	struct kernel kernel;
	struct trial *trials;
	int n;
};

static void lone_release(struct lone *l)
{
	for (int i = 0; i < l->n; i++)
		trial_release(&l->trials[i]);
	free(l->trials);
	kernel_release(&l->kernel);
}

static int lone_boot(struct lone *l, struct lab *lab, const char *hex,
		     const char *name, int number, struct err *e)
{
	l->trials = xrealloc(l->trials,
			     (size_t)(l->n + 1) * sizeof(*l->trials));
	if (lab_trial(&l->trials[l->n], lab, &l->kernel, hex, number, name, e))
		return -1;
	l->n++;
	return 0;
}

static int lone_samples(double *out, const struct lone *l, const char *workload)
{
	int n = 0;

	for (int i = 0; i < l->n; i++) {
		const struct sample *s = trial_sample(&l->trials[i], workload);

		if (l->trials[i].outcome == BOOT_OK && s)
			out[n++] = s->elapsed;
	}
	return n;
}

static int print_test(struct ctx *c, const char *name,
		      const struct finding_of *f,
		      const struct verdict_rule *rule, const char *term)
{
	struct verdict_summary s;

	verdict_summarize(&s, f->elapsed, f->n);
	if (c->o.json) {
		struct row row = { .kernel = xstrdup(name),
				   .workload = xstrdup(rule->workload),
				   .note = f->reason ? xstrdup(f->reason)
						     : NULL,
				   .verdict = xstrdup(term), .elapsed = s };
		struct answer a = { .state = "test", .verdict = term,
				    .rule = rule, .steps = -1, .commits = -1,
				    .rows = &row, .nrows = 1 };
		AUTOFREE char *text = record_answer(&a);

		fprintf(c->out, "%s\n", text);
		row_release(&row);
	} else if (f->reason || !f->n) {
		fprintf(c->out, "%s: %s: %s\n", name, term,
			f->reason ? f->reason : "marked by hand");
	} else {
		fprintf(c->out, "%s is %s: %s %.3g s in %d boot%s, threshold "
				"%.3g s\n",
			name, term, rule->workload, s.median, s.n,
			s.n == 1 ? "" : "s", rule->threshold);
	}
	return f->mark == MARK_GOOD ? EXIT_FOUND
	       : f->mark == MARK_BAD ? EXIT_BAD
				     : EXIT_UNTESTABLE;
}

/* Boots until decided, with a given rule, or a fixed threshold and the noise
 * that the boots themselves show. */
static int decide(struct finding_of *out, struct lone *l, struct lab *lab,
		  const char *hex, const char *name, struct verdict_rule *rule,
		  bool fixed, struct err *e)
{
	for (int i = 1;; i++) {
		double v[1024];
		struct verdict verdict;
		int n;

		if (l->kernel.reason) {
			out->mark = MARK_SKIP;
			out->reason = xfmt("does not build: %s",
					   l->kernel.reason);
			return 0;
		}
		if (lone_boot(l, lab, hex, name, i, e))
			return -1;
		n = lone_samples(v, l, rule->workload);
		if (n < i) {
			out->mark = MARK_SKIP;
			out->reason = xstrdup(l->trials[l->n - 1].reason);
			return 0;
		}
		if (fixed)
			verdict_fixed(rule, rule->threshold, v, n);
		verdict_judge(&verdict, rule, v, n);
		if (verdict.mark == MARK_WEAK && i < (int)ARRAY_SIZE(v))
			continue;
		out->mark = verdict.mark;
		out->n = n;
		out->elapsed = xcalloc((size_t)n, sizeof(*v));
		memcpy(out->elapsed, v, (size_t)n * sizeof(*v));
		if (out->mark == MARK_SKIP)
			out->reason = xfmt("undecided after %d boots: %.3g s "
					   "+-%.0f%%, threshold %.3g s",
					   n, verdict.at.median,
					   verdict.at.spread * 100,
					   rule->threshold);
		return 0;
	}
}

static int test_alone(struct ctx *c, const struct question *q,
		      struct history *h, const char *logs, const char *arg,
		      struct verdict_rule *rule, bool fixed, struct err *e)
{
	CLEANUP(finding_of_release) struct finding_of f = { 0 };
	CLEANUP(lone_release) struct lone l = { 0 };
	CLEANUP(str_release) struct str name = STR_INIT;
	char hex[HEX_SIZE] = "";
	struct lab *lab = NULL;
	bool image = place_is_image(h, arg);
	int bad;

	if (!image && (history_resolve(hex, h, arg, e) ||
		       history_check_kernel(h, hex, e) ||
		       history_name(&name, h, hex, e)))
		return -1;
	if (image)
		str_puts(&name, arg);
	if (place_lab(&lab, q, image ? NULL : h, logs, c, e))
		return -1;
	bad = (image ? build_prebuilt(&l.kernel, arg, e)
		     : lab_kernel(&l.kernel, lab, hex, str_c(&name), e)) ||
	      decide(&f, &l, lab, hex, str_c(&name), rule, fixed, e);
	lab_close(lab);
	if (bad)
		return -1;
	return print_test(c, str_c(&name), &f, rule,
			  f.mark == MARK_GOOD  ? q->term_old
			  : f.mark == MARK_BAD ? q->term_new
					       : "skip");
}

static int test_in_session(struct ctx *c, struct place *pl, const char *arg,
			   struct err *e)
{
	CLEANUP(bisect_release) struct bisect b = { 0 };
	CLEANUP(strv_release) struct strv bases = STRV_INIT;
	CLEANUP(finding_of_release) struct finding_of f = { 0 };
	CLEANUP(str_release) struct str name = STR_INIT;
	char hex[HEX_SIZE];
	int bad;

	if (place_load(&b, pl, c, e) || history_resolve(hex, pl->h, arg, e) ||
	    history_check_kernel(pl->h, hex, e) ||
	    history_name(&name, pl->h, hex, e) ||
	    bisect_check_ends(&bases, &b, e) ||
	    place_lab(&b.lab, &pl->s->q, pl->h, pl->s->dir, c, e))
		return -1;
	bad = bisect_rule(&b, e) || bisect_test(&f, &b, hex, e);
	lab_close(b.lab);
	if (bad)
		return -1;
	return print_test(c, str_c(&name), &f, b.st.rule,
			  state_term(pl->s, f.mark));
}

static int fixed_rule(struct verdict_rule *out, const struct question *q,
		      struct err *e)
{
	struct verdict_limit limit = { 0 };

	if (!q->threshold)
		return err_set(e, "no bisection is under way, so test needs "
				  "--threshold, for example --threshold 20s");
	if (verdict_limit_parse(&limit, q->threshold, e))
		return -1;
	if (!limit.seconds)
		return err_set(e, "threshold '%s' is relative to good, which "
				  "only a bisection knows: iobisect start",
			       q->threshold);
	if (q->workloads.n != 1)
		return err_set(e, "a threshold is for one workload: name it "
				  "with --workload");
	*out = (struct verdict_rule){ .workload = xstrdup(q->workloads.v[0]),
				      .threshold = limit.seconds,
				      .min_bad = q->runs < 2 ? 1 : 2,
				      .max = q->runs * VERDICT_LOOKS };
	return 0;
}

static int test_fixed(struct ctx *c, struct history *h, const char *arg,
		      struct err *e)
{
	CLEANUP(question_release) struct question q = { 0 };
	CLEANUP(verdict_rule_release) struct verdict_rule rule = { 0 };
	AUTOFREE char *logs = place_scratch();
	int code;

	if (options_question(&q, &c->o, e) || place_settle(&q, e) ||
	    fixed_rule(&rule, &q, e))
		return -1;
	code = test_alone(c, &q, h, logs, arg, &rule, true, e);
	if (code == EXIT_FOUND || code == EXIT_BAD)
		return dir_remove(logs, e) ? -1 : code;
	if (code == EXIT_UNTESTABLE)
		progress_say(c->p, "logs are in %s", logs);
	return code;
}

int cmd_test(struct ctx *c, struct err *e)
{
	CLEANUP(place_release) struct place pl = { 0 };
	const char *arg = c->o.args.n ? c->o.args.v[0] : "HEAD";
	char hex[HEX_SIZE];
	struct err no_repo;

	if (c->o.args.n > 1)
		return err_set(e, "test takes one revision or bzImage");
	if (place_open(&pl, c, &no_repo)) {
		if (place_is_image(NULL, arg))
			return test_fixed(c, NULL, arg, e);
		return err_set(e, "%s", no_repo.msg);
	}
	/* git bisect start --no-checkout leaves HEAD alone. */
	if (!c->o.args.n &&
	    !history_resolve(hex, pl.h, "BISECT_HEAD", &no_repo))
		arg = "BISECT_HEAD";
	if (c->o.threshold || !session_exists(pl.dir))
		return test_fixed(c, pl.h, arg, e);
	if (place_session(&pl, c, true, e))
		return -1;
	if (place_is_image(pl.h, arg)) {
		CLEANUP(bisect_release) struct bisect b = { 0 };
		struct verdict_rule rule;

		if (place_load(&b, &pl, c, e))
			return -1;
		if (!b.st.rule)
			return err_set(e, "the endpoints are not measured yet: "
					  "iobisect run, or --threshold");
		rule = *b.st.rule;
		return test_alone(c, &pl.s->q, pl.h, pl.dir, arg, &rule, false,
				  e);
	}
	return test_in_session(c, &pl, arg, e);
}
