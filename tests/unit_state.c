// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the readers of maps, smaps, pagemap and kpageflags: on text
 * that kernels have really printed (tests/fixtures), and on text that none
 * should print.
 *
 * Sources: mprotect_perf_state.c
 */
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit.h"
#include "mprotect_perf_state.h"

#define FIXTURES "tests/fixtures"

static int read_text(const char *text, struct mp_vma *vma, struct mp_err *err)
{
	FILE *f = fmemopen((void *)text, strlen(text), "r");
	int r = mp_state_next_vma(f, vma, err);

	fclose(f);
	return r;
}

#define HEAD "7f0000000000-7f0000010000 rw-s 00000000 00:01 1234     /dev/zero (deleted)\n"

static void test_good(void)
{
	struct mp_vma vma;
	struct mp_err err;
	char text[8192];

	is_int(read_text(HEAD, &vma, &err), 1, "a line of maps");
	is_int(vma.end - vma.start, 0x10000, "its length");
	is_str(vma.perms, "rw-s", "its permissions");
	is_int(vma.given, 0, "maps gives no smaps figures");

	is_int(read_text("400000-401000 r-xp 00000000 00:00 0 \n", &vma, &err), 1,
	       "a line without a path");

	is_int(read_text(HEAD "Rss:     64 kB\nKernelPageSize:   4 kB\nNewKey:  1 kB\n"
			 "VmFlags: rd wr sh\n", &vma, &err), 1, "smaps with a new key");
	is_int(vma.kb[MP_RSS], 64, "Rss");
	is_int(vma.kb[MP_KERNEL_PAGE_SIZE], 4, "KernelPageSize");
	is_int(vma.given, 1U << MP_RSS | 1U << MP_KERNEL_PAGE_SIZE, "what was given");

	is_int(read_text(HEAD "SwapPss: 7 kB\n", &vma, &err), 1, "SwapPss");
	is_int(vma.given, 0, "SwapPss is not Swap");

	memset(text, 'x', sizeof(text));
	memcpy(text, HEAD, strlen(HEAD) - 1);
	snprintf(text + sizeof(text) - 20, 20, "\nRss: 8 kB\n");
	is_int(read_text(text, &vma, &err), 1, "a path longer than any buffer");
	is_int(vma.kb[MP_RSS], 8, "and what follows it");

	is_int(read_text("", &vma, &err), -1 + 1, "the end");
}

static void test_bad(void)
{
	static const struct {
		const char *what;
		const char *text;
	} bad[] = {
		{ "an empty line", "\n" },
		{ "a line that begins with smaps", "Rss: 4 kB\n" },
		{ "a range without an end", "7f0000000000- rw-s 00000000 00:01 1 x\n" },
		{ "a range that is empty", "1000-1000 rw-s 00000000 00:01 1 x\n" },
		{ "a range that is turned round", "2000-1000 rw-s 00000000 00:01 1 x\n" },
		{ "permissions cut short", "1000-2000 rw- 00000000 00:01 1 x\n" },
		{ "permissions that are none", "1000-2000 abcd 00000000 00:01 1 x\n" },
		{ "no device", "1000-2000 rw-p 00000000\n" },
		{ "no number", HEAD "Rss: kB\n" },
		{ "another unit", HEAD "Rss: 4 MB\n" },
		{ "no colon", HEAD "Rss 4 kB\n" },
	};
	struct mp_vma vma;
	struct mp_err err;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		err.text[0] = '\0';
		is_int(read_text(bad[i].text, &vma, &err), -1, bad[i].what);
		has_str(err.text, "not a line of ", "and says so");
	}
}

