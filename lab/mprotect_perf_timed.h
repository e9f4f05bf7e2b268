/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What came of timing a scenario: of one row, or of several variants together.
 */
#ifndef MPROTECT_PERF_TIMED_H
#define MPROTECT_PERF_TIMED_H

#include "mprotect_perf_gate.h"
#include "mprotect_perf_run.h"

/**
 * struct mp_timed - a scenario that was timed
 * @row: its rows, one for each variant
 * @n: how many
 * @ruling: after mp_timed_judge(): of each row, for each phase
 * @has: likewise: mask of the phases that were judged
 * @why: why there is no verdict on a row that was to have one, or empty
 */
struct mp_timed {
	const struct mp_run_row *row;
	unsigned int n;
	struct mp_ruling (*ruling)[MP_PHASES];
	unsigned int *has;
	struct mp_err why;
};

/**
 * mp_timed_judge() - judge every row that has samples
 * @t: its @row and @n are given; mp_timed_free() frees what is filled
 * @g: the limits
 *
 * Rows that can be judged are, even if others cannot; @t->why is filled then.
 */
void mp_timed_judge(struct mp_timed *t, const struct mp_gate *g);

/**
 * mp_timed_free() - forget the rulings
 * @t: may be called twice
 */
void mp_timed_free(struct mp_timed *t);

/**
 * mp_timed_worst() - the verdict of a scenario is that of its worst variant
 * @t: after mp_timed_judge()
 * @phase: a phase
 *
 * Return: the ruling, which says which variant it is of; NULL when none was
 * judged.
 */
const struct mp_ruling *mp_timed_worst(const struct mp_timed *t, int phase);

/**
 * mp_timed_fault() - why the timing of a scenario is void
 * @t: the rows
 *
 * Return: the reason, or an empty one.
 */
struct mp_err mp_timed_fault(const struct mp_timed *t);

/**
 * mp_timed_figures() - a phase in one line
 * @t: the rows
 * @phase: the phase
 * @unit: of the clock
 * @text: filled with key=value pairs
 * @size: its room
 *
 * Of several variants, the floors of the first and the last, and of several
 * sizes what a call costs beside its pages.
 *
 * Return: 0, or -1 when it was not timed.
 */
int mp_timed_figures(const struct mp_timed *t, int phase, const char *unit, char *text,
		     size_t size);

#endif /* MPROTECT_PERF_TIMED_H */
