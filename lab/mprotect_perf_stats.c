// SPDX-License-Identifier: GPL-2.0
/*
 * Arithmetic on samples: order statistics, the floor, random numbers.
 *
 * What it cannot tell: a cost that differs between processes (the layout of
 * physical pages) from noise that lasts as long as one. That is what taking
 * several processes, and the bootstrap over them, is for.
 */
#define _GNU_SOURCE	/* M_SQRT2 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mprotect_perf_stats.h"

/*
 * Share of the samples that must agree on the floor, their least number, and
 * what agreeing means.
 */
#define FLOOR_SHARE 0.05
#define FLOOR_LEAST 3
#define FLOOR_WIDTH 0.01

/* When a run may stop, see mp_stats_settled(). */
#define SETTLED_PROCESSES 16
#define SETTLED_SUPPORT 3
#define SETTLED_SHARE 6

#define T_INFINITE 1000

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	if (isnan(x) || isnan(y))
		return isnan(x) - isnan(y);
	return (x > y) - (x < y);
}

void mp_stats_sort(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), compare);
}

double mp_stats_quantile(const double *v, size_t n, double q)
{
	double at = q * (n - 1);
	size_t i = at;

	if (i + 1 >= n)
		return v[n - 1];
	return v[i] + (at - i) * (v[i + 1] - v[i]);
}

double mp_stats_floor(const double *v, size_t n)
{
	size_t k = FLOOR_SHARE * n > FLOOR_LEAST ? FLOOR_SHARE * n : FLOOR_LEAST;
	size_t best = 0;

	if (k > n)
		k = n;
	for (size_t i = 0; i <= k && i + k <= n; i++) {
		double width = v[i + k - 1] - v[i];

		if (width < v[best + k - 1] - v[best])
			best = i;
		if (width <= FLOOR_WIDTH * v[i]) {
			best = i;
			break;
		}
	}
	return mp_stats_quantile(v + best, k, 0.5);
}

struct mp_stats mp_stats_of(double *v, size_t n)
{
	struct mp_stats s = { .n = n };
	double sum = 0, squares = 0;

	if (!n)
		return s;
	mp_stats_sort(v, n);
	for (size_t i = 0; i < n; i++)
		sum += v[i];
	s.mean = sum / n;
	/* Two passes: the textbook's one-pass formula cancels to nothing here. */
	for (size_t i = 0; i < n; i++)
		squares += (v[i] - s.mean) * (v[i] - s.mean);
	s.sd = n > 1 ? sqrt(squares / (n - 1)) : 0;
	s.cv = s.mean ? 100 * s.sd / s.mean : 0;
	s.floor = mp_stats_floor(v, n);
	s.median = mp_stats_quantile(v, n, 0.5);
	s.p99 = mp_stats_quantile(v, n, 0.99);
	s.min = v[0];
	s.max = v[n - 1];
	if (isnan(v[n - 1]))
		s = (struct mp_stats){ n, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
	return s;
}

double mp_stats_run_floor(double *floors, size_t n)
{
	mp_stats_sort(floors, n);
	return floors[(n - 1) / 5];
}

static size_t group_samples(const struct mp_group *g, size_t ngroups)
{
	size_t n = 0;

	for (size_t i = 0; i < ngroups; i++)
		n += g[i].n;
	return n;
}

int mp_stats_of_groups(const struct mp_group *g, size_t ngroups, struct mp_stats *out)
{
	size_t n = group_samples(g, ngroups);
	double *floors, *all, *at;

	*out = (struct mp_stats){ .n = 0 };
	if (!n)
		return 0;
	floors = malloc((ngroups + n) * sizeof(*floors));
	if (!floors)
		return -1;
	all = floors + ngroups;
	at = all;
	for (size_t i = 0; i < ngroups; i++) {
		memcpy(at, g[i].v, g[i].n * sizeof(*at));
		mp_stats_sort(at, g[i].n);
		floors[i] = mp_stats_floor(at, g[i].n);
		at += g[i].n;
	}
	*out = mp_stats_of(all, n);
	if (!isnan(out->mean))
		out->floor = mp_stats_run_floor(floors, ngroups);
	free(floors);
	return 0;
}

/* The same of floors that are to stay in their order. */
static double run_floor(const double *floor, size_t n, double *scratch)
{
	memcpy(scratch, floor, n * sizeof(*floor));
	return mp_stats_run_floor(scratch, n);
}

static int differ(double a, double b, double tolerance)
{
	return !(fabs(a - b) <= tolerance * fabs(b));
}

size_t mp_stats_support(const double *floor, size_t n, double whole, double tolerance)
{
	size_t support = 0;

	for (size_t i = 0; i < n; i++)
		support += !differ(floor[i], whole, tolerance);
	return support < SETTLED_SUPPORT || support * SETTLED_SHARE < n ? 0 : support;
}

enum mp_settled mp_stats_settled(const double *floor, size_t n, double tolerance)
{
	enum mp_settled ret = MP_SETTLED;
	double *scratch;
	double whole;

