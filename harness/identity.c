#include "identity.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sha256.h"
#include "str.h"

#define BANNER "Linux version "

/* A private mapping: what is blanked in it never reaches the file. */
struct map {
	unsigned char *p;
	size_t n;
};

static void map_release(struct map *m)
{
	if (m->p)
		munmap(m->p, m->n);
}

static int map_open(struct map *m, const char *path, struct err *e)
{
	AUTOFD int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st))
		return err_set(e, "open %s: %m", path);
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(Elf64_Ehdr))
		return err_set(e, "%s: too small for an ELF file", path);
	p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE,
		 fd, 0);
	if (p == MAP_FAILED)
		return err_set(e, "map %s: %m", path);
	*m = (struct map){ p, (size_t)st.st_size };
	return 0;
}

static bool inside(const struct map *m, uint64_t offset, uint64_t n)
{
	return offset <= m->n && n <= m->n - offset;
}

/* The section table, checked. The file may have it at any alignment, hence the
 * copies. */
struct sections {
	const struct map *m;
	uint64_t offset, n;
	Elf64_Shdr names;
};

static Elf64_Shdr section_at(const struct sections *s, uint64_t i)
{
	Elf64_Shdr h;

	memcpy(&h, s->m->p + s->offset + i * sizeof(h), sizeof(h));
	return h;
}

/* NULL: the name or the bytes lie outside the file. */
static const char *section_name(const struct sections *s, const Elf64_Shdr *h)
{
	const char *base = (const char *)s->m->p + s->names.sh_offset;

	if (h->sh_name >= s->names.sh_size)
		return NULL;
	if (h->sh_type != SHT_NOBITS && !inside(s->m, h->sh_offset, h->sh_size))
		return NULL;
	return base + h->sh_name;
}

static int sections_open(struct sections *s, const struct map *m)
{
	static const unsigned char magic[] = { 0x7f, 'E',	 'L',
					       'F',  ELFCLASS64, ELFDATA2LSB };
	Elf64_Ehdr h;
	uint64_t names;

	memcpy(&h, m->p, sizeof(h));
	if (memcmp(h.e_ident, magic, sizeof(magic)) != 0 ||
	    h.e_machine != EM_X86_64 || h.e_shentsize != sizeof(Elf64_Shdr) ||
	    h.e_shoff == 0 || !inside(m, h.e_shoff, sizeof(Elf64_Shdr)))
		return -1;
	*s = (struct sections){ .m = m, .offset = h.e_shoff };
	/* More sections than 16 bits can count are counted in the first one. */
	s->n = h.e_shnum ? h.e_shnum : section_at(s, 0).sh_size;
	if (s->n == 0 || s->n > (m->n - s->offset) / sizeof(Elf64_Shdr))
		return -1;
	names = h.e_shstrndx == SHN_XINDEX ? section_at(s, 0).sh_link
					   : h.e_shstrndx;
	if (names >= s->n)
		return -1;
	s->names = section_at(s, names);
	/* Every name ends in the table, then. */
	if (s->names.sh_type == SHT_NOBITS || s->names.sh_size == 0 ||
	    !inside(m, s->names.sh_offset, s->names.sh_size) ||
	    m->p[s->names.sh_offset + s->names.sh_size - 1])
		return -1;
	return 0;
}

static bool counts(const Elf64_Shdr *h)
{
	return (h->sh_flags & SHF_ALLOC) && h->sh_type != SHT_NOTE &&
	       h->sh_type != SHT_NULL;
}

/* The running number in "Linux version 6.1.0 (...", taken out with the whole
 * banner; "" when there is none. */
static void take_release(char release[65], const struct sections *s)
{
	release[0] = '\0';
	for (uint64_t i = 0; i < s->n; i++) {
		Elf64_Shdr h = section_at(s, i);
		unsigned char *p, *end;
		size_t len = strlen(BANNER), n = 0;

		if (!counts(&h) || h.sh_type == SHT_NOBITS)
			continue;
		p = s->m->p + h.sh_offset;
		end = p + h.sh_size;
		while ((p = memmem(p, (size_t)(end - p), BANNER, len))) {
			p += len;
			if (p < end && *p >= '0' && *p <= '9')
				break;
		}
		if (!p)
			continue;
		while (p + n < end && p[n] > ' ' && n < 64) {
			release[n] = (char)p[n];
			n++;
		}
		release[n] = '\0';
		for (; p < end && *p && *p != '\n'; p++)
			*p = ' ';
		return;
	}
}

static void blank_all(unsigned char *p, size_t n, const char *what)
{
	unsigned char *end = p + n;
	size_t len = strlen(what);

	while (len && (p = memmem(p, (size_t)(end - p), what, len))) {
		memset(p, ' ', len);
		p += len;
	}
}

int identity_vmlinux(char hex[65], const char *path, struct err *e)
{
	CLEANUP(map_release) struct map m = { NULL };
	struct sections s;
	struct sha256 sum;
	char release[65];

	if (map_open(&m, path, e))
		return -1;
	if (sections_open(&s, &m))
		return err_set(e, "%s: not a sound x86_64 ELF file", path);
	for (uint64_t i = 0; i < s.n; i++) {
		Elf64_Shdr h = section_at(&s, i);

		if (counts(&h) && !section_name(&s, &h))
			return err_set(e, "%s: section %llu lies outside of it",
				       path, (unsigned long long)i);
	}
	take_release(release, &s);
	sha256_init(&sum);
	for (uint64_t i = 0; i < s.n; i++) {
		Elf64_Shdr h = section_at(&s, i);
		const char *name;

		if (!counts(&h))
			continue;
		name = section_name(&s, &h);
		sha256_add(&sum, name, strlen(name) + 1);
		sha256_add(&sum, &h.sh_size, sizeof(h.sh_size));
		if (h.sh_type == SHT_NOBITS)
			continue;
		blank_all(m.p + h.sh_offset, h.sh_size, release);
		sha256_add(&sum, m.p + h.sh_offset, h.sh_size);
	}
	sha256_hex(hex, &sum);
	return 0;
}