static void test_bits(void)
{
	const uint64_t present = 1ULL << 63, exclusive = 1ULL << 56, file = 1ULL << 61;
	static const unsigned int large[] = { 15, 16, 17, 20, 22, 24 };
	unsigned int i;

	ok(!mp_pagemap_odd(present | exclusive | 5, false, false), "an anonymous page");
	ok(!mp_pagemap_odd(present | exclusive | file, true, false), "a shared page");
	ok(!mp_pagemap_odd(present | exclusive | 1ULL << 55, false, false), "soft-dirty is not odd");
	has_str(mp_pagemap_odd(0, false, false), "not present", "no page");
	has_str(mp_pagemap_odd(1ULL << 62, false, false), "swapped", "a swap entry");
	has_str(mp_pagemap_odd(present, false, false), "more than once", "mapped twice");
	ok(!mp_pagemap_odd(present | exclusive | 1ULL << 57, false, true), "write-protected");
	has_str(mp_pagemap_odd(present | exclusive, false, true), "not write-protected",
		"not by userfaultfd, and should be");
	has_str(mp_pagemap_odd(present | exclusive | 1ULL << 57, false, false),
		"write-protected by userfaultfd", "by userfaultfd, and should not be");
	ok(mp_pagemap_absent(0) && !mp_pagemap_absent(present) && !mp_pagemap_absent(1ULL << 62),
	   "a page that is nowhere");
	has_str(mp_pagemap_odd(present | exclusive | file, false, false), "a file", "file, not anonymous");
	has_str(mp_pagemap_odd(present | exclusive, true, false), "not a file", "anonymous, not file");
	is_int((long long)mp_pagemap_pfn(present | exclusive | file | 0x123456), 0x123456,
	       "the page frame");
	is_int((long long)mp_pagemap_pfn(present | 1ULL << 55), 0, "a hidden one");

	for (i = 0; i < 64; i++) {
		bool is_large = false;
		unsigned int k;

		for (k = 0; k < ARRAY_SIZE(large); k++)
			is_large |= large[k] == i;
		ok(!mp_kpageflags_odd(1ULL << i) == !is_large, "kpageflags bit %u", i);
		ok(mp_kpageflags_in_folio(1ULL << i, 0) == (i == 15) &&
		   mp_kpageflags_in_folio(1ULL << i, 1) == (i == 16),
		   "kpageflags bit %u in a folio", i);
	}
}

static void test_reads(void)
{
	char name[] = "/tmp/unit_state.XXXXXX";
	int fd = mkstemp(name);
	uint64_t entry[4] = { 1, 2, 3, 4 }, got[4], flags;
	const size_t page = 0x10000;
	struct mp_err err;

	unlink(name);
	if (write(fd, entry, sizeof(entry)) != sizeof(entry))
		return;
	is_int(mp_state_pagemap(fd, page, 3, page, got, &err), 0, "pagemap from the second page");
	is_int((long long)got[0], 2, "begins there");
	is_int((long long)got[2], 4, "and ends there");
	is_int(mp_state_pagemap(fd, page, 4, page, got, &err), -1, "pagemap that ends too early");
	has_str(err.text, "ends too early", "and says so");
	is_int(mp_state_kpageflags(fd, 2, &flags, &err), 0, "kpageflags of a frame");
	is_int((long long)flags, 3, "are its own");
	is_int(mp_state_kpageflags(fd, 4, &flags, &err), -1, "kpageflags of no frame");
	is_int(mp_state_pagemap(-1, 0, 1, page, got, &err), -1, "no pagemap");
	close(fd);
}

/* What tests/fixtures/dump.c made, and what must be thought of it. */
static const struct due {
	const char *name;
	bool file;
	const char *pagemap;	/* NULL: all is as it should be */
	bool base;
} dues[] = {
	{ "forked", false, "more than once", true },
	{ "private-dirty", false, NULL, true },
	{ "shared-dirty", true, NULL, true },
	{ "private-none", false, NULL, true },
	{ "shared-read", true, NULL, true },
	{ "devzero", false, NULL, true },
	{ "memfd", true, NULL, true },
	{ "zero-page", false, "more than once", false },
	{ "untouched", false, "not present", true },
	{ "thp-pmd", false, NULL, false },
	{ "shmem-pmd", true, NULL, false },
};

struct area {
	const struct due *due;
	unsigned long start, end;
	int pages, odd_pagemap, odd_flags, frames;
};

static FILE *open_fixture(const char *dir, const char *file)
{
	char path[512];

	snprintf(path, sizeof(path), FIXTURES "/%s/%s", dir, file);
	return fopen(path, "r");
}

static int read_layout(const char *dir, struct area *area)
{
	FILE *f = open_fixture(dir, "layout");
	char name[32];
	size_t i;
	int n = 0;

	while (f && n < 16 &&
	       fscanf(f, "%31s %lx %lx", name, &area[n].start, &area[n].end) == 3)
		for (i = 0; i < ARRAY_SIZE(dues); i++)
			if (!strcmp(dues[i].name, name))
				area[n++].due = &dues[i];
	if (f)
		fclose(f);
	return n;
}

