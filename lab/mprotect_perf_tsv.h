/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A comparison for programs and spreadsheets: a line per row and kernel, fields
 * between tabs, names in the first line, nothing in a field that is not known.
 *
 *	scenario	its name
 *	phase		populate, protect, restore or touch
 *	unit		of the times: ns or insn
 *	pages		base pages that a phase covers
 *	calls		system calls that a phase makes
 *	tasks		tasks that ran at once
 *	kernel		the label, or the release; "/2" behind it: the second build
 *	boots		records of this kernel that have this row
 *	processes	of all boots
 *	cycles		of all boots
 *	floor		time per page; what verdicts are made of
 *	floor_sd	percent: standard error of the floor within a boot
 *	median		likewise
 *	median_sd
 *	mean		of the processes' means
 *	mean_sd		percent: standard deviation of all samples
 *	faults		page faults a cycle
 *	csw		context switches a cycle
 *	instructions	per page, in kernel and process; so are the next
 *	insn_k		in the kernel
 *	insn_u		in the process
 *	cpu_cycles	in both
 *	cycles_k	in the kernel
 *	cycles_u	in the process
 *	dtlb_misses	loads that missed the data TLB
 *	ops		cycles a second of all tasks together; of instructions, per 1e9
 *	imbalance	rate of the fastest task over that of the slowest
 *	drift		percent: floor of the last boot against the first
 *	change		percent: floor against the kernel before; not of the first
 *	low		percent: where the interval of the change begins
 *	high		percent: and ends
 *	median_change	percent
 *	first_change	percent: without the first process of each boot
 *	touch_change	percent: of the control
 *	verdict		on this change: OK, IMPROVED, REGRESSED, INCONCLUSIVE
 *	row_verdict	from the first kernel to the last, on every line of a row
 *
 * New columns may come between these; find them by their names.
 */
#ifndef MPROTECT_PERF_TSV_H
#define MPROTECT_PERF_TSV_H

#include <stdio.h>

#include "mprotect_perf_compare.h"

/**
 * mp_tsv_write() - write a comparison
 * @f: to write to
 * @c: judged
 */
void mp_tsv_write(FILE *f, const struct mp_compare *c);

#endif /* MPROTECT_PERF_TSV_H */
