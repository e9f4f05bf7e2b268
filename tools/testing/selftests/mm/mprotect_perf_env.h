/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The environment: without it a figure is worth nothing.
 */
#ifndef MPROTECT_PERF_ENV_H
#define MPROTECT_PERF_ENV_H

#include <stdbool.h>

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
 * mp_env_collect() - tell what kernel and machine this is
 * @sink: who is told
 * @cpu: the CPU that is measured on, or -1
 *
 * What cannot be read is told as "unknown": it was looked for.
 */
void mp_env_collect(const struct mp_env_sink *sink, int cpu);

/**
 * mp_env_last_cpu() - the last CPU that this process may run on
 *
 * The first ones serve most interrupts.
 *
 * Return: its number, or -1 when the kernel does not say.
 */
int mp_env_last_cpu(void);

#endif /* MPROTECT_PERF_ENV_H */
