/* SPDX-License-Identifier: GPL-2.0 */
/*
 * No sample of a record is there twice. Because the cycles of a task ascend,
 * one number a task is enough to see it.
 */
#ifndef MPROTECT_PERF_RECORD_ORDER_H
#define MPROTECT_PERF_RECORD_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "mprotect_perf_record.h"

/**
 * struct mp_due - the tasks of one variant of a scenario
 * @name: of the scenario
 * @pages: with @calls and @tasks what makes it this variant
 * @calls: see @pages
 * @tasks: see @pages
 * @cycle: the cycle that is due at the earliest, process by process, of each
 *	of its tasks
 * @n: how many
 */
struct mp_due {
	char name[MP_NAME_LEN];
	uint64_t pages;
	uint64_t calls;
	uint32_t tasks;
	uint32_t n;
	uint32_t *cycle;
};

/**
 * struct mp_order - what was seen of a record; all zero at first
 * @variant: in the order in which they first appear
 * @nvariant: how many
 * @current: that of the last sample, tried first
 * @ndue: entries of all their @cycle
 */
struct mp_order {
	struct mp_due variant[MP_VARIANT_MAX];
	unsigned int nvariant;
	unsigned int current;
	uint32_t ndue;
};

/**
 * mp_order_check() - may this sample come now?
 * @o: what was seen; the sample is now part of it
 * @s: the sample, within the bounds of the format
 * @err: filled when not
 *
 * Return: 0, or -1: it was there, comes too late, or there are too many.
 */
int mp_order_check(struct mp_order *o, const struct mp_sample *s, struct mp_err *err);

/**
 * mp_order_end() - forget what was seen
 * @o: its memory is given back
 */
void mp_order_end(struct mp_order *o);

#endif /* MPROTECT_PERF_RECORD_ORDER_H */
