#include "hostboot.h"

void hostboot_id(struct str *out)
{
	struct err ignored;

	if (file_read(out, "/proc/sys/kernel/random/boot_id", &ignored))
		str_puts(out, "unknown\n");
}
