/* SPDX-License-Identifier: GPL-2.0 */
/*
 * -c from its files to its files: records are read, compared and judged; the
 * table and the picture that were asked for are written.
 */
#ifndef MPROTECT_PERF_VERSUS_H
#define MPROTECT_PERF_VERSUS_H

#include "mprotect_perf_compare.h"
#include "mprotect_perf_new_file.h"
#include "mprotect_perf_opts.h"

/* "This commit cannot be tested", to git bisect run. */
#define MP_BISECT_SKIP 125

/**
 * struct mp_versus - a comparison that was asked for
 * @opts: the command line
 * @c: the comparison, judged
 * @tsv: what --tsv names
 * @plot: what --plot names
 */
struct mp_versus {
	const struct mp_opts *opts;
	struct mp_compare c;
	struct mp_new_file tsv;
	struct mp_new_file plot;
};

/**
 * mp_versus_begin() - read, compare, judge
 * @v: filled
 * @o: with @compare
 * @err: filled on failure: a record that cannot be read or compared, an output
 *	file that exists
 *
 * Return: 0, or -1; nothing is left behind then.
 */
int mp_versus_begin(struct mp_versus *v, const struct mp_opts *o, struct mp_err *err);

/**
 * mp_versus_tables() - the tables, as text
 * @v: begun
 *
 * Return: lines, for free(); NULL without memory.
 */
char *mp_versus_tables(const struct mp_versus *v);

/**
 * mp_versus_summary() - caveats and summary, as text
 * @v: begun
 *
 * Return: lines, for free(); NULL without memory.
 */
char *mp_versus_summary(const struct mp_versus *v);

/**
 * mp_versus_write() - write what --tsv and --plot ask for
 * @v: begun
 * @plot: filled with why there is no picture, or empty: that is no failure
 * @err: filled on failure
 *
 * Return: 0, or -1.
 */
int mp_versus_write(struct mp_versus *v, struct mp_err *plot, struct mp_err *err);

/**
 * mp_versus_bisect() - the verdicts for git bisect run
 * @v: begun
 *
 * Return: 1 when a row is REGRESSED; else 125, "says nothing of this kernel",
 * when one is INCONCLUSIVE, unless it is of the touch phase, the control; else 0.
 */
int mp_versus_bisect(const struct mp_versus *v);

/**
 * mp_versus_end() - forget it
 * @v: files that were not written whole are gone
 */
void mp_versus_end(struct mp_versus *v);

#endif /* MPROTECT_PERF_VERSUS_H */
