#include "nbd.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RX_SIZE 65536
/* A write of at most this is taken from where it was read to; a longer one is
 * read to a place of its own, and so not copied either. */
#define SMALL 16384
#define REQUEST_SIZE 28
/* The longest sensible option is a name of 4096 bytes and a few numbers. */
#define OPTION_MAX 8192

#define GREETING 0x4e42444d41474943ull /* NBDMAGIC */
#define OPTION_MAGIC 0x49484156454f5054ull /* IHAVEOPT */
#define OPTION_REPLY_MAGIC 0x0003e889045565a9ull
#define REQUEST_MAGIC 0x25609513u
#define REPLY_MAGIC 0x67446698u

enum { FLAG_FIXED_NEWSTYLE = 1, FLAG_NO_ZEROES = 2 };
enum {
	EXPORT_HAS_FLAGS = 1 << 0,
	EXPORT_FLUSH = 1 << 2,
	EXPORT_FUA = 1 << 3,
	EXPORT_TRIM = 1 << 5,
	EXPORT_WRITE_ZEROES = 1 << 6,
};
#define EXPORT_FLAGS                                                   \
	(EXPORT_HAS_FLAGS | EXPORT_FLUSH | EXPORT_FUA | EXPORT_TRIM | \
	 EXPORT_WRITE_ZEROES)
enum {
	OPT_EXPORT_NAME = 1,
	OPT_ABORT = 2,
	OPT_LIST = 3,
	OPT_INFO = 6,
	OPT_GO = 7,
};
#define REP_ERROR(n) ((1u << 31) + (n))
enum { REP_ACK = 1, REP_SERVER = 2, REP_INFO = 3 };
#define REP_ERR_UNSUP REP_ERROR(1)
#define REP_ERR_INVALID REP_ERROR(3)
#define REP_ERR_UNKNOWN REP_ERROR(6)
enum { INFO_EXPORT = 0, INFO_BLOCK_SIZE = 3 };
enum {
	CMD_READ,
	CMD_WRITE,
	CMD_DISC,
	CMD_FLUSH,
	CMD_TRIM,
	CMD_WRITE_ZEROES = 6,
};
enum { CMD_FLAG_FUA = 1, CMD_FLAG_NO_HOLE = 2 };

#define BLOCK_MIN 512
#define BLOCK_PREFERRED 4096

enum step { STEP_ON, STEP_MORE, STEP_REQUEST, STEP_END };

enum state {
	IN_FLAGS,
	IN_OPTION,
	IN_OPTION_DATA,
	IN_REQUEST,
	IN_SMALL_PAYLOAD,
	IN_PAYLOAD,
	IN_REFUSED, /* the payload of a write that will not be done */
	IN_END
};

static uint16_t get16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return be16toh(v);
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

static void put16(struct str *s, uint16_t v)
{
	v = htobe16(v);
	str_add(s, &v, sizeof(v));
}

static void put32(struct str *s, uint32_t v)
{
	v = htobe32(v);
	str_add(s, &v, sizeof(v));
}

static void put64(struct str *s, uint64_t v)
{
	v = htobe64(v);
	str_add(s, &v, sizeof(v));
}

void nbd_init(struct nbd *n, uint64_t size)
{
	*n = (struct nbd){ .size = size, .state = IN_FLAGS };
	n->rx = xmalloc(RX_SIZE);
	put64(&n->out, GREETING);
	put64(&n->out, OPTION_MAGIC);
	put16(&n->out, FLAG_FIXED_NEWSTYLE | FLAG_NO_ZEROES);
}

void nbd_release(struct nbd *n)
{
	str_release(&n->out);
	free(n->rx);
	free(n->data);
	*n = (struct nbd){ .state = IN_END };
}

bool nbd_in_handshake(const struct nbd *n)
{
	return n->state <= IN_OPTION_DATA;
}

/* The next want bytes, taken, or NULL while they are not all there. */
static const uint8_t *take(struct nbd *n, size_t want)
{
	const uint8_t *p = n->rx + n->at;

	if (n->len - n->at < want)
		return NULL;
	n->at += want;
	return p;
}

int nbd_room(struct iovec room[2], struct nbd *n)
{
	size_t rest = n->len - n->at;
	bool long_writes = n->pending.length > SMALL;
	int k = 0;

	/* After a long write the next one's head is all that may come along:
	 * the data's place is not yet known, and the kernel copies much faster
	 * to the beginning of a page than to anywhere. */

	memmove(n->rx, n->rx + n->at, rest);
	n->at = 0;
	n->len = rest;
	if (n->state == IN_PAYLOAD)
		room[k++] = (struct iovec){ n->data + n->data_len,
					    n->pending.length - n->data_len };
	room[k].iov_base = n->rx + rest;
	room[k++].iov_len = long_writes ? REQUEST_SIZE : RX_SIZE - rest;
	return k;
}

void nbd_fed(struct nbd *n, size_t got)
{
	size_t part = 0;

	if (n->state == IN_PAYLOAD) {
		part = n->pending.length - n->data_len;
		part = got < part ? got : part;
		n->data_len += part;
	}
	n->len += got - part;
}

