#include "client.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "str.h"

/* Above this a client waits that asks for much, or reads answers slowly. */
#define HELD_MAX (64u << 20)
/* A buffer above this is not kept for the next request. */
#define KEEP_MAX (256u << 10)
#define IOV 33
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
		free(c->slots[i].data);
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
	c->ready = 0;
	nbd_release(&c->nbd);
}

static size_t wanted(const struct msghdr *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->msg_iovlen; i++)
		n += m->msg_iov[i].iov_len;
	return n;
}

enum nbd_event client_next(struct nbd_request *r, struct client *c)
{
	for (;;) {
		enum nbd_event ev = nbd_next(r, &c->nbd);
		struct iovec room[2];
		struct msghdr m = { .msg_iov = room };
		ssize_t got;

		/* An answer goes out before more is asked for: a client that
		 * never reads must not make us hold many. */
		if (ev != NBD_MORE || !c->readable || c->nbd.out.len)
			return ev;
		m.msg_iovlen = (size_t)nbd_room(room, &c->nbd);
		got = recvmsg(c->fd, &m, MSG_DONTWAIT);
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
		c->readable = (size_t)got == wanted(&m) || c->hung_up;
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
		free(s->data);
		s->data = xmalloc_pages(len);
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
		free(s->data);
		s->data = NULL;
		s->cap = 0;
	}
	s->next = c->free;
	c->free = s;
}

void client_queue(struct slot *s)
{
	struct client *c = s->client;

	s->next = NULL;
	c->ready += s->len;
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
	while (c->first && c->sent >= sizeof(c->first->head) + c->first->len) {
		struct slot *s = c->first;

		c->sent -= sizeof(s->head) + s->len;
		c->ready -= s->len;
		c->first = s->next;
		client_release(s);
	}
	if (!c->first)
		c->last = NULL;
}

static void add_piece(struct msghdr *m, void *p, size_t n, size_t *skip)
{
	size_t k = *skip < n ? *skip : n;

	*skip -= k;
	if (n > k)
		m->msg_iov[m->msg_iovlen++] =
			(struct iovec){ (uint8_t *)p + k, n - k };
}

int client_send(struct client *c)
{
	while (!c->blocked && (c->nbd.out.len || c->first)) {
		struct iovec iov[IOV];
		struct msghdr m = { .msg_iov = iov };
		size_t early = c->out_sent, skip = c->sent;
		ssize_t n;

		add_piece(&m, c->nbd.out.buf, c->nbd.out.len, &early);
		for (struct slot *s = c->first; s && m.msg_iovlen < IOV - 1;
		     s = s->next) {
			add_piece(&m, s->head, sizeof(s->head), &skip);
			add_piece(&m, s->data, s->len, &skip);
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
