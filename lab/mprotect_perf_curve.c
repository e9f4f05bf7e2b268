// SPDX-License-Identifier: GPL-2.0
/*
 * Two tables over the variants of a scenario.
 *
 * What they cannot tell: the errors of a line are those of how its points miss
 * it; what differs between boots is not in them. The rate of a task that runs
 * alone leaves out what lies between its phases, so that a speed-up against it
 * is a little too small.
 */
#include <stdlib.h>
#include <string.h>

#include "mprotect_perf_curve.h"
#include "mprotect_perf_table.h"

size_t mp_curve_sizes(const struct mp_compare *c, const struct mp_row *row)
{
	size_t n = row->size[0] ? mp_row_count(c, row, MP_BY_SIZE) : 0;

	return n > 1 ? n : 0;
}

size_t mp_curve_tasks(const struct mp_compare *c, const struct mp_row *row)
{
	size_t n = row->scale ? mp_row_count(c, row, MP_SAME_SIZE) : 0;

	n = n ? mp_row_count(c, row, MP_BY_TASKS) : 0;
	return n > 1 ? n : 0;
}

const char *mp_curve_name(const struct mp_row *row, unsigned int what,
			  char name[MP_CURVE_NAME_LEN])
{
	if (what == MP_BY_TASKS)
		snprintf(name, MP_CURVE_NAME_LEN, "%s%s%s", row->scenario,
			 row->size[0] ? "@" : "", row->size);
	else if (row->scale)
		snprintf(name, MP_CURVE_NAME_LEN, "%s*%u.%s", row->scenario, row->scale,
			 mp_phase_name[row->phase]);
	else
		snprintf(name, MP_CURVE_NAME_LEN, "%s.%s", row->scenario,
			 mp_phase_name[row->phase]);
	return name;
}

struct mp_point mp_curve_point(const struct mp_row *row, size_t kernel)
{
	const struct mp_column *col = &row->column[kernel];
	double pages = (double)row->pages / row->calls;

	/*
	 * The bootstrap's error is not that of a point of a line: what caches and
	 * batches bend the curve by is a hundred times that. A run says the same.
	 */
	return (struct mp_point){ pages, col->boots ? pages * col->figure[MP_FLOOR] : NAN, 0 };
}

int mp_curve_fit(const struct mp_compare *c, const struct mp_row *row, size_t kernel,
		 struct mp_fit *fit)
{
	struct mp_point *p = calloc(c->nrows, sizeof(*p));
	size_t n = 0;
	int ret;

	if (!p)
		return -1;
	for (; row; row = mp_row_next(c, row, MP_BY_SIZE)) {
		if (row->column[kernel].boots)
			p[n++] = mp_curve_point(row, kernel);
	}
	ret = mp_fit_line(p, n, fit);
	free(p);
	return ret;
}

static void put_fit(FILE *f, const char *name, const char *kernel, const struct mp_fit *fit)
{
	fprintf(f, "%-30s %-16.16s", name, kernel);
	if (!fit->n) {
		fprintf(f, "  no line: it takes %d sizes\n", MP_FIT_LEAST);
		return;
	}
	fprintf(f, "%11.2f ±%9.2f%11.4f ±%9.4f%8.1f%%%s\n", fit->fixed, fit->fixed_error,
		fit->per_page, fit->per_page_error, fit->worst_residual,
		fit->worst_residual > MP_FIT_BENT ? "  it is no line" : "");
}

/* A change of a part, with its error; "-" of a part that is not above 0. */
static void put_part(FILE *f, double from, double from_error, double to, double to_error)
{
	if (from > 0)
		fprintf(f, "%+10.1f%% ±%8.1f%%", 100 * (to / from - 1),
			100 * hypot(to_error / from, to / from * from_error / from));
	else
		fprintf(f, "%11s %10s", "-", "");
}

static void put_fits(FILE *f, const struct mp_compare *c, const struct mp_row *row)
{
	struct mp_fit first = { .n = 0 }, fit = { .n = 0 };
	char name[MP_CURVE_NAME_LEN];

	mp_curve_name(row, MP_BY_SIZE, name);
	for (size_t k = 0; k < c->nkernels; k++) {
		if (mp_curve_fit(c, row, k, &fit))
			fit.n = 0;
		if (!k)
			first = fit;
		put_fit(f, k ? "" : name, c->kernel[k].name, &fit);
	}
	if (!first.n || !fit.n)
		return;
	fprintf(f, "%-30s %-16s", "", "change");
	put_part(f, first.fixed, first.fixed_error, fit.fixed, fit.fixed_error);
	put_part(f, first.per_page, first.per_page_error, fit.per_page, fit.per_page_error);
	fputc('\n', f);
}

void mp_curve_fits(FILE *f, const struct mp_compare *c)
{
	int begun = 0;

	for (size_t i = 0; i < c->nrows; i++) {
		if (!mp_curve_sizes(c, &c->row[i]))
			continue;
		if (!begun++)
			fprintf(f, "cost of a call, %s: fixed + per page * pages\n%-47s%11s%11s%11s%11s%9s\n",
				mp_table_unit(c), "", "fixed", "", "per page", "", "misses by");
		put_fits(f, c, &c->row[i]);
	}
}

static void put_rate(FILE *f, const struct mp_column *col, uint32_t tasks,
		     const struct mp_row *one, size_t kernel)
{
	const struct mp_rate *r = &col->rate;
	char text[32];

	fprintf(f, "%7u", tasks);
	fprintf(f, "%13s", mp_table_number(text, sizeof(text), col->boots ? r->total : NAN));
	fprintf(f, "%13s", mp_table_number(text, sizeof(text), col->boots ? r->per_task : NAN));
	fprintf(f, "%11s", mp_table_number(text, sizeof(text), col->boots ? r->imbalance : NAN));
	fprintf(f, "%10s\n", mp_table_number(text, sizeof(text),
					     col->boots && one && one->column[kernel].boots ?
					     r->total / one->column[kernel].rate.total : NAN));
}

static void put_scaling(FILE *f, const struct mp_compare *c, const struct mp_row *first)
{
	char name[MP_CURVE_NAME_LEN];

	mp_curve_name(first, MP_BY_TASKS, name);
	for (size_t k = 0; k < c->nkernels; k++) {
		for (const struct mp_row *r = first; r; r = mp_row_next(c, r, MP_BY_TASKS)) {
			fprintf(f, "%-30s %-16.16s", k || r != first ? "" : name,
				r == first ? c->kernel[k].name : "");
			put_rate(f, &r->column[k], r->tasks, first->tasks == 1 ? first : NULL, k);
		}
	}
}

void mp_curve_scaling(FILE *f, const struct mp_compare *c)
{
	int begun = 0;

	for (size_t i = 0; i < c->nrows; i++) {
		if (!mp_curve_tasks(c, &c->row[i]))
			continue;
		if (!begun++)
			fprintf(f, "operations (cycles) per %s of tasks that run at once\n%-47s%7s%13s%13s%11s%10s\n",
				strcmp(mp_table_unit(c), "insn") ? "second" : "1e9 instructions",
				"", "tasks", "total", "a task", "imbalance", "speed-up");
		put_scaling(f, c, &c->row[i]);
	}
}
