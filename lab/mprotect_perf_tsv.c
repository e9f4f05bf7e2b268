// SPDX-License-Identifier: GPL-2.0
/*
 * The tab-separated table. Its header says what the columns are.
 */
#include "mprotect_perf_table.h"
#include "mprotect_perf_tsv.h"

/* Ten digits: sizes and rounding of a plot are the reader's affair. */
static void put(FILE *f, double v)
{
	fputc('\t', f);
	if (!isnan(v))
		fprintf(f, "%.10g", v);
}

static void put_heading(FILE *f)
{
	fprintf(f, "scenario\tphase\tunit\tpages\tcalls\ttasks\tkernel\tboots\tprocesses");
	fprintf(f, "\tcycles");
	for (size_t i = 0; i < mp_nr_metrics; i++) {
		fprintf(f, "\t%s", mp_metrics[i].name);
		if (mp_metrics[i].error)
			fprintf(f, "\t%s_sd", mp_metrics[i].name);
	}
	fprintf(f, "\tops\timbalance\tdrift\tchange\tlow\thigh\tmedian_change\tfirst_change\ttouch_change");
	fprintf(f, "\tverdict\trow_verdict\n");
}

static void put_step(FILE *f, const struct mp_step *s, bool interval)
{
	put(f, s->delta[MP_FLOOR]);
	put(f, interval ? s->interval[MP_FLOOR].low : NAN);
	put(f, interval ? s->interval[MP_FLOOR].high : NAN);
	put(f, s->delta[MP_MEDIAN]);
	put(f, s->without_first[MP_FLOOR]);
	put(f, s->control);
	fprintf(f, "\t%s", mp_verdict_name[s->verdict]);
}

static void put_line(FILE *f, const struct mp_compare *c, const struct mp_row *row, size_t k)
{
	const struct mp_column *col = &row->column[k];

	fprintf(f, "%s\t%s\t%s\t%llu\t%llu\t%u\t%s\t%zu\t%zu\t%llu", row->scenario,
		mp_phase_name[row->phase], mp_table_unit(c), (unsigned long long)row->pages,
		(unsigned long long)row->calls, row->tasks, c->kernel[k].name, col->boots,
		col->processes, (unsigned long long)col->samples);
	for (size_t i = 0; i < mp_nr_metrics; i++) {
		put(f, mp_metric_value(&mp_metrics[i], row, k));
		if (mp_metrics[i].error)
			put(f, mp_metric_error(&mp_metrics[i], row, k));
	}
	put(f, col->boots ? col->rate.total : NAN);
	put(f, col->boots ? col->rate.imbalance : NAN);
	put(f, col->boots ? 100 * col->drift[MP_FLOOR] : NAN);
	if (k)
		put_step(f, &row->step[k - 1], col->boots && row->column[k - 1].boots);
	else
		fprintf(f, "\t\t\t\t\t\t\t");
	fprintf(f, "\t%s\n", mp_verdict_name[row->whole.verdict]);
}

void mp_tsv_write(FILE *f, const struct mp_compare *c)
{
	put_heading(f);
	for (size_t i = 0; i < c->nrows; i++) {
		for (size_t k = 0; k < c->nkernels; k++)
			put_line(f, c, &c->row[i], k);
	}
}
