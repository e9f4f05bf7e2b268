/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Published procedures under their authors' names, so that a reply on a
 * mailing list can say "same protocol" and give one command.
 */
#ifndef MPROTECT_PERF_PROTOCOL_H
#define MPROTECT_PERF_PROTOCOL_H

#include <stdint.h>

/**
 * struct mp_protocol - a procedure
 * @name: for --protocol
 * @what: whose it is, and what it does
 * @warmup_procs: processes of each scenario before the measured ones
 * @procs: measured processes
 * @cycles: measured cycles of each
 * @warmup: cycles before them
 */
struct mp_protocol {
	const char *name;
	const char *what;
	uint32_t warmup_procs;
	uint32_t procs;
	uint32_t cycles;
	uint32_t warmup;
};

/**
 * mp_protocol_find() - look a procedure up
 * @name: its name
 *
 * Return: the procedure, or NULL.
 */
const struct mp_protocol *mp_protocol_find(const char *name);

#endif /* MPROTECT_PERF_PROTOCOL_H */
