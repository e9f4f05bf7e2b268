// SPDX-License-Identifier: GPL-2.0
/*
 * What stands in a row: the figures of a kernel, and the verdict on a step from
 * one kernel to another. The formulas are told at mp_compare_judge().
 */
#include <limits.h>
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

/* Less than this, in a unit that can be noisy, says nothing. */
#define LEAST_PROCESSES 5
#define LEAST_SAMPLES 100

/* of the floor: processes that agree on it */
#define TOLERANCE 0.005

/* With fewer boots Student's t is so wide that the plain spread says more. */
#define T_BOOTS 3

const char *const mp_verdict_name[] = {
	[MP_OK] = "OK",
	[MP_IMPROVED] = "IMPROVED",
	[MP_REGRESSED] = "REGRESSED",
	[MP_INCONCLUSIVE] = "INCONCLUSIVE",
};

/* One boot's share of a column. */
struct share {
	double figure[MP_FIGURES];
	double without_first[MP_FIGURES];
	double error[MP_JUDGED];
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
	for (size_t i = 0; i < n; i++)
		col->unsupported += sh[i].alone;
	for (int f = 0; f < MP_JUDGED; f++)
		col->error[f] = sqrt(col->error[f]);
}

int mp_judge_column(const struct mp_compare *c, size_t kernel, const struct mp_row *row,
		    uint64_t seed, struct mp_column *col)
{
	struct share *sh = calloc(c->nboots, sizeof(*sh));
	struct moments m = { 0 };
	size_t n = 0;

	if (!sh)
		return -1;
	for (size_t i = 0; i < c->nboots; i++) {
		const struct mp_workload *w = mp_boot_workload(c->boot[i], row->scenario);
		uint64_t before = col->samples;

		if (c->of[i] != kernel || !w)
			continue;
		add_moments(w, row->phase, &m, col);
		if (col->samples == before)
			continue;
		if (boot_share(w, row->phase, seed + i, &sh[n++])) {
			free(sh);
			return -1;
		}
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

/* Counted instructions repeat to the last digit: one process is as good as many. */
static int is_exact(const struct mp_compare *c)
{
	const char *unit = mp_boot_fact(c->boot[0], "unit");

	return unit && !strcmp(unit, "insn");
}

/*
 * What is made up anew is processes; where they are exact, cycles: the tick of
 * the guest's timer meets others of them on another kernel. But that two counts
 * are the same is no accident.
 */
static double within_boots(const struct mp_compare *c, const struct mp_column *from,
			   const struct mp_column *to, int f)
{
	uint64_t n = is_exact(c) ? from->samples + to->samples : from->processes + to->processes;
	uint64_t boots = from->boots + to->boots;

	if (is_exact(c) && from->figure[f] == to->figure[f])
		return 0;
	n = n > boots ? n - boots : 1;
	n = n < INT_MAX ? n : INT_MAX;
	return hypot(from->error[f], to->error[f]) * mp_stats_t(c->level, n);
}

/* Half the width of the interval of ln(to / from), in its two parts. */
static double half_width(const struct mp_compare *c, const struct mp_column *from,
			 const struct mp_column *to, int f, double *within, double *between)
{
	unsigned int boots = from->boots + to->boots - 2;

	*within = within_boots(c, from, to, f);
	*between = NAN;
	if (!boots)
		return *within;
	if (boots < T_BOOTS) {
		*between = fmax(from->spread[f], to->spread[f]) / 2;
		return *within + *between;
	}
	*between = mp_stats_t(c->level, boots) *
		   sqrt((from->squares[f] + to->squares[f]) / boots *
			(1.0 / from->boots + 1.0 / to->boots));
	return fmax(*within, *between);
}

static double percent(double from, double to)
{
	return from > 0 ? 100 * (to / from - 1) : NAN;
}

static enum mp_verdict inconclusive(struct mp_step *s, const char *why)
{
	mp_error(&s->why, "%s", why);
	return MP_INCONCLUSIVE;
}

static int too_few(const struct mp_compare *c, const struct mp_column *col, const char *name,
		   struct mp_step *s)
{
	if (is_exact(c))
		return 0;
	if (col->processes < LEAST_PROCESSES * col->boots ||
	    col->samples < LEAST_SAMPLES * col->boots)
		mp_error(&s->why,
			 "only %llu cycles of %zu processes in %zu boots; a boot needs %d of %d",
			 (unsigned long long)col->samples, col->processes, col->boots,
			 LEAST_SAMPLES, LEAST_PROCESSES);
	else if (col->unsupported)
		mp_error(&s->why, "few processes agree on the floor of %s: a busy machine?", name);
	else
		return 0;
	return 1;
}

static enum mp_verdict verdict(double threshold, struct mp_step *s)
{
	const struct mp_interval *floor = &s->interval[MP_FLOOR];
	const struct mp_interval *median = &s->interval[MP_MEDIAN];

	if (floor->low > threshold)
		return median->high <= threshold ?
			inconclusive(s, "the floor rose, the median did not") : MP_REGRESSED;
	if (floor->high < -threshold)
		return median->low >= -threshold ?
			inconclusive(s, "the floor fell, the median did not") : MP_IMPROVED;
	if (floor->high <= threshold && median->low <= threshold)
		return MP_OK;
	return inconclusive(s, floor->high <= threshold ? "the median rose, the floor did not" :
			    "the uncertainty reaches over the threshold");
}

void mp_judge_step(const struct mp_compare *c, const struct mp_column *from,
		   const struct mp_column *to, double threshold, struct mp_step *s)
{
	double within, between;

	s->control = NAN;
	for (int f = 0; f < MP_FIGURES; f++) {
		s->delta[f] = NAN;
		s->without_first[f] = NAN;
	}
	if (!from->boots || !to->boots) {
		s->verdict = inconclusive(s, "one of the two kernels has no such row");
		return;
	}
	for (int f = 0; f < MP_FIGURES; f++) {
		s->delta[f] = percent(from->figure[f], to->figure[f]);
		s->without_first[f] = percent(from->without_first[f], to->without_first[f]);
	}
	for (int f = MP_JUDGED - 1; f >= 0; f--) {
		double half = half_width(c, from, to, f, &within, &between);
		double ratio = 1 + s->delta[f] / 100;

		s->interval[f].low = 100 * (ratio * exp(-half) - 1);
		s->interval[f].high = 100 * (ratio * exp(half) - 1);
	}
	s->within = 100 * within;
	s->between = 100 * between;
	if (!(from->figure[MP_FLOOR] > 0 && to->figure[MP_FLOOR] > 0))
		s->verdict = inconclusive(s, "a figure is 0");
	else if (too_few(c, from, "the base", s) || too_few(c, to, "the head", s))
		s->verdict = MP_INCONCLUSIVE;
	else
		s->verdict = verdict(threshold, s);
}

/*
 * A touch is loads or stores and no mprotect(). Where the pages lie decides what
 * it takes, stays the same for a whole run, and may be 20 % another time, on the
 * same kernel. What mprotect() can do to it is to make it fault.
 */
void mp_judge_touch(const struct mp_compare *c, const struct mp_column *from,
		    const struct mp_column *to, struct mp_step *s)
{
	double faults = to->count[MP_FAULTS] - from->count[MP_FAULTS];

	if (is_exact(c) || (s->verdict != MP_REGRESSED && s->verdict != MP_IMPROVED))
		return;
	/* Not counted is NAN, which is no reason either. */
	if (s->verdict == MP_REGRESSED ? faults >= 1 : faults <= -1)
		return;
	s->verdict = inconclusive(s, "the control moved, and took no other faults: memory, not mprotect()");
}

void mp_judge_control(const struct mp_step *touch, struct mp_step *step)
{
	step->control = touch->delta[MP_FLOOR];
	step->control_moved = (step->verdict == MP_REGRESSED || step->verdict == MP_IMPROVED) &&
			      fabs(step->control) >= fabs(step->delta[MP_FLOOR]) / 2;
}
