/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lines of a record file, and the key=value pairs of a line. What they
 * mean is mprotect_perf_record_read.c's business.
 */
#ifndef MPROTECT_PERF_RECORD_LINE_H
#define MPROTECT_PERF_RECORD_LINE_H

#include <stdint.h>
#include <stdio.h>

#include "mprotect_perf_record.h"

/**
 * struct mp_lines - a file, a line at a time
 * @f: where it comes from
 * @line: number of the line that was read last, from 1
 * @start: first byte of @buf that was not handed out
 * @end: behind the last byte of @buf
 * @buf: a piece of the file; longer than the longest line
 */
struct mp_lines {
	FILE *f;
	unsigned long line;
	size_t start;
	size_t end;
	char buf[4 * MP_LINE_MAX];
};

/**
 * struct mp_pair - one key=value of a line; points into it
 * @key: letters, digits, underscores
 * @value: without its quotes, escapes resolved
 */
struct mp_pair {
	const char *key;
	const char *value;
};

/**
 * mp_lines_next() - read the next line
 * @l: the file
 * @line: the line, without its newline, all printable ASCII; may be written
 *        to, and lives until the next call
 * @err: filled on failure; @l->line is then the line at fault
 *
 * Return: 1, 0 at the end of the file, or -1.
 */
int mp_lines_next(struct mp_lines *l, char **line, struct mp_err *err);

/**
 * mp_pair_next() - take the next key=value off a line
 * @rest: what is left of the line; NULL when nothing is
 * @p: the pair; the line is cut up for it
 * @err: filled on failure
 *
 * Return: 1, 0 at the end of the line, or -1.
 */
int mp_pair_next(char **rest, struct mp_pair *p, struct mp_err *err);

/**
 * mp_pair_u64() - a pair's value as a number
 * @p: the pair; decimal digits and nothing else, no leading zero
 * @max: the largest value allowed, at least 9
 * @out: the number
 * @err: filled on failure
 *
 * Return: 0 or -1.
 */
int mp_pair_u64(const struct mp_pair *p, uint64_t max, uint64_t *out, struct mp_err *err);

#endif /* MPROTECT_PERF_RECORD_LINE_H */
