/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One boot: a record in memory, grouped by variant of a scenario and by process,
 * small enough to hold many of them beside each other.
 */
#ifndef MPROTECT_PERF_BOOT_H
#define MPROTECT_PERF_BOOT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "mprotect_perf_rate.h"
#include "mprotect_perf_record.h"
#include "mprotect_perf_stats.h"

/*
 * Times that are kept of one boot, 4 MiB of them. A record that has more is
 * thinned: see mprotect_perf_boot.c for what that costs (nothing but width).
 */
#define MP_BOOT_KEEP 524288u
/* Processes of a boot, over all variants, and their tasks: 6 MiB of them. */
#define MP_BOOT_PROCESSES 32768u
#define MP_BOOT_TASKS 262144u
#define MP_FACT_LEN 160

/**
 * struct mp_series - one phase of one process
 * @n: cycles in which it was timed
 * @mean: of all their times
 * @squares: sum of squared deviations from @mean
 * @count: of each counter, in all; of @ncount cycles that counted it
 * @ncount: see @count
 * @kept: times in the order of their cycles, all or evenly thinned
 * @nkept: how many
 * @room: how many fit
 */
struct mp_series {
	uint64_t n;
	double mean;
	double squares;
	double count[MP_COUNTERS];
	uint64_t ncount[MP_COUNTERS];
	double *kept;
	uint32_t nkept;
	uint32_t room;
};

/**
 * struct mp_process - one process of a variant, or one set of such that ran at once
 * @proc: its number in the record
 * @cycles: how many it had, of all tasks
 * @pick: which cycle of the present stride is kept
 * @span: when its tasks ran
 * @phase: the times of all its tasks
 */
struct mp_process {
	uint32_t proc;
	uint64_t cycles;
	uint64_t pick;
	struct mp_span *span;
	struct mp_series phase[MP_PHASES];
};

/**
 * struct mp_workload - one variant of a scenario of a boot
 * @name: of the scenario
 * @pages: base pages that a phase covers
 * @calls: system calls that a phase makes
 * @tasks: tasks that ran at once
 * @process: in the order in which they first appear
 * @nprocess: how many
 * @room: how many fit
 * @index: by process number: its place in @process + 1, or 0
 * @nindex: how many numbers @index knows
 */
struct mp_workload {
	char name[MP_NAME_LEN];
	uint64_t pages;
	uint64_t calls;
	uint32_t tasks;
	struct mp_process *process;
	uint32_t nprocess;
	uint32_t room;
	uint32_t *index;
	uint32_t nindex;
};

/**
 * struct mp_fact - one fact of the environment
 * @key: its name
 * @value: its beginning, if it is long
 */
struct mp_fact {
	char key[MP_KEY_MAX + 1];
	char value[MP_FACT_LEN];
};

/**
 * struct mp_boot - a record
 * @name: of its file
 * @fact: its environment
 * @nfact: how many
 * @workload: the variants of its scenarios, in the order in which they first appear
 * @nworkload: how many
 * @nprocess: processes of all variants
 * @ntask: tasks of all processes
 * @nkept: times kept of all processes
 * @stride: one time of so many was kept; 1 for all
 * @rng: draws which
 * @current: variant of the last sample
 */
struct mp_boot {
	char *name;
	struct mp_fact fact[MP_ENV_MAX];
	size_t nfact;
	struct mp_workload workload[MP_VARIANT_MAX];
	size_t nworkload;
	uint32_t nprocess;
	uint32_t ntask;
	uint32_t nkept;
	uint64_t stride;
	struct mp_rng rng;
	size_t current;
};

/**
 * mp_boot_new() - an empty boot
 * @name: what to call it
 * @err: filled on failure
 *
 * Return: a boot that mp_boot_free() frees, or NULL.
 */
struct mp_boot *mp_boot_new(const char *name, struct mp_err *err);

/**
 * mp_boot_add_fact() - add one fact of the environment
 * @b: the boot
 * @key: its name, which the boot does not have yet
 * @value: cut when it is long
 * @err: filled on failure
 *
 * Return: 0, or -1 when there are too many.
 */
int mp_boot_add_fact(struct mp_boot *b, const char *key, const char *value, struct mp_err *err);

/**
 * mp_boot_add_sample() - add a sample
 * @b: the boot
 * @s: the sample; cycles of a task in ascending order
 * @err: filled on failure
 *
 * Return: 0, or -1 when there are too many, or without memory.
 */
int mp_boot_add_sample(struct mp_boot *b, const struct mp_sample *s, struct mp_err *err);

/**
 * mp_boot_read() - read a record
 * @path: the file
 * @err: filled on failure
 *
 * Return: a boot that mp_boot_free() frees, or NULL.
 */
struct mp_boot *mp_boot_read(const char *path, struct mp_err *err);

/**
 * mp_boot_read_stream() - the same from an open stream
 * @f: not closed
 * @name: what to call it
 * @err: filled on failure
 *
 * Return: as above.
 */
struct mp_boot *mp_boot_read_stream(FILE *f, const char *name, struct mp_err *err);

/**
 * mp_boot_free() - forget a boot
 * @b: may be NULL
 */
void mp_boot_free(struct mp_boot *b);

/**
 * mp_boot_fact() - one fact of the environment
 * @b: the boot
 * @key: its name
 *
 * Return: its value, or NULL if the record does not have it.
 */
const char *mp_boot_fact(const struct mp_boot *b, const char *key);

/**
 * mp_boot_workload() - one variant of a scenario of a boot
 * @b: the boot
 * @name: of the scenario
 * @pages: of a phase
 * @calls: of a phase
 * @tasks: that ran at once
 *
 * Return: the variant, or NULL if the record does not have it.
 */
const struct mp_workload *mp_boot_workload(const struct mp_boot *b, const char *name,
					   uint64_t pages, uint64_t calls, uint32_t tasks);

/**
 * mp_boot_same() - are two variants the same
 * @a: of one boot
 * @b: of another
 *
 * Return: 1 or 0.
 */
int mp_boot_same(const struct mp_workload *a, const struct mp_workload *b);

#endif /* MPROTECT_PERF_BOOT_H */
