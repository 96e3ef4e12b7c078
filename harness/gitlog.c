#include "gitlog.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NOTE "# iobisect: "

void gitlog_release(struct gitlog *l)
{
	for (int i = 0; i < l->n; i++) {
		free(l->v[i].rev);
		strv_release(&l->v[i].notes);
	}
	free(l->v);
	free(l->term_old);
	free(l->term_new);
	strv_release(&l->paths);
	*l = (struct gitlog){ 0 };
}

/* Notes wait for the command that they stand before. Each state comment
 * ("# bad: [hex] subject") begins the notes of the command's next revision. */
struct notes {
	struct strv *v;
	int n;
};

static void notes_reset(struct notes *notes)
{
	for (int i = 0; i < notes->n; i++)
		strv_release(&notes->v[i]);
	free(notes->v);
	*notes = (struct notes){ 0 };
}

static void notes_next(struct notes *notes)
{
	notes->v =
		xrealloc(notes->v, (size_t)(notes->n + 1) * sizeof(*notes->v));
	notes->v[notes->n++] = (struct strv)STRV_INIT;
}

static void add_entry(struct gitlog *l, enum mark mark, const char *rev)
{
	l->v = xrealloc(l->v, (size_t)(l->n + 1) * sizeof(*l->v));
	l->v[l->n++] =
		(struct gitlog_entry){ .mark = mark, .rev = xstrdup(rev) };
}

/* Hands the waiting notes to the entries from first on. */
static void notes_give(struct notes *notes, struct gitlog *l, int first)
{
	for (int i = 0; i < notes->n && first + i < l->n; i++) {
		l->v[first + i].notes = notes->v[i];
		notes->v[i] = (struct strv)STRV_INIT;
	}
	notes_reset(notes);
}

static const char *skip_blank(const char *s)
{
	return s + strspn(s, " \t");
}

/* Adds the next word to out: bare, 'quoted', or 'it'\''s' and 'wow'\!'' mixed,
 * as git's sq_quote makes them. NULL: a quote is not closed. */
static const char *word(struct str *out, const char *s)
{
	str_puts(out, "");
	while (*s && !isspace((unsigned char)*s)) {
		if (*s == '\'') {
			const char *end = strchr(s + 1, '\'');

			if (!end)
				return NULL;
			str_add(out, s + 1, (size_t)(end - s - 1));
			s = end + 1;
			continue;
		}
		if (*s == '\\' && s[1])
			s++;
		str_putc(out, *s++);
	}
	return skip_blank(s);
}

static int split(struct strv *out, const char *s)
{
	s = skip_blank(s);
	while (*s) {
		CLEANUP(str_release) struct str w = STR_INIT;

		s = word(&w, s);
		if (!s)
			return -1;
		strv_add(out, w.buf);
	}
	return 0;
}

static void set_term(char **term, const char *name)
{
	free(*term);
	*term = xstrdup(name);
}

struct parser {
	struct gitlog *log;
	struct notes notes;
	int line;
	bool terms_set; /* named by start, or settled by the first mark */
};

static void parser_release(struct parser *p)
{
	notes_reset(&p->notes);
}

static int term_option(struct parser *p, const struct strv *args, size_t *i,
		       struct err *e)
{
	static const struct {
		const char *name;
		bool old;
	} options[] = { { "--term-good", true },
			{ "--term-old", true },
			{ "--term-bad", false },
			{ "--term-new", false } };
	const char *arg = args->v[*i];

	for (size_t k = 0; k < ARRAY_SIZE(options); k++) {
		const char *value = NULL;
		size_t len = strlen(options[k].name);

		if (strncmp(arg, options[k].name, len))
			continue;
		if (arg[len] == '=')
			value = arg + len + 1;
		else if (!arg[len] && *i + 1 < args->n)
			value = args->v[++*i];
		if (!value || !*value)
			return err_set(e, "line %d: %s needs a term", p->line,
				       options[k].name);
		set_term(options[k].old ? &p->log->term_old : &p->log->term_new,
			 value);
		p->terms_set = true;
		return 0;
	}
	return err_set(e, "line %d: unknown option %s", p->line, arg);
}