static bool flags_of(FILE *kpageflags, uint64_t pfn, uint64_t *flags)
{
	unsigned long frame, value;

	rewind(kpageflags);
	while (fscanf(kpageflags, "%lx %lx", &frame, &value) == 2) {
		*flags = value;
		if (frame == pfn)
			return true;
	}
	return false;
}

static void look_at_pages(const char *dir, struct area *area, int n)
{
	FILE *pagemap = open_fixture(dir, "pagemap"), *flags = open_fixture(dir, "kpageflags");
	unsigned long addr, entry;
	uint64_t f;
	int i;

	if (!ok(pagemap && flags, "%s: pagemap and kpageflags", dir))
		return;
	while (fscanf(pagemap, "%lx %lx", &addr, &entry) == 2) {
		for (i = 0; i < n; i++) {
			struct area *a = &area[i];
			const char *odd;

			if (addr < a->start || addr >= a->end)
				continue;
			a->pages++;
			odd = mp_pagemap_odd(entry, a->due->file, false);
			a->odd_pagemap += odd && a->due->pagemap &&
					  strstr(odd, a->due->pagemap);
			a->odd_pagemap -= odd && !a->due->pagemap;
			if (mp_pagemap_pfn(entry) && flags_of(flags, mp_pagemap_pfn(entry), &f)) {
				a->frames++;
				a->odd_flags += !!mp_kpageflags_odd(f);
			}
		}
	}
	fclose(pagemap);
	fclose(flags);
	for (i = 0; i < n; i++) {
		const struct area *a = &area[i];

		ok(a->pages && a->odd_pagemap == (a->due->pagemap ? a->pages : 0),
		   "%s: %s: pagemap of %d pages: %s", dir, a->due->name, a->pages,
		   a->due->pagemap ? a->due->pagemap : "as it should be");
		ok(a->odd_flags == (a->due->base ? 0 : a->frames),
		   "%s: %s: kpageflags of %d frames: %s", dir, a->due->name, a->frames,
		   a->due->base ? "base pages" : "not base pages");
	}
}

/* Is the VMA among those of maps, with the same permissions? */
static bool in_maps(FILE *maps, const struct mp_vma *vma)
{
	struct mp_vma map;
	struct mp_err err;

	rewind(maps);
	while (mp_state_next_vma(maps, &map, &err) > 0)
		if (map.start == vma->start)
			return map.end == vma->end && !strcmp(map.perms, vma->perms) && !map.given;
	return false;
}

/* A directory is RELEASE-ARCH-PAGESIZE. */
static void test_fixture(const char *dir)
{
	const long kb = strtol(strrchr(dir, '-') + 1, NULL, 10) / 1024;
	FILE *smaps = open_fixture(dir, "smaps"), *maps = open_fixture(dir, "maps");
	struct area area[16] = { 0 };
	int n = 0, r, bad = 0, anon_huge = 0, shmem_pmd = 0;
	struct mp_err err = { "" };
	struct mp_vma vma;

	if (!ok(smaps && maps && kb, "%s can be read", dir))
		return;
	while ((r = mp_state_next_vma(smaps, &vma, &err)) > 0) {
		n++;
		bad += !in_maps(maps, &vma);
		bad += vma.given != (1U << MP_SMAPS_KEYS) - 1;
		bad += (long)vma.kb[MP_KERNEL_PAGE_SIZE] != kb;
		anon_huge += vma.kb[MP_ANON_HUGE] > 0;
		shmem_pmd += vma.kb[MP_SHMEM_PMD] > 0;
	}
	ok(!r && n >= 8 && !bad, "%s: %d VMAs, as in maps, with all keys %s", dir, n, err.text);
	ok(anon_huge == 1 && shmem_pmd == 1, "%s: one huge VMA of each kind", dir);
	fclose(smaps);
	fclose(maps);
	n = read_layout(dir, area);
	is_int(n, ARRAY_SIZE(dues), "every kind of mapping is there");
	look_at_pages(dir, area, n);
}

static void test_fixtures(void)
{
	DIR *d = opendir(FIXTURES);
	struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d))) {
		if (strchr(e->d_name, '.') == e->d_name || !strchr(e->d_name, '-'))
			continue;
		test_fixture(e->d_name);
		n++;
	}
	if (d)
		closedir(d);
	ok(n >= 5, "fixtures of %d kernels", n);
}

int main(void)
{
	test_good();
	test_bad();
	test_bits();
	test_reads();
	test_fixtures();
	return done_testing();
}
