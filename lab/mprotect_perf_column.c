// SPDX-License-Identifier: GPL-2.0
/*
 * What stands in a row: the figures of one kernel, made of those of its boots.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mprotect_perf_compare.h"

/*
 * Made-up runs: 1000, but of large boots as few as 200, which still know a
 * standard error to 5 %: it takes 10 ns a draw.
 */
#define REPLICATES 1000
#define LEAST_REPLICATES 200
#define DRAWS 20000000

/* of the floor: processes that agree on it */
#define TOLERANCE 0.005

/* One boot's share of a column. */
struct share {
	double figure[MP_FIGURES];
	double without_first[MP_FIGURES];
	double error[MP_JUDGED];
	struct mp_rate rate;
	bool alone;		/* no other process has the floor of the run */
};

/* Floor, median and mean of the processes of @w from the @skip-th on. */
static int boot_figures(const struct mp_workload *w, int phase, uint32_t skip,
			struct mp_group *g, size_t *ngroups, double *figure)
{
	struct mp_stats st;
	double means = 0;
	size_t n = 0;

	for (uint32_t i = 0; i < w->nprocess; i++) {
		const struct mp_series *s = &w->process[i].phase[phase];

		if (!s->nkept || skip) {
			skip -= s->nkept && skip;
			continue;
		}
		g[n++] = (struct mp_group){ s->kept, s->nkept };
		means += s->mean;
	}
	*ngroups = n;
	if (mp_stats_of_groups(g, n, &st))
		return -1;
	figure[MP_FLOOR] = n ? st.floor / w->pages : NAN;
	figure[MP_MEDIAN] = n ? st.median / w->pages : NAN;
	figure[MP_MEAN] = n ? means / n / w->pages : NAN;
	return 0;
}

static double relative_error(double *v, size_t n)
{
	struct mp_stats st = mp_stats_of(v, n);

	return st.mean > 0 ? st.sd / st.mean : 0;
}

/* 1: too few processes agree on the floor; -1: no memory */
static int unsupported(const struct mp_group *g, size_t n, double floor)
{
	size_t most = 1;
	double *floors, *v;
	int ret;

	for (size_t i = 0; i < n; i++)
		most = g[i].n > most ? g[i].n : most;
	floors = malloc((n + most) * sizeof(*floors));
	if (!floors)
		return -1;
	v = floors + n;
	for (size_t i = 0; i < n; i++) {
		memcpy(v, g[i].v, g[i].n * sizeof(*v));
		mp_stats_sort(v, g[i].n);
		floors[i] = mp_stats_floor(v, g[i].n);
	}
	ret = !mp_stats_support(floors, n, floor, TOLERANCE);
	free(floors);
	return ret;
}

static size_t replicates(const struct mp_group *g, size_t ngroups)
{
	size_t samples = 1;

	for (size_t i = 0; i < ngroups; i++)
		samples += g[i].n;
	if (DRAWS / samples > REPLICATES)
		return REPLICATES;
	return DRAWS / samples > LEAST_REPLICATES ? DRAWS / samples : LEAST_REPLICATES;
}

static int boot_share(const struct mp_workload *w, int phase, uint64_t seed, struct share *sh)
{
	struct mp_group *g = malloc(w->nprocess * sizeof(*g));
	double *v = malloc(2 * REPLICATES * sizeof(*v));
	size_t n, runs;
	int ret = -1, alone;

	if (!g || !v || boot_figures(w, phase, 1, g, &n, sh->without_first) ||
	    boot_figures(w, phase, 0, g, &n, sh->figure))
		goto out;
	alone = unsupported(g, n, sh->figure[MP_FLOOR] * w->pages);
	if (alone < 0)
		goto out;
	sh->alone = alone;
	runs = replicates(g, n);
	if (mp_stats_bootstrap(g, n, seed, v, v + runs, runs))
		goto out;
	sh->error[MP_FLOOR] = relative_error(v, runs);
	sh->error[MP_MEDIAN] = relative_error(v + runs, runs);
	ret = 0;
out:
	free(g);
	free(v);
	return ret;
}

/* Of the processes that tell; a task that did nothing has no rate. */
static struct mp_rate mean_rate(const struct mp_workload *w)
{
	struct mp_rate sum = { 0 }, one;
	double n = 0;

	for (uint32_t i = 0; i < w->nprocess; i++) {
		if (mp_rate_of_spans(w->process[i].span, w->tasks, &one))
			continue;
		sum.total += one.total;
		sum.imbalance += one.imbalance;
		n++;
	}
	return (struct mp_rate){ sum.total / n, sum.total / n / w->tasks, sum.imbalance / n };
}

