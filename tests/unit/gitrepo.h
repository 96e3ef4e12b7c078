/* For tests: the real git on repositories of their own. */
#ifndef GITREPO_H
#define GITREPO_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc.h"
#include "str.h"

static inline void git_needed(void)
{
	if (proc_find("git"))
		return;
	printf("1..0 # SKIP git is not installed\n");
	exit(77);
}

/* A new directory for the test; temp_remove frees it. */
static inline char *temp_make(void)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = xfmt("%s/iobisect-test.XXXXXX", tmp ? tmp : "/tmp");

	if (!mkdtemp(dir)) {
		perror(dir);
		exit(1);
	}
	return dir;
}

static inline void temp_remove(char *dir)
{
	struct err e;

	if (dir_remove(dir, &e))
		printf("# %s\n", e.msg);
	free(dir);
}

static inline void git_child(const char *repo, int in, int out, char **argv)
{
	dup2(in, 0);
	dup2(out, 1);
	dup2(out, 2);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	setenv("GIT_AUTHOR_NAME", "A", 1);
	setenv("GIT_AUTHOR_EMAIL", "a@example.com", 1);
	setenv("GIT_COMMITTER_NAME", "C", 1);
	setenv("GIT_COMMITTER_EMAIL", "c@example.com", 1);
	setenv("LC_ALL", "C", 1);
	if (chdir(repo))
		_exit(126);
	execvp("git", argv);
	_exit(127);
}

/* Runs `git ARGS...` (NULL at the end) in repo with input on its stdin (may be
 * NULL). Both its outputs are put into out (may be NULL). Its exit code. */
static inline int git(struct str *out, const char *repo,
		      const struct str *input, ...)
{
	CLEANUP(strv_release) struct strv argv = STRV_INIT;
	AUTOFD int in_fd = memfd_create("in", MFD_CLOEXEC);
	AUTOFD int out_fd = memfd_create("out", MFD_CLOEXEC);
	const char *arg;
	char buf[4096];
	ssize_t n;
	va_list ap;
	pid_t pid;
	int status;

	strv_add(&argv, "git");
	va_start(ap, input);
	while ((arg = va_arg(ap, const char *)))
		strv_add(&argv, arg);
	va_end(ap);
	if (input &&
	    (write(in_fd, input->buf, input->len) != (ssize_t)input->len ||
	     lseek(in_fd, 0, SEEK_SET)))
		return -1;
	fflush(stdout);
	pid = fork();
	if (!pid)
		git_child(repo, in_fd, out_fd, argv.v);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -1;
	if (out) {
		str_reset(out);
		str_puts(out, "");
		lseek(out_fd, 0, SEEK_SET);
		while ((n = read(out_fd, buf, sizeof(buf))) > 0)
			str_add(out, buf, (size_t)n);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* The same numbers everywhere, for tests that draw at random. */
static inline unsigned draw(uint64_t *seed, unsigned below)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)((*seed >> 33) % below);
}

#endif
