/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is counted beside the time: faults, context switches, perf events.
 */
#ifndef MPROTECT_PERF_COUNTERS_H
#define MPROTECT_PERF_COUNTERS_H

#include <stdint.h>

#include "mprotect_perf_err.h"
#include "mprotect_perf_record.h"

/**
 * mp_counters_open() - open the perf events that this machine can count
 * @why: why the first event that is missing is missing, or empty
 *
 * What is open counts this thread until it ends; a child opens its own.
 *
 * Return: how many of the perf events can be counted.
 */
int mp_counters_open(struct mp_err *why);

/**
 * mp_counters_close() - close them, so that a child does not inherit any
 */
void mp_counters_close(void);

/**
 * mp_counters_read() - all counts of this thread so far
 * @count: filled where there is a count
 */
void mp_counters_read(uint64_t count[MP_COUNTERS]);

/**
 * mp_counters_between() - what was counted between two readings
 * @before: the first
 * @after: the second
 * @count: filled where there is a count, without the cost of reading
 */
void mp_counters_between(const uint64_t before[MP_COUNTERS], const uint64_t after[MP_COUNTERS],
			 uint64_t count[MP_COUNTERS]);

/**
 * mp_counters_faults() - page faults of this thread so far, minor and major
 *
 * Return: the number.
 */
uint64_t mp_counters_faults(void);

#endif /* MPROTECT_PERF_COUNTERS_H */
