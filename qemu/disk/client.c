#include "client.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "str.h"

/* A client that asks for much, or reads its answers slowly, waits above this. */
#define HELD_MAX (64u << 20)
/* A buffer above this is not kept for the next request. */
#define KEEP_MAX (256u << 10)
#define IOV 32
#define SEND_BUFFER (2 << 20)

struct client *client_new(int fd, uint64_t size, unsigned slots)
{
	struct client *c = xcalloc(1, sizeof(*c));

	c->fd = fd;
	c->nslots = slots;
	c->slots = xcalloc(slots, sizeof(*c->slots));
	for (unsigned i = 0; i < slots; i++) {
		c->slots[i] = (struct slot){ .client = c, .next = c->free };
		c->free = &c->slots[i];
	}
	/* A wish: with less, long reads go in more pieces. */
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &(int){ SEND_BUFFER },
		   sizeof(int));
	nbd_init(&c->nbd, size);
	return c;
}

void client_free(struct client *c)
{
	client_gone(c);
	for (unsigned i = 0; i < c->nslots; i++)
		free(c->slots[i].reply);
	free(c->slots);
	free(c);
}

void client_gone(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	while (c->first) {
		struct slot *s = c->first;

		c->first = s->next;
		client_release(s);
	}
	c->last = NULL;
	nbd_release(&c->nbd);
}

enum nbd_event client_next(struct nbd_request *r, struct client *c)
{
	for (;;) {
		enum nbd_event ev = nbd_next(r, &c->nbd);
		size_t room;
		ssize_t got;
		void *p;

		/* An answer goes out before more is asked for: a client that
		 * never reads must not make us hold many. */
		if (ev != NBD_MORE || !c->readable || c->nbd.out.len)
			return ev;
		p = nbd_room(&room, &c->nbd);
		got = recv(c->fd, p, room, MSG_DONTWAIT);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN) {
			c->readable = false;
			return NBD_MORE;
		}
		if (got <= 0)
			return NBD_END;
		/* What arrives after a short read rings again (EPOLLET); an
		 * end that had come with it does not. */
		c->readable = (size_t)got == room || c->hung_up;
		nbd_fed(&c->nbd, (size_t)got);
	}
}

bool client_has_room(const struct client *c)
{
	return c->free && (!c->held || c->held <= HELD_MAX - NBD_MAX_REQUEST);
}

struct slot *client_slot(struct client *c, size_t len)
{
	struct slot *s = c->free;

	c->free = s->next;
	if (s->cap < len) {
		free(s->reply);
		s->reply = xmalloc(len);
		s->cap = len;
	}
	s->len = len;
	c->held += s->cap;
	return s;
}

void client_release(struct slot *s)
{
	struct client *c = s->client;

	c->held -= s->cap;
	if (s->cap > KEEP_MAX) {
		free(s->reply);
		s->reply = NULL;
		s->cap = 0;
	}
	s->next = c->free;
	c->free = s;
}

void client_queue(struct slot *s)
{
	struct client *c = s->client;

	s->next = NULL;
	if (c->first)
		c->last->next = s;
	else
		c->first = s;
	c->last = s;
}

static void count_sent(struct client *c, size_t n)
{
	size_t out = c->nbd.out.len - c->out_sent;

	if (n < out) {
		c->out_sent += n;
		return;
	}
	str_reset(&c->nbd.out);
	c->out_sent = 0;
	c->sent += n - out;
	while (c->first && c->sent >= c->first->len) {
		struct slot *s = c->first;

		c->sent -= s->len;
		c->first = s->next;
		client_release(s);
	}
	if (!c->first)
		c->last = NULL;
}

int client_send(struct client *c)
{
	while (!c->blocked && (c->nbd.out.len || c->first)) {
		struct iovec iov[IOV];
		struct msghdr m = { .msg_iov = iov };
		size_t skip = c->sent;
		ssize_t n;

		if (c->nbd.out.len)
			iov[m.msg_iovlen++] = (struct iovec){
				c->nbd.out.buf + c->out_sent,
				c->nbd.out.len - c->out_sent
			};
		for (struct slot *s = c->first;
		     s && m.msg_iovlen < IOV; s = s->next) {
			iov[m.msg_iovlen++] = (struct iovec){
				s->reply + skip, s->len - skip
			};
			skip = 0;
		}
		n = sendmsg(c->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n >= 0)
			count_sent(c, (size_t)n);
		else if (errno == EAGAIN)
			c->blocked = true;
		else if (errno != EINTR)
			return -1;
	}
	return 0;
}
