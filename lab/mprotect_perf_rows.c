// SPDX-License-Identifier: GPL-2.0
/*
 * Which rows a comparison has, and which of them are one test.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mprotect_perf_compare.h"

static int phase_timed(const struct mp_workload *w, int phase)
{
	for (uint32_t i = 0; i < w->nprocess; i++) {
		if (w->process[i].phase[phase].n)
			return 1;
	}
	return 0;
}

/* Pages of a call: what a size is. */
static double size_of(uint64_t pages, uint64_t calls)
{
	return (double)pages / calls;
}

/*
 * Rows of a scenario come together, in the order of their numbers of tasks,
 * their sizes and their phases.
 */
static int row_order(const struct mp_row *row, const struct mp_workload *w, enum mp_phase phase)
{
	double a = size_of(row->pages, row->calls), b = size_of(w->pages, w->calls);

	if (row->tasks != w->tasks)
		return row->tasks < w->tasks ? -1 : 1;
	if (a != b)
		return a < b ? -1 : 1;
	if (row->calls != w->calls)
		return row->calls < w->calls ? -1 : 1;
	return (int)row->phase - (int)phase;
}

/* Where a row belongs; -1 when it is there. */
static ssize_t find_place(const struct mp_compare *c, const struct mp_workload *w,
			  enum mp_phase phase)
{
	size_t place = c->nrows;

	for (size_t i = 0; i < c->nrows; i++) {
		int order;

		if (strcmp(c->row[i].scenario, w->name))
			continue;
		order = row_order(&c->row[i], w, phase);
		if (!order)
			return -1;
		if (order > 0)
			return i;
		place = i + 1;
	}
	return place;
}

static int add_row(struct mp_compare *c, const struct mp_workload *w, enum mp_phase phase,
		   size_t at)
{
	struct mp_row *row = realloc(c->row, (c->nrows + 1) * sizeof(*row));

	if (!row)
		return -1;
	c->row = row;
	row += at;
	memmove(row + 1, row, (c->nrows++ - at) * sizeof(*row));
	memset(row, 0, sizeof(*row));
	strcpy(row->scenario, w->name);
	row->phase = phase;
	row->pages = w->pages;
	row->calls = w->calls;
	row->tasks = w->tasks;
	row->column = calloc(c->nkernels, sizeof(*row->column));
	row->step = calloc(c->nkernels - 1, sizeof(*row->step));
	return row->column && row->step ? 0 : -1;
}

/* Every row that any boot has; one that is missing elsewhere is not hidden. */
static int add_all(struct mp_compare *c)
{
	for (size_t i = 0; i < c->nboots; i++) {
		for (size_t j = 0; j < c->boot[i]->nworkload; j++) {
			const struct mp_workload *w = &c->boot[i]->workload[j];

			for (int k = 0; k < MP_PHASES; k++) {
				ssize_t at = phase_timed(w, k) ? find_place(c, w, k) : -1;

				if (at >= 0 && add_row(c, w, k, at))
					return -1;
			}
		}
	}
	return 0;
}

int mp_row_like(const struct mp_row *a, const struct mp_row *b, unsigned int what)
{
	if ((what & MP_SAME_PHASE && a->phase != b->phase) ||
	    (what & MP_SAME_TASKS && a->tasks != b->tasks) ||
	    (what & MP_SAME_SIZE && (a->pages != b->pages || a->calls != b->calls)))
		return 0;
	return !strcmp(a->scenario, b->scenario);
}

const struct mp_row *mp_row_next(const struct mp_compare *c, const struct mp_row *row,
				 unsigned int what)
{
	for (const struct mp_row *r = row + 1; r < c->row + c->nrows; r++) {
		if (mp_row_like(r, row, what))
			return r;
	}
	return NULL;
}

size_t mp_row_count(const struct mp_compare *c, const struct mp_row *row, unsigned int what)
{
	size_t n = 0;

	for (const struct mp_row *r = c->row; r < row; r++) {
		if (mp_row_like(r, row, what))
			return 0;
	}
	for (; row; row = mp_row_next(c, row, what))
		n++;
	return n;
}

/* "64KiB", and behind it the calls when another variant differs in nothing else. */
static void name_size(struct mp_row *row, double page_size, int with_calls)
{
	double kib = size_of(row->pages, row->calls) * page_size / 1024;
	int mib = kib >= 1024 && fmod(kib, 1024) == 0;
	int n = snprintf(row->size, sizeof(row->size), "%.10g%s", mib ? kib / 1024 : kib,
			 mib ? "MiB" : "KiB");

	if (with_calls)
		snprintf(row->size + n, sizeof(row->size) - n, "x%llu",
			 (unsigned long long)row->calls);
}

static void name_variant(const struct mp_compare *c, struct mp_row *row)
{
	const char *page_size = mp_boot_fact(c->boot[0], "page_size");
	int sizes = 0, calls = 0;

	for (size_t i = 0; i < c->nrows; i++) {
		const struct mp_row *r = &c->row[i];

		if (!mp_row_like(r, row, 0))
			continue;
		if (r->tasks != row->tasks)
			row->scale = row->tasks;
		sizes |= r->pages != row->pages || r->calls != row->calls;
		calls |= r->calls != row->calls &&
			 size_of(r->pages, r->calls) == size_of(row->pages, row->calls);
	}
	if (sizes)
		name_size(row, page_size ? strtod(page_size, NULL) : 0, calls);
}

int mp_rows_add(struct mp_compare *c)
{
	if (add_all(c))
		return -1;
	for (size_t i = 0; i < c->nrows; i++)
		name_variant(c, &c->row[i]);
	return 0;
}

int mp_verdict_weight(enum mp_verdict v)
{
	static const int weight[] = {
		[MP_IMPROVED] = 0, [MP_OK] = 1, [MP_INCONCLUSIVE] = 2, [MP_REGRESSED] = 3,
	};

	return weight[v];
}

static int is_worse(const struct mp_step *a, const struct mp_step *b)
{
	double x = a->delta[MP_FLOOR], y = b->delta[MP_FLOOR];

	if (a->verdict != b->verdict)
		return mp_verdict_weight(a->verdict) > mp_verdict_weight(b->verdict);
	return x > y || (isnan(y) && !isnan(x));
}

int mp_rows_test(struct mp_compare *c)
{
	c->test = calloc(c->nrows, sizeof(*c->test));
	if (!c->test)
		return -1;
	for (size_t i = 0; i < c->nrows; i++) {
		const struct mp_row *worst = &c->row[i];

		if (!mp_row_count(c, worst, MP_SAME_PHASE))
			continue;
		for (const struct mp_row *r = worst; r; r = mp_row_next(c, r, MP_SAME_PHASE)) {
			if (is_worse(&r->whole, &worst->whole))
				worst = r;
		}
		c->test[c->ntests++] = worst - c->row;
	}
	return 0;
}
