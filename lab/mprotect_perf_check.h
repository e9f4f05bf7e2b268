/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What must hold for a row, and is looked at before, between and after.
 */
#ifndef MPROTECT_PERF_CHECK_H
#define MPROTECT_PERF_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "mprotect_perf_err.h"
#include "mprotect_perf_record.h"
#include "mprotect_perf_map.h"

enum mp_check {
	MP_CHECK_RETURN,	/* mprotect() returns 0 and leaves errno alone */
	MP_CHECK_ACCESS,	/* what is allowed works, what is not gets its signal */
	MP_CHECK_CONTENT,	/* every page keeps its own content */
	MP_CHECK_VMA,		/* maps: one VMA where one is due, right permissions */
	MP_CHECK_STATE,		/* smaps: pages as the row has them, all in memory */
	MP_CHECK_PAGEMAP,	/* every page present, shared or not, mapped once */
	MP_CHECK_KPAGEFLAGS,	/* every page frame is part of a folio of the row's size */
	MP_CHECK_FAULTS,	/* no fault where none is due */
	MP_CHECKS
};

extern const char *const mp_check_name[MP_CHECKS];

enum mp_outcome {
	MP_UNSEEN,	/* nothing was established, as when the child died */
	MP_PASS,
	MP_SKIP,	/* could not look */
	MP_FAIL,
};

/**
 * struct mp_finding - what came of one check over all phases
 * @outcome: the worst that was seen
 * @text: why, for a SKIP or a FAIL: the first reason is kept
 */
struct mp_finding {
	enum mp_outcome outcome;
	struct mp_err text;
};

/**
 * mp_finding_set() - add an outcome to a finding
 * @v: only ever gets worse
 * @outcome: what was seen
 * @fmt: why, for SKIP and FAIL; may be NULL
 */
void mp_finding_set(struct mp_finding *v, enum mp_outcome outcome, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * struct mp_report - all checks of one row
 * @v: a finding for each check
 * @faults: page faults of each phase of the last checked cycle
 * @missing: the large folios that the row is about were not to be had, and
 *	nothing was checked; or empty
 */
struct mp_report {
	struct mp_finding v[MP_CHECKS];
	uint64_t faults[MP_PHASES];
	struct mp_err missing;
};

/**
 * mp_report_merge() - add the findings of another task on the same row
 * @to: only ever gets worse
 * @from: the other
 */
void mp_report_merge(struct mp_report *to, const struct mp_report *from);

/**
 * struct mp_eyes - what this process may look at
 * @pagemap: /proc/self/pagemap, or -1
 * @kpageflags: /proc/kpageflags, or -1
 * @no_pagemap: why not
 * @no_kpageflags: why not
 */
struct mp_eyes {
	int pagemap;
	int kpageflags;
	struct mp_err no_pagemap;
	struct mp_err no_kpageflags;
};

/**
 * mp_eyes_open() - open what may be looked at, then give up all capabilities
 * @eyes: filled
 *
 * libcap says whether CAP_SYS_ADMIN is there. The descriptors keep the right
 * that they were opened with; nothing after this needs any.
 */
void mp_eyes_open(struct mp_eyes *eyes);

/**
 * mp_eyes_close() - close them
 * @eyes: may be called twice
 */
void mp_eyes_close(struct mp_eyes *eyes);

/**
 * mp_check_state() - VMA, smaps, pagemap and kpageflags of a mapped row
 * @map: populated
 * @eyes: what may be looked at
 * @prot: the protection that must be in force
 * @phase: only named in the reasons
 * @rep: the four findings are added to
 */
void mp_check_state(const struct mp_map *map, const struct mp_eyes *eyes, int prot,
		    enum mp_phase phase, struct mp_report *rep);

/**
 * mp_check_access() - access and content of every page
 * @map: populated
 * @prot: the protection that must be in force
 * @phase: only named in the reasons
 * @rep: the two findings are added to
 */
void mp_check_access(const struct mp_map *map, int prot, enum mp_phase phase,
		     struct mp_report *rep);

/**
 * mp_check_folios() - did the kernel give the large folios that a row asks for?
 * @map: populated, not yet settled
 * @eyes: what may be looked at
 * @given: 64 KiB folios that it gave meanwhile by its own count; SIZE_MAX when
 *	it does not count
 * @faults: that populating took
 * @why: filled when not, or when that cannot be seen
 *
 * Return: true when it did.
 */
bool mp_check_folios(const struct mp_map *map, const struct mp_eyes *eyes, size_t given,
		     uint64_t faults, struct mp_err *why);

/**
 * mp_check_populate() - populate a row, and see whether it got its folios
 * @map: opened
 * @eyes: what may be looked at
 * @rep: @missing is filled when it did not
 * @err: filled on failure
 *
 * Return: 0, or -1.
 */
int mp_check_populate(struct mp_map *map, const struct mp_eyes *eyes, struct mp_report *rep,
		      struct mp_err *err);

/**
 * mp_check_cycle() - one whole cycle with every check in every phase
 * @map: opened; populated anew here
 * @eyes: what may be looked at
 * @rep: the findings are added to; after a call that failed, those that were
 *	not reached stay MP_UNSEEN
 * @now: told which phase is running
 * @err: filled when the row could not be populated
 *
 * Return: 0, or -1 when the row could not be populated.
 */
int mp_check_cycle(struct mp_map *map, const struct mp_eyes *eyes, struct mp_report *rep,
		   volatile int *now, struct mp_err *err);

/**
 * mp_check_still() - a quick look between measurements: state and content
 * @map: populated
 * @eyes: what may be looked at
 * @prot: the protection that must be in force
 * @phase: only named in the reasons
 * @rep: the findings are added to
 */
void mp_check_still(const struct mp_map *map, const struct mp_eyes *eyes, int prot,
		    enum mp_phase phase, struct mp_report *rep);

#endif /* MPROTECT_PERF_CHECK_H */
