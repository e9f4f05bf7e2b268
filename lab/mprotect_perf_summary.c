// SPDX-License-Identifier: GPL-2.0
/*
 * What a comparison says, in words.
 */
#include <stdlib.h>
#include <string.h>

#include "mprotect_perf_summary.h"
#include "mprotect_perf_table.h"

/* so many rows are named in a mail */
#define MOST 6
/* percent: two runs of the same instructions differ by less */
#define UNCHANGED 0.5
/* of a cycle: less is what else the machine does */
#define COUNT_CHANGE 1.0

static bool is_change(const struct mp_step *s)
{
	return s->verdict == MP_REGRESSED || s->verdict == MP_IMPROVED;
}

/* What the counters say of a change in time; nothing when they say nothing. */
static void put_explanation(FILE *f, const struct mp_compare *c, const struct mp_row *row)
{
	double time = row->whole.delta[MP_FLOOR];
	bool first = true;

	for (size_t i = 0; i < mp_nr_metrics; i++) {
		const struct mp_metric *m = &mp_metrics[i];
		double from = mp_metric_value(m, row, 0);
		double to = mp_metric_value(m, row, c->nkernels - 1);
		double change = mp_table_change(from, to);

		if (!m->explains || isnan(from) || isnan(to))
			continue;
		if (m->per_page ? !is_change(&row->whole) || isnan(change) :
		    fabs(to - from) < COUNT_CHANGE || fabs(change) < UNCHANGED)
			continue;
		if (first)
			fprintf(f, "; %s %+.1f%%", strcmp(mp_table_unit(c), "ns") ?
				mp_table_unit(c) : "time", time);
		first = false;
		if (!m->per_page)
			fprintf(f, ", %s %.6g -> %.6g a cycle", m->name, from, to);
		else if (fabs(change) < UNCHANGED)
			fprintf(f, ", %s unchanged (layout, cache or noise)", m->name);
		else
			fprintf(f, ", %s %+.1f%%", m->name, change);
	}
}

static void put_control(FILE *f, const struct mp_step *s)
{
	if (s->control_moved)
		fprintf(f, "; touch, the control, moved %+.1f%%: not only mprotect()", s->control);
}

/* Which of its scenario a row is: "64KiB, 2 tasks". */
static void put_variant(FILE *f, const struct mp_row *row)
{
	fprintf(f, "%s", row->size);
	if (row->scale)
		fprintf(f, "%s%u task%s", row->size[0] ? ", " : "", row->scale,
			row->scale > 1 ? "s" : "");
}

/* How the variants of a test came out, of which one has the verdict. */
static void put_range(FILE *f, const struct mp_compare *c, const struct mp_row *row)
{
	static const enum mp_verdict worst_first[] = {
		MP_REGRESSED, MP_INCONCLUSIVE, MP_OK, MP_IMPROVED,
	};
	const struct mp_row *r = row, *low = NULL, *high = NULL;
	size_t n[MP_INCONCLUSIVE + 1] = { 0 }, total = 0;
	const char *sep = "";

	while (r > c->row && mp_row_like(r - 1, row, 0))
		r--;
	for (; r < c->row + c->nrows && mp_row_like(r, row, 0); r++) {
		double d = r->whole.delta[MP_FLOOR];

		if (r->phase != row->phase)
			continue;
		n[r->whole.verdict]++;
		total++;
		if (isnan(d))
			continue;
		low = low && low->whole.delta[MP_FLOOR] <= d ? low : r;
		high = high && high->whole.delta[MP_FLOOR] >= d ? high : r;
	}
	if (total < 2)
		return;
	fprintf(f, "; %zu %s (", total,
		!row->scale ? "sizes" : !row->size[0] ? "numbers of tasks" : "variants");
	for (size_t i = 0; i < ARRAY_SIZE(worst_first); i++) {
		enum mp_verdict v = worst_first[i];

		if (!n[v])
			continue;
		fprintf(f, "%s%zu %s", sep, n[v], mp_verdict_name[v]);
		sep = ", ";
	}
	fputc(')', f);
	if (low == high)
		return;
	fprintf(f, ", %+.1f%% at ", low->whole.delta[MP_FLOOR]);
	put_variant(f, low);
	fprintf(f, " to %+.1f%% at ", high->whole.delta[MP_FLOOR]);
	put_variant(f, high);
}