/* A start begins anew, as it does for git. */
static int parse_start(struct parser *p, const struct strv *args, struct err *e)
{
	struct gitlog *l = p->log;
	bool bad_seen = false;
	size_t i = 0;

	gitlog_release(l);
	l->term_old = xstrdup("good");
	l->term_new = xstrdup("bad");
	p->terms_set = false;
	for (; i < args->n && strcmp(args->v[i], "--"); i++) {
		const char *arg = args->v[i];

		if (!strcmp(arg, "--first-parent")) {
			l->first_parent = true;
		} else if (str_starts(arg, "--term-")) {
			if (term_option(p, args, &i, e))
				return -1;
		} else if (str_starts(arg, "--no-checkout") ||
			   str_starts(arg, "--reset-when-found")) {
			continue; /* neither concerns the search */
		} else if (str_starts(arg, "--")) {
			return err_set(e, "line %d: unknown option %s", p->line,
				       arg);
		} else {
			add_entry(l, bad_seen ? MARK_GOOD : MARK_BAD, arg);
			bad_seen = true;
			p->terms_set = true;
		}
	}
	for (i++; i < args->n; i++)
		strv_add(&l->paths, args->v[i]);
	notes_give(&p->notes, l, 0);
	if (!strcmp(l->term_old, l->term_new))
		return err_set(e, "line %d: both terms are %s", p->line,
			       l->term_old);
	return 0;
}

/* The first mark settles whether it is bad/good or new/old. */
static void settle_terms(struct parser *p, const char *command)
{
	bool new_old = !strcmp(command, "new") || !strcmp(command, "old");

	if (p->terms_set || !strcmp(command, "skip"))
		return;
	if (new_old) {
		set_term(&p->log->term_old, "old");
		set_term(&p->log->term_new, "new");
	}
	p->terms_set = true;
}

static int parse_mark(struct parser *p, const char *command,
		      const struct strv *revs, struct err *e)
{
	struct gitlog *l = p->log;
	int first = l->n;
	enum mark mark;

	settle_terms(p, command);
	if (!strcmp(command, l->term_new))
		mark = MARK_BAD;
	else if (!strcmp(command, l->term_old))
		mark = MARK_GOOD;
	else if (!strcmp(command, "skip"))
		mark = MARK_SKIP;
	else
		return err_set(e,
			       "line %d: git bisect %s: not a command of a log "
			       "whose terms are %s and %s",
			       p->line, command, l->term_old, l->term_new);
	if (!revs->n)
		return err_set(e, "line %d: git bisect %s needs a revision",
			       p->line, command);
	for (size_t i = 0; i < revs->n; i++)
		add_entry(l, mark, revs->v[i]);
	notes_give(&p->notes, l, first);
	return 0;
}

static int parse_command(struct parser *p, const char *text, struct err *e)
{
	CLEANUP(strv_release) struct strv args = STRV_INIT;
	CLEANUP(str_release) struct str command = STR_INIT;
	const char *rest = word(&command, text);

	if (!rest || split(&args, rest))
		return err_set(e, "line %d: a quote is not closed", p->line);
	if (!strcmp(command.buf, "start"))
		return parse_start(p, &args, e);
	if (!strcmp(command.buf, "terms") || !strcmp(command.buf, "reset"))
		return 0;
	if (!*command.buf)
		return err_set(e, "line %d: git bisect what?", p->line);
	return parse_mark(p, command.buf, &args, e);
}

/* "# TERM: [hex] ...", and with the term in quotes. */
static bool is_state_comment(const char *line)
{
	const char *colon = strstr(line, ": [");

	return str_starts(line, "# ") && colon &&
	       strcspn(line + 2, " ") == (size_t)(colon + 1 - line - 2);
}

static int parse_line(struct parser *p, const char *line, struct err *e)
{
	const char *s = skip_blank(line);

	if (str_starts(line, NOTE)) {
		if (!p->notes.n)
			notes_next(&p->notes);
		strv_add(&p->notes.v[p->notes.n - 1], line + strlen(NOTE));
		return 0;
	}
	if (is_state_comment(line))
		notes_next(&p->notes);
	if (!*s || *s == '#')
		return 0;
	if ((str_starts(s, "git bisect") || str_starts(s, "git-bisect")) &&
	    (!s[10] || isspace((unsigned char)s[10])))
		return parse_command(p, skip_blank(s + 10), e);
	return err_set(e, "line %d: not a line of a git bisect log: %.100s",
		       p->line, line);
}

