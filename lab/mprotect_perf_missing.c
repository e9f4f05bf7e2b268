// SPDX-License-Identifier: GPL-2.0
/*
 * Can a row run here? Asked before it is tried: what is missing is a SKIP
 * with the reason, and not a failure half-way through.
 */
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mprotect_perf_backing.h"
#include "mprotect_perf_map.h"
#include "mprotect_perf_memory.h"
#include "mprotect_perf_settings.h"
#include "mprotect_perf_uffd.h"

/* beside the pages: page tables, samples, the program itself */
#define REST (16UL << 20)

unsigned int mp_scenario_needs(const struct mp_scenario *sc)
{
	static const unsigned int needs[MP_FOLIOS] = {
		[MP_PMD] = MP_NEED_THP, [MP_PMD_BY_PTES] = MP_NEED_THP, [MP_64K] = MP_NEED_MTHP,
	};

	return needs[sc->folio];
}

/* Bytes that all mappings of all tasks have together, as far as they can be counted */
static size_t bytes_of(const struct mp_scenario *sc)
{
	unsigned int mappings = sc->regions * (sc->tasks ? sc->tasks : 1);
	size_t bytes;

	if (__builtin_mul_overflow(sc->bytes, mappings, &bytes) || bytes > SIZE_MAX / 2)
		return SIZE_MAX / 2;
	return bytes;
}

static bool no_memory(const struct mp_scenario *sc, struct mp_err *why)
{
	size_t bytes = bytes_of(sc), need = bytes + bytes / 256 + REST;
	const char *limit;
	size_t have = mp_memory_available(&limit);

	if (have >= need)
		return false;
	mp_error(why, "needs %zu MiB of memory, %s leaves %zu MiB", need >> 20, limit,
		 have >> 20);
	return true;
}

static bool no_folios(const struct mp_scenario *sc, struct mp_err *why)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = mp_folio_size(sc->folio, page);

	if (sc->folio == MP_BASE)
		return false;
	if (!size)
		mp_error(why, "needs a kernel with transparent huge pages");
	else if (size <= page)
		mp_error(why, "a base page has %zu KiB here", page >> 10);
	else if (sc->bytes < size || sc->bytes % size)
		mp_error(why, "needs a size that is a multiple of %zu KiB", size >> 10);
	else
		return mp_settings_missing(mp_scenario_needs(sc), why);
	return true;
}

/* Whether memory can be registered depends on the architecture. */
static bool no_uffd(struct mp_err *why)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = mp_uffd_open(why);
	bool missing = true;
	void *p;

	if (fd < 0)
		return true;
	p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		mp_error(why, "mmap of a page failed");
	} else {
		missing = mp_uffd_register(fd, p, page, why);
		munmap(p, page);
	}
	close(fd);
	return missing;
}

bool mp_scenario_missing(const struct mp_scenario *sc, struct mp_err *why)
{
	int fd;

	if (no_memory(sc, why) || no_folios(sc, why) || (sc->uffd && no_uffd(why)))
		return true;
	fd = mp_backing_open(sc, bytes_of(sc), why);
	if (fd >= 0)
		close(fd);
	return fd == -1;
}
