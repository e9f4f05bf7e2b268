// SPDX-License-Identifier: GPL-2.0
/*
 * Procedures as far as they are published.
 *
 * What this cannot tell: what their authors did not write. Luke Yang's mail
 * does not give the number of iterations, Dev Jain's not what exactly was
 * timed: his seconds contain clearing 1 GiB, ours one word of each page.
 */
#include <stddef.h>
#include <string.h>

#include "mprotect_perf_protocol.h"

static const struct mp_protocol protocols[] = {
	{ "lin", "Chengfeng Lin, the v6.17 report: 3 + 15 processes, 10 + 1000 cycles",
	  .scenarios = "shared-dirty", .warmup_procs = 3, .procs = 15, .cycles = 1000,
	  .warmup = 10, .published = MP_PROCESS_MEANS },
	{ "yang", "Luke Yang, 2026-02-13: NONE <-> RW, 4 KiB to 40,000,000 KiB in steps of ten",
	  .scenarios = "private-none", .sweep = "4k..40000000kx10",
	  .published = MP_PER_CALL },
	{ "jain", "Dev Jain, PTE batching: 1 GiB, 40 cycles, in 2 MiB, 64 KiB and base pages",
	  .scenarios = "thp-pte,mthp-64k,private-dirty", .sweep = "1g..1g", .procs = 1,
	  .cycles = 40, .published = MP_IN_ALL },
	{ "libmicro", "libMicro's seven mprot_*: a process, 100 batches or more",
	  .scenarios = "libmicro-z8k,libmicro-z128k,libmicro-wz8k,libmicro-wz128k,libmicro-twz8k,libmicro-tw128k,devzero-none",
	  .procs = 1, .cycles = 1000, .published = MP_LIBMICRO },
};

const struct mp_protocol *mp_protocol_at(unsigned int i)
{
	return i < ARRAY_SIZE(protocols) ? &protocols[i] : NULL;
}

const struct mp_protocol *mp_protocol_find(const char *name, struct mp_err *err)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(protocols); i++)
		if (!strcmp(protocols[i].name, name))
			return &protocols[i];
	mp_error(err, "--protocol '%.40s': give lin, yang, jain or libmicro", name);
	return NULL;
}
