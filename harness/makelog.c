#include "makelog.h"

#include <stdlib.h>
#include <string.h>

#include "types.h"

#define MEMORY	"out of memory? try --jobs 1"
#define SPACE	"free some space there"
#define STOPPED "something stopped it: run again"

/* Words that speak of the machine, not of the kernel: anywhere in make's
 * output, but a header's absence only in what is compiled for the host. */
static const struct {
	const char *words, *advice;
} troubles[] = {
	{ "No space left on device", SPACE },
	{ "Disk quota exceeded", SPACE },
	{ "echo: I/O error", SPACE }, /* dash */
	{ "printf: I/O error", SPACE },
	{ "fatal error: error writing to ", SPACE },
	{ "fatal error: error closing ", SPACE },
	{ "fatal error: opening ", "does something else remove files there?" },
	{ "fatal error: cannot execute", "install the compiler again" },
	{ "File too large", "raise `ulimit -f`" },
	{ "File size limit exceeded", "raise `ulimit -f`" },
	{ "Read-only file system", "choose another cache directory" },
	{ "Input/output error", "check the disk" },
	{ "Structure needs cleaning", "check the disk" },
	{ "Stale file handle", "choose a cache directory on a local disk" },
	{ "Too many open files", "raise `ulimit -n`" },
	{ "Resource temporarily unavailable",
	  "raise `ulimit -u`, or --jobs 1" },
	{ "Cannot fork", "raise `ulimit -u`, or --jobs 1" },
	{ "Killed signal terminated program", MEMORY },
	{ "internal compiler error: Killed", MEMORY },
	{ "terminated with signal 9", MEMORY },
	{ "*** [] Killed", MEMORY },
	{ "*** [] Error 137", MEMORY },
	{ "memory exhausted", MEMORY },
	{ "Cannot allocate memory", MEMORY },
	{ ": out of memory", MEMORY },
	{ ": Out of memory", MEMORY },
	{ ": not enough memory", MEMORY },
	{ "bad_alloc", MEMORY },
	{ "LLVM ERROR: out of memory", MEMORY },
	{ "Terminated signal terminated program", STOPPED },
	{ "Interrupt signal terminated program", STOPPED },
	{ "Hangup signal terminated program", STOPPED },
	{ "internal compiler error: Terminated", STOPPED },
	{ "internal compiler error: Interrupt", STOPPED },
	{ "terminated with signal 15", STOPPED },
	{ "terminated with signal 2 ", STOPPED },
	{ "*** [] Terminated", STOPPED },
	{ "*** [] Interrupt", STOPPED },
	{ "*** [] Hangup", STOPPED },
	{ "*** [] Error 143", STOPPED },
	{ "*** [] Error 130", STOPPED },
	{ "*** [] Error 129", STOPPED },
	{ "The bug is not reproducible", "check the memory" },
	{ "source tree is not clean", "remove the cached tree beside it" },
	{ "ccache: error:", "see `ccache -s`, or set CCACHE_DISABLE=1" },
	{ "cannot find -lelf", "apt-get install libelf-dev" },
	{ "cannot find -lcrypto", "apt-get install libssl-dev" },
	{ "please install libelf-dev", "apt-get install libelf-dev" },
	{ "fatal error: gelf.h:", "apt-get install libelf-dev" },
	{ "fatal error: libelf.h:", "apt-get install libelf-dev" },
	{ "fatal error: openssl/", "apt-get install libssl-dev" },
	{ "fatal error: stdio.h:", "apt-get install libc6-dev" },
	{ "fatal error: stdlib.h:", "apt-get install libc6-dev" },
	{ "fatal error: sys/types.h:", "apt-get install libc6-dev" },
	{ "fatal error: gmp.h:", "apt-get install gcc-12-plugin-dev" },
	{ "fatal error: mpc.h:", "apt-get install libmpc-dev" },
	{ "fatal error: ncurses.h:", "apt-get install libncurses-dev" },
};

