// SPDX-License-Identifier: GPL-2.0
/*
 * The panels of curves: cost against size, and operations against tasks.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mprotect_perf_curve.h"
#include "mprotect_perf_plot.h"
#include "mprotect_perf_table.h"

/* Keep the largest change in @best[0..@n), in the order of the rows. */
static void keep(const struct mp_row **best, double *change, size_t *n, const struct mp_row *row,
		 double d)
{
	size_t least = 0;

	if (*n == MP_PLOT_PANELS) {
		for (size_t i = 1; i < *n; i++)
			least = change[i] < change[least] ? i : least;
		if (d <= change[least])
			return;
		--*n;
		memmove(best + least, best + least + 1, (*n - least) * sizeof(*best));
		memmove(change + least, change + least + 1, (*n - least) * sizeof(*change));
	}
	best[*n] = row;
	change[(*n)++] = d;
}

/* What a point of a curve is drawn at; not above 0 where there is none. */
static double height(const struct mp_row *row, size_t kernel, unsigned int what)
{
	double y = what == MP_BY_SIZE ? mp_curve_point(row, kernel).cost :
		   row->column[kernel].boots ? row->column[kernel].rate.total : NAN;

	return isfinite(y) && y > 0 ? y : 0;
}

/* The largest change along a curve; below 0 when it has nothing to draw. */
static double most(const struct mp_compare *c, const struct mp_row *row, unsigned int what)
{
	double change = 0, high = 0;

	for (; row; row = mp_row_next(c, row, what)) {
		double d = fabs(row->whole.delta[MP_FLOOR]);

		change = d > change ? d : change;
		for (size_t k = 0; k < c->nkernels; k++)
			high = fmax(high, height(row, k, what));
	}
	return high > 0 ? change : -1;
}

void mp_plot_choose(const struct mp_compare *c, struct mp_plot_curves *curves)
{
	double size[MP_PLOT_PANELS], task[MP_PLOT_PANELS], d;

	memset(curves, 0, sizeof(*curves));
	for (size_t i = 0; i < c->nrows; i++) {
		const struct mp_row *row = &c->row[i];

		d = mp_curve_sizes(c, row) ? most(c, row, MP_BY_SIZE) : -1;
		if (d >= 0)
			keep(curves->size, size, &curves->nsize, row, d);
		d = mp_curve_tasks(c, row) ? most(c, row, MP_BY_TASKS) : -1;
		if (d >= 0)
			keep(curves->task, task, &curves->ntask, row, d);
	}
}

static double kib_of_page(const struct mp_compare *c)
{
	const char *size = mp_boot_fact(c->boot[0], "page_size");

	return size ? strtod(size, NULL) / 1024 : 1;
}

struct range {
	double low, high;
};

static void stretch(struct range *r, double v)
{
	r->low = r->low > 0 ? fmin(r->low, v) : v;
	r->high = fmax(r->high, v);
}

/* A block of points for each kernel. */
static void put_points(FILE *f, const struct mp_compare *c, const struct mp_row *first,
		       unsigned int what, struct range *x, struct range *y)
{
	for (size_t k = 0; k < c->nkernels; k++) {
		fprintf(f, "$c%zu << EOD\n", k);
		for (const struct mp_row *r = first; r; r = mp_row_next(c, r, what)) {
			double v = height(r, k, what);
			double at = what == MP_BY_TASKS ? r->tasks :
				    mp_curve_point(r, k).pages * kib_of_page(c);

			if (!(v > 0))
				continue;
			stretch(x, at);
			stretch(y, v);
			mp_plot_number(f, at);
			mp_plot_number(f, v);
			fputc('\n', f);
		}
		fprintf(f, "NaN NaN\nEOD\n");
	}
}

static void put_lines(FILE *f, const struct mp_compare *c)
{
	for (size_t k = 0; k < c->nkernels; k++) {
		fprintf(f, "%s $c%zu using 1:2 with linespoints pt 7 ps 0.7 lc %zu title '",
			k ? "," : "plot", k, k + 1);
		mp_plot_text(f, c->kernel[k].name);
		fputc('\'', f);
	}
}

void mp_plot_size(FILE *f, const struct mp_compare *c, const struct mp_row *first)
{
	struct range x = { 0 }, y = { 0 };
	char name[MP_CURVE_NAME_LEN];
	struct mp_fit fit;

	put_points(f, c, first, MP_BY_SIZE, &x, &y);
	fprintf(f, "set title '");
	mp_plot_text(f, mp_curve_name(first, MP_BY_SIZE, name));
	fprintf(f, ": cost against size'\nset xlabel 'KiB a call; dashed: fixed + per page'\n");
	fprintf(f, "set ylabel '%s/call'\nset logscale xy\nset xrange [%.10g:%.10g]\n",
		strcmp(mp_table_unit(c), "insn") ? "ns" : "insn", x.low / 1.5, x.high * 1.5);
	fprintf(f, "set yrange [%.10g:%.10g]\nset key inside left top\n", y.low / 1.5,
		y.high * 1.5);
	put_lines(f, c);
	for (size_t k = 0; k < c->nkernels; k++) {
		if (!mp_curve_fit(c, first, k, &fit))
			fprintf(f, ", %.10g+(%.10g)*x with lines dt 2 lc %zu notitle", fit.fixed,
				fit.per_page / kib_of_page(c), k + 1);
	}
	fprintf(f, "\nunset logscale xy\n");
}

void mp_plot_task(FILE *f, const struct mp_compare *c, const struct mp_row *first)
{
	struct range x = { 0 }, y = { 0 };
	char name[MP_CURVE_NAME_LEN];

	put_points(f, c, first, MP_BY_TASKS, &x, &y);
	fprintf(f, "set title '");
	mp_plot_text(f, mp_curve_name(first, MP_BY_TASKS, name));
	fprintf(f, ": scaling'\nset xlabel 'tasks'\nset ylabel 'operations/%s'\n",
		strcmp(mp_table_unit(c), "insn") ? "s" : "1e9 insn");
	fprintf(f, "set xrange [0:%.10g]\nset yrange [0:%.10g]\nset key inside left top\n",
		x.high * 1.05, y.high * 1.1);
	put_lines(f, c);
	fputc('\n', f);
}
