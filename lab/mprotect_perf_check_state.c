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
	perms[1] = prot & PROT_WRITE || map->sc->uffd ? 'w' : '-';
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

	if (addr < base || addr >= base + map->regions * map->stride)
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

/*
 * That a page is a base page is what a row claims. That a kernel keeps a large
 * folio whole, and mapped as it was, is no promise: then the row is not seen.
 */
static enum mp_outcome not_due(const struct mp_map *map)
{
	return map->sc->folio == MP_BASE ? MP_FAIL : MP_SKIP;
}

static void check_smaps(const struct mp_map *map, const struct vma_sum *sum,
			struct mp_finding *v)
{
	const struct mp_scenario *sc = map->sc;
	unsigned long page = map->page >> 10;
	unsigned long rss = sc->fill == MP_FILL_NONE ? 0 : (map->len >> 10) * map->regions;
	const unsigned long due[MP_SMAPS_KEYS] = {
		[MP_KERNEL_PAGE_SIZE] = page, [MP_MMU_PAGE_SIZE] = page, [MP_RSS] = rss,
		[MP_ANON_HUGE] = sc->folio == MP_PMD ? rss : 0,
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
			mp_finding_set(v, k == MP_ANON_HUGE ? not_due(map) : MP_FAIL, "after %s: %s is %lu kB, should be %lu kB",
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
	if (sum.bytes != map->len * map->regions)
		mp_finding_set(&rep->v[MP_CHECK_VMA], MP_FAIL,
			       "after %s: VMAs cover %zu of %zu bytes", phase,
			       (size_t)sum.bytes, map->len * map->regions);
	mp_finding_set(&rep->v[MP_CHECK_VMA], MP_PASS, NULL);
	if (rep->v[MP_CHECK_STATE].outcome != MP_SKIP)
		check_smaps(map, &sum, &rep->v[MP_CHECK_STATE]);
}

/* What is odd about a page frame, or NULL; @head is that of its folio. */
static const char *odd_frame(const struct mp_map *map, uint64_t flags, uint64_t pfn,
			     size_t page, uint64_t *head)
{
	size_t index = page % (map->folio / map->page);

	if (map->sc->folio == MP_BASE)
		return mp_kpageflags_odd(flags);
	if (!index)
		*head = pfn;
	return mp_kpageflags_in_folio(flags, index) && pfn == *head + index ? NULL :
	       "not in its place in a folio of the size of the row";
}

static void check_frames(const struct mp_map *map, const struct mp_eyes *eyes,
			 const uint64_t *entry, size_t n, size_t first, uint64_t *head,
			 const char *phase, struct mp_finding *v)
{
	const char *odd;
	struct mp_err err;
	uint64_t flags;
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t pfn = mp_pagemap_pfn(entry[i]);

		if (!pfn) {
			mp_finding_set(v, MP_SKIP, "page frames are hidden from this process");
			return;
		}
		if (mp_state_kpageflags(eyes->kpageflags, pfn, &flags, &err)) {
			mp_finding_set(v, MP_SKIP, "%s", err.text);
			return;
		}
		odd = odd_frame(map, flags, pfn, first + i, head);
		if (odd) {
			mp_finding_set(v, not_due(map), "after %s: page %zu is not a %s page: %s",
				       phase, first + i,
				       map->sc->folio == MP_BASE ? "base" : "whole folio's", odd);
			return;
		}
	}
}

static const char *odd_entry(const struct mp_map *map, uint64_t entry, int prot)
{
	if (map->sc->fill == MP_FILL_NONE)
		return mp_pagemap_absent(entry) ? NULL : "there, and should not be";
	return mp_pagemap_odd(entry, map->sc->shared, map->sc->uffd && !(prot & PROT_WRITE));
}

/* Is the whole region present, and is every page what it should be? */
static int check_entries(const struct mp_map *map, const struct mp_eyes *eyes,
			 unsigned int region, int prot, const char *phase,
			 struct mp_report *rep)
{
	size_t pages = map->len / map->page, first, i;
	uint64_t entry[ENTRIES], head = 0;
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
			const char *odd = odd_entry(map, entry[i], prot);

