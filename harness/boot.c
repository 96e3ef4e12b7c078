#include "boot.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "counter.h"
#include "proc.h"
#include "protocol.h"
#include "trouble.h"

/* Seconds in which the machine should have stopped by itself. */
#define STOP_AFTER_END	 3
#define STOP_AFTER_PANIC 2

#define RESULTS_FD 3

/* A whole frame is some KiB. */
#define MOST_RESULTS (1 << 20)

/* Where QEMU finds its connection to a modelled drive. Inherited descriptors
 * start above, clear of the streams too. */
#define DRIVE_FD 9
#define FIRST_FD 10

/* A serial that every device takes: an IDE disk's has 20 characters. */
#define SERIAL_MAX 20

/* The boot as it is seen from outside. Times are of now_s(); 0: not yet. */
struct watch {
	const struct boot_request *r;
	struct boot *out;
	struct progress *p;
	double start, first_word, end, panic;
	struct trouble trouble; /* what the console says went wrong */
	struct str last;	/* the console's last line that has text */
	struct str qemu;	/* QEMU's own last message */
	bool flood;		/* results without end */
	bool killed;		/* QEMU says that a signal ended it */
	const char *deadline;	/* which one has passed */
};

static void watch_release(struct watch *w)
{
	trouble_release(&w->trouble);
	str_release(&w->last);
	str_release(&w->qemu);
}

static void take_result(void *ctx, const char *line)
{
	struct watch *w = ctx;
	size_t n = strlen(line);

	if (w->out->results.len > MOST_RESULTS) {
		w->flood = true;
		return;
	}
	/* a guest that left its line in text mode sends \r\n */
	if (n && line[n - 1] == '\r')
		n--;
	str_add(&w->out->results, line, n);
	str_putc(&w->out->results, '\n');
	if (!w->first_word) {
		w->first_word = now_s();
		w->out->to_init_s = w->first_word - w->start;
	}
	if (str_starts(line, "workload.begin ")) {
		if (!w->out->to_workload_s)
			w->out->to_workload_s = now_s() - w->start;
		progress_line(w->p, line + strlen("workload."));
	}
	if (str_starts(line, PROTOCOL_END " "))
		w->end = now_s();
}

/* The console and QEMU's own messages come by one pipe: "NAME: text". */
static bool is_qemu(const struct watch *w, const char *line)
{
	const char *name = strrchr(w->r->machine->program, '/');

	name = name ? name + 1 : w->r->machine->program;
	return str_starts(line, "iobisect-disk: ") ||
	       (str_starts(line, name) && line[strlen(name)] == ':');
}

static void take_console(void *ctx, const char *line)
{
	struct watch *w = ctx;
	AUTOFREE char *text = trouble_text(line);

	if (is_qemu(w, text)) {
		if (strstr(text, ": terminating on signal "))
			w->killed = true;
		if (!strstr(text, ": warning: ")) {
			str_reset(&w->qemu);
			str_puts(&w->qemu, text);
		}
		return;
	}
	if (!*text)
		return;
	str_reset(&w->last);
	str_puts(&w->last, text);
	progress_line(w->p, text);
	if (trouble_scan(&w->trouble, text) && !w->panic)
		w->panic = now_s();
}

/* The two streams have different handlers, and proc.c one context. */
static const struct {
	int fd;
	void (*line)(void *ctx, const char *line);
} streams[] = { { 1, take_console }, { RESULTS_FD, take_result } };

static int check_time(void *ctx)
{
	struct watch *w = ctx;
	double now = now_s();

	progress_tick(w->p);
	if (w->flood)
		return 1;
	if (w->end)
		return now - w->end > STOP_AFTER_END;
	if (w->panic && now - w->panic > STOP_AFTER_PANIC)
		return 1;
	if (!w->first_word && now - w->start > w->r->boot_timeout)
		w->deadline = "no word from /init";
	if (w->first_word && now - w->first_word > w->r->run_timeout)
		w->deadline = "no end of the results";
	return w->deadline != NULL;
}

/* A comma is QEMU's separator; two stand for one. */
static char *quote_commas(const char *text)
{
	struct str out = STR_INIT;

	for (; *text; text++) {
		if (*text == ',')
			str_putc(&out, ',');
		str_putc(&out, *text);
	}
	return str_take(&out);
}

static void add_all(struct strv *argv, const struct strv *more)
{
	for (size_t i = 0; i < more->n; i++)
		strv_add(argv, more->v[i]);
}

