/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rows of a run: those of one scenario, its variants, stand together and
 * are one group of tests.
 */
#ifndef MPROTECT_PERF_GROUP_H
#define MPROTECT_PERF_GROUP_H

#include "mprotect_perf_opts.h"
#include "mprotect_perf_run.h"

/**
 * mp_group_rows() - the rows that a command line asks for
 * @o: the command line
 * @row: set to an array for mp_group_free()
 * @n: set to how many
 * @err: filled on failure
 *
 * Return: 0, or -1 without memory.
 */
int mp_group_rows(const struct mp_opts *o, struct mp_run_row **row, unsigned int *n,
		  struct mp_err *err);

/**
 * mp_group_free() - give rows and samples back
 * @row: from mp_group_rows(), or NULL
 * @n: how many
 */
void mp_group_free(struct mp_run_row *row, unsigned int n);

/**
 * mp_group_procs_max() - how many processes of each row a record can hold
 * @row: the rows of a run
 * @n: how many
 *
 * Return: how many; one at least.
 */
unsigned int mp_group_procs_max(const struct mp_run_row *row, unsigned int n);

/**
 * mp_group_size() - how many rows are of one scenario
 * @row: its first row
 * @n: rows from there to the end
 *
 * Return: how many.
 */
unsigned int mp_group_size(const struct mp_run_row *row, unsigned int n);

/**
 * mp_group_checks() - what the checks of all variants say together
 * @row: the rows of one scenario, after mp_run_check()
 * @n: how many
 * @whole: filled: the worst of each check, and which variant it is of; what is
 *	missing only if it is missing everywhere
 */
void mp_group_checks(const struct mp_run_row *row, unsigned int n, struct mp_run_row *whole);

/**
 * mp_group_prefix() - which variant a row is, to stand before a reason
 * @row: the row
 * @n: how many rows its group has
 * @text: filled with "4 KiB: ", or nothing when the group has only one row
 * @size: its room
 *
 * Return: @text.
 */
const char *mp_group_prefix(const struct mp_run_row *row, unsigned int n, char *text,
			    size_t size);

#endif /* MPROTECT_PERF_GROUP_H */
