// SPDX-License-Identifier: GPL-2.0
/*
 * The table of workloads, and what they have in common: set up, toggle,
 * touch, tear down. A new workload is a new row.
 *
 * What this cannot tell: how the kernel got its memory. That a page really is
 * a base page is for the checks to see; the row only asks for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mprotect_perf_scenario.h"
#include "mprotect_perf_record.h"

#define MIB (1UL << 20)

#define TIMED_PAIR	(1U << MP_PROTECT | 1U << MP_RESTORE)
#define TIMED_ALL	(TIMED_PAIR | 1U << MP_TOUCH)

const struct mp_scenario mp_scenarios[] = {
	{
		.name = "shared-dirty",
		.what = "64 MiB shared anonymous, dirty; R <-> RW, write-touch",
		.origin = "the v6.17 regression report",
		.shared = true, .in_place = true,
		.regions = 1, .bytes = 64 * MIB,
		.shut = PROT_READ, .touch = MP_TOUCH_WRITE, .timed = TIMED_ALL,
	}, {
		.name = "private-dirty",
		.what = "64 MiB private anonymous, dirty; R <-> RW, write-touch",
		.origin = "its control; Dev Jain's 4 KiB case",
		.in_place = true,
		.regions = 1, .bytes = 64 * MIB,
		.shut = PROT_READ, .touch = MP_TOUCH_WRITE, .timed = TIMED_ALL,
	}, {
		.name = "private-none",
		.what = "64 MiB private anonymous, dirty; NONE <-> RW, no touch",
		.origin = "Luke Yang's size sweep",
		.in_place = true,
		.regions = 1, .bytes = 64 * MIB,
		.shut = PROT_NONE, .timed = TIMED_PAIR,
	}, {
		.name = "devzero-none",
		.what = "4 MiB private /dev/zero, written; NONE <-> RW, read-touch",
		.origin = "libMicro mprot_tw4m",
		.backing = MP_DEVZERO, .in_place = true,
		.regions = 1, .bytes = 4 * MIB,
		.shut = PROT_NONE, .touch = MP_TOUCH_READ, .timed = TIMED_ALL,
	}, {
		.name = "single-protect",
		.what = "64 MiB shared anonymous, mapped anew for each protect",
		.origin = "the single-protect follow-up to the v6.17 report",
		.shared = true, .fresh = true, .in_place = true,
		.regions = 1, .bytes = 64 * MIB,
		.shut = PROT_READ, .timed = 1U << MP_PROTECT,
	}, {
		.name = "one-page",
		.what = "512 private mappings of one page, each toggled alone; R <-> RW",
		.origin = "JIT engines; the floor of system call, VMA and flush",
		.in_place = true,
		.regions = 512, .pages = 1,
		.shut = PROT_READ, .touch = MP_TOUCH_WRITE, .timed = TIMED_ALL,
	}, {
		.name = "split-restore",
		.what = "512 private mappings of three pages, the inner one toggled; R <-> RW",
		.origin = "VMA cost: two splits, two merges",
		.in_place = true,
		.regions = 512, .pages = 3, .margin = 1,
		.shut = PROT_READ, .touch = MP_TOUCH_WRITE, .timed = TIMED_ALL,
	}, {
		.name = "file-clean",
		.what = "4 MiB shared file, written back, then read; R <-> RW, read-touch",
		.origin = "page-cache folios",
		.backing = MP_FILE, .shared = true, .clean = true, .in_place = true,
		.regions = 1, .bytes = 4 * MIB,
		.shut = PROT_READ, .touch = MP_TOUCH_READ, .timed = TIMED_ALL,
	}, {
		.name = "file-dirty",
		.what = "4 MiB shared file, dirty; R <-> RW, write-touch",
		.origin = "page-cache folios",
		.backing = MP_FILE, .shared = true,
		.regions = 1, .bytes = 4 * MIB,
		.shut = PROT_READ, .touch = MP_TOUCH_WRITE, .timed = TIMED_ALL,
	},
};

const unsigned int mp_nr_scenarios = ARRAY_SIZE(mp_scenarios);

int mp_scenario_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < mp_nr_scenarios; i++)
		if (!strcmp(mp_scenarios[i].name, name))
			return (int)i;
	return -1;
}

static const char *tmpdir(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}

/* O_TMPFILE leaves no name behind on any exit; not all file systems have it. */
static int open_tmpfile(void)
{
	char path[PATH_MAX];
	int fd = open(tmpdir(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	if ((size_t)snprintf(path, sizeof(path), "%s/mprotect_perf.XXXXXX", tmpdir()) >=
	    sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static int open_backing(const struct mp_scenario *sc)
{
	return sc->backing == MP_DEVZERO ? open("/dev/zero", O_RDONLY | O_CLOEXEC) :
					   open_tmpfile();
}

/* kB that can be had without swapping, or -1 when the kernel does not say */
static long mem_available(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	char line[128];
	long kb = -1;

	if (!f)
		return -1;
	while (kb < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %ld kB", &kb) != 1)
			kb = -1;
	fclose(f);
	return kb;
}

bool mp_scenario_missing(const struct mp_scenario *sc, struct mp_err *why)
{
	long need = (long)(sc->bytes >> 10) + (16 << 10);
	long have = mem_available();
	int fd;

	if (have >= 0 && have < need) {
		mp_error(why, "needs %ld MiB of memory, MemAvailable is %ld MiB",
			 need >> 10, have >> 10);
		return true;
	}
	if (sc->backing == MP_ANON)
		return false;
	fd = open_backing(sc);
	if (fd < 0) {
		if (sc->backing == MP_FILE)
			mp_error(why, "needs a temporary file: %s: %s; set TMPDIR",
				 tmpdir(), strerror(errno));
		else
			mp_error(why, "needs /dev/zero: %s", strerror(errno));
		return true;
	}
	close(fd);
	return false;
}

int mp_map_open(struct mp_map *map, const struct mp_scenario *sc, struct mp_err *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	/* what one page table maps: its entries are 8 bytes everywhere we know */
	size_t table = page * (page / 8);
	uintptr_t base;

	*map = (struct mp_map){ .sc = sc, .page = page, .fd = -1, .seed = 0x6d70 };
	map->len = sc->bytes ? sc->bytes & ~(page - 1) : sc->pages * page;
	map->stride = map->len + page;
	map->toggled = map->len - 2 * sc->margin * page;
	map->pages = map->toggled / page * sc->regions;
	map->area_len = page + table + map->stride * sc->regions;
	map->area = mmap(NULL, map->area_len, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map->area == MAP_FAILED) {
		map->area = NULL;
		return mp_error(err, "mmap of %zu bytes of address space: %s",
				map->area_len, strerror(errno));
	}
	base = ((uintptr_t)map->area + page + table - 1) & ~(table - 1);
	map->base = map->area + (base - (uintptr_t)map->area);
	if (sc->backing == MP_ANON)
		return 0;

	map->fd = open_backing(sc);
	if (map->fd < 0 ||
	    (sc->backing == MP_FILE &&
	     ftruncate(map->fd, (off_t)(map->len * sc->regions)))) {
		mp_error(err, "opening the backing of %s: %s", sc->name, strerror(errno));
		mp_map_close(map);
		return -1;
	}
	return 0;
}

void mp_map_close(struct mp_map *map)
{
	if (map->fd >= 0)
		close(map->fd);
	if (map->area)
		munmap(map->area, map->area_len);
	map->fd = -1;
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
	uint64_t want = mp_map_content(map, p);

	return *first_word(p) == want && *last_word(map, p) == want;
}

static int map_region(const struct mp_map *map, unsigned int i, struct mp_err *err)
{
	const struct mp_scenario *sc = map->sc;
	int flags = MAP_FIXED | (sc->shared ? MAP_SHARED : MAP_PRIVATE);
	off_t offset = sc->backing == MP_FILE ? (off_t)(map->len * i) : 0;

	if (sc->backing == MP_ANON)
		flags |= MAP_ANONYMOUS;
	if (mmap(mp_map_region(map, i), map->len, PROT_READ | PROT_WRITE, flags,
		 map->fd, offset) == MAP_FAILED)
		return mp_error(err, "mmap of region %u: %s", i, strerror(errno));
	/* EINVAL: a kernel without transparent huge pages */
	if (madvise(mp_map_region(map, i), map->len, MADV_NOHUGEPAGE) && errno != EINVAL)
		return mp_error(err, "madvise(MADV_NOHUGEPAGE): %s", strerror(errno));
	/* no read-ahead: it would bring large folios into the page cache */
	if (sc->backing == MP_FILE && madvise(mp_map_region(map, i), map->len, MADV_RANDOM))
		return mp_error(err, "madvise(MADV_RANDOM): %s", strerror(errno));
	return 0;
}

static int map_all(const struct mp_map *map, struct mp_err *err)
{
	unsigned int i;

	for (i = 0; i < map->sc->regions; i++)
		if (map_region(map, i, err))
			return -1;
	return 0;
}

int mp_map_populate(struct mp_map *map, struct mp_err *err)
{
	const struct mp_scenario *sc = map->sc;
	unsigned int i;
	size_t off;

	if (map_all(map, err))
		return -1;
	for (i = 0; i < sc->regions; i++)
		for (off = 0; off < map->len; off += map->page)
			fill(map, mp_map_region(map, i) + off);
	if (!sc->clean)
		return 0;

	/* written back, and mapped anew: now neither the page nor its entry is dirty */
	if (fsync(map->fd))
		return mp_error(err, "fsync of the temporary file: %s", strerror(errno));
	if (map_all(map, err))
		return -1;
	for (i = 0; i < sc->regions; i++)
		for (off = 0; off < map->len; off += map->page)
			(void)*(volatile char *)(mp_map_region(map, i) + off);
	return 0;
}

int mp_map_toggle(const struct mp_map *map, int prot)
{
	unsigned int i;

	for (i = 0; i < map->sc->regions; i++)
		if (mprotect(mp_map_first(map, i), map->toggled, prot))
			return -1;
	return 0;
}

static void write_touch(const struct mp_map *map, char *p)
{
	size_t i = page_index(map, p);
	char *end = p + map->toggled;

	for (; p < end; p += map->page)
		*first_word(p) = content(map, i++);
}

static void read_touch(const struct mp_map *map, char *p)
{
	char *end = p + map->toggled;

	for (; p < end; p += map->page)
		(void)*(volatile char *)p;
}

void mp_map_touch(const struct mp_map *map)
{
	unsigned int i;

	for (i = 0; i < map->sc->regions; i++) {
		if (map->sc->touch == MP_TOUCH_WRITE)
			write_touch(map, mp_map_first(map, i));
		else if (map->sc->touch == MP_TOUCH_READ)
			read_touch(map, mp_map_first(map, i));
	}
}
