/* The server's side of one NBD connection, as bytes: fixed newstyle handshake,
 * then simple replies. Pure: the caller moves the bytes.
 *
 *	while ((ev = nbd_next(&r, n)) == NBD_MORE) {
 *		k = nbd_room(room, n);
 *		got = readv(fd, room, k);
 *		nbd_fed(n, got);
 *	}
 *
 * and after every nbd_next sends what is in n->out. No input can make it hold
 * more than NBD_MAX_REQUEST bytes and a few pages. */
#ifndef NBD_H
#define NBD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "model.h"
#include "str.h"

#define NBD_MAX_REQUEST (32u << 20)
#define NBD_REPLY_SIZE 16

/* Errors as the protocol numbers them. */
#define NBD_EIO 5
#define NBD_EINVAL 22
#define NBD_ENOSPC 28
#define NBD_EOVERFLOW 75

enum nbd_event {
	NBD_MORE,    /* nothing whole is there: feed it */
	NBD_REQUEST, /* *r is one request */
	NBD_END      /* send what is in out, and close */
};

struct nbd_request {
	uint64_t cookie, offset; /* within the drive, unless error */
	uint32_t length;         /* 0 for a flush */
	uint32_t error;          /* not 0: it is to be refused with this */
	enum disk_op op;
	bool fua;
	const void *data; /* a write's; good until the next call */
};

struct nbd {
	struct str out; /* for the client; the caller empties it */
	/* The rest is nbd.c's. */
	uint64_t size;
	unsigned state;
	bool no_zeroes;
	uint8_t *rx;
	size_t at, len;
	uint8_t *data;
	size_t data_cap, data_len;
	uint64_t skip;
	uint32_t option, option_len;
	struct nbd_request pending;
};

/* A drive of size bytes; out has the greeting. */
void nbd_init(struct nbd *n, uint64_t size);
void nbd_release(struct nbd *n);

/* Where the next bytes from the client go, in one or two pieces, none of them
 * empty: how many pieces. Only after NBD_MORE. */
int nbd_room(struct iovec room[2], struct nbd *n);
void nbd_fed(struct nbd *n, size_t got);
enum nbd_event nbd_next(struct nbd_request *r, struct nbd *n);
bool nbd_in_handshake(const struct nbd *n);

void nbd_reply(uint8_t head[NBD_REPLY_SIZE], uint64_t cookie, uint32_t error);
/* The protocol's number for an errno. */
uint32_t nbd_errno(int error);

#endif
