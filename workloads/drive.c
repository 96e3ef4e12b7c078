#include "drive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <unistd.h>

#include "clock.h"

#define POLL_US 20000

/* Baked into the initramfs; looked at when there is no sysfs. */
static const char *const nodes[] = { "hda", "hdb", "hdc", "hdd", "sda",
				     "sdb", "sdc", "sdd", "vda", "mmcblk0" };

/* A look at all drives: what was found, or what there was instead. */
struct scan {
	const struct job *job;
	char found[64];
	char seen[400];
	size_t seen_n;
};

static void note(struct scan *s, const char *name, long long bytes,
		 const char *what)
{
	int n;

	if (s->seen_n >= sizeof(s->seen))
		return;
	n = snprintf(s->seen + s->seen_n, sizeof(s->seen) - s->seen_n,
		     "%s%s (%lld bytes%s)", s->seen_n ? ", " : "", name, bytes,
		     what);
	s->seen_n += (size_t)n;
}

/* -1: not readable now, which may change. */
static int has_id(const struct job *j, const char *path)
{
	unsigned char buf[sizeof(j->id)];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = pread(fd, buf, j->id_n, j->id_offset);
	close(fd);
	if (n != (ssize_t)j->id_n)
		return -1;
	return !memcmp(buf, j->id, j->id_n);
}

static void consider(struct scan *s, const char *name, const char *path,
		     long long bytes)
{
	int id;

	if (bytes != s->job->bytes) {
		if (bytes)
			note(s, name, bytes, "");
		return;
	}
	id = has_id(s->job, path);
	if (id > 0)
		snprintf(s->found, sizeof(s->found), "%s", path);
	else
		note(s, name, bytes, id ? ", unreadable" : ", another content");
}

static long long read_number(const char *path, char *rest, size_t size)
{
	char buf[64] = "", *end;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	long long v;

	if (fd < 0)
		return -1;
	if (read(fd, buf, sizeof(buf) - 1) < 0)
		buf[0] = '\0';
	close(fd);
	v = strtoll(buf, &end, 10);
	if (rest)
		snprintf(rest, size, "%s", end);
	return end == buf ? -1 : v;
}

/* A baked node may have another number than this kernel gave the drive. */
static void make_node(const char *path, dev_t dev)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISBLK(st.st_mode) && st.st_rdev == dev)
		return;
	unlink(path);
	mknod(path, S_IFBLK | 0600, dev);
}

static void consider_sys(struct scan *s, const char *name)
{
	char sys[320], path[64], minor[64];
	long long major, sectors;

	if (!strncmp(name, "loop", 4) || !strncmp(name, "ram", 3) ||
	    strlen(name) > 32)
		return;
	snprintf(sys, sizeof(sys), "/sys/block/%s/size", name);
	sectors = read_number(sys, NULL, 0);
	if (sectors < 0)
		return;
	snprintf(sys, sizeof(sys), "/sys/block/%s/dev", name);
	major = read_number(sys, minor, sizeof(minor));
	snprintf(path, sizeof(path), "/dev/%.32s", name);
	for (char *p = path + 5; *p; p++)
		if (*p == '!' || *p == '/')
			*p = '_';
	if (major >= 0 && minor[0] == ':')
		make_node(path,
			  makedev((unsigned)major, (unsigned)atol(minor + 1)));
	consider(s, name, path, sectors * 512);
}

static bool scan_sys(struct scan *s)
{
	DIR *d = opendir("/sys/block");
	struct dirent *e;

	if (!d)
		return false;
	while (!s->found[0] && (e = readdir(d)))
		if (e->d_name[0] != '.')
			consider_sys(s, e->d_name);
	closedir(d);
	return true;
}

static void scan_nodes(struct scan *s)
{
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		unsigned long long bytes = 0;
		unsigned long sectors = 0;
		char path[64];
		int fd;

		snprintf(path, sizeof(path), "/dev/%s", nodes[i]);
		fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (ioctl(fd, BLKGETSIZE64, &bytes) &&
		    ioctl(fd, BLKGETSIZE, &sectors) == 0)
			bytes = sectors * 512ull;
		close(fd);
		consider(s, nodes[i], path, (long long)bytes);
		if (s->found[0])
			return;
	}
}

/* Kernels before 2.6.19 have the AHCI driver but not QEMU's chip in its table.
 * ahciid=8086:2922 on their command line comes to us as an environment
 * variable. */
static void teach_ahci(void)
{
	const char *id = getenv("ahciid");
	char text[32];
	int fd;

	if (!id)
		return;
	fd = open("/sys/bus/pci/drivers/ahci/new_id", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	snprintf(text, sizeof(text), "%s", id);
	if (strchr(text, ':'))
		*strchr(text, ':') = ' ';
	if (write(fd, text, strlen(text)) < 0)
		errno = 0; /* it knew the chip: the drive is there or is not */
	close(fd);
}

int drive_find(struct drive *out, const struct job *job, char *why, size_t n)
{
	long long until = clock_us() + job->wait * 1000000;

	teach_ahci();
	for (;;) {
		struct scan s = { .job = job };

		if (!scan_sys(&s))
			scan_nodes(&s);
		if (s.found[0]) {
			snprintf(out->path, sizeof(out->path), "%s", s.found);
			return 0;
		}
		if (clock_us() >= until) {
			snprintf(why, n,
				 "no drive of %lld bytes after %lld s: %s%s",
				 job->bytes, job->wait,
				 s.seen_n ? "there is " : "there is none",
				 s.seen);
			return -1;
		}
		clock_sleep_us(POLL_US);
	}
}

static const struct {
	const char *name;
	unsigned long flag;
} flags[] = {
	{ "defaults", 0 },	     { "rw", 0 },
	{ "noatime", MS_NOATIME },   { "nodiratime", MS_NODIRATIME },
	{ "sync", MS_SYNCHRONOUS },  { "dirsync", MS_DIRSYNC },
	{ "relatime", MS_RELATIME }, { "strictatime", MS_STRICTATIME },
	{ "nosuid", MS_NOSUID },     { "nodev", MS_NODEV },
};

static bool is_flag(unsigned long *all, const char *p, size_t n)
{
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (strlen(flags[i].name) != n || memcmp(flags[i].name, p, n))
			continue;
		*all |= flags[i].flag;
		return true;
	}
	return false;
}

int drive_mount(const struct drive *d, const struct job *job, const char *where,
		char *why, size_t n)
{
	char data[sizeof(job->options) + 1] = "";
	unsigned long all = 0;
	size_t len = 0;

	for (const char *p = job->options; *p;) {
		size_t k = strcspn(p, ",");

		if (k && !is_flag(&all, p, k))
			len += (size_t)snprintf(data + len, sizeof(data) - len,
						"%s%.*s", len ? "," : "",
						(int)k, p);
		p += k + (p[k] == ',');
	}
	if (mount(d->path, where, job->fs, all, len ? data : NULL) == 0)
		return 0;
	snprintf(why, n, "mount %s as %s%s%s: %m%s", d->path, job->fs,
		 job->options[0] ? " with " : "", job->options,
		 errno == ENODEV ? " (this kernel has no such file system)"
				 : "");
	return -1;
}