	if (n < SETTLED_PROCESSES)
		return MP_TOO_FEW;
	scratch = malloc(n * sizeof(*scratch));
	if (!scratch)
		return MP_TOO_FEW;	/* go on: that is never wrong */
	whole = run_floor(floor, n, scratch);
	if (!mp_stats_support(floor, n, whole, tolerance))
		ret = MP_UNSUPPORTED;
	else if (differ(run_floor(floor, n - 1, scratch), whole, tolerance) ||
		 differ(run_floor(floor, n - 2, scratch), whole, tolerance))
		ret = MP_MOVING;
	else if (differ(run_floor(floor, n / 2, scratch),
			run_floor(floor + n / 2, n - n / 2, scratch), 2 * tolerance))
		ret = MP_DRIFTING;
	free(scratch);
	return ret;
}

/* The part of Student's distribution that lies between -t and t. */
static double t_within(double t, unsigned int df)
{
	double angle = atan(t / sqrt(df));
	double term = df & 1 ? cos(angle) : 1;
	double sum = df == 1 ? 0 : term;

	if (df >= T_INFINITE)
		return erf(t / M_SQRT2);
	for (unsigned int k = 2 + (df & 1); k < df; k += 2) {
		term *= (k - 1) * cos(angle) * cos(angle) / k;
		sum += term;
	}
	sum *= sin(angle);
	return df & 1 ? (angle + sum) * M_2_PI : sum;
}

double mp_stats_t(double level, unsigned int df)
{
	double low = 0, high = 1;

	while (t_within(high, df) < level && high < 1e12)
		high *= 2;
	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		if (t_within(middle, df) < level)
			low = middle;
		else
			high = middle;
	}
	return high;
}

uint64_t mp_rng_next(struct mp_rng *rng)
{
	uint64_t z = rng->state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

uint32_t mp_rng_below(struct mp_rng *rng, uint32_t n)
{
	uint64_t m;

	/*
	 * The high half of 32 random bits times n is the number; some numbers
	 * have one low half more than others, and that many are drawn again.
	 */
	do {
		m = (mp_rng_next(rng) >> 32) * n;
	} while ((uint32_t)m < -n % n);
	return m >> 32;
}

void mp_rng_shuffle(struct mp_rng *rng, unsigned int *v, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = mp_rng_below(rng, i);
		unsigned int t = v[i - 1];

		v[i - 1] = v[j];
		v[j] = t;
	}
}

/*
 * The bootstrap never sorts: the samples are ranked once, and a made-up run is
 * how often each rank was drawn.
 */
struct bootstrap {
	const struct mp_group *g;
	size_t ngroups;
	uint32_t n;		/* samples in all */
	/* One allocation: */
	double *sorted;		/* every group's samples ascending, group by group */
	double *all;		/* all samples ascending */
	double *made;		/* a made-up process, ascending */
	double *floors;		/* of the made-up processes */
	/* Another: */
	uint32_t *rank;		/* of every sample in its group */
	uint32_t *place;	/* of every element of sorted[] in all[] */
	uint32_t *drawn;	/* how often each of a group's ranks was drawn */
	uint32_t *total;	/* how often each element of all[] was */
	uint32_t *first;	/* where each group begins */
};

struct ranked {
	double v;		/* first, so that compare() works on it */
	uint32_t i;
};

