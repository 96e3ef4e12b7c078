#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"
#include "proc.h"
#include "types.h"

/* A machine of files: a disk sda (8:0, 1 GiB, serial WD-123) with partitions
 * sda1 and sda2, a disk sdb (8:16) without a serial, and md0 (9:0) on top of
 * nothing. A "device file" holds its number as text, so that no test needs
 * root. */
struct lab {
	char dir[64];
	struct device_world w;
};

static int number_in_file(unsigned *major, unsigned *minor, const char *path)
{
	CLEANUP(str_release) struct str text = STR_INIT;
	struct err e;

	return file_read(&text, path, &e) == 0 &&
			       sscanf(str_c(&text), "%u:%u", major, minor) == 2
		       ? 0
		       : -1;
}

static char *at(const struct lab *l, const char *name)
{
	return xfmt("%s/%s", l->dir, name);
}

static void put_bytes(const struct lab *l, const char *name, const void *data,
		      size_t n)
{
	AUTOFREE char *path = at(l, name);
	AUTOFREE char *dir =
		xstrndup(path, (size_t)(strrchr(path, '/') - path));
	struct err e;

	if (dir_make(dir, &e) || file_write(path, data, n, &e))
		TEST_FAIL("%s", e.msg);
}

static void put(const struct lab *l, const char *name, const char *text)
{
	put_bytes(l, name, text, strlen(text));
}

static void make_dir(const struct lab *l, const char *name)
{
	AUTOFREE char *path = at(l, name);
	struct err e;

	if (dir_make(path, &e))
		TEST_FAIL("%s", e.msg);
}

/* A block device in sysfs, its number, and its file in dev. */
static void add_block(const struct lab *l, const char *place,
		      const char *number, const char *sectors)
{
	AUTOFREE char *dev = xfmt("sys/%s/dev", place);
	AUTOFREE char *size = xfmt("sys/%s/size", place);
	AUTOFREE char *ro = xfmt("sys/%s/ro", place);
	AUTOFREE char *holders = xfmt("sys/%s/holders", place);
	AUTOFREE char *target = xfmt("../../%s", place);
	AUTOFREE char *name = xfmt("sys/dev/block/%s", number);
	AUTOFREE char *link = at(l, name);
	AUTOFREE char *node = xfmt("dev%s", strrchr(place, '/'));

	put(l, dev, number);
	put(l, size, sectors);
	put(l, ro, "0\n");
	make_dir(l, holders);
	make_dir(l, "sys/dev/block");
	if (symlink(target, link))
		TEST_FAIL("symlink %s", link);
	put(l, node, number);
}

static struct lab lab_make(void)
{
	struct lab l = { .dir = "/tmp/test_device.XXXXXX" };

	if (!mkdtemp(l.dir))
		TEST_FAIL("mkdtemp");
	l.w = (struct device_world){ .sys = at(&l, "sys"),
				     .proc = at(&l, "proc"),
				     .run = at(&l, "run"),
				     .number = number_in_file };
	add_block(&l, "block/sda", "8:0", "2097152\n");
	make_dir(&l, "sys/block/sda/slaves");
	put(&l, "sys/block/sda/device/serial", "  WD-123 \n");
	add_block(&l, "block/sda/sda1", "8:1", "1048576\n");
	put(&l, "sys/block/sda/sda1/partition", "1\n");
	add_block(&l, "block/sda/sda2", "8:2", "1000000\n");
	put(&l, "sys/block/sda/sda2/partition", "2\n");
	add_block(&l, "block/sdb", "8:16", "2048\n");
	put(&l, "proc/self/mountinfo",
	    "20 1 254:0 / / rw - ext4 /dev/vda rw\n");
	put(&l, "proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n");
	return l;
}

static void lab_release(struct lab *l)
{
	struct err e;

	free((char *)l->w.sys);
	free((char *)l->w.proc);
	free((char *)l->w.run);
	dir_remove(l->dir, &e);
}

/* What device_check says of dev/NAME: "" when it is fine. The caller frees. */
static char *verdict_on(const struct lab *l, const char *name,
			const char *serial)
{
	AUTOFREE char *node = xfmt("dev/%s", name);
	AUTOFREE char *path = at(l, node);
	struct err e = { "" };

	return xstrdup(device_check(path, serial, &l->w, &e) ? e.msg : "");
}

#define EXPECT_FINE(l, name, serial)                                           \
	do {                                                                   \
		AUTOFREE char *m_ = verdict_on(l, name, serial);               \
		EXPECT_STR(m_, "");                                            \
	} while (0)
#define EXPECT_REFUSED(l, name, serial, part)                                  \
	do {                                                                   \
		AUTOFREE char *m_ = verdict_on(l, name, serial);               \
		if (!*m_ || !strstr(m_, part))                                 \
			TEST_FAIL("\"%s\" lacks \"%s\"", m_, part);            \
	} while (0)

