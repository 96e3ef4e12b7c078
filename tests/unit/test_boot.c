#include "test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boot.h"
#include "counter.h"
#include "trouble.h"

/* A shell script stands for QEMU: its standard output is the console, its
 * descriptor 3 the results. */
struct lab {
	char dir[64];
	char *program, *kernel, *console;
	struct machine m;
	struct device d;
	struct str initramfs;
	int drive;
	struct boot_request r;
};

static char *at(const struct lab *l, const char *name)
{
	return xfmt("%s/%s", l->dir, name);
}

static void put(const char *path, const char *text, mode_t mode)
{
	struct err e;

	if (file_write(path, text, strlen(text), &e) || chmod(path, mode))
		TEST_FAIL("write %s", path);
}

static void lab_make(struct lab *l, const char *script)
{
	AUTOFREE char *text = xfmt("#!/bin/sh\n%s\n", script);
	const char *tmp = getenv("TMPDIR");

	*l = (struct lab){ .drive = memfd_create("drive", MFD_CLOEXEC) };
	snprintf(l->dir, sizeof(l->dir), "%.30s/test_boot.XXXXXX",
		 tmp ? tmp : "/tmp");
	if (!mkdtemp(l->dir) || write(l->drive, "CONTENT", 7) != 7)
		TEST_FAIL("mkdtemp %s", l->dir);
	l->program = at(l, "qemu");
	l->kernel = at(l, "bzImage");
	l->console = at(l, "console");
	put(l->program, text, 0755);
	put(l->kernel, "kernel", 0644);
	l->m.program = xstrdup(l->program);
	strv_add(&l->m.args, "-always");
	strv_add(&l->m.tcg, "-emulated");
	strv_add(&l->m.kvm, "-hardware");
	strv_add(&l->m.append, "from=machine");
	strv_add(&l->d.args, "disk,drive=drive,serial=@SERIAL@,x=1");
	strv_add(&l->d.append, "from=device");
	str_puts(&l->initramfs, "ARCHIVE");
	l->r = (struct boot_request){
		.machine = &l->m,
		.device = &l->d,
		.mem_mb = 128,
		.kernel = l->kernel,
		.initramfs = &l->initramfs,
		.drive_fd = l->drive,
		.drive_bytes = 4096,
		.serial = "S1",
		.console = l->console,
		.boot_timeout = 20,
		.run_timeout = 20,
	};
}

static void lab_release(struct lab *l)
{
	struct err e;

	machine_release(&l->m);
	device_release(&l->d);
	str_release(&l->initramfs);
	free(l->program);
	free(l->kernel);
	free(l->console);
	close(l->drive);
	dir_remove(l->dir, &e);
}

#define FRAME "printf 'iobisect-begin 1\\nworkload.begin w\\nend\\n' >&3\n"
#define END   "echo 'iobisect-end 3 00000000' >&3\n"

TEST(boot__the_end_frame_is_a_good_end)
{
	CLEANUP(lab_release) struct lab l;
	CLEANUP(boot_release) struct boot b = { 0 };
	CLEANUP(str_release) struct str console = STR_INIT;
	struct err e = { "" };

	lab_make(&l, "echo hello; sleep 0.2\n" FRAME END);
	ASSERT(boot_run(&b, &l.r, NULL, &e) == 0);
	EXPECT_INT(b.outcome, BOOT_OK);
	EXPECT(!b.reason);
	EXPECT_STR(str_c(&b.results), "iobisect-begin 1\nworkload.begin w\n"
				      "end\niobisect-end 3 00000000\n");
	EXPECT(b.to_init_s >= 0.2 && b.to_workload_s >= b.to_init_s &&
	       b.qemu_s >= b.to_workload_s && b.qemu_s < 10);
	ASSERT(file_read(&console, l.console, &e) == 0);
	EXPECT_STR(str_c(&console), "hello\n");
}

/* A panic after the results, an exit code, a line in text mode: all the same.
 */
