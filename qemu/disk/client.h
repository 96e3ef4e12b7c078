/* One connection: what it asks goes to the drive, what the drive has done goes
 * back. For server.c. */
#ifndef CLIENT_H
#define CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nbd.h"
#include "trace.h"

struct client;

/* A request from its arrival until its reply is sent. */
struct slot {
	struct client *client;
	struct slot *next; /* of the free ones, or of the replies to send */
	uint8_t head[NBD_REPLY_SIZE];
	uint8_t *data; /* of a read: len bytes */
	size_t cap, len;
	struct trace_record record;
};

struct client {
	int fd; /* -1: gone, but the drive still works for it */
	struct nbd nbd;
	struct slot *slots, *free, *first, *last;
	size_t out_sent, sent; /* bytes of nbd.out, of the first reply */
	size_t held;           /* bytes of all replies, ready or not */
	size_t ready;          /* bytes of data of those to send */
	unsigned nslots, in_drive;
	bool readable; /* there may be more in the socket */
	bool hung_up;  /* and its end will be there too */
	bool more;     /* there may be more of what was read from it */
	bool blocked;  /* the socket takes no more now */
	bool watched;  /* and it is watched for that to end */
	struct client *next; /* the server's */
};

/* The socket must not block. */
struct client *client_new(int fd, uint64_t size, unsigned slots);
void client_free(struct client *c);
/* Closes the connection, forgets the replies. */
void client_gone(struct client *c);

/* The next request that is there, NBD_MORE when there is none now, NBD_END when
 * the connection is to be closed. */
enum nbd_event client_next(struct nbd_request *r, struct client *c);
/* Whether there is room for the answer to one more request. */
bool client_has_room(const struct client *c);
/* A slot with room for a reply with len bytes of data. */
struct slot *client_slot(struct client *c, size_t len);
void client_release(struct slot *s);
void client_queue(struct slot *s);
/* Sends what there is until blocked. -1: the connection is broken. */
int client_send(struct client *c);

#endif
