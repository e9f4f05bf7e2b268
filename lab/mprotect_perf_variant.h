/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A row in several sizes, or with several numbers of tasks.
 */
#ifndef MPROTECT_PERF_VARIANT_H
#define MPROTECT_PERF_VARIANT_H

#include "mprotect_perf_scenario.h"

#define MP_SIZES_MAX 64
#define MP_COUNTS_MAX 16
#define MP_VARIANTS_MAX (MP_SIZES_MAX * MP_COUNTS_MAX)

/**
 * struct mp_choice - which variants were asked for
 * @size: bytes that one call protects, ascending
 * @nsizes: how many; 0: the row's own size
 * @tasks: numbers of tasks, for rows that have more than one
 * @ncounts: how many; 0: 1, 2, 4 and so on up to the CPUs
 */
struct mp_choice {
	size_t size[MP_SIZES_MAX];
	unsigned int nsizes;
	unsigned int tasks[MP_COUNTS_MAX];
	unsigned int ncounts;
};

/**
 * mp_choice_sweep() - take the sizes of --sweep
 * @c: its sizes are filled
 * @text: MIN..MAX[xSTEP]: sizes in bytes, or with k, m, g behind them; each is
 *	STEP times the one before (default 2), and MAX is the last
 * @err: filled on failure
 *
 * Return: 0, or -1.
 */
int mp_choice_sweep(struct mp_choice *c, const char *text, struct mp_err *err);

/**
 * mp_choice_tasks() - take the numbers of --tasks
 * @c: its numbers are filled
 * @text: N,...
 * @err: filled on failure
 *
 * Return: 0, or -1.
 */
int mp_choice_tasks(struct mp_choice *c, const char *text, struct mp_err *err);

/**
 * mp_variants() - the variants of a row
 * @sc: the row
 * @c: what was asked for
 * @v: filled; has room for MP_VARIANTS_MAX
 *
 * A size that takes less than 64 pages comes as several mappings of it, so
 * that the clock has something to measure.
 *
 * Return: how many; at least 1.
 */
unsigned int mp_variants(const struct mp_scenario *sc, const struct mp_choice *c,
			 struct mp_scenario *v);

/**
 * mp_variant_name() - what is special about a variant
 * @v: the variant
 * @text: filled with "4 KiB", "2 tasks", or both
 * @size: its room
 *
 * Return: @text.
 */
const char *mp_variant_name(const struct mp_scenario *v, char *text, size_t size);

#endif /* MPROTECT_PERF_VARIANT_H */
