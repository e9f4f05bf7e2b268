// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "mprotect_perf_err.h"
#include "mprotect_perf_protocol.h"

static const struct mp_protocol protocols[] = {
	{ "lin", "the v6.17 regression report: 3 and 15 processes of 1000 cycles",
	  .warmup_procs = 3, .procs = 15, .cycles = 1000 },
};

const struct mp_protocol *mp_protocol_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(protocols); i++)
		if (!strcmp(protocols[i].name, name))
			return &protocols[i];
	return NULL;
}
