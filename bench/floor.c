// SPDX-License-Identifier: GPL-2.0
/*
 * Sources: mprotect_perf_record_order.c mprotect_perf_rate.c
 * Sources: mprotect_perf_boot.c mprotect_perf_stats.c mprotect_perf_record.c
 * Sources: mprotect_perf_new_file.c
 * Sources: mprotect_perf_record_read.c mprotect_perf_record_line.c
 *
 * Which estimate of a cost repeats best? Takes the records of several runs of
 * one workload and prints the spread, (max - min) / min, over the runs, of
 * every candidate, for runs of several lengths: as many first processes of
 * each record as asked for.
 *
 *	floor PROCESSES[,PROCESSES...] RECORD...
 *
 *	floor figures RECORD...
 *
 * prints the floor of each record instead: "RECORD PHASE PROCESSES FLOOR".
 *
 * "pool" estimates from all cycles together; "fifth" from each process, and
 * takes element (n - 1) / 5 of these in order; "median" the median of them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mprotect_perf_boot.h"

static double minimum(const double *v, size_t n)
{
	return v[n ? 0 : n];
}

static double quantile_1(const double *v, size_t n)
{
	return mp_stats_quantile(v, n, 0.01);
}

static double quantile_5(const double *v, size_t n)
{
	return mp_stats_quantile(v, n, 0.05);
}

static double quantile_10(const double *v, size_t n)
{
	return mp_stats_quantile(v, n, 0.1);
}

static double median(const double *v, size_t n)
{
	return mp_stats_quantile(v, n, 0.5);
}

static double mean(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return sum / n;
}

/* Where the narrowest window of k begins. */
static size_t narrowest(const double *v, size_t n, size_t k)
{
	size_t best = 0;

	for (size_t i = 0; i + k <= n; i++)
		if (v[i + k - 1] - v[i] < v[best + k - 1] - v[best])
			best = i;
	return best;
}

/* Middle of the shortest half. */
static double shorth(const double *v, size_t n)
{
	size_t k = (n + 1) / 2;

	return median(v + narrowest(v, n, k), k);
}

/* Half of the half of the half: Robertson and Cryer, JASA 69, 1974. */
static double half_sample_mode(const double *v, size_t n)
{
	while (n > 2) {
		size_t k = (n + 1) / 2;

		v += narrowest(v, n, k);
		n = k;
	}
	return mean(v, n);
}

static const struct {
	const char *name;
	double (*of)(const double *v, size_t n);
} estimator[] = {
	{ "minimum", minimum }, { "1 % quantile", quantile_1 },
	{ "5 % quantile", quantile_5 }, { "10 % quantile", quantile_10 },
	{ "half-sample mode", half_sample_mode }, { "shorth", shorth },
	{ "floor", mp_stats_floor }, { "median", median }, { "mean", mean },
};

#define ESTIMATORS (sizeof(estimator) / sizeof(estimator[0]))
enum { POOL, FIFTH, MEDIAN, WAYS };

struct range {
	double low, high;
};

static void widen(struct range *r, double x)
{
	r->low = r->low ? fmin(r->low, x) : x;
	r->high = fmax(r->high, x);
}

/* One run: all estimators, all ways. */
static void estimate(const struct mp_workload *w, int phase, size_t procs,
		     struct range range[ESTIMATORS][WAYS])
{
	double *all = malloc(MP_BOOT_KEEP * sizeof(*all));
	double *at = malloc(ESTIMATORS * procs * sizeof(*at));
	size_t n = 0, e, p;

	if (!all || !at)
		exit(1);
	for (p = 0; p < procs; p++) {
		const struct mp_series *s = &w->process[p].phase[phase];
		double *v = all + n;

		memcpy(v, s->kept, s->nkept * sizeof(*v));
		mp_stats_sort(v, s->nkept);
		for (e = 0; e < ESTIMATORS; e++)
			at[e * procs + p] = estimator[e].of(v, s->nkept);
		n += s->nkept;
	}
	mp_stats_sort(all, n);
	for (e = 0; e < ESTIMATORS; e++) {
		double *f = at + e * procs;

		widen(&range[e][POOL], estimator[e].of(all, n));
		widen(&range[e][FIFTH], mp_stats_run_floor(f, procs));
		widen(&range[e][MEDIAN], median(f, procs));
	}
	free(at);
	free(all);
}

/* 0 when a record has fewer processes. */
static int table(struct mp_boot **boot, int n, int phase, size_t procs)
{
	struct range range[ESTIMATORS][WAYS] = { 0 };
	double cycles = 0;

	for (int i = 0; i < n; i++) {
		const struct mp_workload *w = &boot[i]->workload[0];

		if (w->nprocess < procs)
			return 0;
		for (size_t p = 0; p < procs; p++)
			cycles += w->process[p].phase[phase].n;
		estimate(w, phase, procs, range);
	}
	printf("%s %s, %d runs of %zu processes of %.0f cycles: spread in %%\n",
	       boot[0]->workload[0].name, mp_phase_name[phase], n, procs,
	       cycles / n / procs);
	printf("  %-18s %8s %8s %8s\n", "", "pool", "fifth", "median");
	for (size_t e = 0; e < ESTIMATORS; e++) {
		printf("  %-18s", estimator[e].name);
		for (int way = 0; way < WAYS; way++)
			printf(" %8.2f", 100 * (range[e][way].high / range[e][way].low - 1));
		printf("\n");
	}
	return 1;
}

/* Nothing else than the program's own floor, of all processes. */
static void figures(const struct mp_boot *b)
{
	const struct mp_workload *w = &b->workload[0];
	double *f = malloc(w->nprocess * sizeof(*f));

	for (int phase = 0; f && phase < MP_PHASES; phase++) {
		size_t n = 0;

		for (uint32_t p = 0; p < w->nprocess; p++) {
			const struct mp_series *s = &w->process[p].phase[phase];

			mp_stats_sort(s->kept, s->nkept);
			if (s->nkept)
				f[n++] = mp_stats_floor(s->kept, s->nkept) / w->pages;
		}
		if (n)
			printf("%s %s %zu %.4f\n", b->name, mp_phase_name[phase], n,
			       mp_stats_run_floor(f, n));
	}
	free(f);
}

static int read_all(struct mp_boot **boot, char **file, int n)
{
	struct mp_err err;

	for (int i = 0; i < n; i++) {
		boot[i] = mp_boot_read(file[i], &err);
		if (boot[i] && boot[i]->nworkload)
			continue;
		fprintf(stderr, "floor: %s: %s\n", file[i], boot[i] ? "no samples" : err.text);
		return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct mp_boot *boot[64];
	int n = argc - 2;
	char *p;

	if (n < 1 || n > 64) {
		fprintf(stderr, "usage: floor PROCESSES[,PROCESSES...]|figures RECORD...\n");
		return 1;
	}
	if (read_all(boot, argv + 2, n))
		return 1;
	for (int i = 0; !strcmp(argv[1], "figures") && i < n; i++)
		figures(boot[i]);
	if (!strcmp(argv[1], "figures"))
		return 0;
	for (int phase = MP_PROTECT; phase <= MP_RESTORE; phase++)
		for (p = strtok(strdup(argv[1]), ","); p; p = strtok(NULL, ","))
			if (!table(boot, n, phase, strtoul(p, NULL, 10)))
				printf("a record has fewer processes than %s\n", p);
	for (int i = 0; i < n; i++)
		mp_boot_free(boot[i]);
	return 0;
}