static void rank_samples(const double *v, uint32_t n, struct ranked *tmp, double *sorted,
			 uint32_t *rank)
{
	for (uint32_t i = 0; i < n; i++)
		tmp[i] = (struct ranked){ v[i], i };
	qsort(tmp, n, sizeof(*tmp), compare);
	for (uint32_t i = 0; i < n; i++) {
		sorted[i] = tmp[i].v;
		rank[tmp[i].i] = i;
	}
}

static int bootstrap_begin(struct bootstrap *b)
{
	struct ranked *tmp;
	uint32_t at = 0;

	b->sorted = calloc(3 * (size_t)b->n + b->ngroups, sizeof(*b->sorted));
	b->rank = calloc(4 * (size_t)b->n + b->ngroups, sizeof(*b->rank));
	tmp = calloc(b->n, sizeof(*tmp));
	if (!b->sorted || !b->rank || !tmp) {
		free(tmp);
		return -1;
	}
	b->all = b->sorted + b->n;
	b->made = b->all + b->n;
	b->floors = b->made + b->n;
	b->place = b->rank + b->n;
	b->drawn = b->place + b->n;
	b->total = b->drawn + b->n;
	b->first = b->total + b->n;
	for (size_t i = 0; i < b->ngroups; i++) {
		b->first[i] = at;
		rank_samples(b->g[i].v, b->g[i].n, tmp, b->sorted + at, b->rank + at);
		at += b->g[i].n;
	}
	rank_samples(b->sorted, b->n, tmp, b->all, b->place);
	free(tmp);
	return 0;
}

static void bootstrap_end(struct bootstrap *b)
{
	free(b->sorted);
	free(b->rank);
}

/* Make up a process from the cycles of one that begins at @at. Return: its floor. */
static double draw_process(struct bootstrap *b, struct mp_rng *rng, uint32_t at, uint32_t n)
{
	uint32_t block = cbrt(n) + 0.5;
	uint32_t made = 0;

	memset(b->drawn, 0, n * sizeof(*b->drawn));
	for (uint32_t done = 0; done < n; done += block) {
		uint32_t i = mp_rng_below(rng, n);

		for (uint32_t j = done; j < done + block && j < n; j++) {
			b->drawn[b->rank[at + i]]++;
			i = i + 1 < n ? i + 1 : 0;
		}
	}
	for (uint32_t r = 0; r < n; r++) {
		b->total[b->place[at + r]] += b->drawn[r];
		for (uint32_t j = b->drawn[r]; j; j--)
			b->made[made++] = b->sorted[at + r];
	}
	return mp_stats_floor(b->made, n);
}

/* The median of @m draws from all[], as mp_stats_quantile() would give it. */
static double median_drawn(const struct bootstrap *b, uint64_t m)
{
	uint64_t seen = 0;
	uint32_t low;
	uint32_t i;

	for (low = 0; (seen += b->total[low]) <= (m - 1) / 2; low++)
		;
	for (i = low; seen <= m / 2; seen += b->total[i])
		i++;
	return (b->all[low] + b->all[i]) / 2;
}

int mp_stats_bootstrap(const struct mp_group *g, size_t ngroups, uint64_t seed,
		       double *floor, double *median, size_t n)
{
	struct bootstrap b = { .g = g, .ngroups = ngroups, .n = group_samples(g, ngroups) };
	struct mp_rng rng = { seed };

	if (bootstrap_begin(&b)) {
		bootstrap_end(&b);
		return -1;
	}
	for (size_t r = 0; r < n; r++) {
		uint64_t m = 0;

		memset(b.total, 0, b.n * sizeof(*b.total));
		for (size_t i = 0; i < ngroups; i++) {
			uint32_t p = mp_rng_below(&rng, ngroups);

			b.floors[i] = draw_process(&b, &rng, b.first[p], g[p].n);
			m += g[p].n;
		}
		floor[r] = mp_stats_run_floor(b.floors, ngroups);
		median[r] = median_drawn(&b, m);
	}
	bootstrap_end(&b);
	return 0;
}

struct mp_interval mp_stats_interval(double *v, size_t n, double level)
{
	mp_stats_sort(v, n);
	return (struct mp_interval){
		.low = mp_stats_quantile(v, n, (1 - level) / 2),
		.high = mp_stats_quantile(v, n, (1 + level) / 2),
	};
}
