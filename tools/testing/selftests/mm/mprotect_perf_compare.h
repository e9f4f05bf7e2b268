/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records in, a verdict per scenario and phase out. Pure: fills structs that
 * somebody else prints.
 *
 * Boots are grouped into kernels, in the order in which kernels first appear.
 * Each kernel is a column, each scenario x phase a row, and between neighbouring
 * columns there is a step. With A/B/A, column A has two boots: its figure is
 * their midpoint, their drift is part of the uncertainty.
 *
 * What it cannot tell: with one boot of each kernel, how much boots of one
 * kernel differ; a cause. A step of a few percent may be the layout of the
 * kernel image.
 */
#ifndef MPROTECT_PERF_COMPARE_H
#define MPROTECT_PERF_COMPARE_H

#include "mprotect_perf_boot.h"

/* What a verdict is made of (the first two), and what used to be published. */
enum mp_figure {
	MP_FLOOR,
	MP_MEDIAN,
	MP_JUDGED,
	MP_MEAN = MP_JUDGED,
	MP_FIGURES
};

/**
 * struct mp_column - one kernel in one row; times are per page, in the unit
 * @boots: how many have this row; with 0 the rest is 0
 * @processes: of all boots
 * @samples: cycles of all boots
 * @unsupported: boots on whose floor too few processes agree
 * @stride: largest of the boots: 1, or one cycle of so many was looked at
 * @figure: mean over the boots. Of a boot: mp_stats_of_groups()'s floor and
 *          median, and the mean of the processes' means
 * @without_first: the same without the first process of each boot; NAN where
 *                 a boot has only one
 * @error: relative standard error within boots, of floor and median
 * @spread: largest less smallest boot, as a part of the figure
 * @drift: last less first boot, as a part of the first; NAN with one boot
 * @squares: squared deviations of the boots' logarithms, of floor and median
 * @cv: standard deviation of all samples, in percent of their mean
 * @count: of each counter, a cycle; NAN when not counted
 */
struct mp_column {
	size_t boots;
	size_t unsupported;
	size_t processes;
	uint64_t samples;
	uint64_t stride;
	double figure[MP_FIGURES];
	double without_first[MP_FIGURES];
	double error[MP_JUDGED];
	double spread[MP_FIGURES];
	double drift[MP_FIGURES];
	double squares[MP_JUDGED];
	double cv;
	double count[MP_COUNTERS];
};

enum mp_verdict {
	MP_OK,
	MP_IMPROVED,
	MP_REGRESSED,
	MP_INCONCLUSIVE,
};

extern const char *const mp_verdict_name[];

/**
 * struct mp_step - from one column to another
 * @delta: change in percent of the former; NAN where that is 0 or absent
 * @without_first: the same without the first process of each boot
 * @interval: where @delta of floor and median may lie, at the level of the
 *            comparison
 * @within: half its width from within boots, of the floor, in percent
 * @between: half its width from between boots, likewise; NAN with one boot each
 * @control: delta of the floor of the touch phase, which mprotect() does not
 *           make; NAN where there is none
 * @control_moved: 1 when the verdict is a change and @control is half of it or
 *                 more: what moved is then not (only) mprotect()
 * @verdict: of the row
 * @why: a line for INCONCLUSIVE; else empty
 */
struct mp_step {
	double delta[MP_FIGURES];
	double without_first[MP_FIGURES];
	struct mp_interval interval[MP_JUDGED];
	double within;
	double between;
	double control;
	int control_moved;
	enum mp_verdict verdict;
	struct mp_err why;
};

/**
 * struct mp_row - one phase of one scenario
 * @scenario: its name
 * @phase: its phase
 * @pages: base pages of a phase
 * @calls: system calls of a phase
 * @column: one for each kernel
 * @step: one for each kernel but the first, from its predecessor
 * @whole: from the first kernel to the last; with two the same as @step
 * @change: the step at which the floor changed most, among those that are
 *          REGRESSED or IMPROVED; -1 when none is
 */
struct mp_row {
	char scenario[MP_NAME_LEN];
	enum mp_phase phase;
	uint64_t pages;
	uint64_t calls;
	struct mp_column *column;
	struct mp_step *step;
	struct mp_step whole;
	int change;
};

/**
 * struct mp_kernel - a column's heading
 * @name: its label, or its release
 * @build: what uname -v says; empty when it was labelled
 * @boots: how many records
 */
