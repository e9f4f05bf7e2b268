/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The workloads, as data: list, help, filter, plan and loop walk one table.
 */
#ifndef MPROTECT_PERF_SCENARIO_H
#define MPROTECT_PERF_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>

#include "mprotect_perf_err.h"

enum mp_backing {
	MP_ANON,
	MP_DEVZERO,
	MP_FILE,	/* unlinked, in $TMPDIR or /tmp */
};

enum mp_fill {
	MP_FILL_WRITE,	/* every page is written */
	MP_FILL_READ,	/* written back, then only read: page and entry are clean */
	MP_FILL_NONE,	/* no page is there at all */
};

/* What the pages are parts of. */
enum mp_folio {
	MP_BASE,	/* base pages */
	MP_PMD,		/* huge pages, mapped as such */
	MP_PMD_BY_PTES,	/* huge pages, mapped page by page */
	MP_64K,		/* 64 KiB folios */
	MP_FOLIOS
};

enum mp_touch {
	MP_TOUCH_NONE,
	MP_TOUCH_READ,	/* one byte of every page */
	MP_TOUCH_WRITE,	/* one word of every page, with the value it has */
};

/* Who does it at the same time. */
enum mp_team {
	MP_ALONE,
	MP_THREADS,		/* threads of one mm, each with its own mappings */
	MP_THREADS_SHARED,	/* threads of one mm, each with its part of one mapping */
	MP_PROCESSES,		/* an mm each */
};

/**
 * struct mp_scenario - one workload
 * @name: constant, without sizes
 * @what: one line for -l
 * @origin: whose workload it is, or which published benchmark it stands for
 * @backing: what is mapped
 * @fill: what is done with the pages before the first cycle
 * @folio: what the pages are parts of
 * @team: who does it
 * @shared: MAP_SHARED or MAP_PRIVATE
 * @fresh: a new mapping for every cycle
 * @uffd: not mprotect() but userfaultfd's write protection, by the same
 *	kernel loop
 * @in_place: a restore gives the pages what the touch needs, so that it takes
 *	no fault; not so where writeback may clean a page at any time
 * @regions: how many mappings a task has, each with a gap before and after; or
 *	how many mappings the tasks have parts of
 * @bytes: size of a region, rounded down to pages, but at least one; or else
 * @pages: pages of a region
 * @margin: pages at both ends of a region that are left alone
 * @shut: protection that the protect phase sets; restore sets read and write
 * @touch: what follows the restore
 * @timed: mask of the phases (1 << enum mp_phase) that are timed
 * @tasks: of a variant (mprotect_perf_variant.h): how many at once; in the
 *	table 0
 */
struct mp_scenario {
	const char *name;
	const char *what;
	const char *origin;
	enum mp_backing backing;
	enum mp_fill fill;
	enum mp_folio folio;
	enum mp_team team;
	bool shared;
	bool fresh;
	bool uffd;
	bool in_place;
	unsigned int regions;
	size_t bytes;
	unsigned int pages;
	unsigned int margin;
	int shut;
	enum mp_touch touch;
	unsigned int timed;
	unsigned int tasks;
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
 * mp_scenario_needs() - settings that a row needs
 * @sc: the row
 *
 * Return: a mask for mprotect_perf_settings.h.
 */
unsigned int mp_scenario_needs(const struct mp_scenario *sc);

#endif /* MPROTECT_PERF_SCENARIO_H */
