/* The checks before a real device is erased. Declared in device.h. */
#include "device.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int number_of(unsigned *major_out, unsigned *minor_out, const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISBLK(st.st_mode))
		return -1;
	*major_out = major(st.st_rdev);
	*minor_out = minor(st.st_rdev);
	return 0;
}

/* A block device as sysfs shows it. */
struct block {
	char *sys; /* its directory, links resolved */
	unsigned major, minor;
};

/* The device in question and its relatives. */
struct check {
	struct device_world w;
	const char *path;
	struct block self, disk; /* disk: the whole one; may be self */
	bool is_partition;
	long long bytes;
};

static void check_release(struct check *c)
{
	free(c->self.sys);
	free(c->disk.sys);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The text of a small sysfs file without blanks around it; the caller frees.
 * NULL: there is none, or it is empty. */
static char *read_text(const char *dir, const char *name)
{
	AUTOFREE char *path = xfmt("%s/%s", dir, name);
	CLEANUP(str_release) struct str text = STR_INIT;
	struct err none;
	const char *start;
	size_t n;

	if (!file_exists(path) || file_read(&text, path, &none))
		return NULL;
	start = str_c(&text) + strspn(str_c(&text), " \t\n");
	n = strlen(start);
	while (n && strchr(" \t\n", start[n - 1]))
		n--;
	return n ? xstrndup(start, n) : NULL;
}

static long long read_number(const char *dir, const char *name)
{
	AUTOFREE char *text = read_text(dir, name);
	long long v;

	return text && parse_int(&v, text, 0, LLONG_MAX) == 0 ? v : -1;
}

static bool has_entry(const char *dir, const char *name)
{
	AUTOFREE char *path = xfmt("%s/%s", dir, name);

	return file_exists(path);
}

/* The first name in a directory; the caller frees. NULL: it is empty. */
static char *first_in(const char *dir, const char *name)
{
	AUTOFREE char *path = xfmt("%s/%s", dir, name);
	DIR *d = opendir(path);
	struct dirent *entry;
	char *found = NULL;

	while (d && !found && (entry = readdir(d)))
		if (entry->d_name[0] != '.')
			found = xstrdup(entry->d_name);
	if (d)
		closedir(d);
	return found;
}

static int read_dev(struct block *b)
{
	AUTOFREE char *text = read_text(b->sys, "dev");

	return text && sscanf(text, "%u:%u", &b->major, &b->minor) == 2 ? 0
									: -1;
}

static int find_disk(struct check *c, struct err *e)
{
	c->is_partition = has_entry(c->self.sys, "partition");
	c->disk.sys = xstrdup(c->self.sys);
	if (c->is_partition)
		*strrchr(c->disk.sys, '/') = '\0';
	if (read_dev(&c->disk))
		return err_set(e, "%s: %s is no block device to sysfs", c->path,
			       c->disk.sys);
	return 0;
}

static int look_up(struct check *c, const char *path,
		   const struct device_world *w, struct err *e)
{
	AUTOFREE char *link = NULL;
	long long sectors;

	c->w = w ? *w : (struct device_world){ 0 };
	c->w.sys = c->w.sys ? c->w.sys : "/sys";
	c->w.proc = c->w.proc ? c->w.proc : "/proc";
	c->w.run = c->w.run ? c->w.run : "/run";
	c->w.number = c->w.number ? c->w.number : number_of;
	c->path = path;
	if (access(path, F_OK))
		return err_set(e, "%s: %m", path);
	if (c->w.number(&c->self.major, &c->self.minor, path))
		return err_set(e, "%s is not a block device", path);
	link = xfmt("%s/dev/block/%u:%u", c->w.sys, c->self.major,
		    c->self.minor);
	c->self.sys = realpath(link, NULL);
	if (!c->self.sys)
		return err_set(e, "%s: %s: %m", path, link);
	if (find_disk(c, e))
		return -1;
	sectors = read_number(c->self.sys, "size");
	if (sectors <= 0 || sectors > LLONG_MAX / 512)
		return err_set(e, "%s has no size: is there a medium in it?",
			       path);
	c->bytes = sectors * 512;
	return 0;
}

static int check_kind(const struct check *c, struct err *e)
{
	AUTOFREE char *below = first_in(c->disk.sys, "slaves");

	if (below)
		return err_set(e,
			       "%s lies on top of %s: only whole disks and "
			       "partitions can be erased",
			       c->path, below);
	if (read_number(c->self.sys, "ro") > 0 ||
	    read_number(c->disk.sys, "ro") > 0)
		return err_set(e, "%s is read-only", c->path);
	return 0;
}

/* Calls fn for the device, the disk it is a part of, and its own partitions. */
static int for_relatives(const struct check *c,
			 int (*fn)(const struct check *c, const struct block *b,
				   struct err *e),
			 struct err *e)
{
	DIR *d;
	struct dirent *entry;
	int bad = fn(c, &c->self, e);

	if (bad || c->is_partition)
		return bad ? -1 : fn(c, &c->disk, e);
	d = opendir(c->self.sys);
	if (!d)
		return err_set(e, "%s: open directory %s: %m", c->path,
			       c->self.sys);
	while (!bad && (entry = readdir(d))) {
		struct block part = { .sys = xfmt("%s/%s", c->self.sys,
						  entry->d_name) };

		if (entry->d_name[0] != '.' && has_entry(part.sys, "partition"))
			bad = read_dev(&part)
				      ? err_set(e, "%s: no number in %s",
						c->path, part.sys)
				      : fn(c, &part, e);
		free(part.sys);
	}
	closedir(d);
	return bad;
}

static int check_held(const struct check *c, const struct block *b,
		      struct err *e)
{
	AUTOFREE char *holder = first_in(b->sys, "holders");

	if (!holder)
		return 0;
	return err_set(e,
		       "%s is in use: %s is a part of %s; take that apart "
		       "first",
		       c->path, base_name(b->sys), holder);
}

/* \040 and the like, as the kernel escapes blanks in its tables. */
static void unescape(char *s)
{
	char *out = s;

	while (*s) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' &&
		    s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
			*out++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 |
					(s[3] - '0'));
			s += 4;
		} else {
			*out++ = *s++;
		}
	}
	*out = '\0';
}