static enum step in_flags(struct nbd *n, struct nbd_request *r)
{
	const uint8_t *p = take(n, 4);
	uint32_t flags;

	(void)r;
	if (!p)
		return STEP_MORE;
	flags = get32(p);
	if (flags & ~(uint32_t)(FLAG_FIXED_NEWSTYLE | FLAG_NO_ZEROES))
		return STEP_END;
	n->no_zeroes = flags & FLAG_NO_ZEROES;
	n->state = IN_OPTION;
	return STEP_ON;
}

static enum step in_option(struct nbd *n, struct nbd_request *r)
{
	const uint8_t *p = take(n, 16);

	(void)r;
	if (!p)
		return STEP_MORE;
	n->option = get32(p + 8);
	n->option_len = get32(p + 12);
	if (get64(p) != OPTION_MAGIC || n->option_len > OPTION_MAX)
		return STEP_END;
	n->state = IN_OPTION_DATA;
	return STEP_ON;
}

static void option_reply(struct nbd *n, uint32_t type, uint32_t len)
{
	put64(&n->out, OPTION_REPLY_MAGIC);
	put32(&n->out, n->option);
	put32(&n->out, type);
	put32(&n->out, len);
}

/* The one export has the empty name. */
static enum step export_name(struct nbd *n, const uint8_t *p)
{
	static const uint8_t zeroes[124];

	(void)p;
	if (n->option_len)
		return STEP_END; /* this option knows no other refusal */
	put64(&n->out, n->size);
	put16(&n->out, EXPORT_FLAGS);
	if (!n->no_zeroes)
		str_add(&n->out, zeroes, sizeof(zeroes));
	n->state = IN_REQUEST;
	return STEP_ON;
}

static enum step option_abort(struct nbd *n, const uint8_t *p)
{
	(void)p;
	option_reply(n, REP_ACK, 0);
	return STEP_END;
}

static enum step list(struct nbd *n, const uint8_t *p)
{
	(void)p;
	if (n->option_len) {
		option_reply(n, REP_ERR_INVALID, 0);
		return STEP_ON;
	}
	option_reply(n, REP_SERVER, 4);
	put32(&n->out, 0);
	option_reply(n, REP_ACK, 0);
	return STEP_ON;
}

/* Length of the name in the data of INFO and GO, or -1 when these are not
 * well-formed: name, number of wishes, wishes. */
static int64_t info_name(const uint8_t *p, uint32_t len)
{
	uint32_t name;

	if (len < 6)
		return -1;
	name = get32(p);
	if (name > len - 6)
		return -1;
	return 6 + name + 2u * get16(p + 4 + name) == len ?
		       (int64_t)name :
		       -1;
}

/* Wishes are granted whether made or not: the answer is short. */
static enum step info(struct nbd *n, const uint8_t *p)
{
	int64_t name = info_name(p, n->option_len);

	if (name) {
		option_reply(n, name < 0 ? REP_ERR_INVALID : REP_ERR_UNKNOWN,
			     0);
		return STEP_ON;
	}
	option_reply(n, REP_INFO, 12);
	put16(&n->out, INFO_EXPORT);
	put64(&n->out, n->size);
	put16(&n->out, EXPORT_FLAGS);
	option_reply(n, REP_INFO, 14);
	put16(&n->out, INFO_BLOCK_SIZE);
	put32(&n->out, BLOCK_MIN);
	put32(&n->out, BLOCK_PREFERRED);
	put32(&n->out, NBD_MAX_REQUEST);
	option_reply(n, REP_ACK, 0);
	if (n->option == OPT_GO)
		n->state = IN_REQUEST;
	return STEP_ON;
}

static enum step in_option_data(struct nbd *n, struct nbd_request *r)
{
	static const struct {
		uint32_t option;
		enum step (*fn)(struct nbd *n, const uint8_t *p);
	} options[] = {
		{ OPT_EXPORT_NAME, export_name },
		{ OPT_ABORT, option_abort },
		{ OPT_LIST, list },
		{ OPT_INFO, info },
		{ OPT_GO, info },
	};
	const uint8_t *p = take(n, n->option_len);

	(void)r;
	if (!p)
		return STEP_MORE;
	n->state = IN_OPTION;
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (options[i].option == n->option)
			return options[i].fn(n, p);
	option_reply(n, REP_ERR_UNSUP, 0);
	return STEP_ON;
}

static bool past_the_end(const struct nbd *n, const struct nbd_request *r)
{
	return r->offset > n->size || r->length > n->size - r->offset;
}

