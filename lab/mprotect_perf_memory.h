/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much memory can be had: asked before, as afterwards the OOM killer says.
 */
#ifndef MPROTECT_PERF_MEMORY_H
#define MPROTECT_PERF_MEMORY_H

#include <stddef.h>

/**
 * mp_memory_available() - what this process can still get
 * @limit: set to what limits it: constant text
 *
 * MemAvailable, or less in a control group with a limit; its page cache counts
 * as available.
 *
 * Return: bytes, SIZE_MAX when the kernel does not say.
 */
size_t mp_memory_available(const char **limit);

#endif /* MPROTECT_PERF_MEMORY_H */
