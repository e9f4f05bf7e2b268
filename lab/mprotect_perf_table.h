/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A comparison as text tables, for people: what stands in the columns, and how
 * they differ. Lines without "# " in front, to a stream of the caller's.
 */
#ifndef MPROTECT_PERF_TABLE_H
#define MPROTECT_PERF_TABLE_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "mprotect_perf_compare.h"

/* enough for size, tasks and phase behind the name of any scenario */
#define MP_ROW_NAME_LEN (MP_NAME_LEN + MP_SIZE_LEN + 24)

/**
 * struct mp_metric - a figure of struct mp_column that is shown
 * @name: what it is called behind ROW.PHASE, and in the TSV
 * @value: where it is in the column
 * @plus: where what is to be added to it is; 0: nothing
 * @error: where its standard deviation is, as a part of it; 0: none
 * @percent: what makes percent of @error
 * @counter: it is no time: @value is a count for a cycle, shown when it is seen
 *	to change, and @error is 0
 * @per_page: shown divided by the row's pages
 * @detail: shown only when everything is
 * @explains: a change of it, or none, says something of a change in time
 */
struct mp_metric {
	const char *name;
	size_t value;
	size_t plus;
	size_t error;
	double percent;
	bool counter;
	bool per_page;
	bool detail;
	bool explains;
};

extern const struct mp_metric mp_metrics[];
extern const size_t mp_nr_metrics;

/**
 * mp_metric_value() - one figure
 * @m: which
 * @row: of this row
 * @kernel: and this column
 *
 * Return: the figure, or NAN when the column does not have it.
 */
double mp_metric_value(const struct mp_metric *m, const struct mp_row *row, size_t kernel);

/**
 * mp_metric_error() - its standard deviation
 * @m: which
 * @row: of this row
 * @kernel: and this column
 *
 * Return: percent of the figure; NAN when it has none.
 */
double mp_metric_error(const struct mp_metric *m, const struct mp_row *row, size_t kernel);

/**
 * mp_table_change() - how many percent
 * @from: the former figure
 * @to: the latter
 *
 * Return: percent of @from; NAN when that is 0, or either is NAN.
 */
static inline double mp_table_change(double from, double to)
{
	return from > 0 ? 100 * (to / from - 1) : NAN;
}

/**
 * mp_table_number() - a figure in as many digits as are worth reading
 * @buf: for the text
 * @size: its room
 * @v: the figure; NAN is "-"
 *
 * Return: @buf.
 */
const char *mp_table_number(char *buf, size_t size, double v);

/**
 * mp_table_clean() - text from a record, made harmless
 * @s: changed in place: what is not printable ASCII becomes '?'
 *
 * Return: @s.
 */
char *mp_table_clean(char *s);

/**
 * mp_table_unit() - what a time is counted in
 * @c: the comparison
 *
 * Return: "ns", "insn" or what the records say.
 */
const char *mp_table_unit(const struct mp_compare *c);

/**
 * mp_table_row_name() - what a row is called
 * @row: the row
 * @buf: for SCENARIO.PHASE, or SCENARIO@SIZE*TASKS.PHASE of one of several
 *
 * Return: @buf.
 */
const char *mp_table_row_name(const struct mp_row *row, char buf[MP_ROW_NAME_LEN]);

/**
 * mp_table_kernels() - which kernels there are, and which records are of which
 * @f: to write to
 * @c: judged
 */
void mp_table_kernels(FILE *f, const struct mp_compare *c);

/**
 * mp_table_figures() - the columns
 * @f: to write to
 * @c: judged
 * @all: also counters that did not change
 *
 * In the form that the kernel test robot made familiar: base, %stddev, %change,
 * head, %stddev, metric; with more kernels each changes from its neighbour.
 */
void mp_table_figures(FILE *f, const struct mp_compare *c, bool all);

/**
 * mp_table_changes() - the changes, and what they rest on
 * @f: to write to
 * @c: judged
 */
void mp_table_changes(FILE *f, const struct mp_compare *c);

#endif /* MPROTECT_PERF_TABLE_H */