			if (!odd)
				continue;
			mp_finding_set(&rep->v[MP_CHECK_PAGEMAP], MP_FAIL,
				       "after %s: region %u page %zu: %s", phase, region,
				       first + i, odd);
			return -1;
		}
		if (eyes->kpageflags >= 0 && map->sc->fill != MP_FILL_NONE)
			check_frames(map, eyes, entry, n, first, &head, phase,
				     &rep->v[MP_CHECK_KPAGEFLAGS]);
	}
	return 0;
}

static void check_pages(const struct mp_map *map, const struct mp_eyes *eyes, int prot,
			const char *phase, struct mp_report *rep)
{
	unsigned int i;

	if (map->sc->fill == MP_FILL_NONE)
		mp_finding_set(&rep->v[MP_CHECK_KPAGEFLAGS], MP_SKIP, "the row has no pages");
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
	for (i = 0; i < map->regions; i++)
		if (check_entries(map, eyes, i, prot, phase, rep))
			return;
	mp_finding_set(&rep->v[MP_CHECK_PAGEMAP], MP_PASS, NULL);
	mp_finding_set(&rep->v[MP_CHECK_KPAGEFLAGS], MP_PASS, NULL);
}

void mp_check_state(const struct mp_map *map, const struct mp_eyes *eyes, int prot,
		    enum mp_phase phase, struct mp_report *rep)
{
	check_vmas(map, prot, mp_phase_name[phase], rep);
	check_pages(map, eyes, prot, mp_phase_name[phase], rep);
}

/* kB of the mapping that are mapped as huge pages; -1 when smaps does not say */
static long huge_kb(const struct mp_map *map)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	struct mp_vma vma;
	struct mp_err err;
	unsigned int i;
	long kb = -1;

	if (!f)
		return -1;
	while (mp_state_next_vma(f, &vma, &err) > 0)
		if (in_region(map, vma.start, &i) && vma.given & 1U << MP_ANON_HUGE)
			kb = (kb < 0 ? 0 : kb) + (long)vma.kb[MP_ANON_HUGE];
	fclose(f);
	return kb;
}

/* Root of a user namespace may open both files and see no frame. */
static bool sees_frames(const struct mp_map *map, const struct mp_eyes *eyes)
{
	struct mp_err err;
	uint64_t entry;

	return eyes->kpageflags >= 0 && eyes->pagemap >= 0 &&
	       !mp_state_pagemap(eyes->pagemap, (uintptr_t)mp_map_region(map, 0), 1, map->page,
				 &entry, &err) && mp_pagemap_pfn(entry);
}

bool mp_check_folios(const struct mp_map *map, const struct mp_eyes *eyes, size_t given,
		     uint64_t faults, struct mp_err *why)
{
	struct mp_report rep = { .faults = { 0 } };
	size_t all = map->len * map->regions;
	long kb;

	if (sees_frames(map, eyes)) {
		check_pages(map, eyes, PROT_READ | PROT_WRITE, "populate", &rep);
		if (rep.v[MP_CHECK_KPAGEFLAGS].outcome == MP_SKIP)
			mp_error(why, "no such folios to be had: %.200s",
				 rep.v[MP_CHECK_KPAGEFLAGS].text.text);
		if (map->sc->folio == MP_64K || why->text[0])
			return !why->text[0];
	}
	if (map->sc->folio == MP_64K) {
		size_t due = all / map->folio;

		if (given == SIZE_MAX)
			mp_error(why, "folios cannot be seen: no page frames, and no count of them");
		else if (given < due || faults > 2 * due)	/* others are given some, too */
			mp_error(why, "no such folios to be had: %zu of %zu, by %llu faults",
				 given, due, (unsigned long long)faults);
		return !why->text[0];
	}
	kb = huge_kb(map);
	if (kb < 0)
		mp_error(why, "folios cannot be seen: smaps has no AnonHugePages");
	else if ((size_t)kb << 10 != all)
		mp_error(why, "no such folios to be had: %ld of %zu kB", kb, all >> 10);
	return !why->text[0];
}
