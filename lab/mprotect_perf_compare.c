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

/*
 * Sizes and numbers of tasks that only one record has make rows without a
 * verdict; but when they share none of a scenario, somebody took the wrong file.
 */
static int check_variants(const struct mp_boot *a, const struct mp_boot *b,
			  const struct mp_workload *y, struct mp_err *err)
{
	const struct mp_workload *x = NULL;
	char tasks[2][40] = { "", "" };

	for (size_t i = 0; i < a->nworkload; i++) {
		if (strcmp(a->workload[i].name, y->name))
			continue;
		x = x ? x : &a->workload[i];
		for (size_t j = 0; j < b->nworkload; j++) {
			if (mp_boot_same(&a->workload[i], &b->workload[j]))
				return 0;
		}
	}
	if (!x)
		return 0;
	if (x->tasks != y->tasks) {
		snprintf(tasks[0], sizeof(tasks[0]), " tasks=%u", x->tasks);
		snprintf(tasks[1], sizeof(tasks[1]), ", %u", y->tasks);
	}
	return mp_error(err, "%s: pages=%llu calls=%llu%s in %s, %llu, %llu%s in %s", y->name,
			(unsigned long long)x->pages, (unsigned long long)x->calls, tasks[0],
			tail(a->name), (unsigned long long)y->pages,
			(unsigned long long)y->calls, tasks[1], tail(b->name));
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
			if (check_variants(c->boot[i], b, &b->workload[j], err))
				return -1;
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
		    !mp_row_like(touch, row, MP_SAME_SIZE | MP_SAME_TASKS))
			continue;
		for (size_t k = 0; k + 1 < c->nkernels; k++)
			mp_judge_control(&touch->step[k], &row->step[k]);
		mp_judge_control(&touch->whole, &row->whole);
	}
}

const struct mp_workload *mp_compare_workload(const struct mp_compare *c, size_t boot,
					      const struct mp_row *row)
{
	return mp_boot_workload(c->boot[boot], row->scenario, row->pages, row->calls, row->tasks);
}

/* Has every kernel a boot with this row? */
static int is_common(const struct mp_compare *c, const struct mp_row *row)
{
	size_t with = 0;

	for (size_t k = 0; k < c->nkernels; k++) {
		size_t i = 0;

		while (i < c->nboots && (c->of[i] != k || !mp_compare_workload(c, i, row)))
			i++;
		with += i < c->nboots;
	}
	return with == c->nkernels;
}

static int make_columns(struct mp_compare *c, uint64_t seed, struct mp_err *err)
{
	if (mp_rows_add(c))
		return mp_error(err, "out of memory");
	if (!c->nrows)
		return mp_error(err, "no timed sample in any record");
	/* Of more than two, the first and the last are compared as well. */
	c->judged = c->nrows * (c->nkernels > 2 ? c->nkernels : 1);
	c->level = 1 - 0.05 / c->judged;
	for (size_t i = 0; i < c->nrows; i++) {
		for (size_t k = 0; k < c->nkernels; k++) {
			if (c->common && !is_common(c, &c->row[i]))
				continue;
			if (mp_judge_column(c, k, &c->row[i], seed, &c->row[i].column[k]))
				return mp_error(err, "out of memory");
		}
	}
	return 0;
}

int mp_compare_judge(struct mp_compare *c, double threshold, uint64_t seed, struct mp_err *err)
{
	if (split_lone_kernel(c, err) || make_columns(c, seed, err))
		return -1;
	for (size_t i = 0; i < c->nrows; i++)
		judge_row(c, &c->row[i], threshold);
	for (size_t i = 0; i < c->nrows; i++)
		add_control(c, &c->row[i]);
	return mp_rows_test(c) ? mp_error(err, "out of memory") : 0;
}

int mp_compare_look(struct mp_compare *c, uint64_t seed, struct mp_err *err)
{
	if (make_columns(c, seed, err))
		return -1;
	for (size_t i = 0; i < c->nrows; i++)
		c->row[i].whole.delta[MP_FLOOR] = NAN;
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
	free(c->test);
	memset(c, 0, sizeof(*c));
}
