/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The verdict of a run that is still in memory: against a limit, against a
 * record, or both.
 */
#ifndef MPROTECT_PERF_GATE_H
#define MPROTECT_PERF_GATE_H

#include <stdbool.h>

#include "mprotect_perf_compare.h"
#include "mprotect_perf_run.h"

/**
 * struct mp_gate - what a run is held against
 * @baseline: a record, or NULL
 * @threshold: percent of it
 * @max: limit of each phase per page, in the unit of the run; 0: none
 * @seed: of the bootstrap
 * @facts: a boot without samples: the environment of this run
 */
struct mp_gate {
	const char *baseline;
	double threshold;
	double max[MP_PHASES];
	uint64_t seed;
	const struct mp_boot *facts;
};

/**
 * struct mp_ruling - what came of one phase
 * @verdict: the worse of limit and baseline
 * @final: it is a verdict, or INCONCLUSIVE for a reason that no samples can mend
 * @text: why: the figures that it rests on
 */
struct mp_ruling {
	enum mp_verdict verdict;
	bool final;
	struct mp_err text;
};

/**
 * mp_gate_check() - can this machine be compared with the baseline?
 * @g: the gate
 * @err: filled when not: which fact differs
 *
 * Return: 0, or -1.
 */
int mp_gate_check(const struct mp_gate *g, struct mp_err *err);

/**
 * mp_gate_judge() - judge a row
 * @g: the gate
 * @row: with at least one measured process, all samples of one variant; it is
 *	held against the same variant of the baseline
 * @ruling: filled for each timed phase that has a limit or a baseline
 * @has: mask of the phases that were filled
 * @err: filled on failure: the baseline has the scenario only in other variants,
 *	or cannot be read
 *
 * Return: 0, or -1.
 */
int mp_gate_judge(const struct mp_gate *g, const struct mp_run_row *row,
		  struct mp_ruling ruling[MP_PHASES], unsigned int *has, struct mp_err *err);

/**
 * mp_gate_clock_steps() - how long a phase is, in steps of the clock
 * @facts: the environment
 * @row: the row
 * @phase: a phase
 *
 * Return: the floor of the phase in clock steps; INFINITY when the clock
 * counts instructions, or was not looked at.
 */
double mp_gate_clock_steps(const struct mp_boot *facts, const struct mp_run_row *row, int phase);

/**
 * mp_gate_only_warns() - is a verdict of this machine no reason to fail?
 * @facts: the environment
 *
 * True in a virtual machine, on a debug kernel and with a clock that steps by
 * a microsecond or more; but not when the clock counts instructions.
 *
 * Return: the reason, or NULL when a verdict stands.
 */
const char *mp_gate_only_warns(const struct mp_boot *facts);

#endif /* MPROTECT_PERF_GATE_H */