static void add_device(struct strv *argv, const struct boot_request *r)
{
	AUTOFREE char *cut = xstrndup(r->serial ? r->serial : "", SERIAL_MAX);
	AUTOFREE char *serial = quote_commas(cut);

	for (size_t i = 0; i < r->device->args.n; i++) {
		const char *arg = r->device->args.v[i], *at;
		CLEANUP(str_release) struct str s = STR_INIT;

		while ((at = strstr(arg, "@SERIAL@"))) {
			str_add(&s, arg, (size_t)(at - arg));
			str_puts(&s, serial);
			arg = at + strlen("@SERIAL@");
		}
		str_puts(&s, arg);
		strv_add(argv, str_c(&s));
	}
}

/* The drive starts QEMU: it is connected before, and ends with it. */
static void add_model(struct strv *argv, const struct boot_request *r, int fd)
{
	strv_add(argv, r->disk_program);
	strv_add(argv, "--profile");
	strv_add(argv, r->profile);
	strv_add(argv, "--size");
	strv_addf(argv, "%lld", r->drive_bytes);
	strv_add(argv, "--data");
	strv_addf(argv, "fd:%d", fd);
	strv_add(argv, "--slow");
	strv_addf(argv, "%d", r->slow);
	strv_add(argv, "--trace");
	strv_add(argv, r->trace);
	strv_add(argv, "--client");
	strv_addf(argv, "%d", DRIVE_FD);
	strv_add(argv, "--");
}

static void add_client(struct strv *argv)
{
	strv_add(argv, "-blockdev");
	strv_addf(argv, "driver=nbd,node-name=drive,server.type=fd,"
			"server.str=%d", DRIVE_FD);
}

/* Cached writes to memory, or to a file nobody needs after the boot: a guest's
 * flush has nothing to wait for. A real device is written past our cache, and
 * flushed. */
static void add_drive(struct strv *argv, const struct boot_request *r, int fd)
{
	strv_add(argv, "-add-fd");
	strv_addf(argv, "fd=%d,set=1", fd);
	strv_add(argv, "-blockdev");
	strv_add(argv,
		 r->drive_is_device
			 ? "driver=host_device,node-name=content,filename="
			   "/dev/fdset/1,aio=native,cache.direct=on,"
			   "discard=ignore"
			 : "driver=file,node-name=content,filename="
			   "/dev/fdset/1,aio=threads,cache.no-flush=on,"
			   "locking=off,discard=ignore");
	strv_add(argv, "-blockdev");
	strv_addf(argv, "driver=raw,node-name=drive,file=content,size=%lld",
		  r->drive_bytes);
}

static void add_kernel(struct strv *argv, const struct boot_request *r,
		       int initramfs)
{
	CLEANUP(str_release) struct str line = STR_INIT;
	long long khz = r->kvm ? 0 : counter_khz();

	str_fmt(&line, "console=ttyS0,115200 panic=-1 %s",
		r->verbose_console ? "loglevel=7 ignore_loglevel"
				   : "loglevel=5");
	/* An emulated timer cannot be relied on to calibrate the counter by: on
	 * a loaded host kernels give up on it, and then lose time. */
	if (khz)
		str_fmt(&line, " tsc_early_khz=%lld", khz);
	for (size_t i = 0; i < r->machine->append.n; i++)
		str_fmt(&line, " %s", r->machine->append.v[i]);
	for (size_t i = 0; i < r->device->append.n; i++)
		str_fmt(&line, " %s", r->device->append.v[i]);
	strv_add(argv, "-m");
	strv_addf(argv, "%d", r->mem_mb);
	strv_add(argv, "-kernel");
	strv_add(argv, r->kernel);
	strv_add(argv, "-initrd");
	strv_addf(argv, "/dev/fd/%d", initramfs);
	strv_add(argv, "-append");
	strv_add(argv, str_c(&line));
}

static void add_consoles(struct strv *argv)
{
	static const char *const args[] = {
		"-chardev", "stdio,id=console,signal=off",
		"-serial",  "chardev:console",
		"-chardev", "file,id=results,path=/dev/fd/3",
		"-serial",  "chardev:results",
	};

	_Static_assert(RESULTS_FD == 3, "as in the path above");
	for (size_t i = 0; i < ARRAY_SIZE(args); i++)
		strv_add(argv, args[i]);
}

static void make_argv(struct strv *argv, const struct boot_request *r,
		      int drive, int initramfs)
{
	if (r->profile)
		add_model(argv, r, drive);
	strv_add(argv, r->machine->program);
	add_all(argv, &r->machine->args);
	add_all(argv, r->kvm ? &r->machine->kvm : &r->machine->tcg);
	add_kernel(argv, r, initramfs);
	add_consoles(argv);
	if (r->profile)
		add_client(argv);
	else
		add_drive(argv, r, drive);
	add_device(argv, r);
}