/* Exact moments and counters of all samples, kept or not. */
struct moments {
	double n, mean, squares;
	double count[MP_COUNTERS], ncount[MP_COUNTERS];
};

static void add_moments(const struct mp_workload *w, int phase, struct moments *m,
			struct mp_column *col)
{
	for (uint32_t i = 0; i < w->nprocess; i++) {
		const struct mp_series *s = &w->process[i].phase[phase];
		double off = s->mean - m->mean;

		if (!s->n)
			continue;
		/* Chan, Golub and LeVeque, "Updating formulae...", 1979. */
		m->squares += s->squares + off * off * m->n * s->n / (m->n + s->n);
		m->n += s->n;
		m->mean += off * s->n / m->n;
		for (int k = 0; k < MP_COUNTERS; k++) {
			m->count[k] += s->count[k];
			m->ncount[k] += s->ncount[k];
		}
		col->processes++;
		col->samples += s->n;
	}
}

static void finish_moments(const struct moments *m, struct mp_column *col)
{
	col->cv = m->n > 1 && m->mean > 0 ? 100 * sqrt(m->squares / (m->n - 1)) / m->mean : 0;
	for (int k = 0; k < MP_COUNTERS; k++)
		col->count[k] = m->ncount[k] ? m->count[k] / m->ncount[k] : NAN;
}

/* A column from the shares of its boots. */
static void merge_shares(const struct share *sh, size_t n, struct mp_column *col)
{
	for (int f = 0; f < MP_FIGURES; f++) {
		double low = sh[0].figure[f], high = low;
		double logs = 0;

		for (size_t i = 0; i < n; i++) {
			col->figure[f] += sh[i].figure[f] / n;
			col->without_first[f] += sh[i].without_first[f] / n;
			low = fmin(low, sh[i].figure[f]);
			high = fmax(high, sh[i].figure[f]);
			logs += log(sh[i].figure[f]) / n;
		}
		col->spread[f] = col->figure[f] > 0 ? (high - low) / col->figure[f] : 0;
		col->drift[f] = n > 1 ? sh[n - 1].figure[f] / sh[0].figure[f] - 1 : NAN;
		for (size_t i = 0; i < n && f < MP_JUDGED; i++) {
			double off = log(sh[i].figure[f]) - logs;

			col->squares[f] += off * off;
			col->error[f] += sh[i].error[f] * sh[i].error[f] / (n * n);
		}
	}
	for (size_t i = 0; i < n; i++) {
		col->unsupported += sh[i].alone;
		col->rate.total += sh[i].rate.total / n;
		col->rate.per_task += sh[i].rate.per_task / n;
		col->rate.imbalance += sh[i].rate.imbalance / n;
	}
	for (int f = 0; f < MP_JUDGED; f++)
		col->error[f] = sqrt(col->error[f]);
}

/* How many steps of the clock a time is, in the unit of the boot. */
static double clock_steps(const struct mp_boot *b, double time)
{
	const char *unit = mp_boot_fact(b, "unit"), *step = mp_boot_fact(b, "clock_step_ns");
	double ns = step && unit && !strcmp(unit, "ns") ? strtod(step, NULL) : 0;

	return ns > 0 ? time / ns : INFINITY;
}

int mp_judge_column(const struct mp_compare *c, size_t kernel, const struct mp_row *row,
		    uint64_t seed, struct mp_column *col)
{
	struct share *sh = calloc(c->nboots, sizeof(*sh));
	struct moments m = { 0 };
	size_t n = 0;

	if (!sh)
		return -1;
	col->steps = INFINITY;
	for (size_t i = 0; i < c->nboots; i++) {
		const struct mp_workload *w = mp_compare_workload(c, i, row);
		uint64_t before = col->samples;

		if (c->of[i] != kernel || !w)
			continue;
		add_moments(w, row->phase, &m, col);
		if (col->samples == before)
			continue;
		sh[n].rate = mean_rate(w);
		if (boot_share(w, row->phase, seed + i, &sh[n])) {
			free(sh);
			return -1;
		}
		col->steps = fmin(col->steps,
				  clock_steps(c->boot[i], sh[n++].figure[MP_FLOOR] * w->pages));
		if (c->boot[i]->stride > col->stride)
			col->stride = c->boot[i]->stride;
	}
	col->boots = n;
	if (n)
		merge_shares(sh, n, col);
	finish_moments(&m, col);
	free(sh);
	return 0;
}
