// SPDX-License-Identifier: GPL-2.0
/*
 * A slowdown of known size for bench/power.sh: linked into the real program
 * with --wrap=mp_map_open, this maps MORE_PAGES percent more than a row says
 * and leaves the number of pages by which a time is divided as it was.
 */
#include <stdlib.h>

#include "mprotect_perf_map.h"

int __real_mp_map_open(struct mp_map *map, const struct mp_scenario *sc, struct mp_err *err);
int __wrap_mp_map_open(struct mp_map *map, const struct mp_scenario *sc, struct mp_err *err);

int __wrap_mp_map_open(struct mp_map *map, const struct mp_scenario *sc, struct mp_err *err)
{
	/* a mapping points to its row, which has to outlive this call */
	static struct mp_scenario longer;
	const char *more = getenv("MORE_PAGES");
	int ret;

	longer = *sc;
	longer.bytes += longer.bytes / 100 * (more ? strtoul(more, NULL, 10) : 0);
	ret = __real_mp_map_open(map, &longer, err);
	if (!ret)
		map->pages = (sc->bytes & ~(map->page - 1)) / map->page * sc->regions;
	return ret;
}
