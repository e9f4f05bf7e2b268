// SPDX-License-Identifier: GPL-2.0
/* Records in, verdict per scenario and phase out; comes with issue 4. */
#include "mprotect_perf_compare.h"
