// SPDX-License-Identifier: GPL-2.0
/*
 * What the workloads have in common: set up, toggle, touch, tear down.
 *
 * What this cannot tell: how the kernel got its memory. That a page really is
 * a base page, or part of a huge one, is for the checks to see; the row only
 * asks for it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mprotect_perf_backing.h"
#include "mprotect_perf_map.h"
#include "mprotect_perf_uffd.h"

#define PMD_SIZE_FILE "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size"
#define MTHP (64UL << 10)

/* hpage_pmd_size is not there without transparent huge pages */
static size_t pmd_size(void)
{
	FILE *f = fopen(PMD_SIZE_FILE, "re");
	size_t size = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%zu", &size) != 1)
		size = 0;
	fclose(f);
	return size;
}

size_t mp_folio_size(enum mp_folio folio, size_t page)
{
	return folio == MP_BASE ? page : folio == MP_64K ? MTHP : pmd_size();
}

static size_t region_len(const struct mp_scenario *sc, size_t page)
{
	size_t len = sc->bytes ? sc->bytes & ~(page - 1) : sc->pages * page;

	return len ? len : page;
}

int mp_map_open(struct mp_map *map, const struct mp_scenario *sc, struct mp_err *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	/* what one page table maps: its entries are 8 bytes everywhere we know */
	size_t table = page * (page / 8);
	size_t bytes;
	uintptr_t base;

	*map = (struct mp_map){ .sc = sc, .page = page, .fd = -1, .uffd = -1, .seed = 0x6d70 };
	map->folio = mp_folio_size(sc->folio, page);
	map->regions = sc->regions * (sc->team == MP_THREADS && sc->tasks ? sc->tasks : 1);
	map->len = region_len(sc, page);
	map->part = map->len - 2 * sc->margin * page;
	if (sc->team == MP_THREADS_SHARED)
		map->len += map->part * ((sc->tasks ? sc->tasks : 1) - 1);
	map->toggled = map->len - 2 * sc->margin * page;
	map->stride = (map->len + page + map->folio - 1) / map->folio * map->folio;
	map->pages = map->part / page * sc->regions;
	map->area_len = page + table + map->stride * map->regions;
	map->area = mmap(NULL, map->area_len, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map->area == MAP_FAILED) {
		map->area = NULL;
		return mp_error(err, "mmap of %zu bytes of address space: %s",
				map->area_len, strerror(errno));
	}
	base = ((uintptr_t)map->area + page + table - 1) & ~(table - 1);
	map->base = map->area + (base - (uintptr_t)map->area);

	bytes = map->len * map->regions;
	map->fd = mp_backing_open(sc, bytes, err);
	if (map->fd == -1)
		goto fail;
	if (sc->backing == MP_FILE && ftruncate(map->fd, (off_t)bytes)) {
		mp_error(err, "making a file of %zu bytes: %s", bytes, strerror(errno));
		goto fail;
	}
	if (sc->uffd)
		map->uffd = mp_uffd_open(err);
	if (!sc->uffd || map->uffd >= 0)
		return 0;
fail:
	mp_map_close(map);
	return -1;
}

void mp_map_close(struct mp_map *map)
{
	if (map->fd >= 0)
		close(map->fd);
	if (map->uffd >= 0)
		close(map->uffd);
	if (map->area)
		munmap(map->area, map->area_len);
	map->fd = -1;
	map->uffd = -1;
	map->area = NULL;
}

/* The index is spread over the word, so that shifted content is seen too. */
static uint64_t content(const struct mp_map *map, size_t i)
{
	return (i + 1) * 0x9e3779b97f4a7c15ULL ^ map->seed;
}

static size_t page_index(const struct mp_map *map, const char *p)
{
	return (size_t)(p - map->base) / map->page;
}

static volatile uint64_t *first_word(const char *p)
{
	return (volatile uint64_t *)p;
}

