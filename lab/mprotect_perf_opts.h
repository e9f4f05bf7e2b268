/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command line, strictly: what is not understood is refused with one line.
 */
#ifndef MPROTECT_PERF_OPTS_H
#define MPROTECT_PERF_OPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "mprotect_perf_err.h"
#include "mprotect_perf_protocol.h"
#include "mprotect_perf_record.h"
#include "mprotect_perf_variant.h"

/* A selection of rows is a mask; the API cases are one bit more. */
#define MP_SELECT_API (1ULL << 63)

enum mp_severity { MP_AUTO, MP_WARN, MP_FAILS };

/**
 * struct mp_opts - what was asked for
 * @perf: -p, time the selected rows
 * @compare: -c, compare records
 * @list: -l
 * @help: -h
 * @verbose: -v
 * @scenarios: -s, names with commas, or NULL; points into argv
 * @select: rows to run, 1 << index, and MP_SELECT_API; not with @compare, which
 *	finds its rows in the records
 * @output: -o, the record to write, or NULL; points into argv
 * @timeout: --timeout, seconds after which a child hangs
 * @insn: --unit insn, the clock counts instructions
 * @max: --max, limit of each phase per page, or 0
 * @baseline: --baseline, a record, or NULL; points into argv
 * @threshold: --threshold, percent
 * @severity: --severity
 * @time: --time, seconds for all timing together
 * @procs: --procs, measured processes of a scenario, or 0: until settled
 * @warmup_procs: --warmup-procs, processes before them
 * @cycles: --cycles, measured cycles of a process, or 0: by time
 * @warmup: --warmup, cycles before them
 * @protocol: --protocol, or NULL; has set the four above
 * @choice: --sweep and --tasks
 * @allow_settings: --allow-settings
 * @seed: --seed, of the order of the scenarios
 * @cpu: --cpu, or -1 for the last one that is allowed
 * @tsv: --tsv, the table to write, or NULL; points into argv
 * @plot: --plot, the picture to draw, or NULL; points into argv
 * @bisect: --bisect; also set when the command line is refused
 * @file: the records to compare, LABEL= before them or not; points into argv
 * @nfiles: how many
 */
struct mp_opts {
	bool perf;
	bool compare;
	bool list;
	bool help;
	bool verbose;
	const char *scenarios;
	uint64_t select;
	const char *output;
	uint32_t timeout;
	bool insn;
	double max[MP_PHASES];
	const char *baseline;
	double threshold;
	enum mp_severity severity;
	double time;
	uint32_t procs;
	uint32_t warmup_procs;
	uint32_t cycles;
	uint32_t warmup;
	const struct mp_protocol *protocol;
	struct mp_choice choice;
	bool allow_settings;
	uint32_t seed;
	int cpu;
	const char *tsv;
	const char *plot;
	bool bisect;
	char **file;
	int nfiles;
};

/**
 * mp_opts_parse() - parse a command line
 * @o: filled
 * @argc: as main() has it
 * @argv: as main() has it; may be reordered
 * @err: filled on failure: which option, what is wrong, the mend
 *
 * Return: 0, or -1.
 */
int mp_opts_parse(struct mp_opts *o, int argc, char **argv, struct mp_err *err);

/**
 * mp_opts_help() - the text of -h
 *
 * Return: constant text of several lines.
 */
const char *mp_opts_help(void);

#endif /* MPROTECT_PERF_OPTS_H */
