// SPDX-License-Identifier: GPL-2.0
/*
 * The checks that ask the kernel what it thinks of a mapping, rather than try
 * it: VMAs, smaps, pagemap, kpageflags.
 *
 * What this cannot tell: the order of a folio whose page frames are hidden.
 * What could not be looked at is a SKIP with the reason, never a pass.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "mprotect_perf_check.h"
#include "mprotect_perf_state.h"

/* pagemap entries read at a time */
#define ENTRIES 512

static void perms_of(const struct mp_map *map, int prot, char perms[5])
{
	perms[0] = prot & PROT_READ ? 'r' : '-';
	perms[1] = prot & PROT_WRITE ? 'w' : '-';
	perms[2] = '-';
	perms[3] = map->sc->shared ? 's' : 'p';
	perms[4] = '\0';
}

/*
 * Which VMA is due at an address of a region, gaps aside?
 *
 *	restored:  |          rw          |
 *	protected: | rw |    r    |   rw  |	one VMA less per margin of 0 pages
 */
static void vma_due(const struct mp_map *map, unsigned int i, uintptr_t addr, int prot,
		    struct mp_vma *due)
{
	uintptr_t edge[4] = {
		(uintptr_t)mp_map_region(map, i),
		(uintptr_t)mp_map_first(map, i),
		(uintptr_t)mp_map_first(map, i) + map->toggled,
		(uintptr_t)mp_map_region(map, i) + map->len,
	};
	unsigned int k = addr < edge[1] ? 0 : addr < edge[2] ? 1 : 2;

	if (prot == (PROT_READ | PROT_WRITE)) {
		due->start = edge[0];
		due->end = edge[3];
	} else {
		due->start = edge[k];
		due->end = edge[k + 1];
	}
	perms_of(map, k == 1 ? prot : PROT_READ | PROT_WRITE, due->perms);
}

static bool in_region(const struct mp_map *map, uintptr_t addr, unsigned int *i)
{
	uintptr_t base = (uintptr_t)map->base;

	if (addr < base || addr >= base + map->sc->regions * map->stride)
		return false;
	*i = (unsigned int)((addr - base) / map->stride);
	return (addr - base) % map->stride < map->len;
}

struct vma_sum {
	const char *phase;
	uintptr_t bytes;	/* of regions that were seen */
	unsigned int given;	/* keys that every VMA had */
	unsigned long kb[MP_SMAPS_KEYS];
};

static void check_vma(const struct mp_map *map, const struct mp_vma *vma, int prot,
		      struct vma_sum *sum, struct mp_report *rep)
{
	struct mp_vma due;
	unsigned int i, k;

	if (!in_region(map, vma->start, &i))
		return;
	vma_due(map, i, vma->start, prot, &due);
	if (vma->start != due.start || vma->end != due.end || strcmp(vma->perms, due.perms))
		mp_finding_set(&rep->v[MP_CHECK_VMA], MP_FAIL,
			       "after %s: region %u pages %zu to %zu %s, should be %zu to %zu %s",
			       sum->phase, i,
			       (vma->start - (uintptr_t)mp_map_region(map, i)) / map->page,
			       (vma->end - (uintptr_t)mp_map_region(map, i)) / map->page,
			       vma->perms,
			       (due.start - (uintptr_t)mp_map_region(map, i)) / map->page,
			       (due.end - (uintptr_t)mp_map_region(map, i)) / map->page,
			       due.perms);
	sum->bytes += vma->end - vma->start;
	sum->given &= vma->given;
	for (k = 0; k < MP_SMAPS_KEYS; k++) {
		if (k == MP_KERNEL_PAGE_SIZE || k == MP_MMU_PAGE_SIZE)
			sum->kb[k] = vma->kb[k] > sum->kb[k] ? vma->kb[k] : sum->kb[k];
		else
			sum->kb[k] += vma->kb[k];
	}
}

static bool have_swap(void)
{
	FILE *f = fopen("/proc/swaps", "re");
	char line[256];
	int lines = 0;

	if (!f)
		return false;
	while (fgets(line, sizeof(line), f))
		lines++;
	fclose(f);
	return lines > 1;
}

static void check_smaps(const struct mp_map *map, const struct vma_sum *sum,
			struct mp_finding *v)
{
	unsigned long page = map->page >> 10;
	unsigned long rss = (map->len >> 10) * map->sc->regions;
	const unsigned long due[MP_SMAPS_KEYS] = {
		[MP_KERNEL_PAGE_SIZE] = page, [MP_MMU_PAGE_SIZE] = page, [MP_RSS] = rss,
	};
	unsigned int k;

	if (sum->kb[MP_SWAP] && have_swap()) {
		mp_finding_set(v, MP_SKIP, "after %s: %lu kB were swapped out meanwhile",
			       sum->phase, sum->kb[MP_SWAP]);
		return;
	}
	for (k = 0; k < MP_SMAPS_KEYS; k++) {
		/* older kernels, and such without THP, do not have the huge ones */
		if (!(sum->given & 1U << k) && !due[k])
			continue;
		if (!(sum->given & 1U << k))
			mp_finding_set(v, MP_SKIP, "smaps has no %s", mp_smaps_name[k]);
		else if (sum->kb[k] != due[k])
			mp_finding_set(v, MP_FAIL, "after %s: %s is %lu kB, should be %lu kB",
				       sum->phase, mp_smaps_name[k], sum->kb[k], due[k]);
	}
	mp_finding_set(v, MP_PASS, NULL);
}

