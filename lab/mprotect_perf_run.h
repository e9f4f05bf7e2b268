/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A run: several processes of each scenario, interleaved, until the floors
 * have settled or the time is used up.
 */
#ifndef MPROTECT_PERF_RUN_H
#define MPROTECT_PERF_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mprotect_perf_measure.h"
#include "mprotect_perf_stats.h"

struct mp_run_row;

/**
 * struct mp_plan - how a run is made
 * @cpu: to pin to, or -1
 * @seed: of the order of the scenarios
 * @seconds: for all processes together; at least one process of each scenario
 *	runs, however long it takes
 * @warmup_procs: processes of each scenario whose samples are forgotten
 * @procs: measured processes of each scenario; 0: until settled
 * @procs_max: where to stop then, settled or not
 * @warmup: forgotten cycles of a process
 * @cycles: measured cycles of a process; 0: as many as fit into its time
 * @timeout: seconds after which a child hangs
 * @enough: asked of a row that has settled, and again when it has a quarter
 *	more processes: may it stop? NULL: yes
 * @ctx: handed to @enough
 * @progress: told before each process, or NULL
 */
struct mp_plan {
	int cpu;
	uint64_t seed;
	double seconds;
	uint32_t warmup_procs;
	uint32_t procs;
	uint32_t procs_max;
	uint32_t warmup;
	uint32_t cycles;
	unsigned int timeout;
	bool (*enough)(void *ctx, const struct mp_run_row *row);
	void *ctx;
	void (*progress)(const struct mp_scenario *sc, unsigned int procs, double elapsed);
};

/**
 * struct mp_run_row - one scenario of a run
 * @sc: the scenario, or a variant of it
 * @own: where it is kept when it is a variant
 * @report: its thorough checks
 * @missing: why it cannot run here, or no longer, or empty
 * @died: why the process that checked it did not end well, or empty
 * @fault: why its timing is void, or empty: a check failed or a process died
 * @sample: all measured samples, in the order of the processes
 * @n: how many
 * @first: index of the first sample of each process, and @n at the end
 * @floor: of each timed phase, the floors of the processes per page
 * @nprocs: how many processes
 * @settled: have the floors of all timed phases settled?
 * @moving: the first phase whose floor has not
 * @unsure: the plan's @enough has said no, and is asked again with this many
 *	processes
 */
struct mp_run_row {
	const struct mp_scenario *sc;
	struct mp_scenario own;
	struct mp_report report;
	struct mp_err missing;
	struct mp_err died;
	struct mp_err fault;
	struct mp_sample *sample;
	size_t n;
	size_t *first;
	double *floor[MP_PHASES];
	unsigned int nprocs;
	enum mp_settled settled;
	int moving;
	unsigned int unsure;
};

/**
 * mp_run_check() - check a scenario thoroughly in a process of its own
 * @row: its @sc is given; @report, @missing and @died are filled
 * @plan: for its @cpu and @timeout
 */
void mp_run_check(struct mp_run_row *row, const struct mp_plan *plan);

/**
 * mp_run_time() - time the scenarios that have passed their checks
 * @row: the scenarios, after mp_run_check(); samples are added for
 *	mp_run_free()
 * @nrows: how many
 * @plan: how
 */
void mp_run_time(struct mp_run_row *row, unsigned int nrows, const struct mp_plan *plan);

/**
 * mp_run_free() - give the samples of a row back
 * @row: may be called twice
 */
void mp_run_free(struct mp_run_row *row);

/**
 * mp_report_failed() - did a check fail?
 * @rep: the checks
 *
 * Return: the first one that did, or NULL.
 */
const struct mp_finding *mp_report_failed(const struct mp_report *rep);

/**
 * mp_run_groups() - the figures of one phase, per page, process by process
 * @row: the row
 * @phase: a timed phase
 * @group: set to an array of @row->nprocs groups, for free(); their values lie
 *	in the same block
 *
 * Return: 0, or -1 when there are none or no memory.
 */
int mp_run_groups(const struct mp_run_row *row, int phase, struct mp_group **group);

/**
 * mp_run_stats() - statistics of one phase, per page
 * @row: the row
 * @phase: the phase
 * @st: filled
 *
 * Return: 0, or -1 when there are no samples of it or no memory.
 */
int mp_run_stats(const struct mp_run_row *row, int phase, struct mp_stats *st);

/**
 * mp_run_supported() - do enough processes agree on the floor of a phase?
 * @row: the row
 * @phase: a timed phase
 *
 * Return: as mp_stats_support() sees it; false without memory.
 */
bool mp_run_supported(const struct mp_run_row *row, int phase);

#endif /* MPROTECT_PERF_RUN_H */
