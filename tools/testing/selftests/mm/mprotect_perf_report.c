// SPDX-License-Identifier: GPL-2.0
/*
 * The table of a run, and what a published protocol makes of the same samples:
 * the mean of each process, and how far these means are apart.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "mprotect_perf_report.h"

static void settled(FILE *f, const struct mp_run_row *row)
{
	static const char *const why[] = {
		[MP_SETTLED] = "", [MP_TOO_FEW] = "there are too few processes",
		[MP_UNSUPPORTED] = "few processes agree on it",
		[MP_MOVING] = "the last processes moved it",
		[MP_DRIFTING] = "it drifts from the first half of the run to the second",
	};

	if (row->settled == MP_SETTLED)
		fprintf(f, "  settled\n");
	else
		fprintf(f, "  unsettled: the floor of %s: %s\n", mp_phase_name[row->moving],
			why[row->settled]);
}

/* What one step of the clock is of the shortest phase */
static void clock_part(FILE *f, const struct mp_run_row *row, const struct mp_boot *facts)
{
	double least = INFINITY, steps;
	int phase, shortest = 0;

	for (phase = 0; phase < MP_PHASES; phase++) {
		steps = mp_gate_clock_steps(facts, row, phase);
		if (steps < least) {
			least = steps;
			shortest = phase;
		}
	}
	if (!isinf(least))
		fprintf(f, "  clock: steps of %s ns, %s ns a reading; a step is %.2f%% of %s\n",
			mp_boot_fact(facts, "clock_step_ns"), mp_boot_fact(facts, "clock_cost_ns"),
			100 / least, mp_phase_name[shortest]);
}

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

static void by_protocol(FILE *f, const struct mp_run_row *row, int phase, const char *name)
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

char *mp_report_table(const struct mp_run_row *row, const struct mp_boot *facts,
		      const struct mp_opts *o)
{
	struct mp_stats st;
	char *text = NULL;
	size_t size;
	FILE *f;
	int phase;

	f = row->n ? open_memstream(&text, &size) : NULL;
	if (!f)
		return NULL;
	fprintf(f, "%s: %llu pages in %llu calls; %zu cycles in %u processes; %s per page\n",
		row->sc->name, (unsigned long long)row->sample[0].pages,
		(unsigned long long)row->sample[0].calls, row->n, row->nprocs,
		o->insn ? "instructions" : "ns");
	fprintf(f, "  %-8s %9s %9s %9s %9s %9s %9s %5s\n", "phase", "floor", "median",
		"mean", "sd", "p99", "max", "cv%");
	for (phase = 0; phase < MP_PHASES; phase++)
		if (!mp_run_stats(row, phase, &st))
			fprintf(f, "  %-8s %9.3f %9.3f %9.3f %9.3f %9.3f %9.3f %5.1f\n",
				mp_phase_name[phase], st.floor, st.median, st.mean, st.sd, st.p99,
				st.max, st.cv);
	for (phase = 0; o->protocol && phase < MP_PHASES; phase++)
		by_protocol(f, row, phase, o->protocol);
	clock_part(f, row, facts);
	settled(f, row);
	fclose(f);
	return text;
}
