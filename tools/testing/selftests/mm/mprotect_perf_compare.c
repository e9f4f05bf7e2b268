// SPDX-License-Identifier: GPL-2.0
/*
 * Which boots are of one kernel, whether they may be compared at all, and which
 * rows there are. mprotect_perf_judge.c computes what stands in a row.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mprotect_perf_compare.h"

#define NAME_SHOWN 40

/* A figure means something else when one of these differs. */
static const char *const must_agree[] = {
	"unit", "page_size", "arch", "model", "clocksource", "hypervisor", "accel", NULL
};

/* The end of a path, which says more than its beginning. */
static const char *tail(const char *path)
{
	size_t n = strlen(path);

	return n > NAME_SHOWN ? path + n - NAME_SHOWN : path;
}

static const char *fact_or_absent(const struct mp_boot *b, const char *key)
{
	const char *value = mp_boot_fact(b, key);

	return value ? value : "absent";
}

size_t mp_compare_fact(const struct mp_compare *c, const char *key, const char **a,
		       const char **b)
{
	for (size_t i = 1; i < c->nboots; i++) {
		*a = fact_or_absent(c->boot[0], key);
		*b = fact_or_absent(c->boot[i], key);
		if (strcmp(*a, *b))
			return i;
	}
	return 0;
}

static int check_comparable(const struct mp_compare *c, const struct mp_boot *b,
			    struct mp_err *err)
{
	const struct mp_boot *a = c->boot[0];

	for (size_t i = 0; must_agree[i]; i++) {
		const char *x = fact_or_absent(a, must_agree[i]);
		const char *y = fact_or_absent(b, must_agree[i]);

		if (strcmp(x, y))
			return mp_error(err, "%s: %.48s in %s, %.48s in %s; not comparable",
					must_agree[i], x, tail(a->name), y, tail(b->name));
	}
	for (size_t i = 0; i < c->nboots; i++) {
		for (size_t j = 0; j < b->nworkload; j++) {
			const struct mp_workload *y = &b->workload[j];
			const struct mp_workload *x = mp_boot_workload(c->boot[i], y->name);

			if (!x || (x->pages == y->pages && x->calls == y->calls))
				continue;
			return mp_error(err, "%s: pages=%llu calls=%llu in %s, %llu, %llu in %s",
					y->name, (unsigned long long)x->pages,
					(unsigned long long)x->calls, tail(c->boot[i]->name),
					(unsigned long long)y->pages,
					(unsigned long long)y->calls, tail(b->name));
		}
	}
	return 0;
}

/* Room for one boot and one kernel more. */
static int reserve(struct mp_compare *c)
{
	struct mp_kernel *kernel;
	struct mp_boot **boot;
	size_t *of;

	boot = realloc(c->boot, (c->nboots + 1) * sizeof(*boot));
	if (boot)
		c->boot = boot;
	of = realloc(c->of, (c->nboots + 1) * sizeof(*of));
	if (of)
		c->of = of;
	/* One is free for good: mp_compare_judge() may take the boots apart. */
	kernel = realloc(c->kernel, (c->nboots + 2) * sizeof(*kernel));
	if (kernel)
		c->kernel = kernel;
	return boot && of && kernel ? 0 : -1;
}

/* Two kernels of one name (a rebuild) must be told apart in a table. */
static void name_kernel(struct mp_compare *c, const char *name, const char *build)
{
	struct mp_kernel *k = &c->kernel[c->nkernels];
	int same = 1;

	for (size_t i = 0; i < c->nkernels; i++) {
		size_t n = strlen(name);

		same += !strncmp(c->kernel[i].name, name, n) &&
			(!c->kernel[i].name[n] || c->kernel[i].name[n] == '/');
	}
	memset(k, 0, sizeof(*k));
	if (same > 1)
		snprintf(k->name, sizeof(k->name), "%s/%d", name, same);
	else
		snprintf(k->name, sizeof(k->name), "%s", name);
	snprintf(k->build, sizeof(k->build), "%s", build);
	c->nkernels++;
}

static size_t find_kernel(struct mp_compare *c, const struct mp_boot *b, const char *label)
{
	const char *name = label ? label : fact_or_absent(b, "release");
	const char *build = label ? "" : fact_or_absent(b, "build");

	for (size_t i = 0; i < c->nboots; i++) {
		const struct mp_kernel *k = &c->kernel[c->of[i]];

		if (label ? !strcmp(k->name, label) && !k->build[0] :
		    k->build[0] && !strcmp(fact_or_absent(c->boot[i], "release"), name) &&
		    !strcmp(k->build, build))
			return c->of[i];
	}
	name_kernel(c, name, build);
	return c->nkernels - 1;
}

int mp_compare_add(struct mp_compare *c, struct mp_boot *b, const char *label,
		   struct mp_err *err)
{
	size_t k;

	if (!b)
		return -1;
	if (c->nboots && check_comparable(c, b, err)) {
		mp_boot_free(b);
		return -1;
	}
	if (reserve(c)) {
		mp_boot_free(b);
		return mp_error(err, "out of memory");
	}
	k = find_kernel(c, b, label);
	c->kernel[k].boots++;
	c->boot[c->nboots] = b;
	c->of[c->nboots++] = k;
	return 0;
}

