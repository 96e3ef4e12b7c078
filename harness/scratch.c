#include "scratch.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lock.h"

#define KEPT_S (7 * 24 * 3600)

/* Process numbers come again, and are not unique where several containers share
 * a cache. */
char *scratch_path(const char *cache)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return xfmt("%s/alone/%d-%llx%09ld", cache, (int)getpid(),
		    (unsigned long long)t.tv_sec, t.tv_nsec);
}

bool scratch_is(const char *dir, const char *cache)
{
	AUTOFREE char *prefix = xfmt("%s/alone/", cache);

	return str_starts(dir, prefix);
}

/* Its process was killed, or it has been kept for long enough. */
static bool is_left(const char *dir)
{
	AUTOFREE char *mark = xfmt("%s/running", dir);
	AUTOFD int fd = -1;
	struct stat st;
	struct err ignored;

	if (file_exists(mark))
		return lock_try(&fd, mark, &ignored) > 0;
	return stat(dir, &st) == 0 && S_ISDIR(st.st_mode) &&
	       time(NULL) - st.st_mtime > KEPT_S;
}

/* What cannot be removed, another user's perhaps, is no reason to stop. */
static void sweep(const char *all)
{
	DIR *d = opendir(all);
	struct dirent *ent;
	struct err ignored;

	while (d && (ent = readdir(d))) {
		AUTOFREE char *dir = xfmt("%s/%s", all, ent->d_name);

		if (ent->d_name[0] != '.' && is_left(dir))
			dir_remove(dir, &ignored);
	}
	if (d)
		closedir(d);
}

/* The outer lock: else one could be swept between its making and its claim. */
int scratch_claim(struct scratch *out, const char *dir, struct progress *p,
		  struct err *e)
{
	AUTOFREE char *all = xstrndup(dir, (size_t)(strrchr(dir, '/') - dir));
	AUTOFREE char *path = xfmt("%s/.lock", all);
	AUTOFREE char *mark = xfmt("%s/running", dir);
	AUTOFD int lock = -1;

	if (dir_make(all, e) ||
	    lock_wait(&lock, path, "wait for another iobisect that starts", p,
		      e))
		return -1;
	sweep(all);
	if (dir_make(dir, e) || lock_wait(&out->lock, mark, "", p, e))
		return -1;
	out->mark = take_ptr(mark);
	return 0;
}

void scratch_release(struct scratch *s)
{
	if (!s->mark)
		return;
	unlink(s->mark);
	close(s->lock);
	free(take_ptr(s->mark));
}
