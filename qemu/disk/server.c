#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "store.h"
#include "str.h"

#define SEATS 8
/* Requests of one client before the others, and signals, have a turn. */
#define TURN 64
/* Bytes of answers after which they go out, so that the client has something to
 * do while the rest of its requests is served. */
#define BATCH (16 << 10)
#define LOOKS 15
#define SECOND 1000000000ll

struct server {
	const struct server_config *config;
	struct late *late;
	int epoll, timer, signals;
	int64_t start; /* of the drive's clock, on ours */
	int64_t armed; /* drive time that the timer is set to, or -1 */
	unsigned in_drive;
	uint32_t number;
	struct client *clients;
	bool listening, knock, ended; /* knock: somebody is at the door */
};

static int64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static int64_t drive_now(const struct server *s)
{
	return (clock_ns() - s->start) / s->config->slow;
}

static void served(struct server *s, struct slot *t, int64_t late)
{
	late_add(s->late, late);
	t->record.late = late > UINT32_MAX ? UINT32_MAX : (uint32_t)late;
	if (s->config->trace)
		trace_add(s->config->trace, &t->record);
	if (t->client->fd >= 0)
		client_queue(t);
	else
		client_release(t);
}

static struct trace_record new_record(struct server *s,
				      const struct nbd_request *r,
				      int64_t arrival)
{
	uint64_t end = r->offset + r->length;

	return (struct trace_record){
		.arrival = arrival,
		.sector = r->offset / 512,
		.sectors = (uint32_t)((end + 511) / 512 - r->offset / 512),
		.number = s->number++,
		.op = (uint8_t)r->op,
		.flags = r->fua ? TRACE_FUA : 0,
		.depth = (uint16_t)(s->in_drive + 1),
	};
}

static void submit(struct server *s, struct slot *t)
{
	const struct trace_record *r = &t->record;
	struct disk_request q = {
		.id = (uint64_t)(uintptr_t)t,
		.op = (enum disk_op)r->op,
		.fua = r->flags & TRACE_FUA,
		.sector = r->sector,
		.sectors = r->sectors,
		.arrival = r->arrival,
	};

	t->client->in_drive++;
	s->in_drive++;
	model_submit(s->config->model, &q);
}

/* The bytes move at once; only the answer waits for the drive. So what a read
 * gives does not depend on the order in which the drive serves. */
static void admit(struct server *s, struct client *c,
		  const struct nbd_request *r)
{
	size_t data = r->op == DISK_READ && !r->error ? r->length : 0;
	struct slot *t = client_slot(c, data);
	int64_t arrival = drive_now(s);
	uint32_t error = r->error;

	if (!error)
		error = store_do(s->config->data, r, t->data);
	if (error)
		t->len = 0;
	nbd_reply(t->head, r->cookie, error);
	if (r->error) {
		client_queue(t); /* never reached the drive */
		return;
	}
	t->record = new_record(s, r, arrival);
	if (error)
		t->record.flags |= TRACE_FAILED;
	if (s->config->model) {
		submit(s, t);
		return;
	}
	t->record.start = arrival;
	t->record.done = drive_now(s);
	served(s, t, 0);
}

/* Whether the drive, and the client, can do with one more. */
static bool can_take(const struct server *s, const struct client *c)
{
	return c->fd >= 0 && !c->blocked &&
	       s->in_drive < s->config->depth && client_has_room(c);
}

static int watch(struct server *s, struct client *c, int op, bool writable)
{
	struct epoll_event ev = {
		.events = EPOLLIN | EPOLLRDHUP | EPOLLET |
			  (writable ? EPOLLOUT : 0u),
		.data.ptr = c,
	};

	c->watched = writable;
	return epoll_ctl(s->epoll, op, c->fd, &ev);
}

static void send_replies(struct server *s, struct client *c)
{
	if (client_send(c))
		client_gone(c);
	else if (c->blocked != c->watched &&
		 watch(s, c, EPOLL_CTL_MOD, c->blocked))
		client_gone(c);
}

