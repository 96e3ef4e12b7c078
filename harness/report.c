#include "report.h"

#include <string.h>
#include <time.h>

/* A guest that did not answer a directory listing for this long is what a person
 * calls hung. */
#define UNRESPONSIVE_S 2.0

static int width(const struct row *rows, int n)
{
	size_t w = strlen("kernel");

	for (int i = 0; i < n; i++)
		if (rows[i].kernel && strlen(rows[i].kernel) > w)
			w = strlen(rows[i].kernel);
	return w < 40 ? (int)w : 40;
}

/* "12.3 s +-1%", padded by the caller. */
static void time_cell(struct str *out, const struct verdict_summary *s)
{
	CLEANUP(str_release) struct str c = STR_INIT;

	str_fmt(&c, "%.2f +-%.0f%%", s->median, s->spread * 100);
	str_fmt(out, " | %14s", str_c(&c));
}

static void latency(struct str *out, double s)
{
	if (s < 1)
		str_fmt(out, "%.0f ms", s * 1000);
	else
		str_fmt(out, "%.1f s", s);
}

static void one_row(struct str *out, const struct row *r, int w)
{
	str_fmt(out, "%-*.*s", w, w, r->kernel);
	if (!r->elapsed.n) {
		str_fmt(out, " | %s%s%s\n", r->verdict ? r->verdict : "",
			r->verdict && r->note ? ": " : "",
			r->note ? r->note : r->verdict ? "" : "not booted");
		return;
	}
	time_cell(out, &r->user);
	time_cell(out, &r->sys);
	time_cell(out, &r->elapsed);
	str_fmt(out, " | %5.0f | %4.0f | %6.1f | ", r->cpu.median,
		r->sync.median / r->elapsed.median * 100,
		r->throughput.median / 1e6);
	latency(out, r->worst.max);
	if (r->worst.max > UNRESPONSIVE_S)
		str_puts(out, " unresponsive");
	str_fmt(out, " | %d", r->elapsed.n);
	if (r->verdict)
		str_fmt(out, " | %s%s%s", r->verdict, r->note ? ": " : "",
			r->note ? r->note : "");
	str_putc(out, '\n');
}

static bool any_verdict(const struct row *rows, int n)
{
	while (n--)
		if (rows[n].verdict)
			return true;
	return false;
}

void report_table(struct str *out, const struct row *rows, int n)
{
	int w = width(rows, n);
	const char *workload = NULL;
	const char *verdict = any_verdict(rows, n) ? " | verdict" : "";

	for (int i = 0; i < n; i++) {
		const char *now = rows[i].workload ? rows[i].workload : "";

		if (!workload || strcmp(workload, now) != 0) {
			str_fmt(out,
				"%s%s\n%-*s | %14s | %14s | %14s | %5s | %4s | "
				"%6s | worst ls | boots%s\n",
				workload ? "\n" : "", now, w, "kernel",
				"user s", "system s", "elapsed s", "CPU %",
				"sync", "MB/s", verdict);
			workload = now;
		}
		one_row(out, &rows[i], w);
	}
}

static void say_commit(struct str *out, const struct report_found *r)
{
	const struct commit *c = r->culprit;
	char date[64];
	struct tm tm;
	time_t t = (time_t)c->time;

	gmtime_r(&t, &tm);
	strftime(date, sizeof(date), "%Y-%m-%d", &tm);
	str_fmt(out, "%s is the first %s commit\n\n", c->hex, r->term_new);
	str_fmt(out, "    %s\n    %s <%s>, %s\n", c->subject, c->author,
		c->email, date);
	for (size_t i = 0; r->paths && i < r->paths->n && i < 12; i++)
		str_fmt(out, "    %s\n", r->paths->v[i]);
	if (r->paths && r->paths->n > 12)
		str_fmt(out, "    and %zu more\n", r->paths->n - 12);
	if (c->parents.n > 1)
		str_fmt(out, "    a merge: none of its %zu parents is %s\n",
			c->parents.n, r->term_new);
}

static void say_factor(struct str *out, const struct report_found *r)
{
	const struct verdict_rule *u = r->rule;

	if (r->slow > 0 && r->fast > 0)
		str_fmt(out, "%s: %.3g s -> %.3g s with this commit, a factor "
			     "of %.2f\n",
			u->workload, r->fast, r->slow, r->slow / r->fast);
	str_fmt(out, "%s: %.3g s -> %.3g s over the whole range, a factor of "
		     "%.2f\n",
		u->workload, u->good, u->bad, u->bad / u->good);
}

void report_answer(struct str *out, const struct report_found *r)
{
	if (r->culprit) {
		say_commit(out, r);
		str_fmt(out, "\nconfirmation: %s (%s)\n",
			r->confirmed ? "PASS" : "FAIL",
			r->confirmation ? r->confirmation : "");
	} else {
		str_puts(out, "only untestable commits are left; the first "
			      "one to blame is among:\n");
		for (size_t i = 0; i < r->suspects->n; i++)
			str_fmt(out, "    %s\n", r->suspects->v[i]);
	}
	if (r->rule)
		say_factor(out, r);
}

void report_time(struct str *out, const struct event *ev)
{
	double own = ev->wall_s - ev->make_s - ev->qemu_s - ev->mkfs_s -
		     ev->wait_s;

	if (ev->make_s + ev->qemu_s <= 0) /* nothing was left to do */
		return;
	str_fmt(out, "took %d min %02d s: make %.1f%%, QEMU %.1f%%, mkfs "
		     "%.1f%%, iobisect itself %.1f%%",
		(int)ev->wall_s / 60, (int)ev->wall_s % 60,
		ev->make_s / ev->wall_s * 100, ev->qemu_s / ev->wall_s * 100,
		ev->mkfs_s / ev->wall_s * 100, own / ev->wall_s * 100);
	if (ev->wait_s >= 1)
		str_fmt(out, ", waiting for another %.1f%%",
			ev->wait_s / ev->wall_s * 100);
	str_putc(out, '\n');
}
