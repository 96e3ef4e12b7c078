#include "initramfs.h"

#include <string.h>
#include <sys/stat.h>

#include "protocol.h"

#define JOURNAL_COMMIT_S 5 /* the kernel's default */

/* A journal is committed every five seconds; in slow motion, of the drive's. */
static void write_options(struct str *job, const struct question *q,
			  const struct filesystem *fs)
{
	static const char *const journals[] = { "ext3", "ext4", "reiserfs" };
	CLEANUP(str_release) struct str s = STR_INIT;

	str_puts(&s, fs->options ? fs->options : "");
	for (size_t i = 0; q->slow > 1 && i < ARRAY_SIZE(journals); i++)
		if (!strcmp(fs->name, journals[i]))
			str_fmt(&s, "%scommit=%d", s.len ? "," : "",
				JOURNAL_COMMIT_S * q->slow);
	if (s.len)
		str_fmt(job, "options %s\n", str_c(&s));
}

static void write_job(struct str *job, const struct question *q,
		      const struct filesystem *fs)
{
	str_fmt(job, "protocol %d\n", PROTOCOL_VERSION);
	str_fmt(job, "fs %s\n", fs->name);
	write_options(job, q, fs);
	str_fmt(job, "slow %d\n", q->slow);
	str_fmt(job, "bytes %lld\n", q->drive_bytes);
	str_fmt(job, "ram %lld\n", (long long)q->mem_mb << 20);
	str_fmt(job, "id %lld %s\n", fs->id_offset, fs->id_hex);
	str_puts(job, "wait 60\nprobe 1\n");
	for (size_t i = 0; i < q->workloads.n; i++)
		str_fmt(job, "workload %s\n", q->workloads.v[i]);
}

/* exec: workloads bring their program, and busybox for scripts. */
static int add_programs(struct image_file *files, int *n, struct str *data,
			const struct question *q, struct err *e)
{
	for (size_t i = 0; i < q->workloads.n; i++) {
		const char *spec = q->workloads.v[i];

		if (!str_starts(spec, "exec:"))
			continue;
		if (*n)
			return err_set(e, "%s: only one exec: workload a "
					  "session",
				       spec);
		if (file_read(&data[0], spec + strlen("exec:"), e))
			return -1;
		files[(*n)++] = (struct image_file){ .name = "exec/program",
						     .data = data[0].buf,
						     .n = data[0].len,
						     .mode = S_IFREG | 0755 };
		if (!file_exists("/bin/busybox"))
			continue;
		if (file_read(&data[1], "/bin/busybox", e))
			return -1;
		files[(*n)++] = (struct image_file){ .name = "bin/busybox",
						     .data = data[1].buf,
						     .n = data[1].len,
						     .mode = S_IFREG | 0755 };
		files[(*n)++] = (struct image_file){ .name = "bin/sh",
						     .data = "busybox",
						     .n = strlen("busybox"),
						     .mode = S_IFLNK | 0777 };
	}
	return 0;
}

int initramfs_make(struct str *out, const struct question *q,
		   const struct filesystem *fs, const char *share,
		   struct err *e)
{
	CLEANUP(str_release) struct str job = STR_INIT;
	AUTOFREE char *init = xfmt("%s/init", share);
	struct str data[2] = { STR_INIT, STR_INIT };
	struct image_file extra[3];
	int n = 0, bad;

	write_job(&job, q, fs);
	bad = add_programs(extra, &n, data, q, e) ||
	      image_initramfs(out, init, str_c(&job), extra, n, e);
	str_release(&data[0]);
	str_release(&data[1]);
	return bad ? -1 : 0;
}
