#include "test.h"

#include "makelog.h"
#include "types.h"

static void feed(struct makelog *l, const char *const *lines)
{
	*l = (struct makelog){ 0 };
	for (; *lines; lines++)
		makelog_line(l, *lines);
}

#define FEED(l, ...) feed(l, (const char *const[]){ __VA_ARGS__, NULL })

TEST(makelog__counts_the_kernels_own_objects)
{
	CLEANUP(makelog_release) struct makelog l;

	FEED(&l, "  CC      init/main.o", "  AS      arch/x86/lib/getuser.o",
	     "  CC [M]  fs/ext2/ext2.o", "  HOSTCC  scripts/kallsyms",
	     "  CC      /o/tools/objtool/check.o", "  LD      vmlinux",
	     "  CC      tools/objtool/elf.o", "  CALL    scripts/x.sh",
	     "  CC      drivers/tty/tools.o");
	EXPECT_INT(l.objects, 4);
}

TEST(makelog__first_error_is_the_reason)
{
	CLEANUP(makelog_release) struct makelog l;
	AUTOFREE char *reason = NULL;

	FEED(&l, "  CC      fs/ext2/inode.o",
	     "/c/src/fs/ext2/inode.c: In function 'ext2_get':",
	     "/c/src/fs/ext2/inode.c:71:2: error: 'x' undeclared",
	     "   71 |  x = \"No space left on device\";", "      |  ^",
	     "/c/src/fs/ext2/inode.c:80:1: error: another",
	     "make[3]: *** [/c/src/scripts/Makefile.build:250: fs/x.o] Error "
	     "1");
	reason = makelog_reason(&l, "/c/src");
	EXPECT_STR(reason, "fs/ext2/inode.c:71:2: error: 'x' undeclared");
	EXPECT(!l.machine && !l.tool);
}

TEST(makelog__kinds_of_error)
{
	static const char *const lines[] = {
		"a.c:1:10: fatal error: linux/gone.h: No such file or "
		"directory",
		"arch/x86/a.S:3: Error: no such instruction: `foo'",
		"ld: fs/a.o: in function `f': a.c:(.text+0x5): undefined "
		"reference to `g'",
		"ld: b.o:(.bss+0x0): multiple definition of `x'; a.o: first",
		"fs/Kconfig:12: syntax error",
		"fs/Kconfig:3: unknown statement \"foo\"",
		"ERROR: modpost: \"x\" [y.ko] undefined!",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		CLEANUP(makelog_release) struct makelog l;
		AUTOFREE char *reason = NULL;

		FEED(&l, lines[i], "make: *** [Makefile:1: all] Error 2");
		reason = makelog_reason(&l, "/src");
		EXPECT_STR(reason, lines[i]);
		EXPECT(!l.machine);
	}
}

TEST(makelog__without_an_error_line)
{
	CLEANUP(makelog_release) struct makelog l, none;
	AUTOFREE char *reason = NULL, *silent = NULL;

	FEED(&l, "make[1]: *** No rule to make target 'fs/gone.o'.  Stop.",
	     "make: *** [Makefile:220: __sub-make] Error 2");
	reason = makelog_reason(&l, "/src");
	EXPECT_STR(reason,
		   "make[1]: *** No rule to make target 'fs/gone.o'.  Stop.");
	FEED(&none, "hello");
	silent = makelog_reason(&none, "/src");
	EXPECT_STR(silent, "make failed without saying why");
}

