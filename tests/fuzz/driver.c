/* Where there is no libFuzzer: gives a fuzzer each file that is named, or in a
 * directory that is named. */
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>

#include "str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int files;

static int one(const char *path, const struct stat *st, int type,
	       struct FTW *at)
{
	CLEANUP(str_release) struct str s = STR_INIT;
	struct err e;

	(void)st;
	(void)at;
	if (type != FTW_F)
		return 0;
	if (file_read(&s, path, &e)) {
		fprintf(stderr, "%s\n", e.msg);
		return 1;
	}
	LLVMFuzzerTestOneInput((const uint8_t *)str_c(&s), s.len);
	files++;
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (nftw(argv[i], one, 16, FTW_PHYS)) {
			fprintf(stderr, "cannot replay %s\n", argv[i]);
			return 1;
		}
	printf("%d inputs\n", files);
	return files ? 0 : 1;
}
