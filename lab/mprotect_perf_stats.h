/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arithmetic on samples; no input, no output, no clock.
 *
 * A shared machine only ever adds time: interrupts, a neighbour in the cache,
 * a stolen cycle. The mean of such samples says how busy the machine was. The
 * floor, an estimate of their dense low edge, says what the code costs.
 */
#ifndef MPROTECT_PERF_STATS_H
#define MPROTECT_PERF_STATS_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct mp_stats - a set of samples in a few figures, all in the samples' unit
 * @n: how many
 * @floor: robust low estimate, see mp_stats_floor()
 * @median: 50th percentile
 * @mean: arithmetic mean
 * @sd: sample standard deviation (n - 1); 0 when n is 1
 * @cv: sd / mean in percent; 0 when the mean is 0
 * @p99: 99th percentile
 * @min: smallest
 * @max: largest
 */
struct mp_stats {
	size_t n;
	double floor;
	double median;
	double mean;
	double sd;
	double cv;
	double p99;
	double min;
	double max;
};

/**
 * mp_stats_sort() - sort samples in place, ascending
 * @v: the samples; NaNs come to lie at the end
 * @n: how many
 */
void mp_stats_sort(double *v, size_t n);

/**
 * mp_stats_quantile() - quantile of sorted samples
 * @v: ascending
 * @n: how many, at least 1
 * @q: 0 to 1
 *
 * Linear interpolation between order statistics, type 7 of Hyndman and Fan,
 * "Sample Quantiles in Statistical Packages", The American Statistician 50
 * (1996): what R, NumPy and Octave's "method 7" give.
 *
 * Return: the quantile.
 */
double mp_stats_quantile(const double *v, size_t n, double q);

/**
 * mp_stats_floor() - robust estimate of the low edge of sorted samples
 * @v: ascending, of one process
 * @n: how many, at least 1
 *
 * Look at windows of k consecutive samples, k being 5 % of them and at least
 * 3. The floor is the median of the lowest window that is no wider than 1 %,
 * but of one that begins among the lowest k + 1; if none of those is so dense, of
 * the narrowest of them. That is Venter's estimate of a mode ("On estimation
 * of the mode", Annals of Mathematical Statistics 38, 1967) confined to the
 * low end. Fewer than k freak samples cannot make a dense window, and noise
 * that spares one sample in ten does not reach it. Of 3 samples or fewer it is
 * the median.
 *
 * Return: the floor.
 */
double mp_stats_floor(const double *v, size_t n);

/**
 * mp_stats_of() - all the figures of a set of samples
 * @v: sorted in place
 * @n: how many; with 0 every figure is 0
 *
 * A NaN among the samples makes every figure NaN: it is not dropped silently.
 *
 * Return: the figures.
 */
struct mp_stats mp_stats_of(double *v, size_t n);

/**
 * struct mp_group - the samples of one process
 * @v: in the order in which they were taken
 * @n: how many, at least 1
 */
struct mp_group {
	const double *v;
	size_t n;
};

/**
 * mp_stats_run_floor() - the floor of a run from those of its processes
 * @floors: of its processes; sorted in place
 * @n: how many, at least 1
 *
 * A process may be slow from beginning to end because of a neighbour, and now
 * and then one is fast because its pages happen to lie well. The floor of the
 * run is the one that a fifth of the processes stay below, element (n - 1) / 5
 * of the sorted floors: one process in five must have been left alone, and from
 * 6 processes on a lucky one is passed over. It is not interpolated, so that it
 * always is what some process had.
 *
 * Return: the floor.
 */
double mp_stats_run_floor(double *floors, size_t n);

/**
 * mp_stats_of_groups() - all the figures of a run
 * @g: its processes
 * @ngroups: how many; with 0 every figure is 0
 * @out: @floor is mp_stats_run_floor(); the other
 *       figures are those of all samples together
 *
 * Return: 0, or -1 without memory.
 */
int mp_stats_of_groups(const struct mp_group *g, size_t ngroups, struct mp_stats *out);

/**
 * enum mp_settled - may a run stop
 * @MP_SETTLED: yes
 * @MP_TOO_FEW: not enough processes
 * @MP_UNSUPPORTED: too few processes agree on the floor
 * @MP_MOVING: the floor still moved with the last processes
 * @MP_DRIFTING: the later half of the processes has another floor
 */
enum mp_settled {
	MP_SETTLED,
	MP_TOO_FEW,
	MP_UNSUPPORTED,
	MP_MOVING,
	MP_DRIFTING,
};

