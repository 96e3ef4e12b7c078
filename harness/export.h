/* Files of a tree on disk: writes only what differs, on every processor, and
 * can be killed at any moment. Knows nothing of git but its file modes. */
#ifndef EXPORT_H
#define EXPORT_H

#include "history.h"
#include "progress.h"
#include "range.h"
#include "str.h"

enum {
	EXPORT_NONE = 0, /* nothing may be there */
	EXPORT_FILE = 0100644,
	EXPORT_PROGRAM = 0100755,
	EXPORT_LINK = 0120000,
	EXPORT_SUBMODULE = 0160000, /* an empty directory */
};

struct export_file {
	char *path;
	unsigned mode;
	unsigned char id[ID_SIZE];
	size_t order; /* of arrival */
};

struct export_list {
	struct export_file *v;
	size_t n, cap;
};
void export_list_add(struct export_list *l, const char *path, unsigned mode,
		     const unsigned char *id);
/* Nothing may be there of what lies in one of the directories, but for Kconfig,
 * Makefile and Kbuild files, which every kernel reads. */
void export_list_leave_out(struct export_list *l, const struct strv *dirs);
void export_list_release(struct export_list *l);

/* Where contents come from. Each thread opens a reader of its own. */
struct export_source {
	void *ctx;
	int (*open)(void **reader, void *ctx, struct err *e);
	void (*close)(void *reader);
	/* data is valid until the next read or close */
	int (*read)(const void **data, size_t *n, void *reader,
		    const unsigned char *id, struct err *e);
};

/* Makes every path of the list what the list says, under root. Of entries with
 * the same path the last one counts. Sorts the list. */
int export_files(struct export_stats *out, const char *root,
		 struct export_list *l, const struct export_source *source,
		 struct progress *p, struct err *e);

#endif
