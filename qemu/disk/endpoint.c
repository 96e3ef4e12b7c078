#include "endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "str.h"

static int private_dir(struct endpoint *p, const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/');
	AUTOFREE char *dir = NULL;
	struct stat st;

	dir = slash ? xstrndup(path, (size_t)(slash - path + 1)) : xstrdup(".");
	if (!mkdir(dir, 0700)) {
		p->dir = take_ptr(dir);
		return 0;
	}
	if (errno != EEXIST || stat(dir, &st))
		return err_set(e, "make the directory %s: %m", dir);
	if (st.st_uid != geteuid() || st.st_mode & 077)
		return err_set(e, "the socket's directory %s is open to "
				  "others: chmod 700 it, or name one to be made",
			       dir);
	return 0;
}

static int address(struct sockaddr_un *a, const char *path, struct err *e)
{
	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(a->sun_path))
		return err_set(e, "the socket's path is longer than %zu bytes: "
				  "%s",
			       sizeof(a->sun_path) - 1, path);
	memcpy(a->sun_path, path, strlen(path));
	return 0;
}

/* A socket that a killed server left is replaced; one that answers is not. */
static int refuse_used(const char *path, struct err *e)
{
	AUTOFD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un a;
	struct stat st;

	if (lstat(path, &st))
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return err_set(e, "%s is in the way of the socket", path);
	if (address(&a, path, e))
		return -1;
	if (!connect(fd, (struct sockaddr *)&a, sizeof(a)))
		return err_set(e, "the socket %s has a server already", path);
	return 0;
}

/* Bound under another name, and renamed when it listens. */
static int listen_at(struct endpoint *p, const char *path, struct err *e)
{
	AUTOFREE char *early = xfmt("%s.new", path);
	struct sockaddr_un a;

	if (private_dir(p, path, e) || refuse_used(path, e) ||
	    address(&a, early, e))
		return -1;
	p->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	unlink(early);
	if (p->fd < 0 || bind(p->fd, (struct sockaddr *)&a, sizeof(a)))
		return err_set(e, "make the socket %s: %m", path);
	if (listen(p->fd, 16) || rename(early, path)) {
		err_set(e, "make the socket %s: %m", path);
		unlink(early);
		return -1;
	}
	p->path = xstrdup(path);
	return 0;
}

int endpoint_open(struct endpoint *out, const char *where, struct err *e)
{
	long long n;

	*out = (struct endpoint)ENDPOINT_INIT;
	if (!str_starts(where, "fd:")) {
		if (!listen_at(out, where, e))
			return 0;
		endpoint_release(out);
		return -1;
	}
	if (parse_int(&n, where + 3, 0, 1 << 20))
		return err_set(e, "'%s' is no descriptor: say fd:N", where);
	out->fd = fcntl((int)n, F_DUPFD_CLOEXEC, 0);
	return out->fd < 0 ? err_set(e, "use the socket %s: %m", where) : 0;
}

void endpoint_release(struct endpoint *p)
{
	cleanup_fd(&p->fd);
	p->fd = -1;
	if (p->path)
		unlink(p->path);
	if (p->dir)
		rmdir(p->dir);
	free(take_ptr(p->path));
	free(take_ptr(p->dir));
}