struct mp_kernel {
	char name[MP_FACT_LEN + 8];
	char build[MP_FACT_LEN];
	size_t boots;
};

/**
 * struct mp_compare - a comparison; everything in it is its own
 * @boot: the records, in the order in which they were added
 * @of: which kernel each is of
 * @nboots: how many
 * @kernel: the columns
 * @nkernels: how many
 * @row: after mp_compare_judge(): the rows
 * @nrows: how many
 * @judged: verdicts that were given, for the correction
 * @level: confidence of each interval: 1 - 0.05 / @judged
 */
struct mp_compare {
	struct mp_boot **boot;
	size_t *of;
	size_t nboots;
	struct mp_kernel *kernel;
	size_t nkernels;
	struct mp_row *row;
	size_t nrows;
	size_t judged;
	double level;
};

/**
 * mp_compare_add() - take a boot into a comparison
 * @c: all zero before the first
 * @b: belongs to @c from now on, also on failure; NULL fails
 * @label: name of its kernel; NULL to go by release and build
 * @err: filled on failure, but not for a @b of NULL
 *
 * Fails when the boot cannot be compared with the others: another unit, page
 * size, CPU, clock or accelerator, or a scenario of another size.
 *
 * Return: 0 or -1.
 */
int mp_compare_add(struct mp_compare *c, struct mp_boot *b, const char *label,
		   struct mp_err *err);

/**
 * mp_compare_fact() - what the boots say of one thing
 * @c: the comparison
 * @key: of the environment
 * @a: set to the first boot's value, "absent" if it has none
 * @b: set to the first other value
 *
 * For caveats: governor, turbo, smt, mitigations, thp, debug, cmdline may
 * differ, but the reader should know.
 *
 * Return: the boot that differs from the first, or 0 when all agree.
 */
size_t mp_compare_fact(const struct mp_compare *c, const char *key, const char **a,
		       const char **b);

/**
 * mp_compare_judge() - compute all rows
 * @c: at least two boots; @row and what is below are filled
 * @threshold: a change of less percent is OK: 5
 * @seed: of the bootstrap
 * @err: filled on failure
 *
 * The interval of a change is exp(ln(head / base) +- (w + b)) - 1. w is
 * Student's t times the bootstrap's relative standard errors, added as
 * squares, with as many degrees of freedom as there are processes less boots;
 * of counted instructions, where one process is as good as many, as there are
 * cycles less boots, and w is 0 when the two counts are the same.
 * b covers what differs between boots: half the larger spread with 3 or 4
 * boots in all, as a base that changed from one boot to the other was somewhere
 * between them when head ran; with 5 and more a t interval of the boots' pooled
 * deviation, which contains w, so that the larger of the two is taken. The
 * level is corrected for the number of verdicts after Bonferroni (Dunn,
 * "Multiple comparisons among means", JASA 56, 1961): of comparisons of equal
 * kernels, at most one in twenty has any false verdict.
 *
 * REGRESSED or IMPROVED: the whole interval of the floor is beyond the
 * threshold, and that of the median is not wholly on this side of it. OK: the
 * interval of the floor is below the threshold, and that of the median is not
 * wholly above. INCONCLUSIVE: the rest, and too few samples to say.
 *
 * The touch phase is a control: in a unit that can be noisy it is REGRESSED or
 * IMPROVED only when its page faults went the same way, and else INCONCLUSIVE.
 * Where the pages of a run lie moves it by 20 % and more on one kernel.
 *
 * Return: 0 or -1.
 */
int mp_compare_judge(struct mp_compare *c, double threshold, uint64_t seed, struct mp_err *err);

/**
 * mp_compare_free() - forget a comparison
 * @c: all zero afterwards; the struct itself is the caller's
 */
void mp_compare_free(struct mp_compare *c);

/* Between mprotect_perf_compare.c and mprotect_perf_judge.c. */
int mp_judge_column(const struct mp_compare *c, size_t kernel, const struct mp_row *row,
		    uint64_t seed, struct mp_column *col);
void mp_judge_step(const struct mp_compare *c, const struct mp_column *from,
		   const struct mp_column *to, double threshold, struct mp_step *step);
void mp_judge_touch(const struct mp_compare *c, const struct mp_column *from,
		    const struct mp_column *to, struct mp_step *s);
void mp_judge_control(const struct mp_step *touch, struct mp_step *step);

#endif /* MPROTECT_PERF_COMPARE_H */
