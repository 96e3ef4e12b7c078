#include "profile.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mech.h"

/* One object of the file, and where it is, for messages: `disk.zones[3].`. */
struct fields {
	const char *path;
	char where[80];
	json_t *object;
	struct err *e;
};

/* A number, stored as a whole number of its scale's parts (ms: 1e6 for ns), or
 * with scale 0 a truth value. REQUIRED as its default: it must be there. */
struct field {
	const char *key;
	size_t at; /* of the int64_t */
	double scale, lo, hi, otherwise;
};
#define REQUIRED NAN
#define MS	 1e6
#define US	 1e3

#define O(member) offsetof(struct disk_overhead, member)
#define S(member) offsetof(struct seek_piece, member)
#define Z(member) offsetof(struct disk_zone, member)
#define D(member) offsetof(struct disk_profile, member)
#define C(member) offsetof(struct card_profile, member)
#define F(member) offsetof(struct flat_profile, member)

static int bad(const struct fields *f, const char *key, const char *why)
{
	return err_set(f->e, "%s: %s%s %s", f->path, f->where, key, why);
}

static int number(const struct fields *f, int64_t *out, const char *key,
		  const json_t *v, double scale, double lo, double hi)
{
	double n = json_number_value(v);

	if (!v)
		return bad(f, key, "must be there");
	if (!json_is_number(v))
		return bad(f, key, "is not a number");
	if (!(n >= lo && n <= hi))
		return err_set(f->e, "%s: %s%s: %g is not within %g and %g",
			       f->path, f->where, key, n, lo, hi);
	*out = llround(n * scale);
	return 0;
}

static int fields_read(const struct fields *f, void *base,
		       const struct field *table)
{
	for (; table->key; table++) {
		json_t *v = json_object_get(f->object, table->key);
		int64_t *out = (int64_t *)((char *)base + table->at);

		if (!v && !isnan(table->otherwise)) {
			*out = llround(table->otherwise *
				       (table->scale ? table->scale : 1));
		} else if (table->scale) {
			if (number(f, out, table->key, v, table->scale,
				   table->lo, table->hi))
				return -1;
		} else {
			if (!json_is_boolean(v))
				return bad(f, table->key,
					   "is not true or false");
			*out = json_is_true(v);
		}
	}
	return 0;
}

/* Every key is in the table or among the others. */
static int known(const struct fields *f, const struct field *table,
		 const char *const *others)
{
	const char *key;
	json_t *value;

	json_object_foreach(f->object, key, value) {
		const struct field *t = table;
		const char *const *o = others;

		while (t && t->key && strcmp(t->key, key))
			t++;
		while (o && *o && strcmp(*o, key))
			o++;
		if (!(t && t->key) && !(o && *o))
			return bad(f, key, "is not a key of a drive profile");
	}
	return 0;
}

static int object(struct fields *f, const struct fields *up, const char *key,
		  json_t *v)
{
	*f = (struct fields){ .path = up->path, .object = v, .e = up->e };
	if (!json_is_object(v))
		return bad(up, key, v ? "is not an object" : "must be there");
	snprintf(f->where, sizeof(f->where), "%.40s%.30s.", up->where, key);
	return 0;
}

static int enter(struct fields *f, const struct fields *up, const char *key)
{
	return object(f, up, key, json_object_get(up->object, key));
}

static int element(struct fields *f, const struct fields *up, const char *key,
		   size_t i)
{
	AUTOFREE char *name = xfmt("%s[%zu]", key, i);

	return object(f, up, name,
		      json_array_get(json_object_get(up->object, key), i));
}

/* A whole object: enters it, and reads what the table has. */
static int take(struct fields *f, const struct fields *up, const char *key,
		void *base, const struct field *table,
		const char *const *others)
{
	if (enter(f, up, key) || known(f, table, others))
		return -1;
	return fields_read(f, base, table);
}

/* One of some words, and the first if there is none. */
static int choice(const struct fields *f, int *out, const char *key,
		  const char *const *words)
{
	const json_t *v = json_object_get(f->object, key);
	CLEANUP(str_release) struct str all = STR_INIT;

	*out = 0;
	if (!v)
		return 0;
	for (int i = 0; words[i]; i++) {
		if (json_is_string(v) &&
		    !strcmp(json_string_value(v), words[i])) {
			*out = i;
			return 0;
		}
		str_fmt(&all, "%s%s", i ? ", " : "is none of ", words[i]);
	}
	return bad(f, key, str_c(&all));
}

