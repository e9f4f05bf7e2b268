// SPDX-License-Identifier: GPL-2.0
/*
 * What the author of a published protocol makes of the same samples.
 */
#include <stdio.h>
#include <stdlib.h>

#include "mprotect_perf_report.h"

/* Of the means of the processes, from the given one on */
static struct mp_stats of_means(const double *mean, unsigned int n)
{
	double *copy = malloc((n ? n : 1) * sizeof(*copy));
	struct mp_stats st = { 0 };
	unsigned int i;

	for (i = 0; copy && i < n; i++)
		copy[i] = mean[i];
	if (copy)
		st = mp_stats_of(copy, n);
	free(copy);
	return st;
}

static void process_means(FILE *f, const struct mp_run_row *row, int phase, const char *name)
{
	struct mp_stats all, rest;
	struct mp_group *g;
	double *mean;
	unsigned int p;
	size_t i;

	if (mp_run_groups(row, phase, &g))
		return;
	mean = calloc(row->nprocs, sizeof(*mean));
	for (p = 0; mean && p < row->nprocs; p++) {
		for (i = 0; i < g[p].n; i++)
			mean[p] += g[p].v[i] / (double)g[p].n;
	}
	if (mean) {
		all = of_means(mean, row->nprocs);
		rest = of_means(mean + 1, row->nprocs - 1);
		fprintf(f, "  %s: %-8s mean of %zu processes %.3f, cv %.2f%%; without the first %.3f, cv %.2f%%\n",
			name, mp_phase_name[phase], all.n, all.mean, all.cv, rest.mean, rest.cv);
	}
	free(mean);
	free(g);
}

/* Calls that protect or restore, over all samples */
static void per_call(FILE *f, const struct mp_run_row *row, const char *name, bool insn)
{
	double sum = 0, calls = 0;
	int phase;
	size_t i;

	for (i = 0; i < row->n; i++)
		for (phase = MP_PROTECT; phase <= MP_RESTORE; phase++)
			if (row->sc->timed & 1U << phase) {
				sum += (double)row->sample[i].phase[phase].time;
				calls += (double)row->sample[i].calls;
			}
	fprintf(f, "  %s: mean of %.0f calls of %llu pages: %.0f %s a call\n", name, calls,
		(unsigned long long)(row->sample[0].pages / row->sample[0].calls), sum / calls,
		insn ? "instructions" : "ns");
}

/* All phases of a cycle, of one sample */
static double cycle(const struct mp_run_row *row, const struct mp_sample *s)
{
	double sum = 0;
	int phase;

	for (phase = 0; phase < MP_PHASES; phase++)
		if (row->sc->timed & 1U << phase)
			sum += (double)s->phase[phase].time;
	return sum;
}

/* Half of its calls protect, the others restore; a touch goes with each pair. */
static void libmicro(FILE *f, const struct mp_run_row *row, const char *name, bool insn)
{
	unsigned int calls = (unsigned int)row->sample[0].calls *
			     __builtin_popcount(row->sc->timed & (1U << MP_PROTECT |
								  1U << MP_RESTORE));
	double *call = malloc(row->n * sizeof(*call));
	struct mp_stats st;
	size_t i;

	if (!call)
		return;
	for (i = 0; i < row->n; i++)
		call[i] = cycle(row, &row->sample[i]) / calls;
	st = mp_stats_of(call, row->n);
	fprintf(f, "  %s: %s: median of %zu batches of %u calls: %.3f %s a call\n", name,
		row->sc->origin, st.n, calls, st.median / 1000,
		insn ? "thousand instructions" : "us");
	free(call);
}

static void in_all(FILE *f, const struct mp_run_row *row, const char *name, bool insn)
{
	unsigned int p;
	size_t i;

	for (p = 0; p < row->nprocs; p++) {
		double sum = 0;

		for (i = row->first[p]; i < row->first[p + 1]; i++)
			sum += cycle(row, &row->sample[i]);
		fprintf(f, "  %s: %zu cycles of process %u: %.4f %s\n", name,
			row->first[p + 1] - row->first[p], p, sum / 1e9,
			insn ? "1e9 instructions" : "s");
	}
}

char *mp_report_published(const struct mp_run_row *row, const struct mp_opts *o)
{
	const struct mp_protocol *p = o->protocol;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int phase;

	if (!f)
		return NULL;
	if (p->published == MP_PER_CALL)
		per_call(f, row, p->name, o->insn);
	else if (p->published == MP_LIBMICRO)
		libmicro(f, row, p->name, o->insn);
	else if (p->published == MP_IN_ALL)
		in_all(f, row, p->name, o->insn);
	for (phase = 0; p->published == MP_PROCESS_MEANS && phase < MP_PHASES; phase++)
		process_means(f, row, phase, p->name);
	fclose(f);
	return text;
}
