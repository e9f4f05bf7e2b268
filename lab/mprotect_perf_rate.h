/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much gets done: operations per second of tasks that run at once. An
 * operation is a cycle: protect, restore, touch, as far as a row has them.
 */
#ifndef MPROTECT_PERF_RATE_H
#define MPROTECT_PERF_RATE_H

#include <stddef.h>

#include "mprotect_perf_record.h"

/**
 * struct mp_span - what one task did; all zero at first
 * @first: when its first cycle began
 * @last: when its last one ended
 * @n: cycles
 */
struct mp_span {
	double first;
	double last;
	uint64_t n;
};

/**
 * struct mp_rate - operations per second; of a unit of instructions, per 1e9
 * @total: of all tasks together
 * @per_task: @total over their number
 * @imbalance: rate of the fastest task over that of the slowest
 */
struct mp_rate {
	double total;
	double per_task;
	double imbalance;
};

/**
 * mp_rate_add() - take a sample into account
 * @span: of the sample's task of its process; cycles in ascending order
 * @s: the sample
 *
 * A sample of several tasks that does not say when it began leaves a span of
 * which no rate can be told.
 */
void mp_rate_add(struct mp_span *span, const struct mp_sample *s);

/**
 * mp_rate_of_spans() - the rate of one process, or one set of processes
 * @span: its tasks
 * @tasks: how many
 * @rate: filled
 *
 * A task's rate is its cycles over the time from the beginning of its first to
 * the end of its last; the total is their sum, which is what all do together
 * while all of them run. A task that runs alone has no such times: the phases'
 * times are added up instead, so that what lies between the phases is left out.
 *
 * Return: 0, or -1 when a task has no cycle or took no time.
 */
int mp_rate_of_spans(const struct mp_span *span, size_t tasks, struct mp_rate *rate);

/**
 * mp_rate_of() - the same from samples
 * @s: all of one process of one variant, with all tasks
 * @n: how many
 * @rate: filled
 *
 * Return: 0, or -1 as above or without memory.
 */
int mp_rate_of(const struct mp_sample *s, size_t n, struct mp_rate *rate);

#endif /* MPROTECT_PERF_RATE_H */
