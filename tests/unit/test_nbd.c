#include "test.h"

#include <endian.h>
#include <errno.h>

#include "nbd.h"

#define SIZE (64ull << 20)

/* What a client sends. */
static void be(struct str *s, uint64_t v, int bytes)
{
	for (int i = bytes - 1; i >= 0; i--)
		str_putc(s, (char)(v >> 8 * i));
}

static void option(struct str *s, uint32_t opt, const void *data, uint32_t n)
{
	be(s, 0x49484156454f5054, 8);
	be(s, opt, 4);
	be(s, n, 4);
	str_add(s, data, n);
}

static void command(struct str *s, unsigned flags, unsigned type,
		    uint64_t cookie, uint64_t offset, uint32_t len)
{
	be(s, 0x25609513, 4);
	be(s, flags, 2);
	be(s, type, 2);
	be(s, cookie, 8);
	be(s, offset, 8);
	be(s, len, 4);
}

static void go(struct str *s)
{
	be(s, 3, 4);
	option(s, 7, "\0\0\0\0\0\0", 6);
}

/* What came of it: the events as text, and all bytes out. */
struct seen {
	struct str log, out;
	bool ended;
};

static void seen_release(struct seen *s)
{
	str_release(&s->log);
	str_release(&s->out);
}

static void note(struct seen *seen, const struct nbd_request *r)
{
	static const char *const names[] = { "read", "write", "flush", "trim",
					     "zero" };
	unsigned sum = 0;

	for (uint32_t i = 0; r->data && i < r->length; i++)
		sum = sum * 31 + ((const uint8_t *)r->data)[i];
	str_fmt(&seen->log, "%s%s %llu %llu+%u e%u %u\n", names[r->op],
		r->fua ? "+fua" : "", (unsigned long long)r->cookie,
		(unsigned long long)r->offset, r->length, r->error, sum);
}

static void drain(struct seen *seen, struct nbd *n)
{
	struct nbd_request r;
	enum nbd_event ev;

	while ((ev = nbd_next(&r, n)) == NBD_REQUEST)
		note(seen, &r);
	seen->ended = ev == NBD_END;
	str_add(&seen->out, n->out.buf, n->out.len);
	str_reset(&n->out);
}

static void feed(struct seen *seen, struct nbd *n, const char *p, size_t left)
{
	drain(seen, n);
	while (left && !seen->ended) {
		struct iovec room[2];
		int k = nbd_room(room, n);
		size_t fed = 0;

		for (int i = 0; i < k; i++) {
			size_t part = room[i].iov_len;

			ASSERT(part > 0);
			if (part > left)
				part = left;
			memcpy(room[i].iov_base, p, part);
			p += part;
			left -= part;
			fed += part;
		}
		nbd_fed(n, fed);
		drain(seen, n);
	}
}

/* All of it, in pieces: the first of cut bytes, the others of step. */
static void play(struct seen *seen, const struct str *in, size_t cut,
		 size_t step)
{
	CLEANUP(nbd_release) struct nbd n;

	nbd_init(&n, SIZE);
	feed(seen, &n, in->buf, cut);
	for (size_t at = cut; at < in->len && !seen->ended; at += step)
		feed(seen, &n, in->buf + at,
		     in->len - at < step ? in->len - at : step);
}

/* Greeting 18 bytes; an option's reply 20 and its data. */
static uint64_t out_be(const struct seen *s, size_t at, int bytes)
{
	uint64_t v = 0;

	for (int i = 0; i < bytes && at + (size_t)i < s->out.len; i++)
		v = v << 8 | (uint8_t)s->out.buf[at + (size_t)i];
	return v;
}

/* One of everything that is valid. */
static void valid_stream(struct str *in)
{
	AUTOFREE char *data = xcalloc(1, 100000);

	for (int i = 0; i < 100000; i++)
		data[i] = (char)(i * 7 + i / 256);
	be(in, 3, 4);
	option(in, 3, "", 0);
	option(in, 8, "", 0);
	option(in, 99, "what is this", 12);
	option(in, 6, "\0\0\0\0\0\2\0\3\0\1", 10);
	option(in, 7, "\0\0\0\0\0\1\0\3", 8);
	command(in, 0, 0, 1, 0, 4096);
	command(in, 1, 1, 2, 4096, 512);
	str_add(in, data, 512);
	command(in, 0, 1, 3, 8192, 70000);
	str_add(in, data, 70000);
	command(in, 0, 3, 4, 0, 0);
	command(in, 0, 4, 5, 1 << 20, 1 << 20);
	command(in, 3, 6, 6, 0, SIZE);
	command(in, 0, 1, 7, SIZE, 1000); /* refused, and its payload skipped */
	str_add(in, data, 1000);
	command(in, 0, 0, 8, SIZE - 1, 1);
	command(in, 0, 2, 9, 0, 0);
}

