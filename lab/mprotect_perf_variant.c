// SPDX-License-Identifier: GPL-2.0
/*
 * Variants of rows: copies with another size, or another number of tasks.
 */
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mprotect_perf_record.h"
#include "mprotect_perf_variant.h"

/* a phase of fewer pages comes several times */
#define BATCH_PAGES 64
#define STEP_MAX 1e12

/* A size with its unit; returns what is behind it, or NULL. */
static const char *take_size(const char *p, size_t *bytes)
{
	static const char units[] = "kmg";
	const char *unit;
	char *end;

	if (*p < '0' || *p > '9')
		return NULL;
	errno = 0;
	*bytes = strtoul(p, &end, 10);
	if (errno || !*bytes)
		return NULL;
	unit = *end ? strchr(units, *end | 0x20) : NULL;
	if (!unit)
		return end;
	if (__builtin_mul_overflow(*bytes, (size_t)1 << (10 * (unit - units + 1)), bytes))
		return NULL;
	return end + 1;
}

/* The number behind an "x"; 2 without one. */
static const char *take_step(const char *p, double *step)
{
	char *end;

	*step = 2;
	if (*p != 'x')
		return p;
	if (p[1] < '0' || p[1] > '9')
		return NULL;
	*step = strtod(p + 1, &end);
	return *step > 1 && *step <= STEP_MAX ? end : NULL;
}

int mp_choice_sweep(struct mp_choice *c, const char *text, struct mp_err *err)
{
	size_t min, max = 0;
	double step, size;
	const char *p = take_size(text, &min);

	if (p && !strncmp(p, "..", 2))
		p = take_size(p + 2, &max);
	if (p)
		p = take_step(p, &step);
	if (!p || *p || min > max || max > SIZE_MAX / 4)
		return mp_error(err, "--sweep '%.60s': give MIN..MAX[xSTEP], as 4k..4m or 4k..40mx10, STEP above 1",
				text);
	c->nsizes = 0;
	for (size = (double)min; c->nsizes < MP_SIZES_MAX && size < (double)max; size *= step)
		c->size[c->nsizes++] = (size_t)size;
	if (c->nsizes == MP_SIZES_MAX)
		return mp_error(err, "--sweep '%.60s': more than %d sizes; give a larger STEP",
				text, MP_SIZES_MAX);
	c->size[c->nsizes++] = max;
	return 0;
}

int mp_choice_tasks(struct mp_choice *c, const char *text, struct mp_err *err)
{
	const char *p = text;
	char *end;

	for (c->ncounts = 0; c->ncounts < MP_COUNTS_MAX; p = end + 1) {
		unsigned long n = 0;

		errno = 0;
		end = (char *)p;
		if (*p >= '0' && *p <= '9')
			n = strtoul(p, &end, 10);
		if (errno || !n || n > MP_TASK_MAX || (*end && *end != ',') ||
		    (c->ncounts && n <= c->tasks[c->ncounts - 1]))
			break;
		c->tasks[c->ncounts++] = (unsigned int)n;
		if (!*end)
			return 0;
	}
	return mp_error(err, "--tasks '%.60s': give up to %d numbers from 1 to %d, ascending, with commas",
			text, MP_COUNTS_MAX, MP_TASK_MAX);
}

static unsigned int cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return (unsigned int)CPU_COUNT(&set);
}

/* 1, 2, 4 and so on, and all CPUs in the end */
static void default_tasks(struct mp_choice *c)
{
	unsigned int all = cpus(), n;

	for (n = 1; n < all && c->ncounts < MP_COUNTS_MAX - 1; n *= 2)
		c->tasks[c->ncounts++] = n;
	c->tasks[c->ncounts++] = all;
}

/* Whole pages; the part that is protected has this size. */
static void resize(struct mp_scenario *v, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t pages = bytes / page ? bytes / page : 1;

	v->regions = pages < BATCH_PAGES ? (unsigned int)(BATCH_PAGES / pages) : 1;
	v->bytes = (pages + 2 * v->margin) * page;
	v->pages = 0;
}

static bool same_size(const struct mp_scenario *a, const struct mp_scenario *b)
{
	return a->bytes == b->bytes && a->pages == b->pages;
}

unsigned int mp_variants(const struct mp_scenario *sc, const struct mp_choice *c,
			 struct mp_scenario *v)
{
	static const struct mp_choice one = { .tasks = { 1 }, .ncounts = 1 };
	struct mp_choice tasks = *c;
	struct mp_scenario last = { .bytes = 0 };
	unsigned int n = 0, i, k;

	if (sc->team == MP_ALONE)
		tasks = one;
	else if (!tasks.ncounts)
		default_tasks(&tasks);
	for (i = 0; i < (c->nsizes ? c->nsizes : 1); i++) {
		struct mp_scenario sized = *sc;

		if (c->nsizes)
			resize(&sized, c->size[i]);
		if (i && same_size(&sized, &last))
			continue;
		last = sized;
		for (k = 0; k < tasks.ncounts; k++) {
			v[n] = sized;
			v[n++].tasks = tasks.tasks[k];
		}
	}
	return n;
}

const char *mp_variant_name(const struct mp_scenario *v, char *text, size_t size)
{
	const struct mp_scenario *row = &mp_scenarios[mp_scenario_find(v->name)];
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t kib = ((v->bytes ? v->bytes : v->pages * page) - 2 * v->margin * page) >> 10;
	char tasks[32] = "", bytes[32] = "";

	if (v->team != MP_ALONE)
		snprintf(tasks, sizeof(tasks), "%u task%s", v->tasks, v->tasks > 1 ? "s" : "");
	if (kib >= 1024 && kib % 1024 == 0)
		snprintf(bytes, sizeof(bytes), "%zu MiB", kib >> 10);
	else
		snprintf(bytes, sizeof(bytes), "%zu KiB", kib);
	if (tasks[0] && same_size(v, row))
		snprintf(text, size, "%s", tasks);
	else
		snprintf(text, size, "%s%s%s", bytes, tasks[0] ? ", " : "", tasks);
	return text;
}
