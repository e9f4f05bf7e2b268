/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One error, as text, handed up to whoever may print it.
 *
 * The parts of mprotect_perf below main print nothing: they fill a struct
 * mp_err with one line that names what failed, where, and the mend, and
 * return a negative value.
 */
#ifndef MPROTECT_PERF_ERR_H
#define MPROTECT_PERF_ERR_H

#include <stdarg.h>
#include <stdio.h>

/* as in kselftest.h, which only main includes */
#ifndef ARRAY_SIZE
#define ARRAY_SIZE(arr) (sizeof(arr) / sizeof((arr)[0]))
#endif

#define MP_ERR_LEN 256

struct mp_err {
	char text[MP_ERR_LEN];
};

/**
 * mp_error() - say what went wrong
 * @err: where the line goes; a longer one is cut, never overrun
 * @fmt: printf format, without a newline
 *
 * Return: -1, so that a caller can write "return mp_error(...)".
 */
static inline __attribute__((format(printf, 2, 3)))
int mp_error(struct mp_err *err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	return -1;
}

#endif /* MPROTECT_PERF_ERR_H */
