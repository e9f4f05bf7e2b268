// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of a scenario that was timed in several variants: what a call
 * costs against its size, and what gets done against the number of tasks.
 */
#include <stdio.h>
#include <stdlib.h>

#include "mprotect_perf_fit.h"
#include "mprotect_perf_rate.h"
#include "mprotect_perf_report.h"

static void missing(FILE *f, const struct mp_run_row *row, unsigned int n)
{
	char name[64];
	unsigned int i;

	for (i = 0; i < n; i++)
		if (row[i].missing.text[0])
			fprintf(f, "  %s: %s: %s\n", mp_variant_name(row[i].sc, name, sizeof(name)),
				row[i].n ? "cut short" : "left out", row[i].missing.text);
}

static void unsettled(FILE *f, const struct mp_run_row *row, unsigned int n)
{
	const char *before = "  unsettled: ";
	char name[64];
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (!row[i].n || row[i].settled == MP_SETTLED)
			continue;
		fprintf(f, "%s%s", before, mp_variant_name(row[i].sc, name, sizeof(name)));
		before = "; ";
	}
	if (before[0] == ';')
		fputc('\n', f);
}

static double calls_of(const struct mp_run_row *row)
{
	return (double)row->sample[0].calls;
}

static double pages_of_call(const struct mp_run_row *row)
{
	return (double)row->sample[0].pages / calls_of(row);
}

int mp_report_fit(const struct mp_run_row *row, unsigned int n, unsigned int tasks, int phase,
		  struct mp_fit *fit)
{
	struct mp_point *p = calloc(n, sizeof(*p));
	struct mp_stats st;
	unsigned int i;
	size_t points = 0;
	int ret;

	for (i = 0; p && i < n; i++) {
		if (row[i].sc->tasks != tasks || mp_run_stats(&row[i], phase, &st))
			continue;
		p[points].pages = pages_of_call(&row[i]);
		p[points++].cost = st.floor * pages_of_call(&row[i]);
	}
	ret = p ? mp_fit_line(p, points, fit) : -1;
	free(p);
	return ret;
}

static void size_lines(FILE *f, const struct mp_run_row *row, unsigned int n, int phase)
{
	struct mp_stats st;
	struct mp_fit fit;
	char name[64];
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!mp_run_stats(&row[i], phase, &st))
			fprintf(f, "  %-8s %-18s %6.0f %9.0f %12.1f %9.3f %9.3f %5.1f %7zu %5u\n",
				mp_phase_name[phase],
				mp_variant_name(row[i].sc, name, sizeof(name)),
				calls_of(&row[i]), pages_of_call(&row[i]),
				st.floor * pages_of_call(&row[i]), st.floor, st.median, st.cv,
				row[i].n, row[i].nprocs);
	/* the rows of the first size have each number of tasks once */
	for (i = 0; i < n && row[i].sc->bytes == row->sc->bytes; i++) {
		unsigned int tasks = row[i].sc->tasks;

		if (mp_report_fit(row, n, tasks, phase, &fit))
			continue;
		fprintf(f, "  %-8s a call is %.1f +- %.1f, and %.4f +- %.4f a page%s",
			mp_phase_name[phase], fit.fixed, fit.fixed_error, fit.per_page,
			fit.per_page_error, row->sc->team == MP_ALONE ? "" : ", with ");
		if (row->sc->team != MP_ALONE)
			fprintf(f, "%u task%s", tasks, tasks > 1 ? "s" : "");
		fprintf(f, "; farthest from this: %.1f%%\n", fit.worst_residual);
	}
}

/* Mean over the processes of a row, of those that have a rate */
static unsigned int mean_rate(const struct mp_run_row *row, struct mp_rate *mean)
{
	struct mp_rate rate;
	unsigned int p, n = 0;

	*mean = (struct mp_rate){ 0 };
	for (p = 0; p < row->nprocs; p++) {
		if (mp_rate_of(row->sample + row->first[p], row->first[p + 1] - row->first[p],
			       &rate))
			continue;
		n++;
		mean->total += (rate.total - mean->total) / n;
		mean->per_task += (rate.per_task - mean->per_task) / n;
		mean->imbalance += (rate.imbalance - mean->imbalance) / n;
	}
	return n;
}

static void task_lines(FILE *f, const struct mp_run_row *row, unsigned int n)
{
	struct mp_rate rate;
	struct mp_stats st;
	char name[64];
	unsigned int i;
	int phase;

	fprintf(f, "  %-18s %12s %12s %9s", "tasks", "total/s", "per task/s", "imbalance");
	for (phase = MP_PROTECT; phase < MP_PHASES; phase++)
		if (row->sc->timed & 1U << phase)
			fprintf(f, " %9s", mp_phase_name[phase]);
	fprintf(f, "  (floor a page)\n");
	for (i = 0; i < n; i++) {
		if (!row[i].n || !mean_rate(&row[i], &rate))
			continue;
		fprintf(f, "  %-18s %12.1f %12.1f %9.2f",
			mp_variant_name(row[i].sc, name, sizeof(name)), rate.total,
			rate.per_task, rate.imbalance);
		for (phase = MP_PROTECT; phase < MP_PHASES; phase++)
			if (!mp_run_stats(&row[i], phase, &st))
				fprintf(f, " %9.3f", st.floor);
		fputc('\n', f);
	}
}

char *mp_report_curve(const struct mp_run_row *row, unsigned int n, const struct mp_opts *o)
{
	const char *unit = o->insn ? "instructions" : "ns";
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	unsigned int i;
	int phase;

	if (!f)
		return NULL;
	for (i = 0; i < n && !row[i].n; i++)
		;
	if (i < n && row->sc->team != MP_ALONE) {
		fprintf(f, "%s: operations%s; an operation is a cycle\n", row->sc->name,
			o->insn ? " per 1e9 instructions" : " per second");
		task_lines(f, row, n);
	}
	if (i < n && o->choice.nsizes) {
		fprintf(f, "%s: cost against size, %s\n", row->sc->name, unit);
		fprintf(f, "  %-8s %-18s %6s %9s %12s %9s %9s %5s %7s %5s\n", "phase", "size",
			"calls", "pages", "floor/call", "floor/pg", "median/pg", "cv%", "cycles",
			"procs");
		for (phase = 0; phase < MP_PHASES; phase++)
			if (row->sc->timed & 1U << phase)
				size_lines(f, row, n, phase);
	}
	missing(f, row, n);
	unsettled(f, row, n);
	fclose(f);
	return text;
}
