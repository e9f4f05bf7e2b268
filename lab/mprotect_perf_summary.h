/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A comparison in words: the line of a verdict, what must be known beside it,
 * and the paragraph that is pasted into a mail.
 */
#ifndef MPROTECT_PERF_SUMMARY_H
#define MPROTECT_PERF_SUMMARY_H

#include <stddef.h>
#include <stdio.h>

#include "mprotect_perf_compare.h"

/* columns of a mail */
#define MP_SUMMARY_WIDTH 76

/**
 * mp_summary_ruling() - the verdict of a row, and the figures it rests on
 * @c: judged
 * @row: of it; of several variants, how the others came out is told as well
 * @threshold: as it was judged
 * @text: for one line
 * @size: its room
 */
void mp_summary_ruling(const struct mp_compare *c, const struct mp_row *row, double threshold,
		       char *text, size_t size);

/**
 * mp_summary_caveats() - what a reader should know before believing it
 * @f: to write to, a line each
 * @c: judged
 *
 * How sure a verdict is, what is not covered, and which facts of the
 * environment differ.
 */
void mp_summary_caveats(FILE *f, const struct mp_compare *c);

/**
 * mp_summary_paragraph() - all of it, short, for a mail
 * @f: to write to, in lines of at most MP_SUMMARY_WIDTH columns
 * @c: judged
 * @threshold: as it was judged
 */
void mp_summary_paragraph(FILE *f, const struct mp_compare *c, double threshold);

#endif /* MPROTECT_PERF_SUMMARY_H */