TEST(nbd__greets_and_serves)
{
	CLEANUP(str_release) struct str in = STR_INIT;
	CLEANUP(seen_release) struct seen s = { .ended = false };

	valid_stream(&in);
	play(&s, &in, in.len, 1);
	EXPECT(s.ended);
	EXPECT_INT((long long)out_be(&s, 0, 8), 0x4e42444d41474943);
	EXPECT_INT((long long)out_be(&s, 16, 2), 3);
	/* LIST: one export with the empty name, and the end. */
	EXPECT_INT((long long)out_be(&s, 18 + 12, 4), 2);
	EXPECT_INT((long long)out_be(&s, 18 + 20, 4), 0);
	EXPECT_INT((long long)out_be(&s, 42 + 12, 4), 1);
	/* Structured replies, and the unknown: unsupported. */
	EXPECT_INT((long long)out_be(&s, 62 + 12, 4), 0x80000001);
	EXPECT_INT((long long)out_be(&s, 82 + 12, 4), 0x80000001);
	/* INFO: size, flags; 512, 4096, 32 MiB. */
	EXPECT_INT((long long)out_be(&s, 102 + 22, 8), SIZE);
	EXPECT_INT((long long)out_be(&s, 102 + 30, 2), 1 + 4 + 8 + 32 + 64);
	EXPECT_INT((long long)out_be(&s, 134 + 22, 4), 512);
	EXPECT_INT((long long)out_be(&s, 134 + 26, 4), 4096);
	EXPECT_INT((long long)out_be(&s, 134 + 30, 4), 32 << 20);
	EXPECT(strstr(s.log.buf, "read 1 0+4096 e0 0\n"));
	EXPECT(strstr(s.log.buf, "write+fua 2 4096+512 e0 "));
	EXPECT(strstr(s.log.buf, "flush 4 0+0 e0 0\n"));
	EXPECT(strstr(s.log.buf, "trim 5 1048576+1048576 e0 0\n"));
	EXPECT(strstr(s.log.buf, "zero+fua 6 0+67108864 e0 0\n"));
	EXPECT(strstr(s.log.buf, "write 7 67108864+1000 e28 0\n"));
	EXPECT(strstr(s.log.buf, "read 8 67108863+1 e0 0\n"));
}

TEST(nbd__cuts_anywhere_change_nothing)
{
	CLEANUP(str_release) struct str in = STR_INIT;
	CLEANUP(seen_release) struct seen whole = { .ended = false };

	valid_stream(&in);
	play(&whole, &in, in.len, 1);
	for (size_t cut = 0; cut < in.len; cut += cut < 1000 ? 1 : 977) {
		CLEANUP(seen_release) struct seen s = { .ended = false };

		play(&s, &in, cut, 65536);
		EXPECT_STR(s.log.buf, whole.log.buf);
		EXPECT(s.out.len == whole.out.len &&
		       !memcmp(s.out.buf, whole.out.buf, s.out.len));
	}
	for (size_t step = 1; step < 40; step++) {
		CLEANUP(seen_release) struct seen s = { .ended = false };

		play(&s, &in, 0, step);
		EXPECT_STR(s.log.buf, whole.log.buf);
	}
}

/* A stream that ends early asks for more, and does not make anything up. */
TEST(nbd__a_cut_stream_is_a_prefix)
{
	CLEANUP(str_release) struct str in = STR_INIT;
	CLEANUP(seen_release) struct seen whole = { .ended = false };

	valid_stream(&in);
	play(&whole, &in, in.len, 1);
	for (size_t n = 0; n < in.len; n += n < 1000 ? 1 : 977) {
		CLEANUP(seen_release) struct seen s = { .ended = false };
		struct str part = { .buf = in.buf, .len = n };

		play(&s, &part, n, 1);
		EXPECT(!s.ended);
		EXPECT(str_starts(whole.log.buf, str_c(&s.log)));
		EXPECT(!memcmp(s.out.buf, whole.out.buf, s.out.len));
	}
}

