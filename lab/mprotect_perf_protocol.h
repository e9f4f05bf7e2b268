/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Published procedures under their authors' names, so that a reply on a
 * mailing list can say "same protocol" and give one command.
 */
#ifndef MPROTECT_PERF_PROTOCOL_H
#define MPROTECT_PERF_PROTOCOL_H

#include <stdint.h>

#include "mprotect_perf_err.h"

/* What the author publishes of it. */
enum mp_published {
	MP_PROCESS_MEANS,	/* mean and cv of the processes' means, per page */
	MP_PER_CALL,		/* mean of a call that protects or restores, in ns */
	MP_LIBMICRO,		/* median of a call with its share of the touch, in us */
	MP_IN_ALL,		/* all cycles of a process, in s */
};

/**
 * struct mp_protocol - a procedure
 * @name: for --protocol
 * @what: whose it is, and what it does
 * @scenarios: which rows, as for -s; other ones may be given
 * @sweep: which sizes, as for --sweep, or NULL; likewise
 * @warmup_procs: processes of each scenario before the measured ones
 * @procs: measured processes; 0: the author does not say, until settled
 * @cycles: measured cycles of each; 0: the author does not say, by time
 * @warmup: cycles before them
 * @published: the figure that the author gives
 */
struct mp_protocol {
	const char *name;
	const char *what;
	const char *scenarios;
	const char *sweep;
	uint32_t warmup_procs;
	uint32_t procs;
	uint32_t cycles;
	uint32_t warmup;
	enum mp_published published;
};

/**
 * mp_protocol_find() - look a procedure up
 * @name: its name
 * @err: filled when there is none: which there are
 *
 * Return: the procedure, or NULL.
 */
const struct mp_protocol *mp_protocol_find(const char *name, struct mp_err *err);

/**
 * mp_protocol_at() - the procedures one by one
 * @i: which, from 0
 *
 * Return: the procedure, or NULL behind the last.
 */
const struct mp_protocol *mp_protocol_at(unsigned int i);

#endif /* MPROTECT_PERF_PROTOCOL_H */
