/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records in, a verdict per scenario and phase out. Pure: fills structs that
 * somebody else prints.
 *
 * Boots are grouped into kernels, in the order in which kernels first appear.
 * Each kernel is a column, each variant of a scenario x phase a row, and between
 * neighbouring columns there is a step. With A/B/A, column A has two boots: its
 * figure is their midpoint, their drift is part of the uncertainty. The rows of
 * one scenario and phase, of all sizes and numbers of tasks, are one test, which
 * has the verdict of the worst of them.
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
 * @steps: of the clock in a phase, fewest of the boots; INFINITY where the clock
 *         counts instructions, or the record does not tell
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
 * @rate: operations of all phases together, mean over processes and then boots;
 *        NAN when a boot does not tell
 * @count: of each counter, a cycle; NAN when not counted
 */
struct mp_column {
	size_t boots;
	size_t unsupported;
	double steps;
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
	struct mp_rate rate;
	double count[MP_COUNTERS];
};

/* A phase of fewer steps of the clock has no figure that is worth a verdict. */
#define MP_LEAST_STEPS 100

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
 *            comparison; NAN where that would be a factor of 10 either way
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

/* enough for a size and the calls that it comes in */
#define MP_SIZE_LEN 40

/**
 * struct mp_row - one phase of one variant of a scenario
 * @scenario: its name
 * @phase: its phase
 * @pages: base pages of a phase
 * @calls: system calls of a phase
 * @tasks: tasks that ran at once
 * @size: of a call, as "64KiB", where the scenario has several; else empty
 * @scale: @tasks where the scenario has several numbers of them; else 0
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
	uint32_t tasks;
	char size[MP_SIZE_LEN];
	uint32_t scale;
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
 * @common: rows that a kernel has not are counted, and not looked into; the
 *          caller's to set
 * @row: after mp_compare_judge(): the rows, those of a scenario together, in the
 *       order of tasks, sizes and phases
 * @nrows: how many
 * @test: the worst row of each scenario and phase, in the order in which they
 *        first appear: REGRESSED before INCONCLUSIVE, OK and IMPROVED, and of
 *        one verdict the largest rise of the floor
 * @ntests: how many
 * @judged: verdicts that were given, for the correction
 * @level: confidence of each interval: 1 - 0.05 / @judged
 */
struct mp_compare {
	struct mp_boot **boot;
	size_t *of;
	size_t nboots;
	struct mp_kernel *kernel;
	size_t nkernels;
	int common;
	struct mp_row *row;
	size_t nrows;
	size_t *test;
	size_t ntests;
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
 * size, CPU, clock or accelerator, or a scenario of which the two have no variant
 * in common.
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
 * mp_compare_workload() - what a boot has of a row
 * @c: the comparison
 * @boot: which boot
 * @row: of this variant
 *
 * Return: the variant, or NULL.
 */
const struct mp_workload *mp_compare_workload(const struct mp_compare *c, size_t boot,
					      const struct mp_row *row);

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
 * wholly above. INCONCLUSIVE: the rest, too few samples to say, a phase of less
 * than MP_LEAST_STEPS steps of the clock, and an interval that reaches further
 * than a factor of 10 either way, which says nothing.
 *
 * The touch phase is a control: in a unit that can be noisy it is REGRESSED or
 * IMPROVED only when its page faults went the same way, and else INCONCLUSIVE.
 * Where the pages of a run lie moves it by 20 % and more on one kernel.
 *
 * Return: 0 or -1.
 */
int mp_compare_judge(struct mp_compare *c, double threshold, uint64_t seed, struct mp_err *err);

/**
 * mp_compare_look() - compute the columns of one kernel, and compare nothing
 * @c: with one boot; its rows have no steps then
 * @seed: of the bootstrap
 * @err: filled on failure
 *
 * Return: 0 or -1.
 */
int mp_compare_look(struct mp_compare *c, uint64_t seed, struct mp_err *err);

/**
 * mp_compare_free() - forget a comparison
 * @c: all zero afterwards; the struct itself is the caller's
 */
void mp_compare_free(struct mp_compare *c);

/* What two rows of one scenario may have in common. */
#define MP_SAME_PHASE 1u
#define MP_SAME_SIZE 2u
#define MP_SAME_TASKS 4u

/**
 * mp_row_like() - are two rows alike
 * @a: a row
 * @b: another, or the same
 * @what: MP_SAME_... that they must have in common beside the scenario
 *
 * Return: 1 or 0.
 */
int mp_row_like(const struct mp_row *a, const struct mp_row *b, unsigned int what);

/**
 * mp_row_next() - the next row that is like this one
 * @c: the comparison
 * @row: the row
 * @what: as above
 *
 * Return: the row, or NULL.
 */
const struct mp_row *mp_row_next(const struct mp_compare *c, const struct mp_row *row,
				 unsigned int what);

/**
 * mp_row_count() - how many rows are alike
 * @c: the comparison
 * @row: the first of them
 * @what: as above
 *
 * Return: how many, or 0 when @row is not the first.
 */
size_t mp_row_count(const struct mp_compare *c, const struct mp_row *row, unsigned int what);

/**
 * mp_verdict_weight() - how bad is a verdict
 * @v: the verdict
 *
 * Return: more for the worse: IMPROVED, OK, INCONCLUSIVE, REGRESSED.
 */
int mp_verdict_weight(enum mp_verdict v);

/* enough for mp_interval_text() */
#define MP_INTERVAL_LEN 48

/**
 * mp_interval_text() - an interval in words
 * @in: percent; may be NAN
 * @digits: behind the point
 * @text: filled
 *
 * Return: @text: " (+1.2 to +3.4)", or nothing when it is not known.
 */
const char *mp_interval_text(const struct mp_interval *in, int digits,
			     char text[MP_INTERVAL_LEN]);

/* Between the files of a comparison. */
int mp_rows_add(struct mp_compare *c);
int mp_rows_test(struct mp_compare *c);
int mp_judge_column(const struct mp_compare *c, size_t kernel, const struct mp_row *row,
		    uint64_t seed, struct mp_column *col);
void mp_judge_step(const struct mp_compare *c, const struct mp_column *from,
		   const struct mp_column *to, double threshold, struct mp_step *step);
void mp_judge_touch(const struct mp_compare *c, const struct mp_column *from,
		    const struct mp_column *to, struct mp_step *s);
void mp_judge_control(const struct mp_step *touch, struct mp_step *step);

#endif /* MPROTECT_PERF_COMPARE_H */