static void put_ruling(FILE *f, const struct mp_compare *c, const struct mp_row *row,
		       double threshold)
{
	const struct mp_step *s = &row->whole;
	char from[32], to[32], in[MP_INTERVAL_LEN];

	fprintf(f, "%s", mp_verdict_name[s->verdict]);
	if (row->size[0] || row->scale) {
		fprintf(f, " at ");
		put_variant(f, row);
		fputc(':', f);
	}
	if (isnan(s->delta[MP_FLOOR])) {
		fprintf(f, "%s %s", row->size[0] || row->scale ? "" : ":", s->why.text);
		return;
	}
	fprintf(f, " floor %s -> %s %s/page, %+.2f%%%s, median %+.2f%%",
		mp_table_number(from, sizeof(from), row->column[0].figure[MP_FLOOR]),
		mp_table_number(to, sizeof(to), row->column[c->nkernels - 1].figure[MP_FLOOR]),
		mp_table_unit(c), s->delta[MP_FLOOR],
		mp_interval_text(&s->interval[MP_FLOOR], 2, in), s->delta[MP_MEDIAN]);
	fprintf(f, ", threshold %.2f%%", threshold);
	if (s->why.text[0])
		fprintf(f, ": %s", s->why.text);
	if (c->nkernels > 2 && row->change >= 0)
		fprintf(f, "; most from %.40s to %.40s: %+.2f%%", c->kernel[row->change].name,
			c->kernel[row->change + 1].name,
			row->step[row->change].delta[MP_FLOOR]);
	put_control(f, s);
	put_explanation(f, c, row);
}

void mp_summary_ruling(const struct mp_compare *c, const struct mp_row *row, double threshold,
		       char *text, size_t size)
{
	FILE *f = fmemopen(text, size, "w");

	text[0] = '\0';
	if (!f)
		return;
	put_ruling(f, c, row, threshold);
	put_range(f, c, row);
	fclose(f);
	text[size - 1] = '\0';
}

static void put_words(FILE *f, const char *text, size_t *at)
{
	while (*text) {
		size_t n = strcspn(text, " ");

		if (*at && *at + 1 + n > MP_SUMMARY_WIDTH) {
			fputc('\n', f);
			*at = 0;
		} else if (*at) {
			fputc(' ', f);
			++*at;
		}
		fprintf(f, "%.*s", (int)n, text);
		*at += n;
		text += n + strspn(text + n, " ");
	}
}

/* The row whose floor changed most after @prev of the same verdict, or NULL. */
static const struct mp_row *next_row(const struct mp_compare *c, enum mp_verdict v,
				     const struct mp_row *prev)
{
	double most = prev ? fabs(prev->whole.delta[MP_FLOOR]) : INFINITY;
	const struct mp_row *best = NULL;

	for (size_t i = 0; i < c->nrows; i++) {
		const struct mp_row *row = &c->row[i];
		double d = fabs(row->whole.delta[MP_FLOOR]);

		if (row->whole.verdict != v || d > most || (prev && d == most && row <= prev))
			continue;
		if (!best || d > fabs(best->whole.delta[MP_FLOOR]))
			best = row;
	}
	return best;
}

static size_t count(const struct mp_compare *c, enum mp_verdict v)
{
	size_t n = 0;

	for (size_t i = 0; i < c->nrows; i++)
		n += c->row[i].whole.verdict == v;
	return n;
}

