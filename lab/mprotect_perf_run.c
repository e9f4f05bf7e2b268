// SPDX-License-Identifier: GPL-2.0
/*
 * The order of things: a round runs one process of every scenario, shuffled,
 * so that a noisy minute falls on all of them; rounds follow each other until
 * the floor of every timed phase has settled.
 *
 * What this cannot tell: how another boot would have come out. Processes of
 * one boot share the kernel's luck with its own code and memory.
 */
#include <stdlib.h>
#include <string.h>

#include "mprotect_perf_run.h"

/* of the floor: what counts as the same */
#define TOLERANCE 0.005
/* A process is short, so that there are many, but not so short that set-up rules. */
#define PROC_PART (1.0 / 24)
#define PROC_SECONDS_MIN 0.05
#define PROC_SECONDS_MAX 1.0

/* of a process that has a time: the samples take 64 MiB then */
#define CYCLES_MAX 200000

const struct mp_finding *mp_report_failed(const struct mp_report *rep)
{
	unsigned int i;

	for (i = 0; i < MP_CHECKS; i++)
		if (rep->v[i].outcome == MP_FAIL)
			return &rep->v[i];
	return NULL;
}

void mp_run_check(struct mp_run_row *row, const struct mp_plan *plan)
{
	struct mp_job job = { .sc = row->sc, .cpu = plan->cpu, .seconds = plan->timeout };
	struct mp_result res;

	if (mp_scenario_missing(row->sc, &row->missing))
		return;
	mp_measure_run(&job, &res, &row->died);
	row->report = res.report;
	row->missing = res.report.missing;
	free(res.sample);
}

/* One more floor of each timed phase, that of the process with these samples. */
static int keep_floors(struct mp_run_row *row, const struct mp_result *res)
{
	double *v = malloc((res->n + 1) * sizeof(*v)), *floor;
	int phase;
	size_t i;

	for (phase = 0; v && phase < MP_PHASES; phase++) {
		if (!(row->sc->timed & 1U << phase))
			continue;
		floor = realloc(row->floor[phase], (row->nprocs + 1) * sizeof(*floor));
		if (!floor)
			break;
		row->floor[phase] = floor;
		for (i = 0; i < res->n; i++)
			v[i] = (double)res->sample[i].phase[phase].time /
			       (double)res->sample[i].pages;
		mp_stats_sort(v, res->n);
		floor[row->nprocs] = mp_stats_floor(v, res->n);
	}
	free(v);
	return v && phase == MP_PHASES ? 0 : -1;
}

static int keep(struct mp_run_row *row, const struct mp_result *res)
{
	size_t *first = realloc(row->first, (row->nprocs + 2) * sizeof(*first));
	struct mp_sample *s = realloc(row->sample, (row->n + res->n) * sizeof(*s));

	if (first)
		row->first = first;
	if (s)
		row->sample = s;
	if (!first || !s || keep_floors(row, res))
		return mp_error(&row->fault, "no memory for %zu samples", row->n + res->n);
	memcpy(s + row->n, res->sample, res->n * sizeof(*s));
	first[row->nprocs++] = row->n;
	row->n += res->n;
	first[row->nprocs] = row->n;
	return 0;
}

/* One process; its samples are kept when it is a measured one. */
static void run_one(struct mp_run_row *row, const struct mp_plan *plan, double seconds,
		    bool measured)
{
	struct mp_job job = {
		.sc = row->sc, .proc = row->nprocs, .cpu = plan->cpu, .warmup = plan->warmup,
		.cycles = plan->cycles ? plan->cycles : CYCLES_MAX, .seconds = plan->timeout,
		.ns = plan->cycles ? 0 : (uint64_t)(seconds * 1e9),
	};
	const struct mp_finding *failed;
	struct mp_result res;

	if (mp_measure_run(&job, &res, &row->fault))
		return;
	failed = mp_report_failed(&res.report);
	if (res.report.missing.text[0])
		row->missing = res.report.missing;
	else if (failed)
		row->fault = failed->text;
	else if (measured)
		keep(row, &res);
	free(res.sample);
}