int gitlog_parse(struct gitlog *out, const char *text, struct err *e)
{
	CLEANUP(parser_release) struct parser p = { .log = out };
	CLEANUP(strv_release) struct strv lines = STRV_INIT;

	*out = (struct gitlog){ .term_old = xstrdup("good"),
				.term_new = xstrdup("bad") };
	strv_split(&lines, text, '\n');
	for (size_t i = 0; i < lines.n; i++) {
		char *line = lines.v[i];
		size_t len = strlen(line);

		if (len && line[len - 1] == '\r')
			line[len - 1] = '\0';
		p.line = (int)i + 1;
		if (parse_line(&p, line, e)) {
			gitlog_release(out);
			return -1;
		}
	}
	return 0;
}

static void add_quoted(struct str *out, const char *s)
{
	str_puts(out, " '");
	for (; *s; s++) {
		if (*s == '\'' || *s == '!')
			str_fmt(out, "'\\%c'", *s);
		else
			str_putc(out, *s);
	}
	str_putc(out, '\'');
}

static const char *term(const struct gitlog *l, enum mark mark)
{
	switch (mark) {
	case MARK_GOOD:
		return l->term_old ? l->term_old : "good";
	case MARK_BAD:
		return l->term_new ? l->term_new : "bad";
	case MARK_SKIP:
		return "skip";
	case MARK_NONE:
	case MARK_WEAK:
		break;
	}
	BUG("a log entry is %d", (int)mark);
}

/* A newline in a note would be a command of its own. */
static void format_comment(struct str *out, const struct gitlog *l,
			   const struct gitlog_entry *entry,
			   const char *subject)
{
	str_fmt(out, "# %s: [%s] %s\n", term(l, entry->mark), entry->rev,
		subject);
	for (size_t i = 0; i < entry->notes.n; i++) {
		str_puts(out, NOTE);
		for (const char *s = entry->notes.v[i]; *s; s++)
			str_putc(out, *s == '\n' || *s == '\r' ? ' ' : *s);
		str_putc(out, '\n');
	}
}

static void format_start(struct str *out, const struct gitlog *l, int nstart)
{
	const char *old = term(l, MARK_GOOD), *new = term(l, MARK_BAD);

	str_puts(out, "git bisect start");
	if (strcmp(old, "good") || strcmp(new, "bad")) {
		add_quoted(out, "--term-old");
		add_quoted(out, old);
		add_quoted(out, "--term-new");
		add_quoted(out, new);
	}
	if (l->first_parent)
		add_quoted(out, "--first-parent");
	for (int i = 0; i < nstart; i++)
		add_quoted(out, l->v[i].rev);
	if (l->paths.n)
		add_quoted(out, "--");
	for (size_t i = 0; i < l->paths.n; i++)
		add_quoted(out, l->paths.v[i]);
	str_putc(out, '\n');
}

void gitlog_format(struct str *out, const struct gitlog *l,
		   const char *const *subjects, int nstart, const char *found,
		   const char *found_subject, const char *remark,
		   const struct strv *suspects)
{
	for (int i = 0; i < nstart; i++)
		format_comment(out, l, &l->v[i], subjects[i]);
	format_start(out, l, nstart);
	for (int i = nstart; i < l->n; i++) {
		format_comment(out, l, &l->v[i], subjects[i]);
		if (!l->v[i].remark)
			str_fmt(out, "git bisect %s %s\n",
				term(l, l->v[i].mark), l->v[i].rev);
	}
	if (found)
		str_fmt(out, "# first %s commit: [%s] %s\n", term(l, MARK_BAD),
			found, found_subject);
	if (found && remark)
		str_fmt(out, NOTE "%s\n", remark);
	if (!suspects)
		return;
	str_puts(out, "# only skipped commits left to test\n");
	for (size_t i = 0; i < suspects->n; i++) {
		const char *s = suspects->v[i], *blank = strchrnul(s, ' ');

		str_fmt(out, "# possible first %s commit: [%.*s] %s\n",
			term(l, MARK_BAD), (int)(blank - s), s,
			skip_blank(blank));
	}
}
