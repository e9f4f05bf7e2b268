/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A row, mapped: set up, toggle, touch, tear down.
 */
#ifndef MPROTECT_PERF_MAP_H
#define MPROTECT_PERF_MAP_H

#include <stdint.h>

#include "mprotect_perf_scenario.h"

/**
 * struct mp_map - a row, mapped
 * @sc: the row
 * @page: base page size in bytes
 * @folio: bytes of the folios that the row asks for
 * @area: the reserved address range; PROT_NONE outside the regions
 * @area_len: its length in bytes
 * @base: first region, where a page table begins, so that neither the size
 *	nor the address decides how many page tables a row spans
 * @stride: bytes from one region to the next
 * @regions: how many, of all tasks that share this mm
 * @len: bytes of a region
 * @toggled: bytes of a region that are protected
 * @part: bytes of it that one call protects: all, or a task's part
 * @pages: base pages that one task protects, over all of its regions
 * @fd: what is mapped, or -1
 * @uffd: the userfaultfd, or -1
 * @seed: goes into the content of every page
 */
struct mp_map {
	const struct mp_scenario *sc;
	size_t page;
	size_t folio;
	char *area;
	size_t area_len;
	char *base;
	size_t stride;
	unsigned int regions;
	size_t len;
	size_t toggled;
	size_t part;
	size_t pages;
	int fd;
	int uffd;
	uint64_t seed;
};

/**
 * mp_map_open() - reserve the addresses and open what will be mapped
 * @map: filled; mp_map_close() gives everything back
 * @sc: the row
 * @err: filled on failure; nothing is left behind then
 *
 * Return: 0, or -1.
 */
int mp_map_open(struct mp_map *map, const struct mp_scenario *sc, struct mp_err *err);

/**
 * mp_map_close() - give a mapping back
 * @map: may be called twice
 */
void mp_map_close(struct mp_map *map);

/**
 * mp_map_populate() - map every region anew and fill the pages
 * @map: opened; whatever its regions held is gone
 * @err: filled on failure
 *
 * Transparent huge pages are refused with MADV_NOHUGEPAGE before the first
 * page is touched; kernels look at that before any sysfs setting. A row of
 * large folios asks for them likewise, and may not get them.
 *
 * Return: 0, or -1.
 */
int mp_map_populate(struct mp_map *map, struct mp_err *err);

/**
 * mp_map_settle() - large folios are there: now map them as the row says
 * @map: populated
 * @err: filled on failure
 *
 * The folios stay whole, and khugepaged is kept from them.
 *
 * Return: 0, or -1.
 */
int mp_map_settle(const struct mp_map *map, struct mp_err *err);

/**
 * mp_map_toggle() - protect or restore: one call for every region of a task
 * @map: populated
 * @task: whose regions
 * @prot: the protection to set
 *
 * This is what is timed; it ends at the first call that fails.
 *
 * Return: 0, or -1 with errno.
 */
int mp_map_toggle(const struct mp_map *map, unsigned int task, int prot);

/**
 * mp_map_touch() - touch every protected page of a task as the row says
 * @map: populated and restored
 * @task: whose pages
 */
void mp_map_touch(const struct mp_map *map, unsigned int task);

/**
 * mp_folio_size() - how large the folios of a row are
 * @folio: what the pages are parts of
 * @page: base page size in bytes
 *
 * Return: bytes; 0 where this kernel has no such folios.
 */
size_t mp_folio_size(enum mp_folio folio, size_t page);

/**
 * mp_map_region() - where a region is
 * @map: opened
 * @i: which, from 0
 *
 * Return: its first byte, margin included.
 */
static inline char *mp_map_region(const struct mp_map *map, unsigned int i)
{
	return map->base + (size_t)i * map->stride;
}

/**
 * mp_map_first() - the first protected byte of a region
 * @map: opened
 * @i: which region, from 0
 *
 * Return: the byte behind the margin.
 */
static inline char *mp_map_first(const struct mp_map *map, unsigned int i)
{
	return mp_map_region(map, i) + (size_t)map->sc->margin * map->page;
}

/**
 * mp_map_call() - the call by which a row is toggled, to be named in a reason
 * @map: opened
 *
 * Return: constant text.
 */
static inline const char *mp_map_call(const struct mp_map *map)
{
	return map->sc->uffd ? "UFFDIO_WRITEPROTECT" : "mprotect()";
}

/**
 * mp_map_content() - what a page was filled with
 * @map: opened
 * @p: first byte of the page
 *
 * Return: its first and its last word.
 */
uint64_t mp_map_content(const struct mp_map *map, const char *p);

/**
 * mp_map_holds() - does a page still hold its own content?
 * @map: populated
 * @p: first byte of the page; it must be readable
 *
 * Return: true when it does; a page that nobody has written holds zeros.
 */
bool mp_map_holds(const struct mp_map *map, const char *p);

#endif /* MPROTECT_PERF_MAP_H */
