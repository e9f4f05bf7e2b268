// SPDX-License-Identifier: GPL-2.0
/*
 * Values of options: numbers with nothing behind them, words in full.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mprotect_perf_opts_value.h"

int mp_parse_count(const char *name, const char *text, unsigned long min, unsigned long max,
		   unsigned long *value, struct mp_err *err)
{
	char *end;

	errno = 0;
	*value = strtoul(text, &end, 10);
	if (errno || *end || text[0] < '0' || text[0] > '9' || *value < min || *value > max)
		return mp_error(err, "--%s '%.40s': give a whole number from %lu to %lu",
				name, text, min, max);
	return 0;
}

/* A decimal number, nothing else that strtod() takes; ends at @end. */
static bool decimal(const char *text, double min, double max, double *value, char **end)
{
	errno = 0;
	*value = strtod(text, end);
	return !errno && *end != text && strspn(text, "0123456789.") >= (size_t)(*end - text) &&
	       *value >= min && *value <= max;
}

int mp_parse_time(const char *text, double *value, struct mp_err *err)
{
	char *end;

	if (!decimal(text, 0.1, 86400, value, &end) || *end)
		return mp_error(err, "--time '%.40s': give seconds from 0.1 to 86400", text);
	return 0;
}

int mp_parse_threshold(const char *text, double *value, struct mp_err *err)
{
	char *end;

	if (!decimal(text, 0, 1000, value, &end) || *end)
		return mp_error(err, "--threshold '%.40s': give percent from 0 to 1000", text);
	return 0;
}

/* "protect=40,restore=40.5" */
int mp_parse_max(const char *text, double max[MP_PHASES], struct mp_err *err)
{
	const char *p = text;
	char *end;
	int phase;

	for (;;) {
		size_t len = strcspn(p, "=");

		for (phase = 0; phase < MP_PHASES; phase++)
			if (strlen(mp_phase_name[phase]) == len &&
			    !strncmp(mp_phase_name[phase], p, len))
				break;
		if (phase == MP_PHASES || phase == MP_POPULATE || !p[len] ||
		    !decimal(p + len + 1, 0.000001, 1e12, &max[phase], &end) ||
		    (*end && *end != ','))
			return mp_error(err, "--max '%.80s': give PHASE=NUMBER,... with PHASE one of protect, restore, touch",
					text);
		if (!*end)
			return 0;
		p = end + 1;
	}
}

int mp_parse_severity(const char *text, enum mp_severity *severity, struct mp_err *err)
{
	static const char *const names[] = { "auto", "warn", "fail" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(text, names[i])) {
			*severity = (enum mp_severity)i;
			return 0;
		}
	}
	return mp_error(err, "--severity '%.40s': give auto, warn or fail", text);
}

int mp_parse_unit(const char *text, bool *insn, struct mp_err *err)
{
	*insn = !strcmp(text, "insn");
	if (*insn || !strcmp(text, "ns"))
		return 0;
	return mp_error(err, "--unit '%.40s': give ns or insn", text);
}