/* A compiler, or a tool that the kernel brings, that crashes: a defect of it
 * that this source brings out, or of the machine. */
static const char *const crashes[] = {
	"internal compiler error",
	"Segmentation fault signal terminated program",
	"Aborted signal terminated program",
	"Bus error signal terminated program",
	"terminated with signal 6 ",
	"terminated with signal 7 ",
	"terminated with signal 11 ",
	"*** [] Segmentation fault",
	"*** [] Aborted",
	"*** [] Bus error",
	"*** [] Illegal instruction",
	"*** [] Floating point exception",
	"*** [] Error 132",
	"*** [] Error 134",
	"*** [] Error 135",
	"*** [] Error 136",
	"*** [] Error 139",
};

static const struct {
	const char *tool, *package;
} tools[] = {
	{ "make", "make" },
	{ "gcc", "gcc" },
	{ "cc", "gcc" },
	{ "ccache", "ccache" },
	{ "flex", "flex" },
	{ "bison", "bison" },
	{ "bc", "bc" },
	{ "perl", "perl" },
	{ "ld", "binutils" },
	{ "as", "binutils" },
	{ "ar", "binutils" },
	{ "nm", "binutils" },
	{ "objcopy", "binutils" },
	{ "objdump", "binutils" },
	{ "strip", "binutils" },
	{ "readelf", "binutils" },
	{ "gzip", "gzip" },
	{ "bzip2", "bzip2" },
	{ "xz", "xz-utils" },
	{ "lzma", "xz-utils" },
	{ "lzop", "lzop" },
	{ "lz4", "lz4" },
	{ "lz4c", "lz4" },
	{ "zstd", "zstd" },
	{ "zstd22", "zstd" },
	{ "cpio", "cpio" },
	{ "awk", "mawk" },
	{ "gawk", "gawk" },
	{ "sed", "sed" },
	{ "find", "findutils" },
	{ "python3", "python3" },
	{ "python", "python-is-python3" },
	{ "rsync", "rsync" },
	{ "pahole", "pahole" },
	{ "openssl", "openssl" },
	{ "tar", "tar" },
	{ "pkg-config", "pkg-config" },
	{ "yacc", "bison" },
	{ "lex", "flex" },
	{ "kmod", "kmod" },
	{ "depmod", "kmod" },
	{ "diff", "diffutils" },
	{ "cmp", "diffutils" },
	{ "hostname", "hostname" },
};

void makelog_release(struct makelog *l)
{
	free(l->error);
	free(l->stop);
	free(l->crash);
	free(l->machine);
	free(l->tool);
	*l = (struct makelog){ 0 };
}

const char *makelog_package(const char *tool)
{
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		if (!strcmp(tools[i].tool, tool))
			return tools[i].package;
	return NULL;
}

/* "  CC      fs/inode.o", "  AS [M]  ...", but not what tools/ is made of. */
static bool is_object(const char *line)
{
	if (!str_starts(line, "  CC ") && !str_starts(line, "  AS "))
		return false;
	return !strstr(line, "/tools/") && !strstr(line, " tools/");
}

/* Words of "sh: 1: flex: not found", "bash: line 1: flex: command not found",
 * "make[1]: flex: No such file or directory": the tool, if we know it. */
static char *lost_tool(const char *line)
{
	static const char *const ends[] = { ": not found",
					    ": command not found",
					    ": No such file or directory" };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		AUTOFREE char *s = NULL;
		const char *word;

		if (!str_ends(line, ends[i]) ||
		    (i == 2 && !str_starts(line, "make")))
			continue;
		s = xstrndup(line, strlen(line) - strlen(ends[i]));
		word = strrchr(s, ' ');
		word = word ? word + 1 : s;
		if (makelog_package(word))
			return xstrdup(word);
	}
	return NULL;
}

/* "fs/inode.c:71:2: error: ...": the compiler speaks of source, and may quote
 * any words of it. */
