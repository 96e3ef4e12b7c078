/* PID 1 of the guest. It must never end: a kernel panics when it does, and a
 * panic is what we want to see of the kernel only. So it starts a process that
 * does the work, ends the frame if that could not, and restarts the machine. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "frame.h"
#include "guest.h"
#include "protocol.h"
#include "workload.h"

#define RESULTS "/dev/ttyS1"

static void restart(void) __attribute__((noreturn));

static void restart(void)
{
	kill(-1, SIGKILL);
	/* One that hangs in the kernel cannot be waited for. */
	for (int i = 0; i < 100; i++) {
		pid_t pid = waitpid(-1, NULL, WNOHANG);

		if (pid < 0)
			break;
		if (pid == 0)
			clock_sleep_us(10000);
	}
	if (chdir("/"))
		errno = 0; /* nothing can be done, and nothing depends on it */
	sync();
	umount2(GUEST_MOUNT, 0);
	reboot(RB_AUTOBOOT);
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void open_console(void)
{
	if (fcntl(2, F_GETFD) >= 0)
		return;
	for (int i = 0; i < 3; i++)
		if (open("/dev/console", O_RDWR | O_NOCTTY) < 0)
			return;
}

static void mount_basics(void)
{
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mkdir(GUEST_MOUNT, 0755);
	/* Without /proc or /sys there is less to say, and it still runs. */
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
}

/* 5 instances of 1000 files are near the limit of a machine with little
 * memory. */
static void allow_files(void)
{
	int fd = open("/proc/sys/fs/file-max", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "1048576\n", 8) < 0)
		errno = 0;
	close(fd);
}

/* The frame's end if the worker died before it. */
static void close_frame(struct frame *f, int status)
{
	if (f->ended)
		return;
	if (!f->lines)
		frame_line(f, PROTOCOL_BEGIN " %d", PROTOCOL_VERSION);
	if (WIFSIGNALED(status))
		frame_line(f, "error the guest program died of signal %d",
			   WTERMSIG(status));
	else
		frame_line(f, "error the guest program ended with %d",
			   WEXITSTATUS(status));
	frame_end(f);
}

static void work(struct frame *f, long long started)
{
	int status = 0;
	pid_t pid = fork(), got;

	if (pid == 0) {
		guest_run(f, started);
		_exit(0);
	}
	do /* also takes the orphans of a user's program */
		got = waitpid(-1, &status, 0);
	while (pid > 0 && got != pid && (got > 0 || errno == EINTR));
	close_frame(f, status);
}

static void set_clock(void)
{
	char line[4096] = "";
	int fd = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		if (read(fd, line, sizeof(line) - 1) < 0)
			line[0] = '\0';
		close(fd);
	}
	clock_init(line);
}

static void run(void)
{
	long long started;
	struct frame *f;
	int fd;

	open_console();
	mount_basics();
	set_clock();
	started = clock_us();
	allow_files();
	fd = frame_open_tty(RESULTS);
	f = fd < 0 ? NULL : frame_new(fd);
	if (f)
		work(f, started);
	else
		fprintf(stderr, "iobisect: open " RESULTS ": %m\n");
	restart();
}

int main(int argc, char **argv)
{
	if (getpid() == 1)
		run();
	if (argc > 1 && !strcmp(argv[1], SMALLFILES_WRITER))
		return smallfiles_writer(argc, argv);
	fprintf(stderr, "init: this is iobisect's guest: it runs as the first "
			"process of a virtual machine\n");
	return 2;
}
