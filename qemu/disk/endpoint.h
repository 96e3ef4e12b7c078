/* The socket that clients come to. */
#ifndef ENDPOINT_H
#define ENDPOINT_H

#include <stdbool.h>

#include "err.h"

struct endpoint {
	int fd;
	char *path; /* NULL: handed over */
	char *dir;  /* made here, or NULL */
};
#define ENDPOINT_INIT { .fd = -1 }

/* "fd:N", or a path in a directory that is nobody else's; made if missing.
 * Where the socket is seen, it listens. The caller releases, which removes what
 * was made. */
int endpoint_open(struct endpoint *out, const char *where, struct err *e);
void endpoint_release(struct endpoint *p);

#endif
