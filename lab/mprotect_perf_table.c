// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of a comparison. What is shown is data: one more figure is one
 * more line of mp_metrics[], and then stands in the table, in the TSV and, if
 * it explains something, in the summary.
 *
 * What this cannot tell: %stddev of floor and median is what the bootstrap says
 * of one boot's figure, not what another boot would give. That is the drift.
 */
#include <stddef.h>
#include <string.h>

#include "mprotect_perf_table.h"

#define COLUMN 18	/* a figure and its %stddev */
#define CHANGE 10
/* A count that changed by less is the machine's, not the workload's. */
#define COUNT_CHANGE 1.0
#define COUNT_PERCENT 1.0

#define IN(member) offsetof(struct mp_column, member)
#define PAGE_COUNT .counter = true, .per_page = true

const struct mp_metric mp_metrics[] = {
	{ "floor", IN(figure[MP_FLOOR]), .error = IN(error[MP_FLOOR]), .percent = 100 },
	{ "median", IN(figure[MP_MEDIAN]), .error = IN(error[MP_MEDIAN]), .percent = 100 },
	{ "mean", IN(figure[MP_MEAN]), .error = IN(cv), .percent = 1 },
	{ "faults", IN(count[MP_FAULTS]), .counter = true, .explains = true },
	{ "csw", IN(count[MP_CSW]), .counter = true },
	{ "instructions", IN(count[MP_INSN_K]), IN(count[MP_INSN_U]), PAGE_COUNT,
	  .explains = true },
	{ "insn_k", IN(count[MP_INSN_K]), PAGE_COUNT, .detail = true },
	{ "insn_u", IN(count[MP_INSN_U]), PAGE_COUNT, .detail = true },
	{ "cpu_cycles", IN(count[MP_CYCLES_K]), IN(count[MP_CYCLES_U]), PAGE_COUNT },
	{ "cycles_k", IN(count[MP_CYCLES_K]), PAGE_COUNT, .detail = true },
	{ "cycles_u", IN(count[MP_CYCLES_U]), PAGE_COUNT, .detail = true },
	{ "dtlb_misses", IN(count[MP_DTLB]), PAGE_COUNT },
};

const size_t mp_nr_metrics = ARRAY_SIZE(mp_metrics);

static double member(const struct mp_column *col, size_t offset)
{
	double v;

	memcpy(&v, (const char *)col + offset, sizeof(v));
	return v;
}

double mp_metric_value(const struct mp_metric *m, const struct mp_row *row, size_t kernel)
{
	const struct mp_column *col = &row->column[kernel];
	double v, plus = 0;

	if (!col->boots)
		return NAN;
	v = member(col, m->value);
	if (m->plus)
		plus = member(col, m->plus);
	/* Where only one of two is counted, the one must do. */
	if (!isnan(plus))
		v += plus;
	return v / (m->per_page ? row->pages : 1);
}

double mp_metric_error(const struct mp_metric *m, const struct mp_row *row, size_t kernel)
{
	const struct mp_column *col = &row->column[kernel];

	return col->boots && m->error ? m->percent * member(col, m->error) : NAN;
}

const char *mp_table_number(char *buf, size_t size, double v)
{
	if (isnan(v))
		snprintf(buf, size, "-");
	else
		snprintf(buf, size, fabs(v) < 100000 ? "%.3f" : "%.0f", v);
	return buf;
}

char *mp_table_clean(char *s)
{
	for (char *p = s; *p; p++) {
		if (*p < ' ' || *p > '~')
			*p = '?';
	}
	return s;
}

const char *mp_table_unit(const struct mp_compare *c)
{
	const char *unit = mp_boot_fact(c->boot[0], "unit");

	return unit ? unit : "?";
}

const char *mp_table_row_name(const struct mp_row *row, char buf[MP_ROW_NAME_LEN])
{
	char tasks[12] = "";

	if (row->scale)
		snprintf(tasks, sizeof(tasks), "*%u", row->scale);
	snprintf(buf, MP_ROW_NAME_LEN, "%s%s%s%s.%s", row->scenario, row->size[0] ? "@" : "",
		 row->size, tasks, mp_phase_name[row->phase]);
	return buf;
}

static void put_fact(FILE *f, const struct mp_boot *b, const char *key)
{
	const char *value = mp_boot_fact(b, key);

	if (value)
		fprintf(f, " %s", value);
}

void mp_table_kernels(FILE *f, const struct mp_compare *c)
{
	fprintf(f, "kernels:\n");
	for (size_t k = 0; k < c->nkernels; k++) {
		fprintf(f, "  %s\n", c->kernel[k].name);
		for (size_t i = 0; i < c->nboots; i++) {
			if (c->of[i] != k)
				continue;
			fprintf(f, "    %s:", c->boot[i]->name);
			put_fact(f, c->boot[i], "release");
			put_fact(f, c->boot[i], "build");
			fputc('\n', f);
		}
	}
}

static void put_figure(FILE *f, double v, double error)
{
	char text[32];

	fprintf(f, "%10s", mp_table_number(text, sizeof(text), v));
	/* as the robot does: what rounds to nothing is left out */
	if (error >= 0.05)
		fprintf(f, " ±%5.*f%%", error < 1000, error);
	else
		fprintf(f, "%8s", "");
}

