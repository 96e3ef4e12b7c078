#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "proc.h"

int lock_wait(int *fd, const char *path, const char *busy, struct progress *p,
	      struct err *e)
{
	AUTOFD int f = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	bool said = false;

	if (f < 0)
		return err_set(e, "open %s: %m", path);
	while (flock(f, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_set(e, "lock %s: %m", path);
		if (proc_interrupted())
			return err_set(e, "interrupted");
		if (!said)
			progress_stage(p, "%s", busy);
		said = true;
		progress_tick(p);
		usleep(100000);
	}
	if (said)
		progress_done(p, "it is done");
	*fd = f;
	f = -1;
	return 0;
}

int lock_try(int *fd, const char *path, struct err *e)
{
	AUTOFD int f = open(path, O_RDWR | O_CLOEXEC);

	if (f < 0)
		return errno == ENOENT ? 0 : err_set(e, "open %s: %m", path);
	if (flock(f, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? 0
					    : err_set(e, "lock %s: %m", path);
	*fd = f;
	f = -1;
	return 1;
}
