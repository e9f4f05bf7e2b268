/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What mprotect() must return, and what it must leave behind, right or wrong.
 */
#ifndef MPROTECT_PERF_API_H
#define MPROTECT_PERF_API_H

#include "mprotect_perf_check.h"

extern const unsigned int mp_nr_api_cases;

/**
 * mp_api_name() - name of a case
 * @i: which, below mp_nr_api_cases
 *
 * Return: constant text.
 */
const char *mp_api_name(unsigned int i);

/**
 * mp_api_run() - run a case in a child of its own
 * @i: which
 * @seconds: after which it hangs
 *
 * Return: what came of it; a child that died or hung is a failure.
 */
struct mp_finding mp_api_run(unsigned int i, unsigned int seconds);

#endif /* MPROTECT_PERF_API_H */
