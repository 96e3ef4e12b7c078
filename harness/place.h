/* Where a command works: the repository, its session, and the way to a lab. */
#ifndef PLACE_H
#define PLACE_H

#include "cmd.h"
#include "history.h"
#include "session.h"

struct place {
	struct history *h;
	char *dir; /* the session's */
	struct session *s;
};
struct bisect;
void place_release(struct place *pl);
int place_open(struct place *pl, const struct ctx *c, struct err *e);
/* And the session opened: to write, or only to look. */
int place_session(struct place *pl, struct ctx *c, bool writing,
		  struct err *e);
/* Points b at the place and replays. */
int place_load(struct bisect *b, struct place *pl, struct ctx *c,
	       struct err *e);
/* Checks a question and fills in what it leaves open. */
int place_settle(struct question *q, struct err *e);
/* A new session; place_undo takes it back again, and returns -1. */
int place_create(struct place *pl, const struct question *q, struct err *e);
int place_undo(struct place *pl);
/* Appends a mark, whatever comes of it. */
int place_mark(struct session *s, enum mark m, const char *hex, const char *why,
	       struct err *e);
/* Appends these marks, or none: -1 for such as would contradict what is known or
 * leave no end. */
int place_mark_all(struct bisect *b, enum mark m, const struct strv *hexes,
		   struct err *e);
/* -1: the ends cannot be right, or the verdicts contradict each other. */
int place_check(struct bisect *b, struct err *e);
/* git bisect's lines on how much is left, and what is next. */
int place_say_next(struct ctx *c, struct bisect *b, struct err *e);
/* A lab for the question; logs is the directory for its consoles. */
struct lab;
int place_lab(struct lab **out, const struct question *q, struct history *h,
	      const char *logs, struct ctx *c, struct err *e);
/* Whether arg is a prebuilt image: a file that is no revision (in a bare repository
 * HEAD is both). h may be NULL. */
bool place_is_image(struct history *h, const char *arg);
/* A directory in the cache for the logs of boots outside of a session. */
char *place_scratch(void);

#endif
