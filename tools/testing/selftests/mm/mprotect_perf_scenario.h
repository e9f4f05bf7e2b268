/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The workloads, as data: list, help, filter, plan and loop walk one table.
 */
#ifndef MPROTECT_PERF_SCENARIO_H
#define MPROTECT_PERF_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mprotect_perf_err.h"

enum mp_backing {
	MP_ANON,
	MP_DEVZERO,
	MP_FILE,	/* unlinked, in $TMPDIR or /tmp */
};

enum mp_touch {
	MP_TOUCH_NONE,
	MP_TOUCH_READ,	/* one byte of every page */
	MP_TOUCH_WRITE,	/* one word of every page, with the value it has */
};

/**
 * struct mp_scenario - one workload
 * @name: constant, without sizes
 * @what: one line for -l
 * @origin: whose workload it is, or which published benchmark it stands for
 * @backing: what is mapped
 * @shared: MAP_SHARED or MAP_PRIVATE
 * @clean: the pages are only read once they are mapped
 * @fresh: a new mapping for every cycle
 * @in_place: a restore gives the pages what the touch needs, so that it takes
 *	no fault; not so where writeback may clean a page at any time
 * @regions: how many mappings, each with a gap before and after
 * @bytes: size of a region, rounded down to pages; or else
 * @pages: pages of a region
 * @margin: pages at both ends of a region that are left alone
 * @shut: protection that the protect phase sets; restore sets read and write
 * @touch: what follows the restore
 * @timed: mask of the phases (1 << enum mp_phase) that are timed
 */
struct mp_scenario {
	const char *name;
	const char *what;
	const char *origin;
	enum mp_backing backing;
	bool shared;
	bool clean;
	bool fresh;
	bool in_place;
	unsigned int regions;
	size_t bytes;
	unsigned int pages;
	unsigned int margin;
	int shut;
	enum mp_touch touch;
	unsigned int timed;
};

extern const struct mp_scenario mp_scenarios[];
extern const unsigned int mp_nr_scenarios;

/**
 * mp_scenario_find() - look a row up
 * @name: its name
 *
 * Return: its index in mp_scenarios, or -1.
 */
int mp_scenario_find(const char *name);

/**
 * mp_scenario_missing() - can this row run here?
 * @sc: the row
 * @why: filled with what is missing
 *
 * Return: true when something is missing, which is a SKIP.
 */
bool mp_scenario_missing(const struct mp_scenario *sc, struct mp_err *why);

/**
 * struct mp_map - a row, mapped
 * @sc: the row
 * @page: base page size in bytes
 * @area: the reserved address range; PROT_NONE outside the regions
 * @area_len: its length in bytes
 * @base: first region, where a page table begins, so that neither the size
 *	nor the address decides how many page tables a row spans
 * @stride: bytes from one region to the next
 * @len: bytes of a region
 * @toggled: bytes of a region that are protected
 * @pages: base pages that are protected, over all regions
 * @fd: what is mapped, or -1
 * @seed: goes into the content of every page
 */
struct mp_map {
	const struct mp_scenario *sc;
	size_t page;
	char *area;
	size_t area_len;
	char *base;
	size_t stride;
	size_t len;
	size_t toggled;
	size_t pages;
	int fd;
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
 * mp_map_populate() - map every region anew and fill every page
 * @map: opened; whatever its regions held is gone
 * @err: filled on failure
 *
 * Transparent huge pages are refused with MADV_NOHUGEPAGE before the first
 * page is touched; kernels look at that before any sysfs setting.
 *
 * Return: 0, or -1.
 */
int mp_map_populate(struct mp_map *map, struct mp_err *err);

/**
 * mp_map_toggle() - protect or restore: one mprotect() for every region
 * @map: populated
 * @prot: the protection to set
 *
 * This is what is timed; it ends at the first call that fails.
 *
 * Return: 0, or -1 with errno.
 */
int mp_map_toggle(const struct mp_map *map, int prot);

/**
 * mp_map_touch() - touch every protected page as the row says
 * @map: populated and restored
 */
void mp_map_touch(const struct mp_map *map);

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
 * Return: true when it does.
 */
bool mp_map_holds(const struct mp_map *map, const char *p);

#endif /* MPROTECT_PERF_SCENARIO_H */