/* The i-th of a list of pairs of numbers. */
static int pair(const struct fields *f, int64_t out[2], const char *key,
		const json_t *list, size_t i, const double scale[2],
		const double hi[2])
{
	const json_t *p = json_array_get(list, i);

	if (json_array_size(p) != 2)
		return bad(f, key, "wants pairs of numbers");
	for (int k = 0; k < 2; k++)
		if (number(f, &out[k], key, json_array_get(p, k), scale[k], 0,
			   hi[k]))
			return -1;
	return 0;
}

/* [after a write, after a read], or one number for both. */
static int after(const struct fields *f, int64_t out[2], const char *key)
{
	json_t *v = json_object_get(f->object, key);

	for (int i = 0; i < 2; i++)
		if (number(f, &out[i], key,
			   json_is_array(v) ? json_array_get(v, i) : v, US, 0,
			   1e6))
			return -1;
	return 0;
}

static int overhead_read(struct disk_overhead *o, const struct fields *up)
{
	static const char *const others[] = { "read_hit", "read_miss", "write",
					      NULL };
	static const struct field table[] = {
		{ "reselect", O(reselect), US, 0, 1e6, 0 },
		{ "read_end", O(read_end), US, 0, 1e6, 0 },
		{ "write_end", O(write_end), US, 0, 1e6, 0 },
		{ "flush", O(flush), US, 0, 1e6, 0 },
		{ NULL },
	};
	struct fields f;

	if (take(&f, up, "overhead_us", o, table, others) ||
	    after(&f, o->read_hit, "read_hit") ||
	    after(&f, o->read_miss, "read_miss"))
		return -1;
	return after(&f, o->write, "write");
}

/* Measured points, a line between each two and on past the last. */
static int seek_table(struct disk_profile *d, const struct fields *f,
		      const json_t *table)
{
	static const double scale[] = { 1, MS }, hi[] = { 1e6, 1000 };
	int64_t from[2] = { 0, 0 }, to[2] = { 0, 0 }, at = 1;
	size_t n = json_array_size(table);

	for (size_t i = 0; i < n; i++) {
		memcpy(from, to, sizeof(from));
		if (pair(f, to, "table", table, i, scale, hi))
			return -1;
		if (to[0] <= from[0])
			return bad(f, "table", "wants rising distances");
		for (; at < d->cylinders && (at <= to[0] || i == n - 1); at++)
			d->seek[at] = from[1] + (to[1] - from[1]) *
							(at - from[0]) /
							(to[0] - from[0]);
	}
	return 0;
}

/* Nanoseconds; the factors in thousandths. */
struct seek_piece {
	int64_t to, base, sqrt, linear;
};

/* base + sqrt * root(distance) + linear * distance, each piece up to a
 * distance; the last goes on to the end. */
static int seek_pieces(struct disk_profile *d, const struct fields *up,
		       const json_t *pieces)
{
	static const struct field table[] = {
		{ "to", S(to), 1, 1, 1e6, 1e6 },
		{ "base", S(base), MS, -100, 1000, REQUIRED },
		{ "sqrt", S(sqrt), MS * 1000, -10, 10, 0 },
		{ "linear", S(linear), MS * 1000, -10, 10, 0 },
		{ NULL },
	};
	int64_t at = 1;

	for (size_t i = 0; i < json_array_size(pieces); i++) {
		struct seek_piece p;
		struct fields f;

		if (element(&f, up, "pieces", i) || known(&f, table, NULL) ||
		    fields_read(&f, &p, table))
			return -1;
		for (; at < d->cylinders && at <= p.to; at++)
			d->seek[at] = p.base +
				      llround(p.sqrt * sqrt(at) / 1000) +
				      p.linear * at / 1000;
	}
	return 0;
}