TEST(nbd__old_clients_get_the_zeroes)
{
	for (unsigned flags = 0; flags < 4; flags++) {
		CLEANUP(str_release) struct str in = STR_INIT;
		CLEANUP(seen_release) struct seen s = { .ended = false };

		be(&in, flags, 4);
		option(&in, 1, "", 0);
		command(&in, 0, 0, 1, 0, 512);
		play(&s, &in, in.len, 1);
		EXPECT_INT((long long)s.out.len, 18 + 10 + (flags & 2 ? 0 : 124));
		EXPECT_INT((long long)out_be(&s, 18, 8), SIZE);
		EXPECT_STR(s.log.buf, "read 1 0+512 e0 0\n");
	}
}

TEST(nbd__abort_is_acknowledged)
{
	CLEANUP(str_release) struct str in = STR_INIT;
	CLEANUP(seen_release) struct seen s = { .ended = false };

	be(&in, 1, 4);
	option(&in, 2, "", 0);
	play(&s, &in, in.len, 1);
	EXPECT(s.ended);
	EXPECT_INT((long long)out_be(&s, 18 + 12, 4), 1);
}

TEST(nbd__bad_handshakes_end_or_are_refused)
{
	static const struct {
		const char *what;
		uint32_t flags, opt;
		const char *data;
		uint32_t n;
		bool ends;
		uint32_t reply;
	} cases[] = {
		{ "unknown flags", 4, 3, "", 0, true, 0 },
		{ "EXPORT_NAME of another", 3, 1, "x", 1, true, 0 },
		{ "GO of another", 3, 7, "\0\0\0\1x\0\0", 7, false, 0x80000006 },
		{ "GO without data", 3, 7, "", 0, false, 0x80000003 },
		{ "GO, name too long", 3, 7, "\0\0\0\2x\0\0", 7, false,
		  0x80000003 },
		{ "GO, huge name", 3, 7, "\xff\xff\xff\xff\0\0", 6, false,
		  0x80000003 },
		{ "GO, a wish missing", 3, 7, "\0\0\0\0\0\1", 6, false,
		  0x80000003 },
		{ "GO, a byte too much", 3, 7, "\0\0\0\0\0\0\0", 7, false,
		  0x80000003 },
		{ "LIST with data", 3, 3, "x", 1, false, 0x80000003 },
		{ "STARTTLS", 3, 5, "", 0, false, 0x80000001 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		CLEANUP(str_release) struct str in = STR_INIT;
		CLEANUP(seen_release) struct seen s = { .ended = false };

		be(&in, cases[i].flags, 4);
		option(&in, cases[i].opt, cases[i].data, cases[i].n);
		play(&s, &in, in.len, 1);
		if (s.ended != cases[i].ends ||
		    out_be(&s, 18 + 12, 4) != cases[i].reply)
			TEST_FAIL("%s: ended %d, reply %llx", cases[i].what,
				  s.ended,
				  (unsigned long long)out_be(&s, 30, 4));
	}
}

TEST(nbd__bad_magic_ends)
{
	static const size_t places[] = { 4, 11, 26, 29 };

	/* Of the option, first and last byte; of the request after GO. */
	for (size_t i = 0; i < 4; i++) {
		CLEANUP(str_release) struct str in = STR_INIT;
		CLEANUP(seen_release) struct seen s = { .ended = false };

		go(&in);
		command(&in, 0, 0, 1, 0, 512);
		in.buf[places[i]] ^= 0x10;
		play(&s, &in, in.len, 1);
		EXPECT(s.ended);
		EXPECT_STR(str_c(&s.log), "");
	}
}

TEST(nbd__an_option_too_long_ends_before_it_is_read)
{
	CLEANUP(str_release) struct str in = STR_INIT;
	CLEANUP(seen_release) struct seen s = { .ended = false };

	be(&in, 3, 4);
	be(&in, 0x49484156454f5054, 8);
	be(&in, 7, 4);
	be(&in, 0xffffffff, 4);
	play(&s, &in, in.len, 1);
	EXPECT(s.ended);
}

TEST(nbd__requests_that_cannot_be_are_refused)
{
	static const struct {
		unsigned flags, type;
		uint64_t offset;
		uint32_t len, error;
	} cases[] = {
		{ 0, 0, SIZE - 512, 512, 0 },
		{ 0, 0, SIZE - 512, 513, NBD_EINVAL },
		{ 0, 0, SIZE, 1, NBD_EINVAL },
		{ 0, 0, UINT64_MAX, 512, NBD_EINVAL },
		{ 0, 0, UINT64_MAX - 511, 512, NBD_EINVAL },
		{ 0, 0, 0, 0, NBD_EINVAL },
		{ 0, 0, 0, 32 << 20, 0 },
		{ 0, 0, 0, (32 << 20) + 1, NBD_EOVERFLOW },
		{ 0, 0, 0, UINT32_MAX, NBD_EOVERFLOW },
		{ 2, 0, 0, 512, NBD_EINVAL },    /* NO_HOLE is for zeroes */
		{ 4, 0, 0, 512, NBD_EINVAL },    /* DF needs structured */
		{ 0x8000, 0, 0, 512, NBD_EINVAL },
		{ 0, 3, 0, 512, NBD_EINVAL },
		{ 0, 3, 512, 0, NBD_EINVAL },
		{ 0, 4, SIZE, 512, NBD_ENOSPC },
		{ 0, 4, 0, UINT32_MAX, NBD_ENOSPC },
		{ 2, 6, 0, 512, 0 },
		{ 16, 6, 0, 512, NBD_EINVAL },   /* FAST_ZERO is not offered */
		{ 0, 6, SIZE - 1, 2, NBD_ENOSPC },
		{ 0, 5, 0, 512, NBD_EINVAL },    /* CACHE */
		{ 0, 7, 0, 512, NBD_EINVAL },    /* BLOCK_STATUS */
		{ 0, 0xffff, 0, 0, NBD_EINVAL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		CLEANUP(str_release) struct str in = STR_INIT;
		CLEANUP(seen_release) struct seen s = { .ended = false };
		AUTOFREE char *want = xfmt(" e%u 0\n", cases[i].error);

		go(&in);
		command(&in, cases[i].flags, cases[i].type, 77, cases[i].offset,
			cases[i].len);
		command(&in, 0, 3, 78, 0, 0); /* the stream goes on */
		play(&s, &in, in.len, 1);
		if (s.ended || !strstr(str_c(&s.log), want) ||
		    !strstr(str_c(&s.log), " 77 ") ||
		    !strstr(str_c(&s.log), "flush 78 0+0 e0 0\n"))
			TEST_FAIL("case %zu: %s", i, str_c(&s.log));
	}
}

/* The payload of a write that is refused passes, whatever its length, and
 * nothing is kept of it. */
TEST(nbd__a_huge_write_is_skipped)
{
	CLEANUP(nbd_release) struct nbd n;
	CLEANUP(str_release) struct str in = STR_INIT, after = STR_INIT;
	CLEANUP(seen_release) struct seen s = { .ended = false };
	AUTOFREE char *zeroes = xcalloc(1, 1 << 20);

	nbd_init(&n, SIZE);
	go(&in);
	command(&in, 0, 1, 5, 0, 200 << 20);
	feed(&s, &n, in.buf, in.len);
	for (int i = 0; i < 200; i++) {
		EXPECT_STR(str_c(&s.log), "");
		feed(&s, &n, zeroes, 1 << 20);
	}
	command(&after, 0, 3, 6, 0, 0);
	feed(&s, &n, after.buf, after.len);
	EXPECT_STR(str_c(&s.log), "write 5 0+209715200 e75 0\n"
				  "flush 6 0+0 e0 0\n");
	EXPECT_INT((long long)n.data_cap, 0);
}

TEST(nbd__replies_have_the_cookie)
{
	uint8_t head[NBD_REPLY_SIZE];
	static const uint8_t want[] = { 0x67, 0x44, 0x66, 0x98, 0, 0, 0, 28,
					1, 2, 3, 4, 5, 6, 7, 8 };

	nbd_reply(head, 0x0102030405060708, NBD_ENOSPC);
	EXPECT(!memcmp(head, want, sizeof(want)));
	EXPECT_INT(nbd_errno(ENOSPC), NBD_ENOSPC);
	EXPECT_INT(nbd_errno(EIO), NBD_EIO);
	EXPECT_INT(nbd_errno(EBADF), NBD_EIO);
}