/* smaps has all that maps has; without it, maps still shows the VMAs */
static FILE *open_vmas(struct mp_report *rep)
{
	FILE *f = fopen("/proc/self/smaps", "re");

	if (f)
		return f;
	mp_finding_set(&rep->v[MP_CHECK_STATE], MP_SKIP, "/proc/self/smaps: %s",
		       strerror(errno));
	f = fopen("/proc/self/maps", "re");
	if (!f)
		mp_finding_set(&rep->v[MP_CHECK_VMA], MP_SKIP, "/proc/self/maps: %s",
			       strerror(errno));
	return f;
}

static void check_vmas(const struct mp_map *map, int prot, const char *phase,
		       struct mp_report *rep)
{
	struct vma_sum sum = { .phase = phase, .given = ~0U };
	struct mp_vma vma;
	struct mp_err err;
	FILE *f = open_vmas(rep);
	int r;

	if (!f)
		return;
	while ((r = mp_state_next_vma(f, &vma, &err)) > 0)
		check_vma(map, &vma, prot, &sum, rep);
	fclose(f);
	if (r < 0) {
		mp_finding_set(&rep->v[MP_CHECK_VMA], MP_FAIL, "after %s: %s", phase, err.text);
		return;
	}
	if (sum.bytes != map->len * map->sc->regions)
		mp_finding_set(&rep->v[MP_CHECK_VMA], MP_FAIL,
			       "after %s: VMAs cover %zu of %zu bytes", phase,
			       (size_t)sum.bytes, map->len * map->sc->regions);
	mp_finding_set(&rep->v[MP_CHECK_VMA], MP_PASS, NULL);
	if (rep->v[MP_CHECK_STATE].outcome != MP_SKIP)
		check_smaps(map, &sum, &rep->v[MP_CHECK_STATE]);
}

static void check_frames(const struct mp_eyes *eyes, const uint64_t *entry, size_t n,
			 size_t first, const char *phase, struct mp_finding *v)
{
	const char *odd;
	struct mp_err err;
	uint64_t flags;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!mp_pagemap_pfn(entry[i])) {
			mp_finding_set(v, MP_SKIP, "page frames are hidden from this process");
			return;
		}
		if (mp_state_kpageflags(eyes->kpageflags, mp_pagemap_pfn(entry[i]), &flags,
					&err)) {
			mp_finding_set(v, MP_SKIP, "%s", err.text);
			return;
		}
		odd = mp_kpageflags_odd(flags);
		if (odd) {
			mp_finding_set(v, MP_FAIL, "after %s: page %zu is not a base page: %s",
				       phase, first + i, odd);
			return;
		}
	}
}

/* Is the whole region present, and is every page a base page? */
static int check_entries(const struct mp_map *map, const struct mp_eyes *eyes,
			 unsigned int region, const char *phase, struct mp_report *rep)
{
	size_t pages = map->len / map->page, first, i;
	bool file = map->sc->shared;
	uint64_t entry[ENTRIES];
	struct mp_err err;

	for (first = 0; first < pages; first += ENTRIES) {
		size_t n = pages - first < ENTRIES ? pages - first : ENTRIES;
		uintptr_t addr = (uintptr_t)mp_map_region(map, region) + first * map->page;

		if (mp_state_pagemap(eyes->pagemap, addr, n, map->page, entry, &err)) {
			mp_finding_set(&rep->v[MP_CHECK_PAGEMAP], MP_SKIP, "%s", err.text);
			mp_finding_set(&rep->v[MP_CHECK_KPAGEFLAGS], MP_SKIP, "%s", err.text);
			return -1;
		}
		for (i = 0; i < n; i++) {
			const char *odd = mp_pagemap_odd(entry[i], file);

			if (!odd)
				continue;
			mp_finding_set(&rep->v[MP_CHECK_PAGEMAP], MP_FAIL,
				       "after %s: region %u page %zu: %s", phase, region,
				       first + i, odd);
			return -1;
		}
		if (eyes->kpageflags >= 0)
			check_frames(eyes, entry, n, first, phase,
				     &rep->v[MP_CHECK_KPAGEFLAGS]);
	}
	return 0;
}

static void check_pages(const struct mp_map *map, const struct mp_eyes *eyes,
			const char *phase, struct mp_report *rep)
{
	unsigned int i;

	if (eyes->kpageflags < 0)
		mp_finding_set(&rep->v[MP_CHECK_KPAGEFLAGS], MP_SKIP, "%s",
			       eyes->no_kpageflags.text);
	if (eyes->pagemap < 0) {
		mp_finding_set(&rep->v[MP_CHECK_PAGEMAP], MP_SKIP, "%s",
			       eyes->no_pagemap.text);
		mp_finding_set(&rep->v[MP_CHECK_KPAGEFLAGS], MP_SKIP, "%s",
			       eyes->no_pagemap.text);
		return;
	}
	for (i = 0; i < map->sc->regions; i++)
		if (check_entries(map, eyes, i, phase, rep))
			return;
	mp_finding_set(&rep->v[MP_CHECK_PAGEMAP], MP_PASS, NULL);
	mp_finding_set(&rep->v[MP_CHECK_KPAGEFLAGS], MP_PASS, NULL);
}

void mp_check_state(const struct mp_map *map, const struct mp_eyes *eyes, int prot,
		    enum mp_phase phase, struct mp_report *rep)
{
	check_vmas(map, prot, mp_phase_name[phase], rep);
	check_pages(map, eyes, mp_phase_name[phase], rep);
}