/* QEMU wants the initramfs as a file. */
static int memory_file(const struct str *data, struct err *e)
{
	AUTOFD int fd = memfd_create("initramfs", MFD_CLOEXEC);
	int moved;

	if (fd < 0)
		return err_set(e, "create the initramfs in memory: %m");
	if (fd_write(fd, data->buf, data->len))
		return err_set(e, "write the initramfs: %m");
	moved = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
	return moved < 0 ? err_set(e, "duplicate a descriptor: %m") : moved;
}

/* The reason for an end that should not have been. */
static char *tell(const struct watch *w, const char *what)
{
	AUTOFREE char *trouble = trouble_tell(&w->trouble);

	if (trouble)
		return xfmt("%s: %s", what, trouble);
	if (w->last.len)
		return xfmt("%s; the console's last line: %.200s", what,
			    str_c(&w->last));
	return xfmt("%s, and nothing on the console", what);
}

static void judge(struct watch *w)
{
	struct boot *b = w->out;
	AUTOFREE char *what = NULL;

	if (w->end) {
		b->outcome = BOOT_OK;
		return;
	}
	if (w->flood) {
		b->outcome = BOOT_DIED;
		b->reason = xfmt("the guest sent results without end (more "
				 "than %d KiB)", MOST_RESULTS >> 10);
		return;
	}
	b->outcome = !w->first_word ? BOOT_NO_INIT
		     : w->deadline  ? BOOT_HUNG
				    : BOOT_DIED;
	if (w->panic) {
		b->reason = trouble_tell(&w->trouble);
		return;
	}
	if (w->deadline)
		what = xfmt("%s after %.0f s", w->deadline,
			    w->first_word ? w->r->run_timeout
					  : w->r->boot_timeout);
	b->reason = tell(w, what ? what
			    : w->first_word
				    ? "the machine went down before the end "
				      "of the results"
				    : "the machine went down before /init "
				      "spoke");
}

/* An end that says nothing about the kernel. After the end frame there is none:
 * what was measured stays measured. */
static int check_end(const struct watch *w, const struct proc_result *end,
		     struct err *e)
{
	const char *name = w->r->machine->program;
	bool ours = end->stopped || end->timed_out;

	if (w->end || ours)
		return 0;
	if (end->signal)
		return err_set(e, "%s was killed by signal %d (%s)%s%s", name,
			       end->signal, strsignal(end->signal),
			       w->qemu.len ? ": " : "", str_c(&w->qemu));
	if (w->killed || end->code)
		return err_set(e, "%s",
			       w->qemu.len   ? str_c(&w->qemu)
			       : w->last.len ? str_c(&w->last)
					     : "QEMU ended without a message");
	return 0;
}

static int run(struct watch *w, const struct strv *argv, const int *fds,
	       int nfds, struct err *e)
{
	const struct boot_request *r = w->r;
	struct proc_stream s[ARRAY_SIZE(streams)] = { { 0 } };
	struct proc_spec spec = {
		.argv = (const char *const *)argv->v,
		.streams = s,
		.nstreams = ARRAY_SIZE(streams),
		.inherit = fds,
		.ninherit = nfds,
		/* a second net: the deadlines are check_time's */
		.timeout = r->boot_timeout + r->run_timeout + 60,
		.tick = check_time,
		.ctx = w,
	};
	struct proc_result end;

	for (size_t i = 0; i < ARRAY_SIZE(streams); i++) {
		s[i].child_fd = streams[i].fd;
		s[i].line = streams[i].line;
	}
	s[0].log = r->console;
	w->start = now_s();
	if (proc_run(&end, &spec, e))
		return -1;
	w->out->qemu_s = now_s() - w->start;
	if (end.timed_out && !w->deadline)
		w->deadline = "no end";
	if (check_end(w, &end, e))
		return -1;
	judge(w);
	return 0;
}

int boot_run(struct boot *out, const struct boot_request *r, struct progress *p,
	     struct err *e)
{
	CLEANUP(strv_release) struct strv argv = STRV_INIT;
	CLEANUP(boot_release) struct boot b = { 0 };
	CLEANUP(watch_release) struct watch w = { .r = r, .out = &b, .p = p };
	AUTOFD int drive = fcntl(r->drive_fd, F_DUPFD_CLOEXEC, FIRST_FD);
	AUTOFD int initramfs = -1;

	if (drive < 0)
		return err_set(e, "duplicate the drive's descriptor: %m");
	if (access(r->kernel, R_OK))
		return err_set(e, "kernel %s: %m", r->kernel);
	initramfs = memory_file(r->initramfs, e);
	if (initramfs < 0)
		return -1;
	make_argv(&argv, r, drive, initramfs);
	if (run(&w, &argv, (int[]){ drive, initramfs }, 2, e))
		return -1;
	*out = b;
	b = (struct boot){ 0 };
	return 0;
}