/**
 * mp_stats_support() - how many processes agree on the floor of a run
 * @floor: floors of the processes
 * @n: how many
 * @whole: the floor of the run
 * @tolerance: what counts as the same, as a part of the floor: 0.005
 *
 * A process that was disturbed from beginning to end has a floor of its own,
 * one that was not has that of the others. Where no three agree, and no sixth,
 * none may have been left alone.
 *
 * Return: how many; 0 when that is too few.
 */
size_t mp_stats_support(const double *floor, size_t n, double whole, double tolerance);

/**
 * mp_stats_settled() - has the floor of a run stopped moving
 * @floor: floors of the processes, in the order in which they ran
 * @n: how many
 * @tolerance: what counts as the same, as a part of the floor: 0.005
 *
 * Settled means: at least 16 processes; at least 3 of them, and a sixth, have
 * a floor within @tolerance of the run's; without the last, or the last two,
 * processes the run's floor would have been the same within @tolerance; and
 * that of the earlier half is that of the later half within twice @tolerance.
 *
 * Return: MP_SETTLED, or the first condition that fails.
 */
enum mp_settled mp_stats_settled(const double *floor, size_t n, double tolerance);

/**
 * struct mp_interval - where a figure may lie
 * @low: lower end
 * @high: upper end
 */
struct mp_interval {
	double low;
	double high;
};

/**
 * mp_stats_bootstrap() - the floor and median of runs that might have been
 * @g: the processes of the run that was
 * @ngroups: how many, at least 1
 * @seed: the same seed gives the same figures
 * @floor: room for @n floors, as of mp_stats_of_groups()
 * @median: room for @n medians of all samples
 * @n: how many runs to make up; 1000 is usual
 *
 * Two-level bootstrap (Davison and Hinkley, "Bootstrap Methods and their
 * Application", 1997, section 3.8): draw as many processes as there were, with
 * replacement, and from each as many cycles as it had. The cycles come in
 * blocks of consecutive ones that may wrap around (Politis and Romano, "A
 * circular block-resampling procedure", 1992), cube root of their number long,
 * because noise comes in episodes and neighbours are alike.
 *
 * What it cannot tell: with one process, how much processes differ; and from
 * one boot, how much boots differ.
 *
 * Return: 0, or -1 without memory.
 */
int mp_stats_bootstrap(const struct mp_group *g, size_t ngroups, uint64_t seed,
		       double *floor, double *median, size_t n);

/**
 * mp_stats_interval() - the middle part of some figures
 * @v: the figures, as of mp_stats_bootstrap(); sorted in place
 * @n: how many, at least 1
 * @level: how much of them lies between the ends: 0.95
 *
 * The percentile interval: Efron and Tibshirani, "An Introduction to the
 * Bootstrap", 1993, chapter 13.
 *
 * Return: the interval.
 */
struct mp_interval mp_stats_interval(double *v, size_t n, double level);

/**
 * mp_stats_t() - how many standard errors an interval reaches to each side
 * @level: what part of all such intervals shall hold the true figure: 0.95
 * @df: degrees of freedom, at least 1; from 1000 on taken for infinite
 *
 * The two-sided quantile of Student's t distribution: bisection on its closed
 * form for whole degrees of freedom, Abramowitz and Stegun, "Handbook of
 * Mathematical Functions", 26.7.3 and 26.7.4.
 *
 * Return: 12.706 for 0.95 and 1, 1.960 for 0.95 and many.
 */
double mp_stats_t(double level, unsigned int df);

/**
 * struct mp_rng - a small seeded generator of random numbers
 * @state: the seed at first; any value will do
 *
 * SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014. The same seed gives the same numbers everywhere.
 */
struct mp_rng {
	uint64_t state;
};

/**
 * mp_rng_next() - 64 random bits
 * @rng: the generator
 *
 * Return: the bits.
 */
uint64_t mp_rng_next(struct mp_rng *rng);

/**
 * mp_rng_below() - a random integer, all equally likely
 * @rng: the generator
 * @n: one more than the largest; not 0
 *
 * Lemire, "Fast random integer generation in an interval", ACM TOMACS 29
 * (2019).
 *
 * Return: 0 to @n - 1.
 */
uint32_t mp_rng_below(struct mp_rng *rng, uint32_t n);

/**
 * mp_rng_shuffle() - put indices into random order
 * @rng: the generator
 * @v: the indices; every order is equally likely
 * @n: how many
 *
 * Fisher and Yates in the form of Durstenfeld, "Algorithm 235", CACM 7 (1964).
 */
void mp_rng_shuffle(struct mp_rng *rng, unsigned int *v, uint32_t n);

#endif /* MPROTECT_PERF_STATS_H */