/* Two records of one kernel and no labels: the question is whether they agree. */
static int split_lone_kernel(struct mp_compare *c, struct mp_err *err)
{
	if (c->nkernels > 1)
		return 0;
	if (c->nboots != 2 || !c->kernel[0].build[0])
		return mp_error(err, "%zu records of one kernel, %.80s; say base=FILE head=FILE",
				c->nboots, c->nboots ? c->kernel[0].name : "none");
	name_kernel(c, fact_or_absent(c->boot[1], "release"), c->kernel[0].build);
	c->kernel[0].boots = 1;
	c->kernel[1].boots = 1;
	c->of[1] = 1;
	return 0;
}

static int phase_timed(const struct mp_workload *w, int phase)
{
	for (uint32_t i = 0; i < w->nprocess; i++) {
		if (w->process[i].phase[phase].n)
			return 1;
	}
	return 0;
}

static int have_row(const struct mp_compare *c, const char *scenario, enum mp_phase phase)
{
	for (size_t i = 0; i < c->nrows; i++) {
		if (c->row[i].phase == phase && !strcmp(c->row[i].scenario, scenario))
			return 1;
	}
	return 0;
}

static int add_row(struct mp_compare *c, const struct mp_workload *w, enum mp_phase phase)
{
	struct mp_row *row = realloc(c->row, (c->nrows + 1) * sizeof(*row));

	if (!row)
		return -1;
	c->row = row;
	row += c->nrows++;
	memset(row, 0, sizeof(*row));
	strcpy(row->scenario, w->name);
	row->phase = phase;
	row->pages = w->pages;
	row->calls = w->calls;
	row->column = calloc(c->nkernels, sizeof(*row->column));
	row->step = calloc(c->nkernels - 1, sizeof(*row->step));
	return row->column && row->step ? 0 : -1;
}

/* Every row that any boot has; one that is missing elsewhere is not hidden. */
static int add_rows(struct mp_compare *c)
{
	for (size_t i = 0; i < c->nboots; i++) {
		for (size_t j = 0; j < c->boot[i]->nworkload; j++) {
			const struct mp_workload *w = &c->boot[i]->workload[j];

			for (int k = 0; k < MP_PHASES; k++) {
				if (phase_timed(w, k) && !have_row(c, w->name, k) &&
				    add_row(c, w, k))
					return -1;
			}
		}
	}
	return 0;
}

static void judge_step(const struct mp_compare *c, struct mp_row *row, size_t from, size_t to,
		       double threshold, struct mp_step *s)
{
	mp_judge_step(c, &row->column[from], &row->column[to], threshold, s);
	if (row->phase == MP_TOUCH)
		mp_judge_touch(c, &row->column[from], &row->column[to], s);
}

static void judge_row(const struct mp_compare *c, struct mp_row *row, double threshold)
{
	size_t last = c->nkernels - 1;

	row->change = -1;
	for (size_t i = 0; i < last; i++) {
		struct mp_step *s = &row->step[i];

		judge_step(c, row, i, i + 1, threshold, s);
		if ((s->verdict == MP_REGRESSED || s->verdict == MP_IMPROVED) &&
		    (row->change < 0 || fabs(s->delta[MP_FLOOR]) >
		     fabs(row->step[row->change].delta[MP_FLOOR])))
			row->change = i;
	}
	judge_step(c, row, 0, last, threshold, &row->whole);
}

static void add_control(const struct mp_compare *c, struct mp_row *row)
{
	for (size_t i = 0; i < c->nrows; i++) {
		const struct mp_row *touch = &c->row[i];

		if (touch->phase != MP_TOUCH || touch == row ||
		    strcmp(touch->scenario, row->scenario))
			continue;
		for (size_t k = 0; k + 1 < c->nkernels; k++)
			mp_judge_control(&touch->step[k], &row->step[k]);
		mp_judge_control(&touch->whole, &row->whole);
	}
}

int mp_compare_judge(struct mp_compare *c, double threshold, uint64_t seed, struct mp_err *err)
{
	if (split_lone_kernel(c, err))
		return -1;
	if (add_rows(c))
		return mp_error(err, "out of memory");
	if (!c->nrows)
		return mp_error(err, "no timed sample in any record");
	/* Of more than two, the first and the last are compared as well. */
	c->judged = c->nrows * (c->nkernels > 2 ? c->nkernels : 1);
	c->level = 1 - 0.05 / c->judged;
	for (size_t i = 0; i < c->nrows; i++) {
		for (size_t k = 0; k < c->nkernels; k++) {
			if (mp_judge_column(c, k, &c->row[i], seed, &c->row[i].column[k]))
				return mp_error(err, "out of memory");
		}
		judge_row(c, &c->row[i], threshold);
	}
	for (size_t i = 0; i < c->nrows; i++)
		add_control(c, &c->row[i]);
	return 0;
}

void mp_compare_free(struct mp_compare *c)
{
	for (size_t i = 0; i < c->nboots; i++)
		mp_boot_free(c->boot[i]);
	for (size_t i = 0; i < c->nrows; i++) {
		free(c->row[i].column);
		free(c->row[i].step);
	}
	free(c->boot);
	free(c->of);
	free(c->kernel);
	free(c->row);
	memset(c, 0, sizeof(*c));
}
