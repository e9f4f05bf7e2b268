/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The environment: without it a figure is worth nothing.
 */
#ifndef MPROTECT_PERF_ENV_H
#define MPROTECT_PERF_ENV_H

#include <stdint.h>

/**
 * struct mp_env_sink - who is told
 * @put: one fact; strings live only during the call
 * @ctx: handed to @put
 */
struct mp_env_sink {
	void (*put)(void *ctx, const char *key, const char *value);
	void *ctx;
};

/**
 * struct mp_env_run - what the program itself knows of the run
 * @argc: as main() has it
 * @argv: as main() has it
 * @unit: "ns" or "insn"
 * @cpu: the CPU that is measured on, or -1
 * @counters: which perf events are missing, and why
 * @clock_step: smallest step of the clock, in ns
 * @clock_cost: what one reading of it costs, in ns
 */
struct mp_env_run {
	int argc;
	char **argv;
	const char *unit;
	int cpu;
	const char *counters;
	uint64_t clock_step;
	double clock_cost;
};

/**
 * mp_env_collect() - tell what run this is, and what kernel and machine
 * @sink: who is told
 * @run: the run
 *
 * What cannot be read is told as "unknown": it was looked for.
 */
void mp_env_collect(const struct mp_env_sink *sink, const struct mp_env_run *run);

/**
 * mp_env_last_cpu() - the last CPU that this process may run on
 *
 * The first ones serve most interrupts.
 *
 * Return: its number, or -1 when the kernel does not say.
 */
int mp_env_last_cpu(void);

#endif /* MPROTECT_PERF_ENV_H */