TEST(boot__after_the_end_frame_nothing_counts)
{
	CLEANUP(lab_release) struct lab l;
	CLEANUP(boot_release) struct boot b = { 0 };
	struct err e = { "" };

	lab_make(&l, "printf 'iobisect-begin 1\\r\\n' >&3\n" END
		     "echo 'Kernel panic - not syncing: late'; exit 1");
	ASSERT(boot_run(&b, &l.r, NULL, &e) == 0);
	EXPECT_INT(b.outcome, BOOT_OK);
	EXPECT(str_starts(str_c(&b.results), "iobisect-begin 1\niobisect-end"));
}

TEST(boot__a_machine_that_lingers_is_stopped)
{
	CLEANUP(lab_release) struct lab l;
	CLEANUP(boot_release) struct boot b = { 0 };
	struct err e = { "" };

	lab_make(&l, FRAME END "exec sleep 60");
	ASSERT(boot_run(&b, &l.r, NULL, &e) == 0);
	EXPECT_INT(b.outcome, BOOT_OK);
	EXPECT(b.qemu_s < 10);
}

TEST(boot__says_what_the_console_said)
{
	static const struct {
		const char *script;
		enum boot_outcome outcome;
		const char *reason;
	} cases[] = {
		{ "echo '[    0.7] Kernel panic - not syncing: VFS: Unable to "
		  "mount root fs on unknown-block(0,0)'",
		  BOOT_NO_INIT,
		  "Kernel panic - not syncing: VFS: Unable to mount root fs on "
		  "unknown-block(0,0)" },
		{ "echo one; echo two", BOOT_NO_INIT,
		  "before /init spoke; the console's last line: two" },
		{ "true", BOOT_NO_INIT, "nothing on the console" },
		{ FRAME "echo '<0>Kernel panic - not syncing: Fatal exception'",
		  BOOT_DIED, "Kernel panic - not syncing: Fatal exception" },
		{ FRAME "echo last", BOOT_DIED,
		  "before the end of the results; the console's last line: "
		  "last" },
		{ FRAME "echo 'EXT2-fs error (device sda): bad block'; echo x",
		  BOOT_DIED, "EXT2-fs error (device sda): bad block" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(lab_release) struct lab l;
		CLEANUP(boot_release) struct boot b = { 0 };
		struct err e = { "" };

		lab_make(&l, cases[i].script);
		if (boot_run(&b, &l.r, NULL, &e)) {
			TEST_FAIL("%s", e.msg);
			continue;
		}
		EXPECT_INT(b.outcome, cases[i].outcome);
		if (!b.reason || !strstr(b.reason, cases[i].reason))
			TEST_FAIL("\"%s\" lacks \"%s\"", b.reason,
				  cases[i].reason);
	}
}

TEST(boot__a_panic_that_hangs_is_not_waited_for)
{
	CLEANUP(lab_release) struct lab l;
	CLEANUP(boot_release) struct boot b = { 0 };
	struct err e = { "" };

	lab_make(&l,
		 "echo 'Kernel panic - not syncing: no init'; exec sleep 60");
	ASSERT(boot_run(&b, &l.r, NULL, &e) == 0);
	EXPECT_INT(b.outcome, BOOT_NO_INIT);
	EXPECT_STR(b.reason, "Kernel panic - not syncing: no init");
	EXPECT(b.qemu_s >= 1.9 && b.qemu_s < 10);
}

TEST(boot__deadlines_say_which)
{
	CLEANUP(lab_release) struct lab l, l2;
	CLEANUP(boot_release) struct boot b = { 0 }, b2 = { 0 };
	struct err e = { "" };

	lab_make(&l, "echo booting; exec sleep 60");
	l.r.boot_timeout = 1;
	ASSERT(boot_run(&b, &l.r, NULL, &e) == 0);
	EXPECT_INT(b.outcome, BOOT_NO_INIT);
	EXPECT_STR(b.reason, "no word from /init after 1 s; the console's last "
			     "line: booting");
	EXPECT(b.qemu_s < 10 && b.to_init_s == 0);
	/* the first word ends the first deadline, and starts the second */
	lab_make(&l2, "sleep 0.3\n" FRAME "exec sleep 60");
	l2.r.boot_timeout = 10;
	l2.r.run_timeout = 1;
	ASSERT(boot_run(&b2, &l2.r, NULL, &e) == 0);
	EXPECT_INT(b2.outcome, BOOT_HUNG);
	EXPECT(str_starts(b2.reason, "no end of the results after 1 s"));
	EXPECT(b2.qemu_s >= 1.2 && b2.qemu_s < 10);
}

TEST(boot__qemus_own_failures_are_errors)
{
	static const struct {
		const char *script, *say;
	} cases[] = {
		{ "echo 'qemu: warning: harmless'; echo 'qemu: -device nosuch: "
		  "not a valid device' >&2; exit 1",
		  "qemu: -device nosuch: not a valid device" },
		{ "echo 'cannot allocate'; exit 3", "cannot allocate" },
		{ "exit 1", "without a message" },
		{ "kill -9 $$", "killed by signal 9" },
		{ "echo 'qemu: terminating on signal 15 from pid 1'; exit 0",
		  "terminating on signal 15" },
		{ FRAME "kill -11 $$", "killed by signal 11" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(lab_release) struct lab l;
		struct boot b = { 0 };
		struct err e = { "" };

		lab_make(&l, cases[i].script);
		EXPECT_INT(boot_run(&b, &l.r, NULL, &e), -1);
		if (!strstr(e.msg, cases[i].say))
			TEST_FAIL("\"%s\" lacks \"%s\"", e.msg, cases[i].say);
		EXPECT(!b.reason && !b.results.buf);
	}
}

TEST(boot__missing_parts_are_errors)
{
	CLEANUP(lab_release) struct lab l;
	struct boot b = { 0 };
	struct err e = { "" };

	lab_make(&l, "true");
	l.r.kernel = "/nowhere/bzImage";
	EXPECT_INT(boot_run(&b, &l.r, NULL, &e), -1);
	EXPECT(strstr(e.msg, "/nowhere/bzImage"));
	l.r.kernel = l.kernel;
	unlink(l.program);
	EXPECT_INT(boot_run(&b, &l.r, NULL, &e), -1);
	EXPECT(strstr(e.msg, l.program));
}

/* The arguments, one a line; the caller frees. */
static char *arguments(struct lab *l)
{
	CLEANUP(boot_release) struct boot b = { 0 };
	CLEANUP(str_release) struct str out = STR_INIT;
	struct err e = { "" };

	unlink(l->console);
	if (boot_run(&b, &l->r, NULL, &e) || file_read(&out, l->console, &e))
		TEST_FAIL("%s", e.msg);
	return str_take(&out);
}

#define PRINT_ARGS "for a in \"$@\"; do echo \"$a\"; done\n" FRAME END

TEST(boot__arguments_follow_the_request)
{
	CLEANUP(lab_release) struct lab l;
	AUTOFREE char *tcg = NULL, *kvm = NULL, *real = NULL;

	lab_make(&l, PRINT_ARGS);
	l.r.serial = "A,B";
	tcg = arguments(&l);
	EXPECT(str_starts(tcg, "-always\n-emulated\n"));
	EXPECT(strstr(tcg, "\ndisk,drive=drive,serial=A,,B,x=1\n"));
	EXPECT(strstr(tcg, "\nconsole=ttyS0,115200 panic=-1 loglevel=5 "));
	EXPECT(strstr(tcg, " from=machine from=device\n"));
	EXPECT(strstr(tcg, "\n-m\n128\n"));
	EXPECT(strstr(tcg, "node-name=drive,") && strstr(tcg, ",size=4096\n"));
	EXPECT(strstr(tcg, "driver=file,"));
	EXPECT(!counter_khz() == !strstr(tcg, " tsc_early_khz="));
	l.r.kvm = l.r.verbose_console = true;
	l.r.serial = "123456789012345678901234";
	kvm = arguments(&l);
	EXPECT(str_starts(kvm, "-always\n-hardware\n"));
	EXPECT(strstr(kvm, " loglevel=7 ignore_loglevel "));
	EXPECT(!strstr(kvm, "tsc_early_khz"));
	EXPECT(strstr(kvm, "serial=12345678901234567890,x=1\n"));
	l.r.drive_is_device = true;
	real = arguments(&l);
	EXPECT(strstr(real, "driver=host_device,"));
	EXPECT(strstr(real, "cache.direct=on"));
}

/* What the numbers in the arguments lead to. */
TEST(boot__hands_over_drive_and_initramfs)
{
	CLEANUP(lab_release) struct lab l;
	CLEANUP(boot_release) struct boot b = { 0 };
	CLEANUP(str_release) struct str console = STR_INIT;
	struct err e = { "" };

	lab_make(&l, "for a in \"$@\"; do case $a in\n"
		     "fd=*) n=${a#fd=}; cat /dev/fd/${n%,set=1}; echo;;\n"
		     "/dev/fd/*) cat $a; echo;;\n"
		     "esac; done\n" FRAME END);
	ASSERT(boot_run(&b, &l.r, NULL, &e) == 0);
	ASSERT(file_read(&console, l.console, &e) == 0);
	EXPECT_STR(str_c(&console), "ARCHIVE\nCONTENT\n");
	/* the caller's own is still his */
	EXPECT(fcntl(l.drive, F_GETFD) >= 0);
}

/* trouble.c */

static char *source_dir(const char *below)
{
	AUTOFREE char *dir =
		xstrndup(__FILE__, (size_t)(strrchr(__FILE__, '/') - __FILE__));

	return xfmt("%s/../../%s", dir, below);
}

/* What a whole console tells; the caller frees. */
static char *told(const char *text, bool *stopped)
{
	CLEANUP(trouble_release) struct trouble t = { 0 };
	CLEANUP(strv_release) struct strv lines = STRV_INIT;

	*stopped = false;
	strv_split(&lines, text, '\n');
	for (size_t i = 0; i < lines.n; i++) {
		AUTOFREE char *line = trouble_text(lines.v[i]);

		*stopped |= trouble_scan(&t, line);
	}
	return trouble_tell(&t);
}

TEST(trouble__recorded_consoles)
{
	static const struct {
		const char *file, *say;
	} consoles[] = {
		{ "console-init-exits.log",
		  "Kernel panic - not syncing: Attempted to kill init! "
		  "exitcode=0x00000300" },
		{ "console-init-faults.log",
		  "traps: init[1] general protection fault ip:40102b" },
		{ "console-no-init.log",
		  "Failed to execute /init (error -8), then Kernel panic - not "
		  "syncing: No working init found." },
	};

	for (size_t i = 0; i < ARRAY_SIZE(consoles); i++) {
		AUTOFREE char *dir = source_dir("tests/data");
		AUTOFREE char *path = xfmt("%s/%s", dir, consoles[i].file);
		CLEANUP(str_release) struct str text = STR_INIT;
		AUTOFREE char *say = NULL;
		struct err e = { "" };
		bool stopped;

		ASSERT(file_read(&text, path, &e) == 0);
		say = told(str_c(&text), &stopped);
		EXPECT(stopped);
		if (!say || !str_starts(say, consoles[i].say))
			TEST_FAIL("%s: \"%s\"", consoles[i].file, say);
	}
}

TEST(trouble__old_and_new_ways_to_say_it)
{
	static const struct {
		const char *text, *say;
		bool stopped;
	} cases[] = {
		{ "[    1.0] BUG: kernel NULL pointer dereference, address: "
		  "0000000000000008\n[    1.0] Oops: 0000 [#1]\n"
		  "[    1.0] RIP: 0010:ext2_new_blocks+0x12/0x3a0\n"
		  "[    1.1] Kernel panic - not syncing: Fatal exception\n",
		  "BUG: kernel NULL pointer dereference, address: "
		  "0000000000000008 (RIP: 0010:ext2_new_blocks+0x12/0x3a0)",
		  true },
		{ "Unable to handle kernel paging request at 0000 RIP:\n",
		  "Unable to handle kernel paging request at 0000 RIP:",
		  false },
		{ "VFS: Cannot open root device \"<NULL>\" or "
		  "unknown-block(8,1)\nKernel panic - not syncing: VFS: Unable "
		  "to mount root fs on unknown-block(8,1)\n",
		  "VFS: Cannot open root device \"<NULL>\" or "
		  "unknown-block(8,1), then Kernel panic - not syncing: VFS: "
		  "Unable to mount root fs on unknown-block(8,1)",
		  true },
		{ "divide error: 0000 [#1]\n", "divide error: 0000 [#1]",
		  false },
		/* a hint counts only when there is nothing better */
		{ "EXT2-fs error (device hda): x\nOops: 0002 [#1]\n",
		  "Oops: 0002 [#1]", false },
		{ "EXT2-fs error (device hda): x\nfine\n",
		  "EXT2-fs error (device hda): x", false },
		{ "\n crc error\n\n -- System halted",
		  "crc error, then -- "
		  "System halted",
		  true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool stopped;
		AUTOFREE char *say = told(cases[i].text, &stopped);

		EXPECT_STR(say, cases[i].say);
		EXPECT_INT(stopped, cases[i].stopped);
	}
}

TEST(trouble__a_calm_console_tells_nothing)
{
	bool stopped;

	EXPECT(!told("[    0.1] Linux version 6.1.0\n"
		     "[    0.2] debug: ignoring loglevel setting.\n",
		     &stopped));
	EXPECT(!stopped);
}

TEST(trouble__text_loses_its_decoration)
{
	static const struct {
		const char *line, *text;
	} cases[] = {
		{ "[    0.765708] ata1.00: x\r", "ata1.00: x" },
		{ "<4>[   12.000001][    T1] y  ", "y" },
		{ "\033c\033[?7l\033[2J\033[1;31mred\033[0m", "red" },
		{ "[drm] stays", "[drm] stays" },
		{ "a\tb\001", "a b" },
		{ "", "" },
		{ "[    1.0]", "" },
		{ "\033[", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTOFREE char *text = trouble_text(cases[i].line);

		EXPECT_STR(text, cases[i].text);
	}
}

/* machine.c */

TEST(machine__ours_loads)
{
	AUTOFREE char *dir = source_dir("qemu");
	CLEANUP(machine_release) struct machine m = { 0 };
	struct err e = { "" };

	ASSERT(machine_load(&m, dir, "pc", &e) == 0);
	EXPECT_STR(m.name, "pc");
	EXPECT_STR(m.program, "qemu-system-x86_64");
	EXPECT(strv_has(&m.args, "-no-reboot"));
	EXPECT(strv_has(&m.args, "-nodefaults"));
	EXPECT(strv_has(&m.tcg, "tcg,thread=single"));
	EXPECT(strv_has(&m.kvm, "kvm"));
	EXPECT_INT(machine_load(&m, dir, "vax", &e), -1);
	EXPECT(strstr(e.msg, "\"vax\"") && strstr(e.msg, "pc"));
	EXPECT_INT(machine_load(&m, dir, "../qemu/pc", &e), -1);
}

TEST(machine__errors_name_file_and_line)
{
	CLEANUP(lab_release) struct lab l;
	AUTOFREE char *path = NULL;
	struct machine m = { 0 };
	struct err e = { "" };

	lab_make(&l, "true");
	path = at(&l, "x.machine");
	put(path, "summary s\nprogram p\nspeed 9\n", 0644);
	EXPECT_INT(machine_load(&m, l.dir, "x", &e), -1);
	EXPECT(strstr(e.msg, "x.machine:3: unknown key \"speed\""));
	put(path, "summary s\nprogram p\narg a\ntcg t\n", 0644);
	EXPECT_INT(machine_load(&m, l.dir, "x", &e), -1);
	EXPECT(strstr(e.msg, "without \"kvm\""));
}

/* Whether it works is the host's affair; that it ends is ours. */
TEST(boot__the_kvm_probe_ends)
{
	double start = now_s();
	bool works = boot_kvm_works();

	EXPECT(now_s() - start < 5);
	EXPECT(!works || file_exists("/dev/kvm"));
	printf("# KVM works: %d\n", works);
}

TEST(counter__agrees_with_itself)
{
	long long a = counter_khz(), b = counter_khz();

	if (!a)
		return;
	EXPECT(a > 100000 && a < 100000000);
	EXPECT(llabs(a - b) < a / 1000);
}
