/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is made up before the first test: options, environment, record, limits.
 */
#ifndef MPROTECT_PERF_SESSION_H
#define MPROTECT_PERF_SESSION_H

#include "mprotect_perf_gate.h"
#include "mprotect_perf_group.h"
#include "mprotect_perf_new_file.h"
#include "mprotect_perf_opts.h"

/**
 * struct mp_session - one call of the program
 * @opts: the command line
 * @cpu: to measure on, or -1
 * @facts: the environment, as a boot without samples; empty unless it is timed
 *	or asked for
 * @record: the record that is being written, or NULL
 * @plot: the picture that is being drawn, if one was asked for
 * @row: what is to be run: each scenario that was chosen, or its variants
 * @nrows: how many
 * @procs_max: processes of each of them that a record can hold
 */
struct mp_session {
	struct mp_opts opts;
	int cpu;
	struct mp_boot *facts;
	struct mp_record_writer *record;
	struct mp_new_file plot;
	struct mp_run_row *row;
	unsigned int nrows;
	unsigned int procs_max;
};

/**
 * mp_session_begin() - refuse what can be refused before anything is run
 * @ses: its @opts are parsed; the rest is filled
 * @argc: as main() has it, for the environment
 * @argv: as main() has it
 * @err: filled on failure: a file that cannot be written, a baseline that
 *	cannot be read or is of another machine, a setting that cannot be changed
 *
 * Return: 0, or -1; nothing is left behind then.
 */
int mp_session_begin(struct mp_session *ses, int argc, char **argv, struct mp_err *err);

/**
 * mp_session_end() - put settings back, and forget the rows
 * @ses: the session; its record is for mp_record_finish()
 * @err: filled when a setting could not be put back
 *
 * Return: 0, or -1.
 */
int mp_session_end(struct mp_session *ses, struct mp_err *err);

/**
 * mp_session_gate() - the limits of this session
 * @ses: the session
 *
 * Return: the gate; it points into @ses.
 */
struct mp_gate mp_session_gate(const struct mp_session *ses);

/**
 * mp_session_sure() - is no verdict on this row open?
 * @ctx: the session; for struct mp_plan
 * @row: the row
 *
 * Return: true when it may stop: every verdict is one, or there are no limits.
 */
bool mp_session_sure(void *ctx, const struct mp_run_row *row);

#endif /* MPROTECT_PERF_SESSION_H */