/* One turn of a client. True: it could have another. */
static bool serve(struct server *s, struct client *c)
{
	enum nbd_event ev = NBD_REQUEST;
	struct nbd_request r;

	if (c->fd < 0)
		return false;
	for (int i = 0; i < TURN && can_take(s, c); i++) {
		ev = client_next(&r, c);
		if (ev != NBD_REQUEST)
			break;
		admit(s, c, &r);
		if (c->ready >= BATCH)
			send_replies(s, c);
	}
	c->more = ev == NBD_REQUEST;
	send_replies(s, c);
	if (ev == NBD_END)
		client_gone(c);
	return (c->more || c->readable) && can_take(s, c);
}

static void run_drive(struct server *s)
{
	struct disk_done d;

	while (model_next(&d, s->config->model, drive_now(s))) {
		struct slot *t = (struct slot *)(uintptr_t)d.id;
		int64_t due = s->start + d.done * s->config->slow;

		t->record.start = d.start;
		t->record.done = d.done;
		t->record.cost = d.cost;
		t->client->in_drive--;
		s->in_drive--;
		served(s, t, clock_ns() - due);
	}
}

static void set_timer(struct server *s)
{
	int64_t wake = model_wake(s->config->model), at;
	struct itimerspec when = { .it_value = { 0 } };

	if (wake == s->armed)
		return;
	s->armed = wake;
	if (wake >= 0) {
		at = s->start + wake * s->config->slow;
		when.it_value.tv_sec = at / SECOND;
		when.it_value.tv_nsec = at % SECOND;
	}
	timerfd_settime(s->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static unsigned seats_taken(const struct server *s)
{
	unsigned n = 0;

	for (struct client *c = s->clients; c; c = c->next)
		n += c->fd >= 0;
	return n;
}

/* When there is one client too many, whoever has been in the handshake for
 * longest has to leave, or else the youngest, which is first in the list. */
static void make_room(struct server *s)
{
	struct client *leaves = NULL;

	if (seats_taken(s) <= SEATS)
		return;
	for (struct client *c = s->clients; c; c = c->next)
		if (c->fd >= 0 && (!leaves || nbd_in_handshake(&c->nbd)))
			leaves = c;
	client_gone(leaves);
}

static void add_client(struct server *s, int fd)
{
	struct client *c;

	c = client_new(fd, s->config->size, s->config->depth);
	c->more = true; /* the greeting */
	c->next = s->clients;
	s->clients = c;
	if (watch(s, c, EPOLL_CTL_ADD, false))
		client_gone(c);
}

/* One at a time, and judged only when all that happened before it came has been
 * seen: clients that have left must not cost it its seat. */
static int accept_client(struct server *s, struct err *e)
{
	int fd = accept4(s->config->socket, NULL, NULL,
			 SOCK_NONBLOCK | SOCK_CLOEXEC);

	s->knock = false;
	if (fd >= 0)
		add_client(s, fd);
	else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
		return err_set(e, "accept a client: %m");
	return 0;
}

/* A client that has gone stays while the drive works for it. */
static void reap(struct server *s)
{
	struct client **p = &s->clients;

	while (*p) {
		struct client *c = *p;

		if (c->fd < 0 && !c->in_drive) {
			*p = c->next;
			client_free(c);
		} else {
			p = &c->next;
		}
	}
}

static void take_signal(struct server *s)
{
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGUSR1)
			s->ended = true;
		else if (s->config->report)
			s->config->report(s->late);
	}
}

