/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a row maps that is not anonymous memory.
 */
#ifndef MPROTECT_PERF_BACKING_H
#define MPROTECT_PERF_BACKING_H

#include <stddef.h>

#include "mprotect_perf_scenario.h"

/**
 * mp_backing_open() - open what a row maps, or see whether it can be had
 * @sc: the row
 * @bytes: what a file will hold; there must be room for them
 * @err: filled on failure: what is missing, and the mend
 *
 * A file is empty, in TMPDIR, and has no name.
 *
 * Return: a descriptor for close(), -1 where there is none to be had, -2 where
 * the row needs none.
 */
int mp_backing_open(const struct mp_scenario *sc, size_t bytes, struct mp_err *err);

#endif /* MPROTECT_PERF_BACKING_H */
