#include "record.h"

#include "drives.h"

#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Reading: every getter notes the first member that is missing or of the wrong
 * type, so that a whole record is read first and judged once. */
struct reader {
	const json_t *obj;
	const char *bad;
};

static const json_t *get(struct reader *r, const char *key)
{
	return json_object_get(r->obj, key);
}

static void wrong(struct reader *r, const char *key)
{
	if (!r->bad)
		r->bad = key;
}

static char *get_str(struct reader *r, const char *key, bool required)
{
	const json_t *v = get(r, key);

	if (json_is_string(v))
		return xstrdup(json_string_value(v));
	if (v || required)
		wrong(r, key);
	return required ? xstrdup("") : NULL;
}

static double get_num(struct reader *r, const char *key)
{
	const json_t *v = get(r, key);

	if (!json_is_number(v))
		wrong(r, key);
	return json_number_value(v);
}

static long long get_int(struct reader *r, const char *key)
{
	const json_t *v = get(r, key);

	if (!json_is_integer(v))
		wrong(r, key);
	return json_integer_value(v);
}

/* What becomes an int, and never is negative. */
/* So that one more is still a number that is read again. */
#define MOST_TRIALS 1000000

static int get_count(struct reader *r, const char *key)
{
	long long v = get_int(r, key);

	if (v >= 0 && v <= INT_MAX)
		return (int)v;
	wrong(r, key);
	return 0;
}

static bool get_bool(struct reader *r, const char *key)
{
	const json_t *v = get(r, key);

	if (!json_is_boolean(v))
		wrong(r, key);
	return json_is_true(v);
}

static void get_fixed(char *out, size_t n, struct reader *r, const char *key)
{
	AUTOFREE char *s = get_str(r, key, false);

	out[0] = '\0';
	if (!s)
		return;
	if (strlen(s) >= n)
		wrong(r, key);
	else
		memcpy(out, s, strlen(s) + 1);
}

static void get_list(struct strv *out, struct reader *r, const char *key)
{
	const json_t *v = get(r, key), *item;
	size_t i;

	if (!json_is_array(v)) {
		wrong(r, key);
		return;
	}
	json_array_foreach(v, i, item) {
		if (json_is_string(item))
			strv_add(out, json_string_value(item));
		else
			wrong(r, key);
	}
}

/* Writing. A guest's or a compiler's text need not be UTF-8; JSON must be. */
static json_t *text(const char *s)
{
	json_t *v = json_string(s);
	CLEANUP(str_release) struct str t = STR_INIT;

	if (v)
		return v;
	for (; *s; s++)
		str_putc(&t, (unsigned char)*s < 128 ? *s : '?');
	return json_string(str_c(&t));
}

static void put_str(json_t *o, const char *key, const char *s)
{
	if (s && *s)
		json_object_set_new(o, key, text(s));
}

static void put_num(json_t *o, const char *key, double v)
{
	json_object_set_new(o, key, json_real(v));
}

static void put_int(json_t *o, const char *key, long long v)
{
	json_object_set_new(o, key, json_integer(v));
}

static void put_list(json_t *o, const char *key, const struct strv *l)
{
	json_t *a = json_array();

	for (size_t i = 0; i < l->n; i++)
		json_array_append_new(a, text(l->v[i]));
	json_object_set_new(o, key, a);
}

static char *dump(json_t *o, size_t flags)
{
	char *s = json_dumps(o, flags | JSON_REAL_PRECISION(9));

	json_decref(o);
	if (!s)
		BUG("a record that is no JSON");
	return s;
}

static json_t *load(struct reader *r, const char *line, struct err *e)
{
	json_error_t je;
	json_t *o = json_loads(line, JSON_REJECT_DUPLICATES, &je);

	if (o && !json_is_object(o)) {
		json_decref(o);
		err_set(e, "not a JSON object");
		return NULL;
	}
	if (!o)
		err_set(e, "not JSON: %s", je.text);
	*r = (struct reader){ .obj = o };
	return o;
}

/* The question */

void question_release(struct question *q)
{
	strv_release(&q->paths);
	strv_release(&q->workloads);
	strv_release(&q->config_fragments);
	strv_release(&q->sums);
	free(q->term_old);
	free(q->term_new);
	free(q->device);
	free(q->drive);
	free(q->erase);
	free(q->fs);
	free(q->threshold);
	free(q->machine);
	free(q->accel);
	free(q->cc);
	free(q->config);
	*q = (struct question){ 0 };
}