TEST(device__takes_an_idle_disk_of_that_serial)
{
	CLEANUP(lab_release) struct lab l = lab_make();

	EXPECT_FINE(&l, "sda", "WD-123");
	EXPECT_FINE(&l, "sda2", "WD-123"); /* a partition: its disk's serial */
}

TEST(device__refuses_another_serial)
{
	CLEANUP(lab_release) struct lab l = lab_make();

	EXPECT_REFUSED(&l, "sda", "WD-124", "its serial is WD-123, not WD-124");
	EXPECT_REFUSED(&l, "sda", "WD-12", "another drive");
	EXPECT_REFUSED(&l, "sda", "", "--erase");
	EXPECT_REFUSED(&l, "sda", NULL, "--erase");
	/* its size does not do when it has a serial */
	EXPECT_REFUSED(&l, "sda", "1073741824", "another drive");
}

TEST(device__without_a_serial_the_size_confirms)
{
	CLEANUP(lab_release) struct lab l = lab_make();

	EXPECT_FINE(&l, "sdb", "1048576");
	EXPECT_REFUSED(&l, "sdb", "1048577", "no serial");
	EXPECT_REFUSED(&l, "sdb", "1M", "no serial");
	EXPECT_REFUSED(&l, "sdb", "", "size in bytes");
}

