/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What several variants of a scenario say together: cost against size, and
 * operations against tasks. Diagnostics: no verdict is made of them.
 */
#ifndef MPROTECT_PERF_CURVE_H
#define MPROTECT_PERF_CURVE_H

#include <stdio.h>

#include "mprotect_perf_compare.h"
#include "mprotect_perf_fit.h"

/* Rows that are one curve: of one size each, or of one number of tasks each. */
#define MP_BY_SIZE (MP_SAME_PHASE | MP_SAME_TASKS)
#define MP_BY_TASKS (MP_SAME_PHASE | MP_SAME_SIZE)

/* enough for size or tasks behind the name of any row */
#define MP_CURVE_NAME_LEN (MP_NAME_LEN + MP_SIZE_LEN + 24)

/**
 * mp_curve_sizes() - is this row the first of several sizes
 * @c: judged
 * @row: the row
 *
 * Return: how many sizes, if two or more; else 0.
 */
size_t mp_curve_sizes(const struct mp_compare *c, const struct mp_row *row);

/**
 * mp_curve_tasks() - is this row the first of several numbers of tasks
 * @c: judged
 * @row: the row
 *
 * All phases of a row have one rate: only rows of its first phase count.
 *
 * Return: how many numbers of tasks, if two or more; else 0.
 */
size_t mp_curve_tasks(const struct mp_compare *c, const struct mp_row *row);

/**
 * mp_curve_name() - what a curve is called
 * @row: any of its rows
 * @what: MP_BY_SIZE or MP_BY_TASKS
 * @name: for SCENARIO*TASKS.PHASE, or SCENARIO@SIZE
 *
 * Return: @name.
 */
const char *mp_curve_name(const struct mp_row *row, unsigned int what,
			  char name[MP_CURVE_NAME_LEN]);

/**
 * mp_curve_point() - cost of a call of one size
 * @row: the row
 * @kernel: the column
 *
 * Return: the point; its cost is NAN when the column does not have it.
 */
struct mp_point mp_curve_point(const struct mp_row *row, size_t kernel);

/**
 * mp_curve_fit() - the line through the sizes that a kernel has
 * @c: judged
 * @row: the first of the curve
 * @kernel: the column
 * @fit: filled
 *
 * Return: 0, or -1 as mp_fit_line(), or without memory.
 */
int mp_curve_fit(const struct mp_compare *c, const struct mp_row *row, size_t kernel,
		 struct mp_fit *fit);

/**
 * mp_curve_fits() - the table of the lines
 * @f: to write to; nothing where no scenario has several sizes
 * @c: judged
 */
void mp_curve_fits(FILE *f, const struct mp_compare *c);

/**
 * mp_curve_scaling() - the table of operations per second
 * @f: to write to; nothing where no scenario has several numbers of tasks
 * @c: judged
 */
void mp_curve_scaling(FILE *f, const struct mp_compare *c);

#endif /* MPROTECT_PERF_CURVE_H */