char *record_question(const struct question *q)
{
	json_t *o = json_object();

	put_int(o, "iobisect", 1);
	json_object_set_new(o, "first_parent", json_boolean(q->first_parent));
	put_list(o, "paths", &q->paths);
	put_str(o, "term_old", q->term_old);
	put_str(o, "term_new", q->term_new);
	put_list(o, "workloads", &q->workloads);
	put_str(o, "device", q->device);
	put_str(o, "drive", q->drive);
	put_int(o, "slow", q->slow);
	put_str(o, "erase", q->erase);
	put_str(o, "fs", q->fs);
	put_str(o, "threshold", q->threshold);
	put_int(o, "runs", q->runs);
	put_int(o, "mem_mb", q->mem_mb);
	put_int(o, "drive_bytes", q->drive_bytes);
	put_str(o, "machine", q->machine);
	put_str(o, "accel", q->accel);
	put_str(o, "cc", q->cc);
	put_str(o, "config", q->config);
	put_list(o, "config_fragments", &q->config_fragments);
	put_int(o, "jobs", q->jobs);
	put_list(o, "sums", &q->sums);
	return dump(o, JSON_INDENT(2));
}

int record_question_parse(struct question *out, const char *text_,
			  struct err *e)
{
	struct reader r;
	json_t *o = load(&r, text_, e);

	*out = (struct question){ 0 };
	if (!o)
		return -1;
	if (get_int(&r, "iobisect") != 1)
		wrong(&r, "iobisect");
	out->first_parent = get_bool(&r, "first_parent");
	get_list(&out->paths, &r, "paths");
	out->term_old = get_str(&r, "term_old", true);
	out->term_new = get_str(&r, "term_new", true);
	get_list(&out->workloads, &r, "workloads");
	out->device = get_str(&r, "device", true);
	out->drive = get_str(&r, "drive", false);
	out->slow = get(&r, "slow") ? get_count(&r, "slow") : 1;
	out->erase = get_str(&r, "erase", false);
	out->fs = get_str(&r, "fs", true);
	out->threshold = get_str(&r, "threshold", false);
	out->runs = get_count(&r, "runs");
	out->mem_mb = get_count(&r, "mem_mb");
	out->drive_bytes = get_int(&r, "drive_bytes");
	out->machine = get_str(&r, "machine", true);
	out->accel = get_str(&r, "accel", true);
	out->cc = get_str(&r, "cc", false);
	out->config = get_str(&r, "config", false);
	get_list(&out->config_fragments, &r, "config_fragments");
	out->jobs = get_count(&r, "jobs");
	if (get(&r, "sums"))
		get_list(&out->sums, &r, "sums");
	json_decref(o);
	if (!r.bad)
		return 0;
	question_release(out);
	return err_set(e, "member \"%s\" is missing or wrong", r.bad);
}

/* Words for enums: the journal is for people too. */
static const char *const event_names[] = {
	[EVENT_MARK] = "mark",   [EVENT_RULE] = "rule", [EVENT_BUILD] = "build",
	[EVENT_TRIAL] = "trial", [EVENT_NEXT] = "next", [EVENT_END] = "end",
	[EVENT_TIME] = "time",   [EVENT_CONFIRM] = "confirm",
};
static const char *const mark_names[] = {
	[MARK_NONE] = "none", [MARK_GOOD] = "good", [MARK_BAD] = "bad",
	[MARK_SKIP] = "skip", [MARK_WEAK] = "weak",
};
static const char *const outcome_names[] = {
	[BOOT_OK] = "ok",
	[BOOT_NO_INIT] = "no-init",
	[BOOT_DIED] = "died",
	[BOOT_HUNG] = "hung",
};

static int get_word(struct reader *r, const char *key, const char *const *words,
		    size_t n)
{
	const json_t *v = get(r, key);

	for (size_t i = 0; json_is_string(v) && i < n; i++)
		if (!strcmp(json_string_value(v), words[i]))
			return (int)i;
	wrong(r, key);
	return 0;
}

