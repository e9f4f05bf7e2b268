// SPDX-License-Identifier: GPL-2.0
/*
 * Readers for what the kernel says of a mapping. They take only what they
 * know and fail on text that does not have the form of maps or smaps: a
 * changed format must show as a failure, not as an empty answer.
 *
 * What this cannot tell: a page frame of 0 stands for "hidden", and pagemap
 * and smaps are each read while nothing else holds the mapping still.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "mprotect_perf_state.h"

/* Documentation/admin-guide/mm/pagemap.rst */
#define PM_PFN_BITS	55
#define PM_EXCLUSIVE	(1ULL << 56)
#define PM_UFFD_WP	(1ULL << 57)
#define PM_FILE		(1ULL << 61)
#define PM_SWAP		(1ULL << 62)
#define PM_PRESENT	(1ULL << 63)

#define MTHP_GIVEN "/sys/kernel/mm/transparent_hugepage/hugepages-64kB/stats/anon_fault_alloc"

/* include/uapi/linux/kernel-page-flags.h */
#define KPF_COMPOUND_HEAD	(1ULL << 15)
#define KPF_COMPOUND_TAIL	(1ULL << 16)
static const struct {
	unsigned int bit;
	const char *name;
} not_base[] = {
	{ 15, "COMPOUND_HEAD" },
	{ 16, "COMPOUND_TAIL" },
	{ 17, "HUGE" },
	{ 20, "NOPAGE" },
	{ 22, "THP" },
	{ 24, "ZERO_PAGE" },
};

const char *const mp_smaps_name[MP_SMAPS_KEYS] = {
	[MP_KERNEL_PAGE_SIZE]	= "KernelPageSize",
	[MP_MMU_PAGE_SIZE]	= "MMUPageSize",
	[MP_RSS]		= "Rss",
	[MP_ANON_HUGE]		= "AnonHugePages",
	[MP_SHMEM_PMD]		= "ShmemPmdMapped",
	[MP_FILE_PMD]		= "FilePmdMapped",
	[MP_SWAP]		= "Swap",
};

/* "55d0c000-55d2d000 rw-p 00000000 00:00 0    [heap]" */
static bool vma_line(const char *line, struct mp_vma *vma)
{
	uintptr_t start, end;
	char perms[5];
	int used = 0;

	if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*x %*x:%*x %*u%n", &start, &end,
		   perms, &used) != 3 || !used || end <= start ||
	    strspn(perms, "rwxsp-") != 4)
		return false;
	*vma = (struct mp_vma){ .start = start, .end = end };
	memcpy(vma->perms, perms, sizeof(perms));
	return true;
}

/* "Rss:                 64 kB"; keys that we do not know are passed over */
static bool smaps_line(const char *line, struct mp_vma *vma)
{
	const char *colon = strchr(line, ':');
	unsigned int k;
	int used = 0;

	if (!colon || colon == line)
		return false;
	for (k = 0; k < MP_SMAPS_KEYS; k++) {
		if (strlen(mp_smaps_name[k]) != (size_t)(colon - line) ||
		    strncmp(line, mp_smaps_name[k], (size_t)(colon - line)))
			continue;
		if (sscanf(colon, ": %lu kB%n", &vma->kb[k], &used) != 1 || !used)
			return false;
		vma->given |= 1U << k;
	}
	return true;
}

/* Keys begin with a capital letter, VMA lines with a hexadecimal digit. */
static int peek(FILE *f)
{
	int c = getc(f);

	if (c != EOF)
		ungetc(c, f);
	return c;
}

/* A path in maps may be longer than any buffer: what does not fit is dropped. */
static bool read_line(FILE *f, char *line, int size)
{
	int c;

	if (!fgets(line, size, f))
		return false;
	if (!strchr(line, '\n'))
		do
			c = getc(f);
		while (c != EOF && c != '\n');
	line[strcspn(line, "\n")] = '\0';
	return true;
}

int mp_state_next_vma(FILE *f, struct mp_vma *vma, struct mp_err *err)
{
	char line[160];

	if (!read_line(f, line, sizeof(line))) {
		if (ferror(f))
			return mp_error(err, "reading maps or smaps: %s", strerror(errno));
		return 0;
	}
	if (!vma_line(line, vma))
		return mp_error(err, "not a line of maps: '%.100s'", line);
	while (isupper(peek(f))) {
		if (!read_line(f, line, sizeof(line)) || !smaps_line(line, vma))
			return mp_error(err, "not a line of smaps: '%.100s'", line);
	}
	return 1;
}

int mp_state_pagemap(int fd, uintptr_t addr, size_t n, size_t page, uint64_t *entry,
		     struct mp_err *err)
{
	size_t want = n * sizeof(*entry), done = 0;
	off_t offset = (off_t)(addr / page * sizeof(*entry));

	while (done < want) {
		ssize_t r = pread(fd, (char *)entry + done, want - done, offset + (off_t)done);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return mp_error(err, "reading pagemap: %s",
					r ? strerror(errno) : "it ends too early");
		done += (size_t)r;
	}
	return 0;
}

const char *mp_pagemap_odd(uint64_t entry, bool file, bool uffd_wp)
{
	if (entry & PM_SWAP)
		return "swapped out or migrating";
	if (!(entry & PM_PRESENT))
		return "not present";
	if (!(entry & PM_FILE) != !file)
		return file ? "not a file or shared page" : "a file or shared page";
	if (!(entry & PM_EXCLUSIVE))
		return "mapped more than once";
	if (!(entry & PM_UFFD_WP) != !uffd_wp)
		return uffd_wp ? "not write-protected by userfaultfd" :
				 "write-protected by userfaultfd";
	return NULL;
}

bool mp_pagemap_absent(uint64_t entry)
{
	return !(entry & (PM_PRESENT | PM_SWAP));
}

uint64_t mp_pagemap_pfn(uint64_t entry)
{
	return entry & ((1ULL << PM_PFN_BITS) - 1);
}

int mp_state_kpageflags(int fd, uint64_t pfn, uint64_t *flags, struct mp_err *err)
{
	ssize_t r;

	do
		r = pread(fd, flags, sizeof(*flags), (off_t)(pfn * sizeof(*flags)));
	while (r < 0 && errno == EINTR);
	if (r != sizeof(*flags))
		return mp_error(err, "reading kpageflags of frame 0x%" PRIx64 ": %s", pfn,
				r < 0 ? strerror(errno) : "it ends too early");
	return 0;
}

const char *mp_kpageflags_odd(uint64_t flags)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(not_base); i++)
		if (flags & (1ULL << not_base[i].bit))
			return not_base[i].name;
	return NULL;
}

bool mp_kpageflags_in_folio(uint64_t flags, size_t index)
{
	return flags & (index ? KPF_COMPOUND_TAIL : KPF_COMPOUND_HEAD);
}

size_t mp_state_mthp_given(void)
{
	FILE *f = fopen(MTHP_GIVEN, "re");
	size_t n = SIZE_MAX;

	if (!f)
		return n;
	if (fscanf(f, "%zu", &n) != 1)
		n = SIZE_MAX;
	fclose(f);
	return n;
}
