/* A client that sends anything, in pieces of any size. The first byte chooses
 * the pieces. */
#include <stdlib.h>
#include <string.h>

#include "nbd.h"

#define SIZE (64ull << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(cond)              \
	do {                     \
		if (!(cond))     \
			abort(); \
	} while (0)

/* What the server relies on. */
static void check_request(const struct nbd_request *r)
{
	volatile uint8_t sum = 0;

	CHECK(r->op <= DISK_ZERO);
	if (r->error)
		return;
	CHECK(r->offset <= SIZE && r->length <= SIZE - r->offset);
	CHECK((r->op == DISK_FLUSH) == (r->length == 0));
	if (r->op == DISK_READ || r->op == DISK_WRITE)
		CHECK(r->length <= NBD_MAX_REQUEST);
	for (uint32_t i = 0; r->op == DISK_WRITE && i < r->length; i++)
		sum = sum ^ ((const uint8_t *)r->data)[i];
}

/* False: the connection has ended. */
static bool drain(struct nbd *n)
{
	struct nbd_request r;
	enum nbd_event ev;

	while ((ev = nbd_next(&r, n)) == NBD_REQUEST)
		check_request(&r);
	/* At most 65536 bytes of options, each with the longest answer. */
	CHECK(n->out.len < 1 << 20);
	CHECK(n->data_cap <= NBD_MAX_REQUEST);
	str_reset(&n->out);
	return ev == NBD_MORE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t step = size ? data[0] + 1u : 1, at = 1;
	struct nbd n;

	if (step == 256)
		step = 1 << 20;
	nbd_init(&n, SIZE);
	while (drain(&n) && at < size) {
		struct iovec room[2];
		int k = nbd_room(room, &n);
		size_t left = size - at < step ? size - at : step, fed = 0;

		for (int i = 0; i < k; i++) {
			size_t part = room[i].iov_len < left ? room[i].iov_len :
							       left;

			CHECK(room[i].iov_len > 0);
			memcpy(room[i].iov_base, data + at, part);
			at += part;
			left -= part;
			fed += part;
		}
		nbd_fed(&n, fed);
	}
	nbd_release(&n);
	return 0;
}
