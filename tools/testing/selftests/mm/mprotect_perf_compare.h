/* SPDX-License-Identifier: GPL-2.0 */
/* Records in, verdict per scenario and phase out; comes with issue 4. */
#ifndef MPROTECT_PERF_COMPARE_H
#define MPROTECT_PERF_COMPARE_H

#include "mprotect_perf_record.h"
#include "mprotect_perf_stats.h"

#endif /* MPROTECT_PERF_COMPARE_H */