static int seek_read(struct disk_profile *d, const struct fields *up)
{
	static const char *const others[] = { "table", "pieces", NULL };
	const json_t *table, *pieces;
	struct fields f;

	if (enter(&f, up, "seek_ms") || known(&f, NULL, others))
		return -1;
	table = json_object_get(f.object, "table");
	pieces = json_object_get(f.object, "pieces");
	if (json_is_array(table) == json_is_array(pieces))
		return bad(up, "seek_ms", "wants a list, table or pieces");
	d->seek = xcalloc(d->cylinders, sizeof(*d->seek));
	if (table ? seek_table(d, &f, table) : seek_pieces(d, &f, pieces))
		return -1;
	for (int64_t i = 1; i < d->cylinders; i++) {
		if (d->seek[i] < d->seek_minimum)
			d->seek[i] = d->seek_minimum;
		if (d->seek[i] <= 0)
			return bad(up, "seek_ms",
				   "leaves some distance without a time");
	}
	return 0;
}

static int slips_read(struct disk_zone *z, const struct fields *f)
{
	static const double scale[] = { 1, 1 }, hi[] = { 1e12, 1e9 };
	json_t *list = json_object_get(f->object, "slips");
	uint64_t end = 0, before = 0;

	if (list && !json_is_array(list))
		return bad(f, "slips", "is not a list");
	z->slips = xcalloc(json_array_size(list), sizeof(*z->slips));
	for (size_t i = 0; i < json_array_size(list); i++) {
		int64_t v[2];

		if (pair(f, v, "slips", list, i, scale, hi))
			return -1;
		if ((uint64_t)v[0] < end || v[1] < 1)
			return bad(f, "slips", "is not in order");
		z->slips[z->nslips++] =
			(struct zone_slip){ v[0], v[1], before };
		end = v[0] + v[1];
		before += v[1];
	}
	return 0;
}

/* No address may be mapped past the zone's end. */
static int zone_check(struct disk_zone *z, const struct fields *f,
		      int64_t heads)
{
	int64_t places = z->cylinders * heads * z->spt;
	uint64_t beside;

	if (!z->every)
		z->every = places;
	if (z->spare >= z->every)
		return bad(f, "spare", "leaves no data");
	if (!z->sectors)
		z->sectors =
			places / z->every * (z->every - z->spare) - z->lead;
	if (z->sectors < 1 ||
	    zone_place(z, z->sectors - 1, &beside) >= (uint64_t)places)
		return bad(f, "sectors", "is not what the zone can hold");
	return 0;
}

static int zone_read(struct disk_profile *d, struct disk_zone *z,
		     const struct fields *f)
{
	static const char *const others[] = { "slips", NULL };
	static const struct field table[] = {
		{ "cylinder", Z(cylinder), 1, 0, 1e6, REQUIRED },
		{ "cylinders", Z(cylinders), 1, 1, 1e6, REQUIRED },
		{ "sectors_per_track", Z(spt), 1, 1, 1e5, REQUIRED },
		{ "track_skew", Z(track_skew), 1000, 0, 1e5, 0 },
		{ "cylinder_skew", Z(cylinder_skew), 1000, 0, 1e5, 0 },
		{ "offset", Z(offset), 1000, 0, 1e5, 0 },
		{ "lead", Z(lead), 1, 0, 1e9, 0 },
		{ "every", Z(every), 1, 0, 1e12, 0 },
		{ "spare", Z(spare), 1, 0, 1e9, 0 },
		{ "spare_first", Z(spare_first), 0, 0, 0, 0 },
		{ "slips_through", Z(slips_through), 0, 0, 0, 0 },
		{ "sectors", Z(sectors), 1, 0, 1e12, 0 },
		{ NULL },
	};

	if (known(f, table, others) || fields_read(f, z, table) ||
	    slips_read(z, f) || zone_check(z, f, d->heads))
		return -1;
	if (z->cylinder < d->cylinders)
		return bad(f, "cylinder", "is within the zone before");
	d->cylinders = z->cylinder + z->cylinders;
	return 0;
}