static void put_rows(FILE *f, const struct mp_compare *c, enum mp_verdict v)
{
	size_t n = count(c, v), told = 0;

	for (const struct mp_row *r = next_row(c, v, NULL); r && told < MOST;
	     r = next_row(c, v, r), told++) {
		char name[MP_ROW_NAME_LEN], from[32], to[32], in[MP_INTERVAL_LEN];

		fprintf(f, "%s %s -> %s, %+.1f%%%s, %s",
			mp_table_row_name(r, name),
			mp_table_number(from, sizeof(from), r->column[0].figure[MP_FLOOR]),
			mp_table_number(to, sizeof(to),
					r->column[c->nkernels - 1].figure[MP_FLOOR]),
			r->whole.delta[MP_FLOOR],
			mp_interval_text(&r->whole.interval[MP_FLOOR], 1, in), mp_verdict_name[v]);
		if (c->nkernels > 2 && r->change >= 0)
			fprintf(f, ", most at %.40s: %+.1f%%", c->kernel[r->change + 1].name,
				r->step[r->change].delta[MP_FLOOR]);
		put_control(f, &r->whole);
		put_explanation(f, c, r);
		fprintf(f, "; ");
	}
	if (n > told)
		fprintf(f, "%zu rows more %s; ", n - told, mp_verdict_name[v]);
}

/* A cost that came and went is in no verdict from the first kernel to the last. */
static void put_passing(FILE *f, const struct mp_compare *c)
{
	char name[MP_ROW_NAME_LEN];
	size_t told = 0;

	for (size_t i = 0; c->nkernels > 2 && i < c->nrows && told < MOST; i++) {
		const struct mp_row *r = &c->row[i];

		if (r->change < 0 || is_change(&r->whole))
			continue;
		told++;
		fprintf(f, "%s %+.1f%% at %.40s", mp_table_row_name(r, name),
			r->step[r->change].delta[MP_FLOOR], c->kernel[r->change + 1].name);
		if (!isnan(r->whole.delta[MP_FLOOR]))
			fprintf(f, ", but %+.1f%% in all", r->whole.delta[MP_FLOOR]);
		fprintf(f, "; ");
	}
}

static void put_rest(FILE *f, const struct mp_compare *c)
{
	const struct mp_row *r = next_row(c, MP_OK, NULL);
	size_t ok = count(c, MP_OK), open = count(c, MP_INCONCLUSIVE);
	char name[MP_ROW_NAME_LEN];

	fprintf(f, "%zu of %zu rows OK", ok, c->nrows);
	if (r)
		fprintf(f, " (at most %s %+.1f%%)", mp_table_row_name(r, name),
			r->whole.delta[MP_FLOOR]);
	for (size_t i = 0; open && i < c->nrows; i++) {
		if (c->row[i].whole.verdict != MP_INCONCLUSIVE)
			continue;
		fprintf(f, ", %zu INCONCLUSIVE (%s: %s)", open,
			mp_table_row_name(&c->row[i], name), c->row[i].whole.why.text);
		open = 0;
	}
	fputc('.', f);
}

static void put_text(FILE *f, const struct mp_compare *c, double threshold)
{
	const struct mp_kernel *base = &c->kernel[0], *head = &c->kernel[c->nkernels - 1];
	const char *model = mp_boot_fact(c->boot[0], "model");

	fprintf(f, "mprotect() of %.40s against %.40s", head->name, base->name);
	if (c->nkernels > 2)
		fprintf(f, " over %zu kernels", c->nkernels);
	fprintf(f, " (%zu and %zu boots, %.40s, %s a page, threshold %g%%): ", head->boots,
		base->boots, model ? model : "unknown CPU", mp_table_unit(c), threshold);
	put_rows(f, c, MP_REGRESSED);
	put_rows(f, c, MP_IMPROVED);
	put_passing(f, c);
	put_rest(f, c);
}

void mp_summary_paragraph(FILE *f, const struct mp_compare *c, double threshold)
{
	char *text = NULL;
	size_t size, at = 0;
	FILE *all = open_memstream(&text, &size);

	if (!all)
		return;
	put_text(all, c, threshold);
	if (!fclose(all))
		put_words(f, text, &at);
	fputc('\n', f);
	free(text);
}
