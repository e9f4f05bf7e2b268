/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an option's argument may be. All return 0, or -1 with a line that names
 * the option, what was given and what may be.
 */
#ifndef MPROTECT_PERF_OPTS_VALUE_H
#define MPROTECT_PERF_OPTS_VALUE_H

#include <stdbool.h>

#include "mprotect_perf_opts.h"

/**
 * mp_parse_count() - a whole number
 * @name: of the option
 * @text: its argument
 * @min: the least that it may be
 * @max: the most
 * @value: filled
 * @err: filled on failure
 *
 * Return: 0, or -1.
 */
int mp_parse_count(const char *name, const char *text, unsigned long min, unsigned long max,
		   unsigned long *value, struct mp_err *err);

/**
 * mp_parse_time() - seconds of --time
 * @text: its argument
 * @value: filled
 * @err: filled on failure
 *
 * Return: 0, or -1.
 */
int mp_parse_time(const char *text, double *value, struct mp_err *err);

/**
 * mp_parse_threshold() - percent of --threshold
 * @text: its argument
 * @value: filled
 * @err: filled on failure
 *
 * Return: 0, or -1.
 */
int mp_parse_threshold(const char *text, double *value, struct mp_err *err);

/**
 * mp_parse_max() - limits of --max, "protect=40,restore=40.5"
 * @text: its argument
 * @max: filled for the phases that it names
 * @err: filled on failure
 *
 * Return: 0, or -1.
 */
int mp_parse_max(const char *text, double max[MP_PHASES], struct mp_err *err);

/**
 * mp_parse_severity() - the word of --severity
 * @text: its argument
 * @severity: filled
 * @err: filled on failure
 *
 * Return: 0, or -1.
 */
int mp_parse_severity(const char *text, enum mp_severity *severity, struct mp_err *err);

/**
 * mp_parse_unit() - the word of --unit
 * @text: its argument
 * @insn: true for instructions
 * @err: filled on failure
 *
 * Return: 0, or -1.
 */
int mp_parse_unit(const char *text, bool *insn, struct mp_err *err);

#endif /* MPROTECT_PERF_OPTS_VALUE_H */