TEST(makelog__machine_in_trouble)
{
	static const struct {
		const char *line, *advice;
	} cases[] = {
		{ "fs/a.c:9:1: fatal error: error writing to /tmp/x.s: No "
		  "space "
		  "left on device",
		  "space" },
		{ "gcc: fatal error: Killed signal terminated program cc1",
		  "--jobs 1" },
		{ "cc1: out of memory allocating 65536 bytes", "--jobs 1" },
		{ "ccache: error: Failed to create directory /x", "ccache" },
		{ "Makefile:1: *** \"Cannot generate ORC metadata, please "
		  "install libelf-dev\".  Stop.",
		  "libelf-dev" },
		{ "/s/tools/objtool/include/objtool/elf.h:10:10: fatal error: "
		  "gelf.h: No such file or directory",
		  "libelf-dev" },
		{ "scripts/extract-cert.c:21:10: fatal error: openssl/bio.h: "
		  "No "
		  "such file or directory",
		  "libssl-dev" },
		{ "scripts/basic/fixdep.c:92:10: fatal error: sys/types.h: No "
		  "such file or directory",
		  "libc6-dev" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		CLEANUP(makelog_release) struct makelog l;

		FEED(&l, cases[i].line);
		if (!l.machine || !strstr(l.advice, cases[i].advice))
			TEST_FAIL("%s: %s", cases[i].line,
				  l.advice ? l.advice : "nothing");
	}
}

/* Kernel code that includes a header of libc's is wrong by itself. */
TEST(makelog__kernels_own_fault)
{
	CLEANUP(makelog_release) struct makelog l;

	FEED(&l, "fs/a.c:1:10: fatal error: stdio.h: No such file or directory",
	     "warning: Cannot use STACK_VALIDATION, please install libelf-dev");
	EXPECT(!l.machine);
	EXPECT(l.error);
}

TEST(makelog__lost_tools)
{
	static const struct {
		const char *line, *tool;
	} cases[] = {
		{ "/bin/sh: 1: flex: not found", "flex" },
		{ "/bin/sh: line 1: bison: command not found", "bison" },
		{ "make[2]: bc: No such file or directory", "bc" },
		{ "make: gcc: No such file or directory", "gcc" },
		{ "sh: 1: ./scripts/new.sh: not found", NULL },
		{ "cat: flex: No such file or directory", NULL },
		{ "not found", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		CLEANUP(makelog_release) struct makelog l;

		FEED(&l, cases[i].line);
		if (cases[i].tool)
			EXPECT_STR(l.tool, cases[i].tool);
		else
			EXPECT(!l.tool);
	}
	EXPECT_STR(makelog_package("xz"), "xz-utils");
	EXPECT(!makelog_package("nonesuch"));
}

/* None of these says anything about the kernel's source. */
TEST(makelog__killed_and_starved)
{
	static const char *const lines[] = {
		"make[2]: *** [scripts/Makefile.build:250: fs/a.o] Killed",
		"make[2]: *** [scripts/Makefile.build:250: fs/a.o] Error 137",
		"make[2]: *** [fs/a.o] Terminated",
		"make[1]: *** [Makefile:1: fs] Interrupt",
		"make[1]: *** [Makefile:1: fs] Error 130",
		"make[1]: *** [Makefile:1: fs] Error 143",
		"make[1]: *** [Makefile:1: fs] Hangup",
		"gcc: internal compiler error: Killed (program cc1)",
		"gcc: fatal error: Terminated signal terminated program cc1",
		"collect2: fatal error: ld terminated with signal 9 [Killed]",
		"virtual memory exhausted: Cannot allocate memory",
		"cc1: out of memory allocating 65536 bytes after a total of 1",
		"ld: out of memory allocating 4 bytes",
		"as: memory exhausted",
		"terminate called after throwing an instance of "
		"'std::bad_alloc'",
		"LLVM ERROR: out of memory",
		"/bin/sh: 0: Cannot fork",
		"make[1]: fork: Resource temporarily unavailable",
		"sh: 1: echo: echo: I/O error",
		"fs/a.c:1:1: fatal error: error writing to /tmp/ccX.s: File "
		"too large",
		"ld: final link failed: No space left on device",
		"objcopy: vmlinux.bin: final close failed: Disk quota "
		"exceeded",
		"gcc: The bug is not reproducible, so it is likely a hardware "
		"or OS problem.",
		"/usr/bin/ld: cannot find -lelf: No such file or directory",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		CLEANUP(makelog_release) struct makelog l;

		FEED(&l, lines[i], "make: *** [Makefile:220: x] Error 2");
		if (!l.machine || !l.advice)
			TEST_FAIL("%s: no trouble", lines[i]);
	}
}

/* A source that has such words in it is quoted by its own errors. */
TEST(makelog__words_of_the_source)
{
	static const char *const lines[] = {
		"fs/a.c:3:2: error: #error : out of memory",
		"fs/a.c:3:2: error: 'bad_alloc' undeclared",
		"fs/a.c:3:2: warning: : Out of memory",
		"make[1]: *** [Makefile:1: Killed] Error 1",
		"make[1]: *** [Makefile:1: fs] Error 1370",
		"  CC      fs/Killed.o",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		CLEANUP(makelog_release) struct makelog l;

		FEED(&l, lines[i]);
		if (l.machine || l.crash)
			TEST_FAIL("%s: %s", lines[i], l.machine);
	}
}

TEST(makelog__crashes)
{
	static const char *const lines[] = {
		"fs/a.c:9:1: internal compiler error: Segmentation fault",
		"fs/a.c:9:1: internal compiler error: in foo, at bar.cc:12",
		"gcc: fatal error: Segmentation fault signal terminated "
		"program cc1",
		"make[2]: *** [fs/a.o] Segmentation fault (core dumped)",
		"make[2]: *** [scripts/x:1: fs/a.o] Error 139",
		"make[2]: *** [scripts/x:1: fs/a.o] Aborted",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		CLEANUP(makelog_release) struct makelog l;

		FEED(&l, lines[i]);
		if (l.machine || !l.crash)
			TEST_FAIL("%s: no crash", lines[i]);
	}
}

/* make's own words on a Makefile are a diagnosis; that a command failed is not, and
 * nor is what depends on the packages that are installed. */
TEST(makelog__diagnoses)
{
	static const struct {
		const char *line;
		bool diagnosed;
	} cases[] = {
		{ "/s/fs/Makefile:12: *** missing separator.  Stop.", true },
		{ "Makefile:1: *** Compiler lacks asm-goto.  Stop.", true },
		{ "make[3]: *** No rule to make target 'fs/x.o', needed by "
		  "'fs/built-in.a'.  Stop.",
		  true },
		{ "make[3]: *** [scripts/Makefile.build:1: fs/x.o] Error 1",
		  false },
		{ "make: *** Waiting for unfinished jobs....", false },
		{ "make[1]: *** wait: No child processes.  Stop.", false },
		{ "collect2: error: ld returned 1 exit status", false },
		{ "/s/scripts/x.c:1:10: fatal error: zlib.h: No such file or "
		  "directory",
		  false },
		{ "fs/a.c:1:10: fatal error: gone.h: No such file or directory",
		  true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(makelog_release) struct makelog l;

		FEED(&l, cases[i].line);
		if (l.diagnosed != cases[i].diagnosed)
			TEST_FAIL("%s", cases[i].line);
	}
}