int mp_run_groups(const struct mp_run_row *row, int phase, struct mp_group **group)
{
	struct mp_group *g;
	unsigned int p;
	double *v;
	size_t i;

	*group = NULL;
	if (!row->n || row->sample[0].phase[phase].time == MP_NOT_TAKEN)
		return -1;
	g = malloc(row->nprocs * sizeof(*g) + row->n * sizeof(*v));
	if (!g)
		return -1;
	v = (double *)(g + row->nprocs);
	for (i = 0; i < row->n; i++)
		v[i] = (double)row->sample[i].phase[phase].time / (double)row->sample[i].pages;
	for (p = 0; p < row->nprocs; p++) {
		g[p].v = v + row->first[p];
		g[p].n = row->first[p + 1] - row->first[p];
	}
	*group = g;
	return 0;
}

int mp_run_stats(const struct mp_run_row *row, int phase, struct mp_stats *st)
{
	struct mp_group *g;
	int ret;

	if (mp_run_groups(row, phase, &g))
		return -1;
	ret = mp_stats_of_groups(g, row->nprocs, st);
	free(g);
	return ret;
}

bool mp_run_supported(const struct mp_run_row *row, int phase)
{
	struct mp_stats st;

	return !mp_run_stats(row, phase, &st) &&
	       mp_stats_support(row->floor[phase], row->nprocs, st.floor, TOLERANCE);
}

static void judge(struct mp_run_row *row, const struct mp_plan *plan)
{
	int phase;

	row->settled = row->nprocs ? MP_SETTLED : MP_TOO_FEW;
	for (phase = 0; phase < MP_PHASES && row->settled == MP_SETTLED; phase++) {
		if (!(row->sc->timed & 1U << phase))
			continue;
		row->moving = phase;
		row->settled = mp_stats_settled(row->floor[phase], row->nprocs, TOLERANCE);
	}
	if (row->settled == MP_SETTLED && !plan->procs && plan->enough &&
	    row->nprocs >= row->unsure)
		row->unsure = plan->enough(plan->ctx, row) ? 0 : row->nprocs * 5 / 4 + 1;
}

static bool wanted(const struct mp_run_row *row, const struct mp_plan *plan)
{
	if (row->missing.text[0] || row->died.text[0] || row->fault.text[0] ||
	    mp_report_failed(&row->report))
		return false;
	if (plan->procs || row->nprocs >= plan->procs_max)
		return row->nprocs < plan->procs;
	return row->settled != MP_SETTLED || row->unsure;
}

static double proc_seconds(const struct mp_plan *plan, unsigned int nrows)
{
	double s = plan->seconds / nrows * PROC_PART;

	return s < PROC_SECONDS_MIN ? PROC_SECONDS_MIN :
	       s > PROC_SECONDS_MAX ? PROC_SECONDS_MAX : s;
}

/* Returns false when there was nothing left to do. */
static bool run_round(struct mp_run_row *row, unsigned int *order, unsigned int nrows,
		      const struct mp_plan *plan, bool measured, uint64_t start)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < nrows; i++) {
		struct mp_run_row *r = &row[order[i]];
		double elapsed = (double)(mp_clock_now() - start) / 1e9;

		if (!wanted(r, plan) ||
		    (!plan->procs && r->nprocs && elapsed >= plan->seconds))
			continue;
		if (plan->progress)
			plan->progress(r->sc, r->nprocs, elapsed);
		run_one(r, plan, proc_seconds(plan, nrows), measured);
		judge(r, plan);
		any = true;
	}
	return any;
}

void mp_run_time(struct mp_run_row *row, unsigned int nrows, const struct mp_plan *plan)
{
	struct mp_rng rng = { plan->seed };
	unsigned int *order = calloc(nrows, sizeof(*order)), i;
	uint64_t start = mp_clock_now();
	uint32_t warm = plan->warmup_procs;
	bool any = true;

	if (!order) {
		for (i = 0; i < nrows; i++)
			mp_error(&row[i].fault, "no memory for %u rows", nrows);
		return;
	}
	for (i = 0; i < nrows; i++) {
		order[i] = i;
		row[i].settled = MP_TOO_FEW;
	}
	while (any) {
		mp_rng_shuffle(&rng, order, nrows);
		any = run_round(row, order, nrows, plan, !warm, start);
		warm -= warm > 0;
	}
	free(order);
}

void mp_run_free(struct mp_run_row *row)
{
	int phase;

	for (phase = 0; phase < MP_PHASES; phase++) {
		free(row->floor[phase]);
		row->floor[phase] = NULL;
	}
	free(row->sample);
	free(row->first);
	row->sample = NULL;
	row->first = NULL;
	row->n = 0;
	row->nprocs = 0;
}