static bool is_same(const struct check *c, const struct block *b,
		    const char *path)
{
	unsigned major_no, minor_no;

	return path[0] == '/' && c->w.number(&major_no, &minor_no, path) == 0 &&
	       major_no == b->major && minor_no == b->minor;
}

/* "36 35 98:0 /root /mount rw - ext3 /dev/sda1 rw": the number does not name
 * the device with file systems that make one up (btrfs), the source does. */
static bool is_mount_of(const struct check *c, const struct block *b,
			const char *line, char **where)
{
	CLEANUP(strv_release) struct strv f = STRV_INIT;
	AUTOFREE char *number = xfmt("%u:%u", b->major, b->minor);
	size_t dash = 6;

	strv_split(&f, line, ' ');
	while (dash < f.n && strcmp(f.v[dash], "-"))
		dash++;
	if (dash + 2 >= f.n)
		return false;
	unescape(f.v[4]);
	unescape(f.v[dash + 2]);
	if (strcmp(f.v[2], number) && !is_same(c, b, f.v[dash + 2]))
		return false;
	*where = xstrdup(f.v[4]);
	return true;
}

static int read_table(struct strv *lines, const struct check *c,
		      const char *name, struct err *e)
{
	AUTOFREE char *path = xfmt("%s/%s", c->w.proc, name);
	CLEANUP(str_release) struct str text = STR_INIT;

	if (file_read(&text, path, e))
		return -1;
	strv_split(lines, str_c(&text), '\n');
	return 0;
}

static int check_mounted(const struct check *c, const struct block *b,
			 struct err *e)
{
	CLEANUP(strv_release) struct strv lines = STRV_INIT;
	AUTOFREE char *where = NULL;

	if (read_table(&lines, c, "self/mountinfo", e))
		return -1;
	for (size_t i = 0; i < lines.n; i++)
		if (is_mount_of(c, b, lines.v[i], &where))
			return err_set(e,
				       "%s is in use: %s is mounted on %s; "
				       "unmount it first",
				       c->path, base_name(b->sys), where);
	return 0;
}

static int check_swap(const struct check *c, const struct block *b,
		      struct err *e)
{
	CLEANUP(strv_release) struct strv lines = STRV_INIT;
	AUTOFREE char *path = xfmt("%s/swaps", c->w.proc);

	if (!file_exists(path))
		return 0; /* a kernel without swap */
	if (read_table(&lines, c, "swaps", e))
		return -1;
	for (size_t i = 0; i < lines.n; i++) {
		lines.v[i][strcspn(lines.v[i], " \t")] = '\0';
		unescape(lines.v[i]);
		if (is_same(c, b, lines.v[i]))
			return err_set(e,
				       "%s is in use: %s is swap space; run "
				       "swapoff first",
				       c->path, base_name(b->sys));
	}
	return 0;
}