void event_release(struct event *ev)
{
	free(ev->why);
	kernel_release(&ev->kernel);
	trial_release(&ev->trial);
	verdict_rule_release(&ev->rule);
	*ev = (struct event){ 0 };
}

/* One table a struct, read and written by the same rows. */
struct field {
	const char *key;
	size_t at;
};

static const struct field sample_fields[] = {
	{ "elapsed_s", offsetof(struct sample, elapsed) },
	{ "user_s", offsetof(struct sample, user) },
	{ "sys_s", offsetof(struct sample, sys) },
	{ "sync_s", offsetof(struct sample, sync) },
	{ "written_bytes", offsetof(struct sample, written) },
	{ "probe_median_s", offsetof(struct sample, probe_median) },
	{ "probe_p99_s", offsetof(struct sample, probe_p99) },
	{ "probe_worst_s", offsetof(struct sample, probe_worst) },
};
static const struct field trial_fields[] = {
	{ "qemu_s", offsetof(struct trial, qemu_s) },
	{ "to_init_s", offsetof(struct trial, to_init_s) },
	{ "to_workload_s", offsetof(struct trial, to_workload_s) },
	{ "mkfs_s", offsetof(struct trial, mkfs_s) },
};
static const struct field rule_fields[] = {
	{ "threshold_s", offsetof(struct verdict_rule, threshold) },
	{ "sigma", offsetof(struct verdict_rule, sigma) },
	{ "good_s", offsetof(struct verdict_rule, good) },
	{ "bad_s", offsetof(struct verdict_rule, bad) },
};
static const struct field time_fields[] = {
	{ "wall_s", offsetof(struct event, wall_s) },
	{ "make_s", offsetof(struct event, make_s) },
	{ "qemu_s", offsetof(struct event, qemu_s) },
	{ "mkfs_s", offsetof(struct event, mkfs_s) },
	{ "wait_s", offsetof(struct event, wait_s) },
};

static void put_fields(json_t *o, const void *obj, const struct field *f,
		       size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double v;

		memcpy(&v, (const char *)obj + f[i].at, sizeof(v));
		put_num(o, f[i].key, v);
	}
}

static void get_fields(void *obj, struct reader *r, const struct field *f,
		       size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double v = get_num(r, f[i].key);

		memcpy((char *)obj + f[i].at, &v, sizeof(v));
	}
}

static json_t *samples_json(const struct trial *t)
{
	json_t *a = json_array();

	for (int i = 0; i < t->nsamples; i++) {
		const struct sample *s = &t->samples[i];
		json_t *o = json_object();

		put_str(o, "workload", s->workload);
		put_fields(o, s, sample_fields, ARRAY_SIZE(sample_fields));
		put_int(o, "probe_n", s->probe_n);
		json_array_append_new(a, o);
	}
	return a;
}

static void put_trial(json_t *o, const struct trial *t)
{
	put_int(o, "number", t->number);
	put_str(o, "identity", t->identity);
	put_str(o, "outcome", outcome_names[t->outcome]);
	put_str(o, "reason", t->reason);
	put_str(o, "clock", t->clock);
	put_str(o, "release", t->release);
	put_fields(o, t, trial_fields, ARRAY_SIZE(trial_fields));
	json_object_set_new(o, "samples", samples_json(t));
}

static void get_samples(struct trial *t, struct reader *r)
{
	const json_t *a = get(r, "samples"), *item;
	size_t i;

	if (!json_is_array(a)) {
		wrong(r, "samples");
		return;
	}
	t->nsamples = (int)json_array_size(a);
	t->samples = xcalloc((size_t)t->nsamples, sizeof(*t->samples));
	json_array_foreach(a, i, item) {
		struct reader ir = { .obj = item };
		struct sample *s = &t->samples[i];

		s->workload = get_str(&ir, "workload", true);
		get_fields(s, &ir, sample_fields, ARRAY_SIZE(sample_fields));
		s->probe_n = get_count(&ir, "probe_n");
		if (!ir.bad)
			ir.bad = sample_fault(s);
		if (ir.bad)
			wrong(r, ir.bad);
	}
}

