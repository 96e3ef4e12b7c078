#include "test.h"

#include <unistd.h>

#include "kconfig.h"

struct dir {
	char path[64];
	struct strv files;
};

static void dir_done(struct dir *d)
{
	struct err e;

	strv_release(&d->files);
	dir_remove(d->path, &e);
}

static void dir_init(struct dir *d)
{
	*d = (struct dir){ .path = "/tmp/iobisect-kconfig-XXXXXX" };
	if (!mkdtemp(d->path))
		abort();
}

static void fragment(struct dir *d, const char *name, const char *text)
{
	struct err e;

	strv_addf(&d->files, "%s/%s", d->path, name);
	if (file_write(d->files.v[d->files.n - 1], text, strlen(text), &e))
		abort();
}

TEST(kconfig__later_file_wins)
{
	CLEANUP(dir_done) struct dir d;
	CLEANUP(str_release) struct str out = STR_INIT;
	struct err e;

	dir_init(&d);
	fragment(&d, "a",
		 "# words\nCONFIG_A=y\nCONFIG_B=y\n\nCONFIG_S=\"x y\"\n");
	fragment(&d, "b",
		 "# CONFIG_A is not set\nCONFIG_C=0x1f\nCONFIG_B=n \r\n");
	EXPECT_INT(kconfig_merge(&out, &d.files, &e), 0);
	EXPECT_STR(str_c(&out), "# CONFIG_A is not set\n# CONFIG_B is not set\n"
				"CONFIG_S=\"x y\"\nCONFIG_C=0x1f\n");
}

TEST(kconfig__optional_ends_at_a_blank_line)
{
	CLEANUP(dir_done) struct dir d;
	CLEANUP(str_release) struct str out = STR_INIT;
	struct err e;

	dir_init(&d);
	fragment(&d, "a",
		 "# optional: why\n# more\nCONFIG_A=y\nCONFIG_B=y\n\n"
		 "CONFIG_C=y\n# optionally is another word\nCONFIG_D=y\n");
	fragment(&d, "b", "CONFIG_B=y\n# optional\nCONFIG_C=y\nCONFIG_D=m\n");
	EXPECT_INT(kconfig_merge(&out, &d.files, &e), 0);
	EXPECT_STR(str_c(&out), "CONFIG_B=y\nCONFIG_C=y\n\n# optional\n"
				"CONFIG_A=y\nCONFIG_D=m\n");
}

TEST(kconfig__merging_a_merge_changes_nothing)
{
	CLEANUP(dir_done) struct dir d;
	CLEANUP(str_release) struct str once = STR_INIT;
	CLEANUP(str_release) struct str twice = STR_INIT;
	struct err e;

	dir_init(&d);
	fragment(&d, "a",
		 "# optional\nCONFIG_A=y\n\nCONFIG_B=y\n"
		 "# CONFIG_C is not set\n");
	EXPECT_INT(kconfig_merge(&once, &d.files, &e), 0);
	strv_release(&d.files);
	fragment(&d, "once", str_c(&once));
	EXPECT_INT(kconfig_merge(&twice, &d.files, &e), 0);
	EXPECT_STR(str_c(&twice), str_c(&once));
}

TEST(kconfig__bad_line_is_named)
{
	static const char *const bad[] = {
		"CONFIG_A",	"CONFIG_A=maybe", "A=y",	 "CONFIG_=y",
		"CONFIG_A=\"x", "CONFIG_A=",	  "CONFIG_A=0x", "CONFIG_A-B=y",
		"CONFIG_A=-",	"select A"
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		CLEANUP(dir_done) struct dir d;
		CLEANUP(str_release) struct str out = STR_INIT;
		AUTOFREE char *text = xfmt("CONFIG_OK=y\n\n%s\n", bad[i]);
		AUTOFREE char *start = NULL;
		struct err e = { "" };

		dir_init(&d);
		fragment(&d, "f.config", text);
		start = xfmt("%s/f.config:3: \"%s\"", d.path, bad[i]);
		EXPECT_INT(kconfig_merge(&out, &d.files, &e), -1);
		if (!str_starts(e.msg, start))
			TEST_FAIL("%s: %s", bad[i], e.msg);
	}
}

TEST(kconfig__missing_and_binary_files)
{
	CLEANUP(dir_done) struct dir d;
	CLEANUP(str_release) struct str out = STR_INIT;
	struct err e;

	dir_init(&d);
	strv_addf(&d.files, "%s/none", d.path);
	EXPECT_INT(kconfig_merge(&out, &d.files, &e), -1);
	EXPECT(strstr(e.msg, "none"));
	strv_release(&d.files);
	strv_addf(&d.files, "%s/binary", d.path);
	EXPECT_INT(file_write(d.files.v[0], "CONFIG_A=y\n\0x", 13, &e), 0);
	EXPECT_INT(kconfig_merge(&out, &d.files, &e), -1);
	EXPECT(strstr(e.msg, "not a text file"));
}

static void expect_missing(const char *wanted, const char *dotconfig,
			   const char *want)
{
	CLEANUP(strv_release) struct strv missing = STRV_INIT;
	CLEANUP(str_release) struct str got = STR_INIT;

	kconfig_check(&missing, wanted, dotconfig);
	for (size_t i = 0; i < missing.n; i++)
		str_fmt(&got, "%s ", missing.v[i]);
	EXPECT_STR(str_c(&got), want);
}

TEST(kconfig__check)
{
	const char *dot = "#\n# head\n#\nCONFIG_A=y\nCONFIG_M=m\n"
			  "# CONFIG_N is not set\nCONFIG_S=\"a\"\nCONFIG_AB=y";

	expect_missing("CONFIG_A=y\nCONFIG_AB=y\nCONFIG_M=m\nCONFIG_S=\"a\"\n",
		       dot, "");
	expect_missing("# CONFIG_N is not set\n# CONFIG_GONE is not set\n", dot,
		       "");
	expect_missing(
		"CONFIG_M=y\nCONFIG_N=y\nCONFIG_GONE=y\nCONFIG_S=\"b\"\n", dot,
		"CONFIG_M=y CONFIG_N=y CONFIG_GONE=y CONFIG_S=\"b\" ");
	expect_missing("# CONFIG_A is not set\n", dot, "CONFIG_A=n ");
	expect_missing("CONFIG_GONE=y\n\n# optional\nCONFIG_GONE2=y\n", dot,
		       "CONFIG_GONE=y ");
	expect_missing("CONFIG_A=y\n", "", "CONFIG_A=y ");
}

/* The fragments of the project itself. */
TEST(kconfig__own_fragments_merge)
{
	static const char *const names[] = { "base", "sata", "ide",	 "sd",
					     "usb",  "scsi", "virtio",	 "ext2",
					     "ext3", "ext4", "reiserfs", "xfs",
					     "vfat" };
	const char *slash = strrchr(__FILE__, '/');
	int here = slash ? (int)(slash - __FILE__) + 1 : 0;
	CLEANUP(strv_release) struct strv files = STRV_INIT;
	CLEANUP(str_release) struct str out = STR_INIT;
	struct err e;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		strv_addf(&files, "%.*s../../kconfigs/%s.config", here,
			  __FILE__, names[i]);
	if (kconfig_merge(&out, &files, &e))
		TEST_FAIL("%s", e.msg);
	EXPECT(strstr(str_c(&out), "CONFIG_EXT2_FS=y\n"));
}