static int zones_read(struct profile *p, const struct fields *up)
{
	struct disk_profile *d = &p->disk;
	size_t n = json_array_size(json_object_get(up->object, "zones"));
	struct fields f;

	if (!n)
		return bad(up, "zones", "wants a list of zones");
	d->zones = xcalloc(n, sizeof(*d->zones));
	while (d->nzones < n) {
		struct disk_zone *z = &d->zones[d->nzones++];

		if (element(&f, up, "zones", d->nzones - 1) ||
		    zone_read(d, z, &f))
			return -1;
		z->lba = p->sectors;
		p->sectors += z->sectors;
	}
	return 0;
}

static int buffer_read(struct disk_profile *d, const struct fields *up)
{
	static const char *const others[] = { "ahead_until", NULL };
	static const char *const until[] = { "count", "track", "cylinder",
					     "next-track", NULL };
	static const struct field table[] = {
		{ "segments", D(segments), 1, 0, 64, REQUIRED },
		{ "segment_sectors", D(segment_sectors), 1, 1, 1e6, REQUIRED },
		{ "keep_writes", D(keep_writes), 0, 0, 0, 0 },
		{ "on_arrival", D(on_arrival), 0, 0, 0, 0 },
		{ "free_reads", D(free_reads), 0, 0, 0, 0 },
		{ "ahead_sectors", D(ahead_sectors), 1, 0, 1e6, 0 },
		{ "ahead_on_hit", D(ahead_on_hit), 0, 0, 0, 0 },
		{ NULL },
	};
	struct fields f;
	int n;

	if (take(&f, up, "read_buffer", d, table, others) ||
	    choice(&f, &n, "ahead_until", until))
		return -1;
	d->ahead_until = n;
	return 0;
}

static int cache_read(struct disk_profile *d, const struct fields *up)
{
	static const struct field table[] = {
		{ "sectors", D(cache_sectors), 1, 0, 1e6, REQUIRED },
		{ "extents", D(cache_extents), 1, 1, 1e5, 1 },
		{ "hold_ms", D(cache_hold), MS, 1, 1e5, 1000 },
		{ NULL },
	};
	struct fields f;

	if (!json_object_get(up->object, "write_cache"))
		return 0;
	return take(&f, up, "write_cache", d, table, NULL);
}

static int disk_read(struct profile *p, const struct fields *up)
{
	static const char *const others[] = { "rpm",	     "serpentine",
					      "seek_ms",     "zones",
					      "overhead_us", "read_buffer",
					      "write_cache", NULL };
	static const char *const serpentine[] = { "no", "zone", "disk", NULL };
	static const struct field table[] = {
		{ "heads", D(heads), 1, 1, 256, REQUIRED },
		{ "head_switch_ms", D(head_switch), MS, 0, 100, REQUIRED },
		{ "write_settle_ms", D(write_settle), MS, 0, 100, 0 },
		{ "seek_minimum_ms", D(seek_minimum), MS, 0, 100, 0 },
		{ "bus_us_per_sector", D(bus), US, 0, 1e5, REQUIRED },
		{ "read_watermark", D(watermark), 1000, 0, 1, 0 },
		{ "queue_depth", D(queue_depth), 1, 1, 64, 1 },
		{ "age_limit_ms", D(age_limit), MS, 1, 1e5, 1000 },
		{ NULL },
	};
	struct disk_profile *d = &p->disk;
	int64_t rpm;
	struct fields f;
	int n;

	if (take(&f, up, "disk", d, table, others) ||
	    number(&f, &rpm, "rpm", json_object_get(f.object, "rpm"), 1000, 60,
		   100000) ||
	    choice(&f, &n, "serpentine", serpentine))
		return -1;
	d->period = llround(60e12 / rpm);
	d->serpentine = n;
	if (zones_read(p, &f) || seek_read(d, &f) ||
	    overhead_read(&d->overhead, &f) || buffer_read(d, &f))
		return -1;
	return cache_read(d, &f);
}

