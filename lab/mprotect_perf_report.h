/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a run has to say, as text for people.
 */
#ifndef MPROTECT_PERF_REPORT_H
#define MPROTECT_PERF_REPORT_H

#include "mprotect_perf_fit.h"
#include "mprotect_perf_gate.h"
#include "mprotect_perf_opts.h"

/**
 * mp_report_table() - the figures of a row, phase by phase
 * @row: after mp_run_time()
 * @facts: the environment, for the clock
 * @o: for the unit
 *
 * Return: lines, for free(); NULL without memory or samples.
 */
char *mp_report_table(const struct mp_run_row *row, const struct mp_boot *facts,
		      const struct mp_opts *o);

/**
 * mp_report_curve() - the figures of a scenario in several variants
 * @row: its rows, after mp_run_time()
 * @n: how many
 * @o: for the unit, and whether sizes were asked for
 *
 * Return: lines, for free(); NULL without memory.
 */
char *mp_report_curve(const struct mp_run_row *row, unsigned int n, const struct mp_opts *o);

/**
 * mp_report_fit() - what a call costs beside its pages
 * @row: the rows of a scenario in several sizes
 * @n: how many
 * @tasks: only those with so many tasks
 * @phase: a phase
 * @fit: filled
 *
 * Return: 0, or -1 when no line can be laid through them.
 */
int mp_report_fit(const struct mp_run_row *row, unsigned int n, unsigned int tasks, int phase,
		  struct mp_fit *fit);

/**
 * mp_report_published() - the figure that the author of a protocol gives
 * @row: after mp_run_time(), with samples
 * @o: its protocol, and the unit
 *
 * Return: lines, for free(); NULL without memory.
 */
char *mp_report_published(const struct mp_run_row *row, const struct mp_opts *o);

#endif /* MPROTECT_PERF_REPORT_H */