static void get_trial(struct trial *t, struct reader *r)
{
	t->number = get_count(r, "number");
	if (t->number > MOST_TRIALS)
		wrong(r, "number");
	get_fixed(t->identity, sizeof(t->identity), r, "identity");
	t->outcome = (enum boot_outcome)get_word(r, "outcome", outcome_names,
						 ARRAY_SIZE(outcome_names));
	t->reason = get_str(r, "reason", false);
	t->clock = get_str(r, "clock", false);
	t->release = get_str(r, "release", false);
	get_fields(t, r, trial_fields, ARRAY_SIZE(trial_fields));
	get_samples(t, r);
}

static void put_kernel(json_t *o, const struct kernel *k)
{
	put_str(o, "identity", k->identity);
	put_str(o, "reason", k->reason);
	put_str(o, "log", k->log);
	put_num(o, "make_s", k->make_s);
	put_int(o, "objects", k->objects);
	json_object_set_new(o, "cached", json_boolean(k->cached));
}

static void get_kernel(struct kernel *k, struct reader *r)
{
	get_fixed(k->identity, sizeof(k->identity), r, "identity");
	k->reason = get_str(r, "reason", false);
	k->log = get_str(r, "log", false);
	k->make_s = get_num(r, "make_s");
	k->objects = get_count(r, "objects");
	k->cached = get_bool(r, "cached");
}

static void put_rule(json_t *o, const struct verdict_rule *u)
{
	put_str(o, "workload", u->workload);
	put_fields(o, u, rule_fields, ARRAY_SIZE(rule_fields));
	put_int(o, "min_bad", u->min_bad);
	put_int(o, "max", u->max);
}

char *record_event(const struct event *ev)
{
	json_t *o = json_object();

	put_str(o, "event", event_names[ev->kind]);
	put_int(o, "time", ev->time);
	put_str(o, "commit", ev->commit);
	if (ev->kind == EVENT_MARK || ev->kind == EVENT_END) {
		put_str(o, "mark", mark_names[ev->mark]);
		put_str(o, "why", ev->why);
	} else if (ev->kind == EVENT_TRIAL) {
		put_trial(o, &ev->trial);
	} else if (ev->kind == EVENT_BUILD) {
		put_kernel(o, &ev->kernel);
	} else if (ev->kind == EVENT_RULE) {
		put_rule(o, &ev->rule);
	} else if (ev->kind == EVENT_TIME) {
		put_fields(o, ev, time_fields, ARRAY_SIZE(time_fields));
	}
	return dump(o, JSON_COMPACT);
}

static void get_rule(struct verdict_rule *u, struct reader *r)
{
	u->workload = get_str(r, "workload", true);
	get_fields(u, r, rule_fields, ARRAY_SIZE(rule_fields));
	u->min_bad = get_count(r, "min_bad");
	u->max = get_count(r, "max");
	/* all of them are divided by, or have their logarithm taken */
	if (u->max < 1 || u->max > MOST_TRIALS || u->min_bad > u->max)
		wrong(r, "max");
	for (size_t i = 0; i < ARRAY_SIZE(rule_fields); i++)
		if (!(get_num(r, rule_fields[i].key) > 0))
			wrong(r, rule_fields[i].key);
}

/* Every event but the run's own are about a commit; a boot may be of an image
 * that is none, and an end of a range. */
static bool is_commit(const struct event *ev)
{
	bool none = ev->kind == EVENT_RULE || ev->kind == EVENT_TIME ||
		    ev->kind == EVENT_TRIAL || ev->kind == EVENT_END;

	if (!ev->commit[0])
		return none;
	return strlen(ev->commit) == HEX_LEN &&
	       strspn(ev->commit, "0123456789abcdef") == HEX_LEN;
}

static bool is_marking(const struct event *ev)
{
	bool end = ev->kind == EVENT_END;

	return ev->mark == MARK_BAD || ev->mark == MARK_SKIP ||
	       ev->mark == (end ? MARK_WEAK : MARK_GOOD);
}