static int card_read(struct profile *p, const struct fields *up)
{
	static const struct field table[] = {
		{ "unit_sectors", C(unit), 1, 1, 1e6, REQUIRED },
		{ "open_units", C(open), 1, 1, 64, REQUIRED },
		{ "page_sectors", C(page), 1, 1, 1e4, REQUIRED },
		{ "eviction_ms", C(eviction), MS, 0, 1e4, REQUIRED },
		{ "read_overhead_us", C(read_overhead), US, 0, 1e6, REQUIRED },
		{ "write_overhead_us", C(write_overhead), US, 0, 1e6,
		  REQUIRED },
		{ "flush_us", C(flush), US, 0, 1e6, 0 },
		{ "bus_us_per_sector", C(bus), US, 0, 1e5, REQUIRED },
		{ "read_us_per_sector", C(read), US, 0, 1e5, REQUIRED },
		{ "program_us_per_sector", C(program), US, 0, 1e5, REQUIRED },
		{ NULL },
	};
	struct fields f;

	if (take(&f, up, "card", &p->card, table, NULL))
		return -1;
	if (p->card.unit % p->card.page)
		return bad(&f, "unit_sectors", "is not whole pages");
	return 0;
}

static int flat_read(struct profile *p, const struct fields *up)
{
	static const struct field table[] = {
		{ "us_per_sector", F(sector), US, 0, 1e5, REQUIRED },
		{ "latency_us", F(latency), US, 0, 1e6, REQUIRED },
		{ "flush_us", F(flush), US, 0, 1e7, REQUIRED },
		{ NULL },
	};
	struct fields f;

	return take(&f, up, "flat", &p->flat, table, NULL);
}

static int head_read(struct profile *p, const struct fields *f)
{
	json_t *sources = json_object_get(f->object, "sources");
	json_t *rated = json_object_get(f->object, "rated_mb_per_s");
	json_t *text = json_object_get(f->object, "description");
	int64_t n;

	if (!json_is_string(text))
		return bad(f, "description", "wants a text");
	p->description = xstrdup(json_string_value(text));
	if (rated && number(f, &n, "rated_mb_per_s", rated, 1e3, 0, 1e5))
		return -1;
	p->rated = rated ? n / 1e3 : 0;
	if (!json_is_array(sources))
		return bad(f, "sources", "wants a list of texts");
	for (size_t i = 0; i < json_array_size(sources); i++) {
		json_t *s = json_array_get(sources, i);

		if (!json_is_string(s))
			return bad(f, "sources", "wants a list of texts");
		strv_add(&p->sources, json_string_value(s));
	}
	return 0;
}

static int profile_parse(struct profile *p, const struct fields *f)
{
	static const char *const kinds[] = { "none", "flat", "card", "disk",
					     NULL };
	const char *others[] = { "kind",    "description", "rated_mb_per_s",
				 "sources", NULL,	   NULL };
	int kind;

	if (!json_object_get(f->object, "kind"))
		return bad(f, "kind", "must be there");
	if (choice(f, &kind, "kind", kinds))
		return -1;
	p->kind = kind;
	if (p->kind != PROFILE_NONE)
		others[4] = kinds[kind];
	if (known(f, NULL, others) || head_read(p, f))
		return -1;
	switch (p->kind) {
	case PROFILE_DISK:
		return disk_read(p, f);
	case PROFILE_CARD:
		return card_read(p, f);
	case PROFILE_FLAT:
		return flat_read(p, f);
	case PROFILE_NONE:
		break;
	}
	return 0;
}

static char *name_of(const char *path)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	return xstrndup(base, strlen(base) - (str_ends(base, ".json") ? 5 : 0));
}

int profile_read(struct profile **out, const char *path, struct err *e)
{
	CLEANUP(str_release) struct str text = STR_INIT;
	json_error_t error;
	struct fields f = { .path = path, .e = e };
	struct profile *p;
	int status;

	if (file_read(&text, path, e))
		return -1;
	f.object = json_loadb(str_c(&text), text.len, JSON_REJECT_DUPLICATES,
			      &error);
	if (!f.object)
		return err_set(e, "%s:%d: %s", path, error.line, error.text);
	p = xcalloc(1, sizeof(*p));
	p->name = name_of(path);
	status = json_is_object(f.object)
			 ? profile_parse(p, &f)
			 : err_set(e, "%s: is not an object", path);
	json_decref(f.object);
	if (status)
		profile_free(p);
	else
		*out = p;
	return status;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->disk.nzones; i++)
		free(p->disk.zones[i].slips);
	free(p->disk.zones);
	free(p->disk.seek);
	strv_release(&p->sources);
	free(p->description);
	free(p->name);
	free(p);
}
