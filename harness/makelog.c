#include "makelog.h"

#include <stdlib.h>
#include <string.h>

#include "types.h"

/* Words that speak of the machine, not of the kernel: anywhere in make's
 * output, but a header's absence only in what is compiled for the host. */
static const struct {
	const char *words, *advice;
} troubles[] = {
	{ "No space left on device", "free some space there" },
	{ "Disk quota exceeded", "free some space there" },
	{ "Read-only file system", "choose another cache directory" },
	{ "Input/output error", "check the disk" },
	{ "Stale file handle", "choose a cache directory on a local disk" },
	{ "Too many open files", "raise `ulimit -n`" },
	{ "Resource temporarily unavailable",
	  "raise `ulimit -u`, or --jobs 1" },
	{ "Killed signal terminated program", "out of memory? try --jobs 1" },
	{ "virtual memory exhausted", "out of memory: try --jobs 1" },
	{ "Cannot allocate memory", "out of memory: try --jobs 1" },
	{ "out of memory allocating", "out of memory: try --jobs 1" },
	{ "ld terminated with signal 9", "out of memory? try --jobs 1" },
	{ "ccache: error:", "see `ccache -s`, or set CCACHE_DISABLE=1" },
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

static bool is_error(const char *line)
{
	static const char *const words[] = {
		": error: ",
		": fatal error: ",
		": Error: ",
		": undefined reference to ",
		": multiple definition of",
		": syntax error",
		": unknown statement",
		"ERROR: ",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(line, words[i]))
			return true;
	return false;
}

static void look_for_trouble(struct makelog *l, const char *line)
{
	static const char *const host[] = { "scripts/", "tools/", "certs/",
					    "vdso2c", "/usr/include/" };
	bool is_host = !strstr(line, ".h: No such file");

	for (size_t i = 0; i < ARRAY_SIZE(host); i++)
		is_host |= strstr(line, host[i]) != NULL;
	if (!is_host || strstr(line, "warning: "))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(troubles); i++) {
		if (!strstr(line, troubles[i].words))
			continue;
		l->machine = xstrdup(line);
		l->advice = troubles[i].advice;
		return;
	}
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
	if (!l->error && is_error(line))
		l->error = xstrdup(line);
	if (!l->stop && str_starts(line, "make") && strstr(line, "*** "))
		l->stop = xstrdup(line);
}

char *makelog_reason(const struct makelog *l, const char *src)
{
	const char *line = l->error ? l->error : l->stop;
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