static bool is_about_source(const char *line)
{
	const char *at = strstr(line, ": error: ");

	return at && at > line && at[-1] >= '0' && at[-1] <= '9';
}

/* "Makefile:12: *** missing separator.  Stop.", and what $(error) says. */
static bool is_complaint(const char *line)
{
	const char *at = strstr(line, ": *** ");

	return at && at > line && at[-1] >= '0' && at[-1] <= '9';
}

static bool is_error(const char *line)
{
	static const char *const words[] = {
		": error: ",
		": fatal error: ",
		": Error: ",
		": undefined reference to ",
		": undefined symbol",
		": multiple definition of",
		": relocation truncated to fit",
		": syntax error",
		": unknown statement",
		": unknown option",
		": can't open file \"",
		"*** No rule to make target ",
		"ERROR: ",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(line, words[i]))
			return true;
	return is_complaint(line);
}

/* "*** [] X" stands for make's "*** [FILE:LINE: TARGET] X", and nothing but
 * "(core dumped)" after it. */
static bool has_words(const char *line, const char *words)
{
	const char *at;

	if (!str_starts(words, "*** [] "))
		return strstr(line, words) != NULL;
	words += strlen("*** []");
	at = str_starts(line, "make") && strstr(line, "*** [")
		     ? strrchr(line, ']')
		     : NULL;
	if (!at || !str_starts(at + 1, words))
		return false;
	at += 1 + strlen(words);
	return !*at || *at == ' ';
}

/* A header that is looked for and not found, and not by the kernel's code. */
static bool lacks_host_header(const char *line)
{
	static const char *const host[] = { "scripts/", "tools/", "certs/",
					    "vdso2c", "/usr/include/" };

	if (!strstr(line, ".h: No such file"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(host); i++)
		if (strstr(line, host[i]))
			return true;
	return false;
}

static void look_for_trouble(struct makelog *l, const char *line)
{
	if (strstr(line, ".h: No such file") && !lacks_host_header(line))
		return;
	if (strstr(line, "warning: ") || is_about_source(line))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(troubles); i++) {
		if (!has_words(line, troubles[i].words))
			continue;
		l->machine = xstrdup(line);
		l->advice = troubles[i].advice;
		return;
	}
	for (size_t i = 0; !l->crash && i < ARRAY_SIZE(crashes); i++)
		if (has_words(line, crashes[i]))
			l->crash = xstrdup(line);
}

static bool wants_file(const char *line)
{
	static const char *const signs[] = { "No such file or directory",
					     "No rule to make target",
					     "can't open file" };

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (strstr(line, signs[i]))
			return true;
	return false;
}

void makelog_line(struct makelog *l, const char *line)
{
	if (is_object(line))
		l->objects++;
	if (wants_file(line))
		l->missing = true;
	/* The compiler quotes source lines, which begin with blanks. */
	if (*line == ' ' || *line == '\t')
		return;
	if (!l->machine)
		look_for_trouble(l, line);
	if (!l->tool)
		l->tool = lost_tool(line);
	if (is_error(line)) {
		if (!l->error)
			l->error = xstrdup(line);
		l->diagnosed |= !lacks_host_header(line) &&
				!str_starts(line, "collect2: error: ld ");
	}
	if (!l->stop && str_starts(line, "make") && strstr(line, "*** "))
		l->stop = xstrdup(line);
}

char *makelog_reason(const struct makelog *l, const char *src)
{
	const char *line = l->error ? l->error : l->crash ? l->crash : l->stop;
	CLEANUP(str_release) struct str s = STR_INIT;
	AUTOFREE char *prefix = xfmt("%s/", src);
	const char *at;

	if (!line)
		return xstrdup("make failed without saying why");
	while ((at = strstr(line, prefix))) {
		str_add(&s, line, (size_t)(at - line));
		line = at + strlen(prefix);
	}
	str_puts(&s, line);
	return str_take(&s);
}
