/* exec: a program of the user's own. */
#include "workload.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static void exec_program(struct work *w)
{
	const char *path = w->program;

	setenv("PATH", "/bin:/sbin:/usr/bin:/usr/sbin", 0);
	setenv("IOBISECT_DIR", w->dir, 1);
	execl(path, path, (char *)NULL);
	if (errno == ENOEXEC) /* a script without its first line */
		execl("/bin/sh", "sh", path, (char *)NULL);
	work_fail(w, "exec %s: %m%s", w->spec->program,
		  errno == ENOENT ? " (or its interpreter, or its libraries: "
				    "link it statically)"
				  : "");
	_exit(126);
}

int program_run(struct work *w)
{
	pid_t pid = fork();

	if (pid < 0)
		return work_fail(w, "fork: %m");
	if (pid == 0)
		exec_program(w);
	if (work_wait(w, pid, w->spec->program))
		return -1;
	work_sync(w);
	return 0;
}
