/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a run has to say, as text for people.
 */
#ifndef MPROTECT_PERF_REPORT_H
#define MPROTECT_PERF_REPORT_H

#include "mprotect_perf_gate.h"
#include "mprotect_perf_opts.h"

/**
 * mp_report_table() - the figures of a row, phase by phase
 * @row: after mp_run_time()
 * @facts: the environment, for the clock
 * @o: for the unit, and for the protocol that they are to be shown by
 *
 * Return: lines, for free(); NULL without memory or samples.
 */
char *mp_report_table(const struct mp_run_row *row, const struct mp_boot *facts,
		      const struct mp_opts *o);

#endif /* MPROTECT_PERF_REPORT_H */
