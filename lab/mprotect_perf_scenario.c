// SPDX-License-Identifier: GPL-2.0
/*
 * The table of workloads. A new workload is a new row.
 *
 * The libMicro rows stand for the benchmarks of these names: a batch of
 * mprotect() calls on /dev/zero, NONE and RW in turn; w: the pages were
 * written before, t: they are read before each NONE. Its figure, usecs/call,
 * is half of protect + restore + touch of a call here. What differs: its calls
 * walk over one mapping, so that VMAs split and merge, and its pages were
 * written by the parent of the process that is timed. Here each call has a
 * mapping of its own; split-restore is the row for VMAs that split.
 */
#include <string.h>
#include <sys/mman.h>

#include "mprotect_perf_scenario.h"
#include "mprotect_perf_record.h"

#define KIB (1UL << 10)
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
		.backing = MP_FILE, .shared = true, .fill = MP_FILL_READ, .in_place = true,
		.regions = 1, .bytes = 4 * MIB,
		.shut = PROT_READ, .touch = MP_TOUCH_READ, .timed = TIMED_ALL,
	}, {
		.name = "file-dirty",
		.what = "4 MiB shared file, dirty; R <-> RW, write-touch",
		.origin = "page-cache folios",
		.backing = MP_FILE, .shared = true,
		.regions = 1, .bytes = 4 * MIB,
		.shut = PROT_READ, .touch = MP_TOUCH_WRITE, .timed = TIMED_ALL,
	}, {
		.name = "thp-pte",
		.what = "64 MiB private huge pages, mapped by PTEs; R <-> RW, write-touch",
		.origin = "Dev Jain's PTE-mapped THP, what the v6.17 batching was made for",
		.folio = MP_PMD_BY_PTES, .in_place = true,
		.regions = 1, .bytes = 64 * MIB,
		.shut = PROT_READ, .touch = MP_TOUCH_WRITE, .timed = TIMED_ALL,
	}, {
		.name = "thp-pmd",
		.what = "64 MiB private huge pages, mapped as such; R <-> RW, write-touch",
		.origin = "the other side of thp-pte",
		.folio = MP_PMD,
		.regions = 1, .bytes = 64 * MIB,
		.shut = PROT_READ, .touch = MP_TOUCH_WRITE, .timed = TIMED_ALL,
	}, {
		.name = "mthp-64k",
		.what = "64 MiB private 64 KiB folios; R <-> RW, write-touch",
		.origin = "Dev Jain's mTHP case",
		.folio = MP_64K, .in_place = true,
		.regions = 1, .bytes = 64 * MIB,
		.shut = PROT_READ, .touch = MP_TOUCH_WRITE, .timed = TIMED_ALL,
	}, {
		.name = "uffd-wp",
		.what = "64 MiB private, dirty; userfaultfd write-protect <-> not, write-touch",
		.origin = "the v6.17 report: 25.7 -> 33.5 ns a page in the same kernel loop",
		.uffd = true,
		.regions = 1, .bytes = 64 * MIB,
		.shut = PROT_READ, .touch = MP_TOUCH_WRITE, .timed = TIMED_ALL,
	}, {
		.name = "threads",
		.what = "threads, 4 MiB private, dirty, for each; R <-> RW, write-touch",
		.origin = "will-it-scale's per_thread_ops, for mprotect()",
		.team = MP_THREADS, .in_place = true,
		.regions = 1, .bytes = 4 * MIB,
		.shut = PROT_READ, .touch = MP_TOUCH_WRITE, .timed = TIMED_ALL,
	}, {
		.name = "threads-shared",
		.what = "threads, 4 MiB for each of one shared mapping; R <-> RW, write-touch",
		.origin = "will-it-scale's per_thread_ops, for mprotect() of one mapping",
		.team = MP_THREADS_SHARED, .shared = true, .in_place = true,
		.regions = 1, .bytes = 4 * MIB,
		.shut = PROT_READ, .touch = MP_TOUCH_WRITE, .timed = TIMED_ALL,
	}, {
		.name = "processes",
		.what = "processes, 4 MiB private, dirty, in each; R <-> RW, write-touch",
		.origin = "will-it-scale's per_process_ops, for mprotect()",
		.team = MP_PROCESSES, .in_place = true,
		.regions = 1, .bytes = 4 * MIB,
		.shut = PROT_READ, .touch = MP_TOUCH_WRITE, .timed = TIMED_ALL,
	}, {
		.name = "libmicro-z8k",
		.what = "256 private /dev/zero mappings of 8 KiB, no page there; NONE <-> RW",
		.origin = "libMicro mprot_z8k",
		.backing = MP_DEVZERO, .fill = MP_FILL_NONE, .in_place = true,
		.regions = 256, .bytes = 8 * KIB,
		.shut = PROT_NONE, .timed = TIMED_PAIR,
	}, {
		.name = "libmicro-z128k",
		.what = "256 private /dev/zero mappings of 128 KiB, no page there; NONE <-> RW",
		.origin = "libMicro mprot_z128k",
		.backing = MP_DEVZERO, .fill = MP_FILL_NONE, .in_place = true,
		.regions = 256, .bytes = 128 * KIB,
		.shut = PROT_NONE, .timed = TIMED_PAIR,
	}, {
		.name = "libmicro-wz8k",
		.what = "256 private /dev/zero mappings of 8 KiB, written; NONE <-> RW",
		.origin = "libMicro mprot_wz8k",
		.backing = MP_DEVZERO, .in_place = true,
		.regions = 256, .bytes = 8 * KIB,
		.shut = PROT_NONE, .timed = TIMED_PAIR,
	}, {
		.name = "libmicro-wz128k",
		.what = "32 private /dev/zero mappings of 128 KiB, written; NONE <-> RW",
		.origin = "libMicro mprot_wz128k",
		.backing = MP_DEVZERO, .in_place = true,
		.regions = 32, .bytes = 128 * KIB,
		.shut = PROT_NONE, .timed = TIMED_PAIR,
	}, {
		.name = "libmicro-twz8k",
		.what = "256 private /dev/zero mappings of 8 KiB, written; NONE <-> RW, read-touch",
		.origin = "libMicro mprot_twz8k",
		.backing = MP_DEVZERO, .in_place = true,
		.regions = 256, .bytes = 8 * KIB,
		.shut = PROT_NONE, .touch = MP_TOUCH_READ, .timed = TIMED_ALL,
	}, {
		.name = "libmicro-tw128k",
		.what = "32 private /dev/zero mappings of 128 KiB, written; NONE <-> RW, read-touch",
		.origin = "libMicro mprot_tw128k",
		.backing = MP_DEVZERO, .in_place = true,
		.regions = 32, .bytes = 128 * KIB,
		.shut = PROT_NONE, .touch = MP_TOUCH_READ, .timed = TIMED_ALL,
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