/* A SCSI page: four bytes of header, then the text. */
static char *read_page(const char *dir, const char *name)
{
	AUTOFREE char *path = xfmt("%s/%s", dir, name);
	CLEANUP(str_release) struct str page = STR_INIT;
	struct err none;
	size_t start = 4, end;

	if (!file_exists(path) || file_read(&page, path, &none) || page.len < 5)
		return NULL;
	end = page.len;
	while (start < end && page.buf[start] == ' ')
		start++;
	while (end > start && strchr(" \n", page.buf[end - 1]))
		end--;
	return end > start ? xstrndup(page.buf + start, end - start) : NULL;
}

static void take_name(struct strv *out, char *name)
{
	if (name && !strv_has(out, name))
		strv_add(out, name);
	free(name);
}

/* All serials that the disk goes by, the usual one first. */
static void serials(struct strv *out, const struct check *c)
{
	static const char *const files[] = { "device/serial", "serial",
					     "device/wwid", "wwid" };
	static const char *const keys[] = { "E:ID_SERIAL_SHORT=",
					    "E:ID_SERIAL=" };
	CLEANUP(strv_release) struct strv udev = STRV_INIT;
	AUTOFREE char *db = xfmt("%s/udev/data", c->w.run);
	AUTOFREE char *name = xfmt("b%u:%u", c->disk.major, c->disk.minor);
	AUTOFREE char *text = read_text(db, name);

	strv_split(&udev, text ? text : "", '\n');
	for (size_t k = 0; k < ARRAY_SIZE(keys); k++)
		for (size_t i = 0; i < udev.n; i++)
			if (str_starts(udev.v[i], keys[k]))
				take_name(out,
					  xstrdup(udev.v[i] + strlen(keys[k])));
	take_name(out, read_page(c->disk.sys, "device/vpd_pg80"));
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		take_name(out, read_text(c->disk.sys, files[i]));
}

static int check_serial(const struct check *c, const char *serial,
			struct err *e)
{
	CLEANUP(strv_release) struct strv own = STRV_INIT;
	AUTOFREE char *size = xfmt("%lld", c->bytes);

	serials(&own, c);
	if (!serial || !*serial)
		return err_set(e,
			       "%s would be erased: confirm with --erase and "
			       "its %s",
			       c->path,
			       own.n ? "serial"
				     : "size in bytes, as it has no serial");
	if (own.n ? strv_has(&own, serial) : !strcmp(serial, size))
		return 0;
	if (own.n)
		return err_set(e,
			       "%s is another drive: its serial is %s, not %s",
			       c->path, own.v[0], serial);
	return err_set(e,
		       "%s has no serial: confirm with its size in bytes, %s, "
		       "not %s",
		       c->path, size, serial);
}

static int check_all(const struct check *c, const char *serial, struct err *e)
{
	/* Its use comes before its serial: it is the better reason. */
	if (check_kind(c, e) || for_relatives(c, check_mounted, e) ||
	    for_relatives(c, check_swap, e) ||
	    for_relatives(c, check_held, e) || check_serial(c, serial, e))
		return -1;
	return 0;
}

int device_check(const char *path, const char *serial,
		 const struct device_world *w, struct err *e)
{
	CLEANUP(check_release) struct check c = { 0 };

	return look_up(&c, path, w, e) || check_all(&c, serial, e) ? -1 : 0;
}

int device_open(int *fd, long long *bytes, const char *path, const char *serial,
		struct err *e)
{
	CLEANUP(check_release) struct check c = { 0 };
	AUTOFD int f = -1;
	struct stat st;
	uint64_t size;

	if (device_check(path, serial, NULL, e))
		return -1;
	f = open(path, O_RDWR | O_EXCL | O_CLOEXEC);
	if (f < 0 && errno == EBUSY)
		return err_set(e,
			       "%s is in use: something (a mount, a RAID, a "
			       "virtual machine) has claimed it",
			       path);
	if (f < 0)
		return err_set(e, "open %s: %m", path);
	/* The path may have come to mean another drive in between. */
	if (look_up(&c, path, NULL, e) || check_all(&c, serial, e))
		return -1;
	if (fstat(f, &st) || !S_ISBLK(st.st_mode) ||
	    major(st.st_rdev) != c.self.major ||
	    minor(st.st_rdev) != c.self.minor)
		return err_set(e, "%s changed while it was being opened", path);
	if (ioctl(f, BLKGETSIZE64, &size))
		return err_set(e, "size of %s: %m", path);
	if ((long long)size != c.bytes)
		return err_set(e,
			       "%s: the kernel says %llu and sysfs %lld bytes",
			       path, (unsigned long long)size, c.bytes);
	*bytes = c.bytes;
	*fd = f;
	f = -1;
	return 0;
}
