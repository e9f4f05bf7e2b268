/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One scenario in one child process: checked, timed, checked again. Nothing
 * else here reads a clock.
 */
#ifndef MPROTECT_PERF_MEASURE_H
#define MPROTECT_PERF_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include "mprotect_perf_check.h"
#include "mprotect_perf_record.h"
#include "mprotect_perf_scenario.h"

/**
 * struct mp_job - what one child does: check a row thoroughly, or time it and
 *	look at its state and content before and after
 * @sc: the row
 * @proc: number of the process in its run, goes into the samples
 * @cpu: to be pinned to, or -1
 * @warmup: cycles that are run and forgotten; with @ns at least one
 * @cycles: cycles to measure at most; 0 checks and does not time
 * @seconds: after which the child hangs, on top of three times @ns
 * @ns: time for the measured cycles, in the clock's nanoseconds; 0: no limit
 */
struct mp_job {
	const struct mp_scenario *sc;
	uint32_t proc;
	int cpu;
	uint32_t warmup;
	uint32_t cycles;
	unsigned int seconds;
	uint64_t ns;
};

/**
 * struct mp_result - what it found
 * @report: the checks; MP_UNSEEN where this job has none
 * @sample: the measured cycles, for free()
 * @n: how many
 */
struct mp_result {
	struct mp_report report;
	struct mp_sample *sample;
	size_t n;
};

/**
 * mp_measure_run() - run a job in a child process
 * @job: the job
 * @res: filled; what was established before a failure is in its report
 * @err: filled on failure: what happened, and in which phase
 *
 * Return: 0, or -1.
 */
int mp_measure_run(const struct mp_job *job, struct mp_result *res, struct mp_err *err);

/**
 * struct mp_clock - how good the clock is
 * @step: smallest difference seen between two readings, in ns
 * @cost: what one reading costs, in ns: part of every figure
 */
struct mp_clock {
	uint64_t step;
	double cost;
};

/**
 * mp_clock_probe() - look at the clock
 *
 * Return: its step and cost.
 */
struct mp_clock mp_clock_probe(void);

/**
 * mp_clock_now() - CLOCK_MONOTONIC_RAW
 *
 * Return: nanoseconds.
 */
uint64_t mp_clock_now(void);

#endif /* MPROTECT_PERF_MEASURE_H */