TEST(device__finds_serials_in_all_their_places)
{
	static const struct {
		const char *file, *text;
		size_t n;
		const char *serial;
	} places[] = {
		{ "sys/block/sdb/serial", "VIRT1\n", 6, "VIRT1" },
		{ "sys/block/sdb/device/wwid", "t10.ATA X\n", 10, "t10.ATA X" },
		{ "sys/block/sdb/wwid", "eui.01\n", 7, "eui.01" },
		{ "sys/block/sdb/device/vpd_pg80", "\0\200\0\006  S0M3", 10,
		  "S0M3" },
		{ "run/udev/data/b8:16",
		  "S:disk/by-id/x\nE:ID_SERIAL=Disk_9\nE:ID_SERIAL_SHORT=9\n",
		  53, "9" },
		{ "run/udev/data/b8:16",
		  "S:disk/by-id/x\nE:ID_SERIAL=Disk_9\nE:ID_SERIAL_SHORT=9\n",
		  53, "Disk_9" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		CLEANUP(lab_release) struct lab l = lab_make();

		put_bytes(&l, places[i].file, places[i].text, places[i].n);
		EXPECT_FINE(&l, "sdb", places[i].serial);
		EXPECT_REFUSED(&l, "sdb", "1048576", "another drive");
	}
}

TEST(device__an_empty_serial_is_none)
{
	CLEANUP(lab_release) struct lab l = lab_make();

	put(&l, "sys/block/sdb/serial", "  \n");
	put_bytes(&l, "sys/block/sdb/device/vpd_pg80", "\0\200\0\004    ", 8);
	EXPECT_FINE(&l, "sdb", "1048576");
}

TEST(device__refuses_what_is_mounted)
{
	static const struct {
		const char *line, *refused[3], *fine;
	} cases[] = {
		{ "21 1 8:0 / /mnt rw - ext4 /dev/x rw\n",
		  { "sda", "sda1", "sda2" },
		  "sdb" },
		/* a partition: it and its disk, not its neighbour */
		{ "21 1 8:1 / /mnt rw shared:1 master:2 - ext4 /dev/x rw\n",
		  { "sda", "sda1" },
		  "sda2" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(lab_release) struct lab l = lab_make();

		put(&l, "proc/self/mountinfo", cases[i].line);
		for (int k = 0; k < 3 && cases[i].refused[k]; k++)
			EXPECT_REFUSED(&l, cases[i].refused[k], "WD-123",
				       "mounted on /mnt");
		EXPECT_FINE(&l, cases[i].fine,
			    !strcmp(cases[i].fine, "sdb") ? "1048576"
							  : "WD-123");
	}
}

/* btrfs and others show a number of their own; blanks are escaped. */
TEST(device__knows_a_mount_by_its_source)
{
	CLEANUP(lab_release) struct lab l = lab_make();
	AUTOFREE char *line = NULL;

	put(&l, "dev/by id", "8:1");
	line = xfmt("21 1 0:42 / /a\\040b rw - btrfs %s/dev/by\\040id rw\n",
		    l.dir);
	put(&l, "proc/self/mountinfo", line);
	EXPECT_REFUSED(&l, "sda", "WD-123", "sda1 is mounted on /a b");
	EXPECT_REFUSED(&l, "sda1", "WD-123", "mounted");
	EXPECT_FINE(&l, "sda2", "WD-123");
}

TEST(device__needs_the_mount_table)
{
	CLEANUP(lab_release) struct lab l = lab_make();
	AUTOFREE char *path = at(&l, "proc/self/mountinfo");

	unlink(path);
	EXPECT_REFUSED(&l, "sda", "WD-123", "mountinfo");
}

TEST(device__refuses_swap)
{
	CLEANUP(lab_release) struct lab l = lab_make();
	AUTOFREE char *line = xfmt("Filename\tType\tSize\n"
				   "%s/dev/sda2         partition 1 0 -2\n",
				   l.dir);

	put(&l, "proc/swaps", line);
	EXPECT_REFUSED(&l, "sda", "WD-123", "sda2 is swap");
	EXPECT_REFUSED(&l, "sda2", "WD-123", "sda2 is swap");
	EXPECT_FINE(&l, "sda1", "WD-123");
}

TEST(device__refuses_what_is_held)
{
	CLEANUP(lab_release) struct lab l = lab_make();

	put(&l, "sys/block/sda/sda1/holders/dm-0", "");
	EXPECT_REFUSED(&l, "sda", "WD-123", "sda1 is a part of dm-0");
	EXPECT_REFUSED(&l, "sda1", "WD-123", "dm-0");
	EXPECT_FINE(&l, "sda2", "WD-123");
	put(&l, "sys/block/sda/holders/md127", "");
	EXPECT_REFUSED(&l, "sda2", "WD-123", "md127");
}

TEST(device__refuses_what_lies_on_others)
{
	CLEANUP(lab_release) struct lab l = lab_make();

	put(&l, "sys/block/sdb/slaves/sdc", "");
	EXPECT_REFUSED(&l, "sdb", "1048576", "on top of sdc");
}

TEST(device__refuses_read_only_and_empty)
{
	CLEANUP(lab_release) struct lab l = lab_make();

	put(&l, "sys/block/sda/ro", "1\n");
	EXPECT_REFUSED(&l, "sda", "WD-123", "read-only");
	EXPECT_REFUSED(&l, "sda1", "WD-123", "read-only");
	put(&l, "sys/block/sdb/size", "0\n");
	EXPECT_REFUSED(&l, "sdb", "0", "no size");
}

TEST(device__refuses_what_is_no_block_device)
{
	CLEANUP(lab_release) struct lab l = lab_make();
	struct err e = { "" };

	put(&l, "dev/file", "hello");
	EXPECT_REFUSED(&l, "file", "x", "not a block device");
	EXPECT_REFUSED(&l, "nothing", "x", "No such file");
	put(&l, "dev/ghost", "99:1");
	EXPECT_REFUSED(&l, "ghost", "x", "99:1");
	EXPECT_INT(device_check("/dev/null", "x", NULL, &e), -1);
	EXPECT(strstr(e.msg, "not a block device"));
	EXPECT_INT(device_check("/tmp", "x", NULL, &e), -1);
	EXPECT(strstr(e.msg, "not a block device"));
}

/* A loop device stands for the real one, where we may make one. */
TEST(device__opens_a_real_one_for_itself_alone)
{
	char dir[] = "/tmp/test_device.XXXXXX";
	CLEANUP(str_release) struct str node = STR_INIT;
	AUTOFREE char *file = NULL, *mnt = NULL;
	AUTOFD int fd = -1, again = -1;
	struct err e = { "" };
	long long bytes = 0;

	ASSERT(mkdtemp(dir));
	file = xfmt("%s/disk", dir);
	mnt = xfmt("%s/mnt", dir);
	close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	ASSERT(truncate(file, 4 << 20) == 0 && mkdir(mnt, 0700) == 0);
	if (proc_capture(
		    &node,
		    (const char *[]){ "losetup", "-f", "--show", file, NULL },
		    10, &e)) {
		printf("# skipped: %s\n", e.msg);
		dir_remove(dir, &e);
		return;
	}
	node.buf[strcspn(node.buf, "\n")] = '\0';
	EXPECT_INT(device_open(&fd, &bytes, node.buf, "4194304", &e), 0);
	EXPECT_INT(bytes, 4 << 20);
	EXPECT_INT(device_open(&again, &bytes, node.buf, "4194304", &e), -1);
	EXPECT(strstr(e.msg, "in use"));
	close(fd);
	fd = -1;
	EXPECT_INT(device_open(&fd, &bytes, node.buf, "4194305", &e), -1);
	if (proc_capture(
		    NULL,
		    (const char *[]){ "mke2fs", "-q", "-F", node.buf, NULL },
		    10, &e) == 0 &&
	    mount(node.buf, mnt, "ext2", 0, NULL) == 0) {
		EXPECT_INT(device_open(&fd, &bytes, node.buf, "4194304", &e),
			   -1);
		EXPECT(strstr(e.msg, "is mounted on"));
		umount(mnt);
	}
	proc_capture(NULL, (const char *[]){ "losetup", "-d", node.buf, NULL },
		     10, &e);
	dir_remove(dir, &e);
}

/* qemu/NAME.device */

static char *source_dir(const char *below)
{
	AUTOFREE char *dir =
		xstrndup(__FILE__, (size_t)(strrchr(__FILE__, '/') - __FILE__));

	return xfmt("%s/../../%s", dir, below);
}

TEST(device__all_of_ours_load)
{
	AUTOFREE char *dir = source_dir("qemu");
	CLEANUP(strv_release) struct strv names = STRV_INIT;
	static const char *const want[] = { "ide", "sata", "scsi",
					    "sd",  "usb",  "virtio" };
	struct err e = { "" };

	ASSERT(device_list(&names, dir, &e) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		EXPECT(strv_has(&names, want[i]));
	for (size_t i = 0; i < names.n; i++) {
		CLEANUP(device_release) struct device d = { 0 };
		bool drive = false;

		if (i)
			EXPECT(strcmp(names.v[i - 1], names.v[i]) < 0);
		if (device_load(&d, dir, names.v[i], &e)) {
			TEST_FAIL("%s", e.msg);
			continue;
		}
		EXPECT_STR(d.name, names.v[i]);
		EXPECT(d.fragments.n >= 1 && !d.real);
		for (size_t k = 0; k < d.args.n; k++)
			drive |= strstr(d.args.v[k], "drive=drive") != NULL;
		EXPECT(drive);
	}
}

TEST(device__a_path_is_a_real_one)
{
	AUTOFREE char *dir = source_dir("qemu");
	CLEANUP(device_release) struct device a = { 0 }, b = { 0 };
	struct err e = { "" };

	ASSERT(device_load(&a, dir, "/dev/disk/by-id/ata-X", &e) == 0);
	EXPECT_STR(a.real, "/dev/disk/by-id/ata-X");
	EXPECT_STR(a.fragments.v[0], "sata");
	ASSERT(device_load(&b, dir, "usb:/dev/disk/by-id/usb-Y", &e) == 0);
	EXPECT_STR(b.real, "/dev/disk/by-id/usb-Y");
	EXPECT_STR(b.fragments.v[0], "usb");
}

TEST(device__an_unknown_name_lists_those_there_are)
{
	AUTOFREE char *dir = source_dir("qemu");
	struct device d = { 0 };
	struct err e = { "" };

	EXPECT_INT(device_load(&d, dir, "floppy", &e), -1);
	EXPECT(strstr(e.msg, "\"floppy\""));
	EXPECT(strstr(e.msg, "ide, sata, scsi, sd, usb, virtio"));
	EXPECT_INT(device_load(&d, dir, "../qemu/sata", &e), -1);
	EXPECT_INT(device_load(&d, dir, "", &e), -1);
}

TEST(device__errors_name_file_and_line)
{
	static const struct {
		const char *text, *say;
	} cases[] = {
		{ "summary s\ncolour red\n", "x.device:2: unknown key "
					     "\"colour\"; there are summary" },
		{ "# hi\n\nsummary\n", "x.device:3: \"summary\" needs" },
		{ "summary a\nsummary b\n", "x.device:2: a second" },
		{ "summary a\narg -device x\n", "without \"fragment\"" },
		{ "summary a\nfragment f\n", "without \"arg\"" },
	};
	CLEANUP(lab_release) struct lab l = lab_make();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct device d = { 0 };
		struct err e = { "" };

		put(&l, "x.device", cases[i].text);
		EXPECT_INT(device_load(&d, l.dir, "x", &e), -1);
		if (!strstr(e.msg, cases[i].say))
			TEST_FAIL("\"%s\" lacks \"%s\"", e.msg, cases[i].say);
	}
}

TEST(device__words_are_split_on_blanks)
{
	CLEANUP(lab_release) struct lab l = lab_make();
	CLEANUP(device_release) struct device d = { 0 };
	struct err e = { "" };

	put(&l, "x.device",
	    "  summary   two words \r\nfragment f\nfragment\tg\n"
	    "arg -device  a,b=c\t-global d \narg last");
	ASSERT(device_load(&d, l.dir, "x", &e) == 0);
	EXPECT_STR(d.summary, "two words");
	EXPECT_INT(d.fragments.n, 2);
	EXPECT_STR(d.fragments.v[1], "g");
	ASSERT(d.args.n == 5);
	EXPECT_STR(d.args.v[1], "a,b=c");
	EXPECT_STR(d.args.v[3], "d");
	EXPECT_STR(d.args.v[4], "last");
}
