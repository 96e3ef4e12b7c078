#include "buffer.h"

int buffer_find(const struct buffer *b, uint64_t sector)
{
	int best = -1;

	for (int i = 0; i < b->n; i++)
		if (b->v[i].first <= sector && sector < b->v[i].end &&
		    (best < 0 || b->v[i].end > b->v[best].end))
			best = i;
	return best;
}

int buffer_ending(const struct buffer *b, uint64_t sector)
{
	for (int i = 0; i < b->n; i++)
		if (b->v[i].first < b->v[i].end && b->v[i].end == sector)
			return i;
	return -1;
}

int buffer_take(struct buffer *b, uint64_t sector)
{
	int best = -1;

	for (int i = 0; i < b->n; i++)
		if (best < 0 || b->v[i].used < b->v[best].used)
			best = i;
	if (best >= 0)
		b->v[best] = (struct segment){ sector, sector, ++b->uses, 0 };
	return best;
}

void buffer_extend(struct buffer *b, int i, uint64_t end)
{
	b->v[i].end = end;
	if (end - b->v[i].first > b->size)
		b->v[i].first = end - b->size;
}

void buffer_use(struct buffer *b, int i)
{
	b->v[i].used = ++b->uses;
}

void buffer_drop(struct buffer *b, uint64_t first, uint64_t end)
{
	for (int i = 0; i < b->n; i++)
		if (b->v[i].first < end && first < b->v[i].end)
			b->v[i] = (struct segment){ .first = 0 };
}

void buffer_written(struct buffer *b, uint64_t first, uint64_t end)
{
	int i = buffer_ending(b, first);

	if (i < 0 || !b->v[i].written)
		i = buffer_take(b, first);
	if (i < 0)
		return;
	b->v[i].written = 1;
	buffer_extend(b, i, end);
	buffer_use(b, i);
}
