#include "test.h"

#include <elf.h>
#include <stdint.h>
#include <unistd.h>

#include "identity.h"
#include "str.h"

/* A small vmlinux: .text, .rodata, .notes, .bss, and a section that is not
 * loaded. */
struct image {
	const char *text, *rodata, *notes, *debug;
	uint64_t bss;
};

enum { NSECTIONS = 7 };

static void image_bytes(struct str *out, const struct image *m)
{
	static const char names[] =
		"\0.text\0.rodata\0.notes\0.bss\0.debug\0.shstrtab";
	Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
				      ELFDATA2LSB, EV_CURRENT },
			 .e_type = ET_EXEC,
			 .e_machine = EM_X86_64,
			 .e_shoff = sizeof(h),
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = NSECTIONS,
			 .e_shstrndx = NSECTIONS - 1 };
	Elf64_Shdr s[NSECTIONS] = {
		[1] = { 1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR },
		[2] = { 7, SHT_PROGBITS, SHF_ALLOC },
		[3] = { 15, SHT_NOTE, SHF_ALLOC },
		[4] = { 22, SHT_NOBITS, SHF_ALLOC, .sh_size = m->bss },
		[5] = { 27, SHT_PROGBITS },
		[6] = { 34, SHT_STRTAB },
	};
	const char *data[NSECTIONS] = { NULL, m->text,	m->rodata, m->notes,
					NULL, m->debug, names };
	uint64_t at = sizeof(h) + sizeof(s);

	for (int i = 1; i < NSECTIONS; i++) {
		if (!data[i])
			continue;
		s[i].sh_offset = at;
		s[i].sh_size = i == 6 ? sizeof(names) : strlen(data[i]);
		at += s[i].sh_size;
	}
	str_add(out, &h, sizeof(h));
	str_add(out, s, sizeof(s));
	for (int i = 1; i < NSECTIONS; i++)
		if (data[i])
			str_add(out, data[i], s[i].sh_size);
}

static int identify(char hex[65], const struct str *bytes, struct err *e)
{
	char path[] = "/tmp/iobisect-identity-XXXXXX";
	int fd = mkstemp(path), r;

	if (fd < 0 || write(fd, str_c(bytes), bytes->len) != (long)bytes->len)
		abort();
	close(fd);
	r = identity_vmlinux(hex, path, e);
	unlink(path);
	return r;
}

static const struct image base = {
	.text = "code",
	.debug = "lines",
	.bss = 64,
	.notes = "build-id",
	.rodata = "data Linux version 6.1.0-a (x@y) (gcc) #1 1970\ntail 6.1.0-a"
};

static void hex_of(char hex[65], const struct image *m)
{
	CLEANUP(str_release) struct str bytes = STR_INIT;
	struct err e = { "" };

	image_bytes(&bytes, m);
	if (identify(hex, &bytes, &e))
		TEST_FAIL("%s", e.msg);
}

static bool same_as_base(const struct image *m)
{
	char a[65] = "", b[65] = "";

	hex_of(a, &base);
	hex_of(b, m);
	EXPECT_INT(strlen(a), 64);
	return !strcmp(a, b);
}

TEST(identity__is_what_runs)
{
	struct image m = base;

	m.notes = "another";
	m.debug = "other lines";
	EXPECT(same_as_base(&m));
	m.text = "cude";
	EXPECT(!same_as_base(&m));
	m = base;
	m.bss = 65;
	EXPECT(!same_as_base(&m));
	m = base;
	m.text = "cod";
	EXPECT(!same_as_base(&m));
}

TEST(identity__release_does_not_count)
{
	struct image m = base;

	m.rodata =
		"data Linux version 6.1.1-b (x@z) (gcc) #2 1999\ntail 6.1.1-b";
	EXPECT(same_as_base(&m));
	m.rodata =
		"data Linux version 6.1.1-b (x@z) (gcc) #2 1999\ntail 6.1.0-a";
	EXPECT(!same_as_base(&m));
	m.rodata =
		"Data Linux version 6.1.0-a (x@y) (gcc) #1 1970\ntail 6.1.0-a";
	EXPECT(!same_as_base(&m));
}

TEST(identity__no_banner)
{
	struct image m = base, o = base;
	char a[65], b[65];

	m.rodata = "Linux version %s (";
	o.rodata = "Linux version %d (";
	hex_of(a, &m);
	hex_of(b, &o);
	EXPECT(strcmp(a, b) != 0);
	m.rodata = "Linux version 6"; /* the section ends in it */
	hex_of(a, &m);
	m.rodata = "";
	hex_of(a, &m);
}

TEST(identity__not_a_file)
{
	char hex[65];
	struct err e = { "" };
	CLEANUP(str_release) struct str bytes = STR_INIT;

	EXPECT_INT(identity_vmlinux(hex, "/nonesuch/vmlinux", &e), -1);
	EXPECT(strstr(e.msg, "/nonesuch/vmlinux"));
	EXPECT_INT(identity_vmlinux(hex, "/", &e), -1);
	EXPECT_INT(identify(hex, &bytes, &e), -1);
	str_puts(&bytes, "#!/bin/sh\necho this is a text file, longer than the "
			 "header of an ELF file would be");
	EXPECT_INT(identify(hex, &bytes, &e), -1);
	EXPECT(strstr(e.msg, "ELF"));
}

/* Cut anywhere and with any byte of its headers changed, the file is refused or
 * read, but never past its end. */
TEST(identity__malformed)
{
	CLEANUP(str_release) struct str bytes = STR_INIT;
	size_t heads = sizeof(Elf64_Ehdr) + NSECTIONS * sizeof(Elf64_Shdr);
	int refused = 0;
	char hex[65];
	struct err e;

	image_bytes(&bytes, &base);
	for (size_t n = 0; n < bytes.len; n += 3) {
		CLEANUP(str_release) struct str cut = STR_INIT;

		str_add(&cut, bytes.buf, n);
		EXPECT_INT(identify(hex, &cut, &e), -1);
	}
	for (size_t i = 0; i < heads; i++) {
		static const char values[] = { 0, 1, 0x7f, (char)0xff };
		char was = bytes.buf[i];

		for (size_t v = 0; v < sizeof(values); v++) {
			bytes.buf[i] = values[v];
			refused += identify(hex, &bytes, &e) != 0;
		}
		bytes.buf[i] = was;
	}
	EXPECT(refused > 100);
	EXPECT_INT(identify(hex, &bytes, &e), 0);
}

TEST(identity__overflowing_offsets)
{
	uint64_t big[] = { UINT64_MAX, UINT64_MAX - 63, 1ULL << 63,
			   1ULL << 32 };

	for (size_t i = 0; i < sizeof(big) / sizeof(*big); i++) {
		CLEANUP(str_release) struct str a = STR_INIT;
		CLEANUP(str_release) struct str b = STR_INIT;
		char hex[65];
		struct err e;
		size_t text = sizeof(Elf64_Ehdr) + sizeof(Elf64_Shdr);

		image_bytes(&a, &base);
		image_bytes(&b, &base);
		memcpy(a.buf + offsetof(Elf64_Ehdr, e_shoff), &big[i], 8);
		EXPECT_INT(identify(hex, &a, &e), -1);
		memcpy(b.buf + text + offsetof(Elf64_Shdr, sh_offset), &big[i],
		       8);
		EXPECT_INT(identify(hex, &b, &e), -1);
		EXPECT(strstr(e.msg, "section 1"));
	}
}
