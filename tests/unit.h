/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TAP for the unit tests of the pure parts. Not kselftest.h: its counters are
 * for the one program that speaks KTAP, and its exit codes are not prove's.
 *
 * A check that fails prints what it got and what it wanted and goes on.
 */
#ifndef UNIT_H
#define UNIT_H

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int unit_count;
static int unit_failed;

__attribute__((format(printf, 2, 3)))
static inline int ok(int good, const char *fmt, ...)
{
	va_list args;

	printf("%sok %d - ", good ? "" : "not ", ++unit_count);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	unit_failed += !good;
	return good;
}

static inline int is_int(long long got, long long want, const char *what)
{
	if (ok(got == want, "%s", what))
		return 1;
	printf("#   got %lld, want %lld\n", got, want);
	return 0;
}

/* Equal to @rel parts of the wanted value; 0 asks for the very same number. */
static inline int is_near(double got, double want, double rel, const char *what)
{
	int good = isnan(want) ? isnan(got) : fabs(got - want) <= rel * fabs(want);

	if (ok(good, "%s", what))
		return 1;
	printf("#   got %.17g, want %.17g within %g\n", got, want, rel);
	return 0;
}

static inline int is_double(double got, double want, const char *what)
{
	return is_near(got, want, 0, what);
}

static inline int is_between(double got, double low, double high, const char *what)
{
	if (ok(got >= low && got <= high, "%s", what))
		return 1;
	printf("#   got %.17g, want %.17g to %.17g\n", got, low, high);
	return 0;
}

static inline int is_str(const char *got, const char *want, const char *what)
{
	if (ok(!strcmp(got, want), "%s", what))
		return 1;
	printf("#   got  '%s'\n#   want '%s'\n", got, want);
	return 0;
}

static inline int has_str(const char *got, const char *part, const char *what)
{
	if (ok(!!strstr(got, part), "%s", what))
		return 1;
	printf("#   got  '%s'\n#   want '%s' in it\n", got, part);
	return 0;
}

/* The plan, at the end; a test that dies before it is a failure to prove. */
static inline int done_testing(void)
{
	printf("1..%d\n", unit_count);
	return unit_failed != 0;
}

#endif /* UNIT_H */