static volatile uint64_t *last_word(const struct mp_map *map, const char *p)
{
	return (volatile uint64_t *)(p + map->page) - 1;
}

/*
 * A write-touch renews the first word of a page; the last one bears witness
 * of what the page was filled with.
 */
static void fill(const struct mp_map *map, char *p)
{
	*first_word(p) = mp_map_content(map, p);
	*last_word(map, p) = mp_map_content(map, p);
}

uint64_t mp_map_content(const struct mp_map *map, const char *p)
{
	return content(map, page_index(map, p));
}

bool mp_map_holds(const struct mp_map *map, const char *p)
{
	uint64_t want = map->sc->fill == MP_FILL_NONE ? 0 : mp_map_content(map, p);

	return *first_word(p) == want && *last_word(map, p) == want;
}

static int advise(char *p, size_t len, int advice, const char *name, struct mp_err *err)
{
	/* EINVAL: a kernel without transparent huge pages */
	if (madvise(p, len, advice) && (errno != EINVAL || advice != MADV_NOHUGEPAGE))
		return mp_error(err, "madvise(%s): %s", name, strerror(errno));
	return 0;
}

/*
 * 64 KiB folios: where a page table is there already, a fault does not look
 * for a huge page. A base page makes each table and goes again. khugepaged is
 * kept from what is done, and from what is to come.
 */
static int fill_in_folios(const struct mp_map *map, char *region, struct mp_err *err)
{
	size_t huge = pmd_size(), off, len, at;

	for (off = 0; off < map->len; off += huge) {
		char *p = region + off;

		len = map->len - off < huge ? map->len - off : huge;
		*first_word(p) = 1;
		if (advise(p, map->page, MADV_DONTNEED, "MADV_DONTNEED", err) ||
		    advise(p, len, MADV_HUGEPAGE, "MADV_HUGEPAGE", err))
			return -1;
		for (at = 0; at < len; at += map->page)
			fill(map, p + at);
		if (advise(p, len, MADV_NOHUGEPAGE, "MADV_NOHUGEPAGE", err))
			return -1;
	}
	return 0;
}

static int ask_for_folios(const struct mp_map *map, char *region, struct mp_err *err)
{
	enum mp_folio folio = map->sc->folio;

	if ((folio == MP_BASE || folio == MP_64K) &&
	    advise(region, map->len, MADV_NOHUGEPAGE, "MADV_NOHUGEPAGE", err))
		return -1;
	if (folio == MP_64K)
		return fill_in_folios(map, region, err);
	if (folio != MP_BASE)
		return advise(region, map->len, MADV_HUGEPAGE, "MADV_HUGEPAGE", err);
	/* no read-ahead: it would bring large folios into the page cache */
	if (map->sc->backing == MP_FILE)
		return advise(region, map->len, MADV_RANDOM, "MADV_RANDOM", err);
	return 0;
}

static int map_region(const struct mp_map *map, unsigned int i, struct mp_err *err)
{
	const struct mp_scenario *sc = map->sc;
	char *region = mp_map_region(map, i);
	int flags = MAP_FIXED | (sc->shared ? MAP_SHARED : MAP_PRIVATE);
	off_t offset = sc->backing == MP_FILE ? (off_t)(map->len * i) : 0;

	if (sc->backing == MP_ANON)
		flags |= MAP_ANONYMOUS;
	if (mmap(region, map->len, PROT_READ | PROT_WRITE, flags,
		 sc->backing == MP_ANON ? -1 : map->fd, offset) == MAP_FAILED)
		return mp_error(err, "mmap of region %u: %s", i, strerror(errno));
	if (ask_for_folios(map, region, err))
		return -1;
	return sc->uffd ? mp_uffd_register(map->uffd, region, map->len, err) : 0;
}

static int map_all(const struct mp_map *map, struct mp_err *err)
{
	unsigned int i;

	for (i = 0; i < map->regions; i++)
		if (map_region(map, i, err))
			return -1;
	return 0;
}