static void put_change(FILE *f, double from, double to)
{
	double change = mp_table_change(from, to);

	if (!isnan(change))
		fprintf(f, "%+*.1f%%", CHANGE - 1, change);
	else if (from == 0 && to > 0)
		fprintf(f, "%+*.1f ", CHANGE - 1, to);
	else
		fprintf(f, "%*s", CHANGE, from == to ? "0.0%" : "-");
}

static bool shown(const struct mp_metric *m, const struct mp_row *row, size_t nkernels, bool all)
{
	double low = INFINITY, high = -INFINITY;

	for (size_t k = 0; k < nkernels; k++) {
		/* fmin() and fmax() pass over NAN */
		low = fmin(low, mp_metric_value(m, row, k));
		high = fmax(high, mp_metric_value(m, row, k));
	}
	if (high < low)
		return false;
	if (all || m->detail)
		return all;
	return !m->counter || m->per_page ||
	       (high - low >= COUNT_CHANGE && high - low >= COUNT_PERCENT / 100 * low);
}

static void put_heading(FILE *f, const struct mp_compare *c)
{
	static const char dashes[] = "----------------------------";

	for (size_t k = 0; k < c->nkernels; k++) {
		int width = k ? COLUMN + CHANGE : COLUMN;

		fprintf(f, " %*.*s", width - 1, width - 1, c->kernel[k].name);
	}
	fputc('\n', f);
	for (size_t k = 0; k < c->nkernels; k++)
		fprintf(f, " %.*s", (k ? COLUMN + CHANGE : COLUMN) - 1, dashes);
	fputc('\n', f);
	for (size_t k = 0; k < c->nkernels; k++)
		fprintf(f, "%*s%*s", k ? CHANGE : 0, k ? "%change" : "", COLUMN, "%stddev");
	fprintf(f, "  metric: %s a page", mp_table_unit(c));
	fprintf(f, "; counters a cycle\n");
	for (size_t k = 0; k < c->nkernels; k++)
		fprintf(f, "%*s%*s", k ? CHANGE : 0, k ? "|" : "", COLUMN, "\\");
	fputc('\n', f);
}

void mp_table_figures(FILE *f, const struct mp_compare *c, bool all)
{
	char name[MP_ROW_NAME_LEN];

	put_heading(f, c);
	for (size_t i = 0; i < c->nrows; i++) {
		const struct mp_row *row = &c->row[i];

		for (size_t m = 0; m < mp_nr_metrics; m++) {
			if (!shown(&mp_metrics[m], row, c->nkernels, all))
				continue;
			for (size_t k = 0; k < c->nkernels; k++) {
				double v = mp_metric_value(&mp_metrics[m], row, k);

				if (k)
					put_change(f, mp_metric_value(&mp_metrics[m], row, k - 1),
						   v);
				put_figure(f, v, mp_metric_error(&mp_metrics[m], row, k));
			}
			fprintf(f, "  %s.%s\n", mp_table_row_name(row, name), mp_metrics[m].name);
		}
	}
}

/* One figure of the table of changes, in 9 columns; NAN is "-". */
static void put_percent(FILE *f, double v)
{
	if (isnan(v))
		fprintf(f, "%9s", "-");
	else
		fprintf(f, "%+8.*f%%", fabs(v) < 1000 ? 2 : 0, v);
}

static void put_step(FILE *f, const char *name, const struct mp_column *from,
		     const struct mp_column *to, const struct mp_step *s)
{
	fprintf(f, "%-30s", name);
	put_percent(f, s->delta[MP_FLOOR]);
	if (from->boots && to->boots && !isnan(s->interval[MP_FLOOR].low))
		fprintf(f, "  %+8.2f to %+8.2f", s->interval[MP_FLOOR].low,
			s->interval[MP_FLOOR].high);
	else
		fprintf(f, "%22s", "-");
	put_percent(f, s->delta[MP_MEDIAN]);
	put_percent(f, s->without_first[MP_FLOOR]);
	put_percent(f, from->boots ? 100 * from->drift[MP_FLOOR] : NAN);
	put_percent(f, to->boots ? 100 * to->drift[MP_FLOOR] : NAN);
	put_percent(f, s->control);
	fputc('\n', f);
}

static void put_steps(FILE *f, const struct mp_compare *c, const struct mp_row *row)
{
	for (size_t k = 0; k + 1 < c->nkernels; k++) {
		char name[40];

		snprintf(name, sizeof(name), "%c to %.27s", row->change == (int)k ? '>' : ' ',
			 c->kernel[k + 1].name);
		put_step(f, name, &row->column[k], &row->column[k + 1], &row->step[k]);
	}
}

void mp_table_changes(FILE *f, const struct mp_compare *c)
{
	size_t last = c->nkernels - 1;
	char name[MP_ROW_NAME_LEN];

	fprintf(f, "change of the floor, and what it rests on:\n");
	fprintf(f, "%-30s%9s%22s%9s%9s%9s%9s%9s\n", "", "", "", "", "without", "drift",
		"drift", "control:");
	fprintf(f, "%-30s%9s%22s%9s%9s%9s%9s%9s\n", "", "floor", "interval", "median",
		"first", "of base", "of head", "touch");
	for (size_t i = 0; i < c->nrows; i++) {
		const struct mp_row *row = &c->row[i];

		put_step(f, mp_table_row_name(row, name), &row->column[0], &row->column[last],
			 &row->whole);
		if (last > 1)
			put_steps(f, c, row);
	}
	if (last > 1)
		fprintf(f, "'>': the step at which the cost changed most\n");
}