static void note(struct server *s, const struct epoll_event *ev)
{
	struct client *c = ev->data.ptr;

	if (ev->data.ptr == &s->timer)
		return;
	if (ev->data.ptr == &s->signals) {
		take_signal(s);
	} else if (ev->data.ptr == s) {
		s->knock = true;
	} else {
		c->readable = true;
		if (ev->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
			c->hung_up = true;
		if (ev->events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
			c->blocked = false;
	}
}

/* *more: somebody could have another turn at once. */
static int serve_all(bool *more, struct server *s, struct err *e)
{
	*more = s->knock;
	for (struct client *c = s->clients; c; c = c->next)
		*more |= serve(s, c);
	make_room(s);
	reap(s);
	return s->knock ? accept_client(s, e) : 0;
}

#define EVENTS (SEATS + 4)

/* A drive without cost looks a few times before it sleeps: a client that is at
 * work has its next request there within some microseconds, and being woken up
 * takes longer. */
static int wait_events(struct epoll_event *ev, const struct server *s,
		       bool more)
{
	int n = 0;

	for (int i = 0; i < LOOKS && !more && !s->config->model && !n; i++)
		n = epoll_wait(s->epoll, ev, EVENTS, 0);
	return n ? n : epoll_wait(s->epoll, ev, EVENTS, more ? 0 : -1);
}

static int loop(struct server *s, struct err *e)
{
	struct epoll_event ev[EVENTS];
	bool more = true; /* a connected client waits for its greeting */

	while (!s->ended) {
		int n = wait_events(ev, s, more);

		for (int i = 0; i < n; i++)
			note(s, &ev[i]);
		if (s->config->model)
			run_drive(s);
		if (serve_all(&more, s, e))
			return -1;
		if (s->config->model)
			set_timer(s);
		if (s->config->trace)
			trace_relax(s->config->trace);
		if (!s->listening && !s->clients)
			return 0;
	}
	return 0;
}

static void signal_set(sigset_t *set)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1 };

	sigemptyset(set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaddset(set, signals[i]);
}

void server_block_signals(void)
{
	sigset_t set;

	signal_set(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static int watch_fd(struct server *s, int fd, void *ptr, unsigned edge)
{
	struct epoll_event ev = { .events = EPOLLIN | edge, .data.ptr = ptr };

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &ev);
}

/* A drive does not wait for its turn. On a busy machine that is the difference
 * between some 50 us and 2 ms of lateness. Where real-time priority is not
 * granted, short time slices still help (Linux 6.12 and later); where neither
 * is, the recorded lateness tells. */
static void be_prompt(void)
{
	struct sched_param first = { .sched_priority = 1 };
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} slice = { .size = 48, .nice = getpriority(PRIO_PROCESS, 0),
		    .runtime = 100000 };

	if (sched_setscheduler(0, SCHED_RR, &first))
		syscall(SYS_sched_setattr, 0, &slice, 0);
}

static int start(struct server *s, struct err *e)
{
	int listening = 0;
	socklen_t n = sizeof(listening);
	sigset_t set;

	signal_set(&set);
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->epoll < 0 || s->timer < 0 || s->signals < 0 ||
	    watch_fd(s, s->timer, &s->timer, EPOLLET) ||
	    watch_fd(s, s->signals, &s->signals, 0))
		return err_set(e, "set up the event loop: %m");
	if (getsockopt(s->config->socket, SOL_SOCKET, SO_ACCEPTCONN, &listening,
		       &n))
		return err_set(e, "use the socket: %m");
	s->listening = listening;
	if (fcntl(s->config->socket, F_SETFL, O_NONBLOCK) ||
	    (listening && watch_fd(s, s->config->socket, s, 0)))
		return err_set(e, "use the socket: %m");
	if (s->config->model)
		be_prompt();
	if (!listening)
		add_client(s, fcntl(s->config->socket, F_DUPFD_CLOEXEC, 0));
	return 0;
}

/* What the drive did that nobody waited for. */
static void add_idle_cost(struct server *s)
{
	int64_t now = drive_now(s);
	struct trace_record r = {
		.arrival = now,
		.start = now,
		.done = now,
		.number = s->number,
		.op = TRACE_IDLE,
		.cost = model_idle_cost(s->config->model),
	};

	trace_add(s->config->trace, &r);
}

static void stop(struct server *s)
{
	if (s->config->model && s->config->trace)
		add_idle_cost(s);
	for (struct client *c = s->clients; c; c = c->next) {
		client_gone(c);
		c->in_drive = 0;
	}
	reap(s);
	cleanup_fd(&s->epoll);
	cleanup_fd(&s->timer);
	cleanup_fd(&s->signals);
}

int server_run(struct late *late, const struct server_config *config,
	       struct err *e)
{
	struct server s = {
		.config = config,
		.late = late,
		.epoll = -1,
		.timer = -1,
		.signals = -1,
		.start = clock_ns(),
		.armed = -1,
	};
	int r;

	*late = (struct late){ .n = 0 };
	r = start(&s, e);
	if (!r)
		r = loop(&s, e);
	stop(&s);
	return r;
}