static uint32_t refuse(const struct nbd *n, const struct nbd_request *r,
		       uint16_t flags)
{
	uint16_t known = CMD_FLAG_FUA;

	if (r->op == DISK_ZERO)
		known |= CMD_FLAG_NO_HOLE;
	if (flags & ~known)
		return NBD_EINVAL;
	if (r->op == DISK_FLUSH)
		return r->offset || r->length ? NBD_EINVAL : 0;
	if (!r->length)
		return NBD_EINVAL;
	if ((r->op == DISK_READ || r->op == DISK_WRITE) &&
	    r->length > NBD_MAX_REQUEST)
		return NBD_EOVERFLOW;
	if (past_the_end(n, r))
		return r->op == DISK_READ ? NBD_EINVAL : NBD_ENOSPC;
	return 0;
}

static void expect_payload(struct nbd *n)
{
	size_t here = n->len - n->at;

	if (n->pending.length <= SMALL) {
		n->state = IN_SMALL_PAYLOAD;
		return;
	}
	if (n->data_cap < n->pending.length) {
		free(n->data);
		n->data_cap = n->pending.length;
		n->data = xmalloc_pages(n->data_cap);
	}
	if (here > n->pending.length)
		here = n->pending.length;
	memcpy(n->data, take(n, here), here);
	n->data_len = here;
	n->state = IN_PAYLOAD;
}

static enum step in_request(struct nbd *n, struct nbd_request *r)
{
	static const int ops[] = {
		[CMD_READ] = DISK_READ,   [CMD_WRITE] = DISK_WRITE,
		[CMD_DISC] = -1,          [CMD_FLUSH] = DISK_FLUSH,
		[CMD_TRIM] = DISK_TRIM,   [5] = -1,
		[CMD_WRITE_ZEROES] = DISK_ZERO,
	};
	const uint8_t *p = take(n, REQUEST_SIZE);
	uint16_t flags, type;
	int op;

	if (!p)
		return STEP_MORE;
	flags = get16(p + 4);
	type = get16(p + 6);
	if (get32(p) != REQUEST_MAGIC || type == CMD_DISC)
		return STEP_END;
	op = type < sizeof(ops) / sizeof(*ops) ? ops[type] : -1;
	*r = (struct nbd_request){
		.op = op < 0 ? DISK_FLUSH : (enum disk_op)op,
		.fua = flags & CMD_FLAG_FUA,
		.cookie = get64(p + 8),
		.offset = get64(p + 16),
		.length = get32(p + 24),
	};
	r->error = op < 0 ? NBD_EINVAL : refuse(n, r, flags);
	n->pending = *r;
	if (type != CMD_WRITE) {
		n->pending.length = 0;
		return STEP_REQUEST;
	}
	if (!r->error) {
		expect_payload(n);
	} else {
		n->skip = r->length;
		n->state = IN_REFUSED;
	}
	return STEP_ON;
}

static enum step in_small_payload(struct nbd *n, struct nbd_request *r)
{
	const uint8_t *p = take(n, n->pending.length);

	if (!p)
		return STEP_MORE;
	*r = n->pending;
	r->data = p;
	n->state = IN_REQUEST;
	return STEP_REQUEST;
}

static enum step in_payload(struct nbd *n, struct nbd_request *r)
{
	if (n->data_len < n->pending.length)
		return STEP_MORE;
	*r = n->pending;
	r->data = n->data;
	n->state = IN_REQUEST;
	return STEP_REQUEST;
}

static enum step in_refused(struct nbd *n, struct nbd_request *r)
{
	size_t here = n->len - n->at;

	if (here > n->skip)
		here = n->skip;
	take(n, here);
	n->skip -= here;
	if (n->skip)
		return STEP_MORE;
	*r = n->pending;
	n->state = IN_REQUEST;
	return STEP_REQUEST;
}

static enum step in_end(struct nbd *n, struct nbd_request *r)
{
	(void)n;
	(void)r;
	return STEP_END;
}

enum nbd_event nbd_next(struct nbd_request *r, struct nbd *n)
{
	typedef enum step (*step_fn)(struct nbd *, struct nbd_request *);
	static const step_fn steps[] = {
		[IN_FLAGS] = in_flags,
		[IN_OPTION] = in_option,
		[IN_OPTION_DATA] = in_option_data,
		[IN_REQUEST] = in_request,
		[IN_SMALL_PAYLOAD] = in_small_payload,
		[IN_PAYLOAD] = in_payload,
		[IN_REFUSED] = in_refused,
		[IN_END] = in_end,
	};

	for (;;) {
		enum step step = steps[n->state](n, r);

		if (step == STEP_MORE)
			return NBD_MORE;
		if (step == STEP_REQUEST)
			return NBD_REQUEST;
		if (step == STEP_END) {
			n->state = IN_END;
			return NBD_END;
		}
	}
}

void nbd_reply(uint8_t head[NBD_REPLY_SIZE], uint64_t cookie, uint32_t error)
{
	uint32_t magic = htobe32(REPLY_MAGIC);

	error = htobe32(error);
	cookie = htobe64(cookie);
	memcpy(head, &magic, 4);
	memcpy(head + 4, &error, 4);
	memcpy(head + 8, &cookie, 8);
}

uint32_t nbd_errno(int error)
{
	return error == ENOSPC || error == EDQUOT || error == EFBIG ?
		       NBD_ENOSPC :
		       NBD_EIO;
}
