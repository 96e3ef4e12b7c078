/* One bisection: a directory with the immutable question and an append-only
 * journal. What is true now is the replay of the journal (docs/session.md).
 *
 *   question.json   written once
 *   journal.jsonl   one event a line, fsynced before it is acted on
 *   lock            held while a process runs on the session; has its pid
 *   trials/N.log    console of boot N; trials/N.results what the guest sent
 *   builds/         make's output of kernels that do not build */
#ifndef SESSION_H
#define SESSION_H

#include "record.h"

struct session {
	char *dir;
	struct question q;
	struct event **events; /* each stays where it is until session_close:
				* what borrows from one outlives an append */
	int n;
	char *note; /* a torn last line was dropped: say so; or NULL */
	int lock_fd, journal_fd;
	bool held; /* between session_hold and session_sync */
};

/* Creates dir with the question and an empty journal; the session is open and
 * locked after. A session that is there, or a directory with other things in
 * it: -1. A failure leaves nothing behind, and a kill nothing that session_open
 * would take. */
int session_create(struct session *out, const char *dir,
		   const struct question *q, struct err *e);
/* Opens and locks. -1: there is none ("start one with iobisect start"), another
 * process (its pid) has it, or the journal is corrupt (which line). */
int session_open(struct session *out, const char *dir, struct err *e);
/* The same without the lock, for reading only: session_append is a BUG. */
int session_peek(struct session *out, const char *dir, struct err *e);
void session_close(struct session *s);
bool session_exists(const char *dir);

/* Writes and fsyncs the event (its time is set when 0), then adds it to
 * s->events, which takes over what ev owns; *ev is empty after. */
int session_append(struct session *s, struct event *ev, struct err *e);
/* From here to session_sync appends are not fsynced: for many at once, on which
 * nothing is done before the last. */
void session_hold(struct session *s);
int session_sync(struct session *s, struct err *e);
/* The next trial's number. */
int session_next_trial(const struct session *s);
/* Puts a session that nobody has open aside, whatever state it is in, under a
 * name with the time: *kept, which the caller frees. One in which nothing
 * happened is removed; *kept is NULL then. */
int session_retire(char **kept, const char *dir, struct err *e);
/* The same, and one in which nothing happened is kept as well. */
int session_put_aside(char **kept, const char *dir, struct err *e);

#endif
