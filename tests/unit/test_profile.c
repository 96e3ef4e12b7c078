#include "test.h"

#include <unistd.h>

#include "profile.h"
#include "str.h"

#define FILE_NAME "test-profile.json"
#define HEAD	  "{\"description\": \"d\", \"sources\": [\"s\"], "
#define DISK                                                                   \
	"\"rpm\": 6000, \"heads\": 2, \"head_switch_ms\": 1, "                 \
	"\"bus_us_per_sector\": 2, \"overhead_us\": {\"read_hit\": 1, "        \
	"\"read_miss\": [2, 3], \"write\": 4}, "
#define BUFFER "\"read_buffer\": {\"segments\": 1, \"segment_sectors\": 8}, "
#define SEEK   "\"seek_ms\": {\"table\": [[1, 2], [3, 4]]}, "
#define ZONE   "{\"cylinder\": 0, \"cylinders\": 10, \"sectors_per_track\": 20"

/* Reads a text as a profile; NULL: error, in e. */
static struct profile *read_text(const char *text, struct err *e)
{
	struct profile *p = NULL;

	e->msg[0] = '\0';
	if (!file_write(FILE_NAME, text, strlen(text), e))
		profile_read(&p, FILE_NAME, e);
	unlink(FILE_NAME);
	return p;
}

static void refuses(const char *text, const char *why)
{
	struct err e;
	struct profile *p = read_text(text, &e);

	if (p || strcmp(e.msg, why))
		TEST_FAIL("%s\n#   said \"%s\", want \"%s\"", text, e.msg, why);
	profile_free(p);
}

TEST(profile__reads_a_disk)
{
	struct err e;
	struct profile *p = read_text(
		HEAD "\"kind\": \"disk\", \"disk\": {" DISK BUFFER SEEK
		     "\"zones\": [" ZONE "}, {\"cylinder\": 12, "
		     "\"cylinders\": 2, \"sectors_per_track\": 10, "
		     "\"sectors\": 35}]}}",
		&e);

	ASSERT(p);
	EXPECT_STR(p->name, "test-profile");
	EXPECT_INT(p->sectors, 10 * 2 * 20 + 35);
	EXPECT_INT(p->disk.cylinders, 14);
	EXPECT_INT(p->disk.period, 10000000);
	EXPECT_INT(p->disk.overhead.read_hit[1], 1000);
	EXPECT_INT(p->disk.overhead.read_miss[0], 2000);
	EXPECT_INT(p->disk.overhead.read_miss[1], 3000);
	EXPECT_INT(p->disk.seek[0], 0);
	EXPECT_INT(p->disk.seek[1], 2000000);
	EXPECT_INT(p->disk.seek[2], 3000000);
	EXPECT_INT(p->disk.seek[13], 14000000);
	EXPECT_INT(p->disk.cache_sectors, 0);
	EXPECT_INT(p->disk.zones[1].lba, 400);
	profile_free(p);
}

TEST(profile__reads_seek_pieces)
{
	struct err e;
	struct profile *p = read_text(
		HEAD "\"kind\": \"disk\", \"disk\": {" DISK BUFFER
		     "\"seek_ms\": {\"pieces\": [{\"to\": 4, \"base\": 1, "
		     "\"sqrt\": 2}, {\"base\": 3, \"linear\": 0.5}]}, "
		     "\"zones\": [" ZONE "}]}}",
		&e);

	ASSERT(p);
	EXPECT_INT(p->disk.seek[1], 3000000);
	EXPECT_INT(p->disk.seek[4], 5000000);
	EXPECT_INT(p->disk.seek[5], 5500000);
	EXPECT_INT(p->disk.seek[9], 7500000);
	profile_free(p);
}