static void each_page(const struct mp_map *map, void (*visit)(const struct mp_map *, char *))
{
	unsigned int i;
	size_t off;

	for (i = 0; i < map->regions; i++)
		for (off = 0; off < map->len; off += map->page)
			visit(map, mp_map_region(map, i) + off);
}

static void look_at(const struct mp_map *map, char *p)
{
	(void)map;
	(void)*(volatile char *)p;
}

int mp_map_populate(struct mp_map *map, struct mp_err *err)
{
	const struct mp_scenario *sc = map->sc;

	if (map_all(map, err))
		return -1;
	if (sc->fill == MP_FILL_NONE)
		return 0;
	each_page(map, fill);
	if (sc->fill != MP_FILL_READ)
		return 0;

	/* written back, and mapped anew: now neither the page nor its entry is dirty */
	if (fsync(map->fd))
		return mp_error(err, "fsync of the temporary file: %s", strerror(errno));
	if (map_all(map, err))
		return -1;
	each_page(map, look_at);
	return 0;
}

/*
 * A VMA that ends inside a huge page makes the kernel map it by PTEs. An advice
 * that means nothing here makes one, and takes it back; what is written in the
 * entries stays.
 */
static int map_by_ptes(const struct mp_map *map, char *region, struct mp_err *err)
{
	size_t off;

	for (off = 0; off < map->len; off += map->folio)
		if (advise(region + off, map->page, MADV_DONTFORK, "MADV_DONTFORK", err) ||
		    advise(region + off, map->page, MADV_DOFORK, "MADV_DOFORK", err))
			return -1;
	return 0;
}

int mp_map_settle(const struct mp_map *map, struct mp_err *err)
{
	enum mp_folio folio = map->sc->folio;
	unsigned int i;

	for (i = 0; i < map->regions; i++) {
		char *region = mp_map_region(map, i);

		if (folio == MP_PMD_BY_PTES && map_by_ptes(map, region, err))
			return -1;
		if (folio != MP_BASE &&
		    advise(region, map->len, MADV_NOHUGEPAGE, "MADV_NOHUGEPAGE", err))
			return -1;
	}
	return 0;
}

/* The regions of a task: its own part, or all that there are. */
static unsigned int first_region(const struct mp_map *map, unsigned int task)
{
	return map->sc->team == MP_THREADS ? task * map->sc->regions : 0;
}

static char *first_byte(const struct mp_map *map, unsigned int task, unsigned int region)
{
	return mp_map_first(map, region) +
	       (map->sc->team == MP_THREADS_SHARED ? task * map->part : 0);
}

int mp_map_toggle(const struct mp_map *map, unsigned int task, int prot)
{
	unsigned int i = first_region(map, task), end = i + map->sc->regions;

	for (; i < end; i++) {
		char *p = first_byte(map, task, i);

		if (map->sc->uffd ? mp_uffd_protect(map->uffd, p, map->part,
						    !(prot & PROT_WRITE)) :
				    mprotect(p, map->part, prot))
			return -1;
	}
	return 0;
}

static void write_touch(const struct mp_map *map, char *p)
{
	size_t i = page_index(map, p);
	char *end = p + map->part;

	for (; p < end; p += map->page)
		*first_word(p) = content(map, i++);
}

static void read_touch(const struct mp_map *map, char *p)
{
	char *end = p + map->part;

	for (; p < end; p += map->page)
		(void)*(volatile char *)p;
}

void mp_map_touch(const struct mp_map *map, unsigned int task)
{
	unsigned int i = first_region(map, task), end = i + map->sc->regions;

	for (; i < end; i++) {
		if (map->sc->touch == MP_TOUCH_WRITE)
			write_touch(map, first_byte(map, task, i));
		else if (map->sc->touch == MP_TOUCH_READ)
			read_touch(map, first_byte(map, task, i));
	}
}
