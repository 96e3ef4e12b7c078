#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocol.h"

static int number(long long *out, const char *text, long long hi, char **end)
{
	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	*out = strtoll(text, end, 10);
	return errno || *out > hi ? -1 : 0;
}

static int whole_number(long long *out, const char *text, long long hi)
{
	char *end;

	return number(out, text, hi, &end) || *end ? -1 : 0;
}

static int copy(char *out, size_t size, const char *text)
{
	size_t n = strlen(text);

	if (!n || n >= size)
		return -1;
	memcpy(out, text, n + 1);
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

static int parse_id(struct job *j, const char *text)
{
	char *p;

	if (number(&j->id_offset, text, LLONG_MAX / 2, &p) || *p++ != ' ')
		return -1;
	for (j->id_n = 0; *p; p += 2, j->id_n++) {
		int hi = hex_digit(p[0]), lo = hi < 0 ? -1 : hex_digit(p[1]);

		if (lo < 0 || j->id_n == sizeof(j->id))
			return -1;
		j->id[j->id_n] = (unsigned char)(hi << 4 | lo);
	}
	return j->id_n ? 0 : -1;
}

static int take(struct job *j, const char *key, const char *value, char *why,
		size_t n)
{
	long long v = 0;
	int bad;

	if (!strcmp(key, "workload")) {
		if (j->n < JOB_MAX_WORKLOADS)
			return spec_parse(&j->workloads[j->n++], value, why, n);
		snprintf(why, n, "job: more than %d workloads",
			 JOB_MAX_WORKLOADS);
		return -1;
	}
	if (!strcmp(key, "protocol"))
		bad = whole_number(&v, value, LLONG_MAX) ||
		      v != PROTOCOL_VERSION;
	else if (!strcmp(key, "fs"))
		bad = copy(j->fs, sizeof(j->fs), value);
	else if (!strcmp(key, "options"))
		bad = *value && copy(j->options, sizeof(j->options), value);
	else if (!strcmp(key, "bytes"))
		bad = whole_number(&j->bytes, value, LLONG_MAX);
	else if (!strcmp(key, "ram"))
		bad = whole_number(&j->ram, value, LLONG_MAX / 64);
	else if (!strcmp(key, "id"))
		bad = parse_id(j, value);
	else if (!strcmp(key, "wait"))
		bad = whole_number(&j->wait, value, 3600);
	else if (!strcmp(key, "slow"))
		bad = whole_number(&j->slow, value, 1000) || !j->slow;
	else if (!strcmp(key, "probe"))
		bad = whole_number(&v, value, 1);
	else
		bad = 1;
	if (!strcmp(key, "probe"))
		j->probe = v;
	if (bad)
		snprintf(why, n, "job: cannot use \"%s %s\"", key, value);
	return bad ? -1 : 0;
}

int job_parse(struct job *out, char *text, char *why, size_t n)
{
	char *line, *next;

	memset(out, 0, sizeof(*out));
	out->wait = 20;
	out->slow = 1;
	for (line = text; *line; line = next) {
		char *end = line + strcspn(line, "\n"), *value;

		next = *end ? end + 1 : end;
		*end = '\0';
		value = strchr(line, ' ');
		if (value)
			*value++ = '\0';
		if (*line && take(out, line, value ? value : "", why, n))
			return -1;
	}
	if (out->fs[0] && out->bytes && out->n)
		return 0;
	snprintf(why, n, "job: it has no %s",
		 !out->fs[0]   ? "fs"
		 : !out->bytes ? "bytes"
			       : "workload");
	return -1;
}

int job_read(struct job *out, const char *path, char *why, size_t n)
{
	static char text[32768];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t r = 0;

	if (fd < 0) {
		snprintf(why, n, "open %s: %m", path);
		return -1;
	}
	while (len < sizeof(text) - 1 &&
	       (r = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)r;
	close(fd);
	text[len] = '\0';
	if (r < 0 || len == sizeof(text) - 1) {
		snprintf(why, n, "read %s: it is longer than %zu bytes", path,
			 sizeof(text) - 2);
		return -1;
	}
	return job_parse(out, text, why, n);
}