TEST(profile__names_what_is_wrong)
{
	refuses("[1]", FILE_NAME ": is not an object");
	refuses("{\n\"a\": }", FILE_NAME ":2: unexpected token near '}'");
	refuses(HEAD "\"kind\": \"none\", \"kind\": \"none\"}",
		FILE_NAME ":1: duplicate object key near '\"kind\"'");
	refuses(HEAD "\"a\": 1}", FILE_NAME ": kind must be there");
	refuses(HEAD "\"kind\": \"tape\"}",
		FILE_NAME ": kind is none of none, flat, card, disk");
	refuses(HEAD "\"kind\": \"none\", \"Description\": \"\"}",
		FILE_NAME ": Description is not a key of a drive profile");
	refuses(HEAD "\"kind\": \"none\", \"disk\": {}}",
		FILE_NAME ": disk is not a key of a drive profile");
	refuses("{\"kind\": \"none\", \"sources\": []}",
		FILE_NAME ": description wants a text");
	refuses("{\"kind\": \"none\", \"description\": \"d\"}",
		FILE_NAME ": sources wants a list of texts");
	refuses(HEAD "\"kind\": \"disk\"}", FILE_NAME ": disk must be there");
	refuses(HEAD "\"kind\": \"flat\", \"flat\": 3}",
		FILE_NAME ": flat is not an object");
	refuses(HEAD
		"\"kind\": \"flat\", \"flat\": {\"us_per_sector\": \"1\"}}",
		FILE_NAME ": flat.us_per_sector is not a number");
	refuses(HEAD "\"kind\": \"flat\", \"flat\": {\"us_per_sector\": -1}}",
		FILE_NAME
		": flat.us_per_sector: -1 is not within 0 and 100000");
	refuses(HEAD "\"kind\": \"flat\", \"flat\": {\"us_per_sector\": 1}}",
		FILE_NAME ": flat.latency_us must be there");
}

static void refuses_disk(const char *rest, const char *why)
{
	AUTOFREE char *text =
		xfmt(HEAD "\"kind\": \"disk\", \"disk\": {" DISK "%s}}", rest);
	AUTOFREE char *said = xfmt(FILE_NAME ": disk.%s", why);

	refuses(text, said);
}

TEST(profile__names_what_is_wrong_in_a_disk)
{
	refuses_disk(BUFFER SEEK "\"zone\": []",
		     "zone is not a key of a drive profile");
	refuses_disk(BUFFER SEEK "\"zones\": []",
		     "zones wants a list of zones");
	refuses_disk(BUFFER SEEK "\"zones\": [" ZONE "}, " ZONE "}]",
		     "zones[1].cylinder is within the zone before");
	refuses_disk(BUFFER SEEK "\"zones\": [" ZONE ", \"spt\": 1}]",
		     "zones[0].spt is not a key of a drive profile");
	refuses_disk(BUFFER SEEK "\"zones\": [" ZONE ", \"sectors\": 401}]",
		     "zones[0].sectors is not what the zone can hold");
	refuses_disk(BUFFER SEEK "\"zones\": [" ZONE ", \"sectors\": 400, "
				 "\"slips\": [[5, 1]]}]",
		     "zones[0].sectors is not what the zone can hold");
	refuses_disk(BUFFER SEEK "\"zones\": [" ZONE ", \"slips\": "
				 "[[5, 2], [6, 1]]}]",
		     "zones[0].slips is not in order");
	refuses_disk(BUFFER SEEK "\"zones\": [" ZONE ", \"spare\": 400}]",
		     "zones[0].spare leaves no data");
	refuses_disk(BUFFER "\"seek_ms\": {}, \"zones\": [" ZONE "}]",
		     "seek_ms wants a list, table or pieces");
	refuses_disk(BUFFER "\"seek_ms\": {\"table\": [[2, 1], [1, 2]]}, "
			    "\"zones\": [" ZONE "}]",
		     "seek_ms.table wants rising distances");
	refuses_disk(BUFFER "\"seek_ms\": {\"table\": [[2]]}, "
			    "\"zones\": [" ZONE "}]",
		     "seek_ms.table wants pairs of numbers");
	refuses_disk(BUFFER "\"seek_ms\": {\"pieces\": [{\"to\": 3, "
			    "\"base\": 1}]}, \"zones\": [" ZONE "}]",
		     "seek_ms leaves some distance without a time");
	refuses_disk(SEEK "\"zones\": [" ZONE "}]",
		     "read_buffer must be there");
	refuses_disk(BUFFER SEEK "\"write_cache\": {\"sectors\": true}, "
				 "\"zones\": [" ZONE "}]",
		     "write_cache.sectors is not a number");
	refuses_disk("\"read_buffer\": {\"segments\": 1, \"segment_sectors\": 8"
		     ", \"free_reads\": 1}, " SEEK "\"zones\": [" ZONE "}]",
		     "read_buffer.free_reads is not true or false");
}

TEST(profile__says_that_a_file_is_missing)
{
	struct profile *p;
	struct err e;

	EXPECT_INT(profile_read(&p, "no/such.json", &e), -1);
	EXPECT(strstr(e.msg, "no/such.json"));
}
