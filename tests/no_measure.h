/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What mprotect_perf_run.c calls, for tests that link it and run nothing.
 */
#ifndef NO_MEASURE_H
#define NO_MEASURE_H

#include "mprotect_perf_measure.h"
#include "mprotect_perf_scenario.h"

uint64_t mp_clock_now(void)
{
	return 0;
}

bool mp_scenario_missing(const struct mp_scenario *sc, struct mp_err *why)
{
	(void)sc;
	(void)why;
	return true;
}

int mp_measure_run(const struct mp_job *job, struct mp_result *res, struct mp_err *err)
{
	(void)job;
	(void)res;
	return mp_error(err, "not here");
}

#endif /* NO_MEASURE_H */