int record_event_parse(struct event *out, const char *line, struct err *e)
{
	struct reader r;
	json_t *o = load(&r, line, e);

	*out = (struct event){ 0 };
	if (!o)
		return -1;
	out->kind = (enum event_kind)get_word(&r, "event", event_names,
					      ARRAY_SIZE(event_names));
	out->time = get_int(&r, "time");
	get_fixed(out->commit, sizeof(out->commit), &r, "commit");
	if (out->kind == EVENT_MARK || out->kind == EVENT_END) {
		out->mark = (enum mark)get_word(&r, "mark", mark_names,
						ARRAY_SIZE(mark_names));
		out->why = get_str(&r, "why", false);
		if (!is_marking(out))
			wrong(&r, "mark");
	} else if (out->kind == EVENT_TRIAL) {
		get_trial(&out->trial, &r);
		memcpy(out->trial.commit, out->commit, sizeof(out->commit));
	} else if (out->kind == EVENT_BUILD) {
		get_kernel(&out->kernel, &r);
	} else if (out->kind == EVENT_RULE) {
		get_rule(&out->rule, &r);
	} else if (out->kind == EVENT_TIME) {
		get_fields(out, &r, time_fields, ARRAY_SIZE(time_fields));
	}
	if (!is_commit(out))
		wrong(&r, "commit");
	json_decref(o);
	if (!r.bad)
		return 0;
	event_release(out);
	return err_set(e, "member \"%s\" is missing or wrong", r.bad);
}

/* For programs */

void row_release(struct row *r)
{
	free(r->kernel);
	free(r->commit);
	free(r->subject);
	free(r->workload);
	free(r->note);
	free(r->verdict);
	*r = (struct row){ 0 };
}

static void put_summary(json_t *o, const char *key,
			const struct verdict_summary *s)
{
	json_t *v = json_object();

	put_num(v, "median", s->median);
	put_num(v, "min", s->min);
	put_num(v, "max", s->max);
	json_object_set_new(o, key, v);
}

static json_t *row_json(const struct row *r)
{
	json_t *o = json_object();

	put_str(o, "kernel", r->kernel);
	put_str(o, "commit", r->commit);
	put_str(o, "subject", r->subject);
	put_str(o, "workload", r->workload);
	put_str(o, "note", r->note);
	put_str(o, "verdict", r->verdict);
	put_int(o, "boots", r->elapsed.n);
	if (!r->elapsed.n)
		return o;
	put_summary(o, "elapsed_s", &r->elapsed);
	put_summary(o, "user_s", &r->user);
	put_summary(o, "system_s", &r->sys);
	put_summary(o, "cpu_percent", &r->cpu);
	put_summary(o, "sync_s", &r->sync);
	put_summary(o, "bytes_per_s", &r->throughput);
	put_summary(o, "worst_latency_s", &r->worst);
	return o;
}

char *record_answer(const struct answer *a)
{
	json_t *o = json_object(), *rows = json_array();

	put_str(o, "state", a->state);
	put_str(o, "note", a->note);
	put_str(o, "culprit", a->culprit);
	put_str(o, "subject", a->subject);
	put_str(o, "verdict", a->verdict);
	put_str(o, "next", a->next);
	if (a->suspects)
		put_list(o, "suspects", a->suspects);
	if (a->steps >= 0)
		put_int(o, "steps", a->steps);
	if (a->commits >= 0)
		put_int(o, "commits", a->commits);
	if (a->rule && a->rule->threshold > 0) {
		json_t *u = json_object();

		put_rule(u, a->rule);
		json_object_set_new(o, "rule", u);
	}
	for (int i = 0; i < a->nrows; i++)
		json_array_append_new(rows, row_json(&a->rows[i]));
	json_object_set_new(o, "kernels", rows);
	return dump(o, JSON_INDENT(2));
}

char *record_drive(const struct drives_entry *d)
{
	json_t *o = json_object();

	put_str(o, "name", d->name);
	put_str(o, "description", d->description);
	if (d->rated > 0)
		put_num(o, "rated_mb_per_s", d->rated);
	if (d->bytes)
		put_int(o, "bytes", d->bytes);
	return dump(o, JSON_COMPACT);
}

char *record_findings(const struct finding *f, int n)
{
	json_t *a = json_array();

	for (int i = 0; i < n; i++) {
		json_t *o = json_object();

		put_str(o, "what", f[i].what);
		json_object_set_new(o, "ok", json_boolean(f[i].ok));
		json_object_set_new(o, "required", json_boolean(f[i].required));
		put_str(o, "detail", f[i].detail);
		put_str(o, "install", f[i].install);
		json_array_append_new(a, o);
	}
	return dump(a, JSON_INDENT(2));
}
