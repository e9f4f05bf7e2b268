// SPDX-License-Identifier: GPL-2.0
/*
 * Sources: mprotect_perf_stats.c
 *
 * Expected figures are worked out by hand where that can be followed in a
 * line, else by tests/vectors_stats.py: Python's statistics module and plain
 * second implementations of what the header defines.
 */
#include <float.h>
#include <stdint.h>
#include <stdlib.h>

#include "mprotect_perf_stats.h"
#include "unit.h"

/* What rounding may do to a figure. */
#define EXACT (8 * DBL_EPSILON)
#define CLOSE (4096 * DBL_EPSILON)
#define NEAR 0.000000001

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_figures(void)
{
	double v[] = { 3.25, 1.5, 9.75, 4, 4, 2.125, 7.5, 100.25, 5, 6.625 };
	struct mp_stats s = mp_stats_of(v, COUNT(v));

	is_int(s.n, 10, "figures: n");
	is_near(s.mean, 14.4, EXACT, "figures: mean");
	is_near(s.sd, 30.26915142150136, EXACT, "figures: sd");
	is_near(s.cv, 210.20244042709277, EXACT, "figures: cv");
	is_double(s.median, 4.5, "figures: median");
	is_near(s.p99, 92.105, EXACT, "figures: p99");
	is_double(s.min, 1.5, "figures: min");
	is_double(s.max, 100.25, "figures: max");
	is_double(s.floor, 4, "figures: floor");
	is_double(v[9], 100.25, "figures: sorted in place");
	is_near(mp_stats_quantile(v, 10, 0.01), 1.55625, EXACT, "quantile: 1 %");
	is_double(mp_stats_quantile(v, 10, 0.25), 3.4375, "quantile: 25 %");
	is_double(mp_stats_quantile(v, 10, 0.75), 7.28125, "quantile: 75 %");
	is_double(mp_stats_quantile(v, 10, 0), 1.5, "quantile: 0");
	is_double(mp_stats_quantile(v, 10, 1), 100.25, "quantile: 1");
	is_double(mp_stats_quantile(v, 1, 0.5), 1.5, "quantile: of one sample");
}

static void test_edges(void)
{
	double one[] = { 7 }, two[] = { 3, 1 }, zeros[] = { 0, 0, 0 };
	double nan[] = { 1, NAN, 0 };
	struct mp_stats s = mp_stats_of(NULL, 0);

	ok(!s.n && !s.floor && !s.median && !s.mean && !s.sd && !s.cv && !s.p99 && !s.min &&
	   !s.max, "no sample: every figure is 0");
	s = mp_stats_of(one, 1);
	is_double(s.sd, 0, "one sample: sd 0");
	is_double(s.cv, 0, "one sample: cv 0");
	ok(s.floor == 7 && s.median == 7 && s.mean == 7 && s.p99 == 7 && s.min == 7 && s.max == 7,
	   "one sample: the others are it");
	s = mp_stats_of(two, 2);
	is_double(s.median, 2, "two samples: median");
	is_double(s.floor, 2, "two samples: floor");
	is_near(s.sd, sqrt(2), EXACT, "two samples: sd is of n - 1");
	s = mp_stats_of(zeros, 3);
	is_double(s.cv, 0, "all zero: cv 0, no division");
	s = mp_stats_of(nan, 3);
	is_int(s.n, 3, "NaN: n");
	ok(isnan(s.floor) && isnan(s.median) && isnan(s.mean) && isnan(s.sd) && isnan(s.cv) &&
	   isnan(s.p99) && isnan(s.min) && isnan(s.max), "NaN: no figure hides it");
	ok(isnan(nan[2]) && nan[0] == 0 && nan[1] == 1, "NaN: sorted to the end");
}

/* Large times with a small spread: the one-pass formula gives 0 or NaN here. */
static void test_cancellation(void)
{
	double v[] = { 1e15 + 4, 1e15 + 7, 1e15 + 13, 1e15 + 16 };
	struct mp_stats s = mp_stats_of(v, 4);

	is_double(s.mean, 1e15 + 10, "cancellation: mean");
	is_near(s.sd, sqrt(30), CLOSE, "cancellation: sd");
}

static void test_huge(void)
{
	const size_t n = 2000001;
	double *v = malloc(n * sizeof(*v));
	struct mp_stats s;

	if (!v)
		return;
	/* 0..n-1 in an order that is not sorted: 7 and n have no common divisor. */
	for (size_t i = 0; i < n; i++)
		v[i] = (i * 7) % n;
	s = mp_stats_of(v, n);
	is_double(s.median, 1000000, "huge: median");
	is_near(s.mean, 1000000, CLOSE, "huge: mean");
	/* The variance of 0..n-1 with n - 1 is n (n + 1) / 12. */
	is_near(s.sd, sqrt(2000001.0 * 2000002 / 12), NEAR, "huge: sd");
	is_near(s.p99, 1980000, CLOSE, "huge: p99");
	is_double(s.max, 2000000, "huge: max");
	free(v);
}

static void test_rng(void)
{
	/* These five are also the published check of the generator. */
	static const unsigned long long want[] = {
		6457827717110365317U, 3203168211198807973U, 9817491932198370423U,
		4593380528125082431U, 16408922859458223821U,
	};
	static const unsigned int below[] = { 7, 1, 2, 3, 0, 8, 2, 8, 3, 6, 2, 4 };
	static const unsigned int large[] = {
		2237345271U, 1333077650U, 1332794101U, 2288683175U, 2632046059U,
	};
	static const unsigned int order[] = { 9, 5, 8, 6, 1, 2, 4, 7, 0, 3 };
	unsigned int v[10] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	unsigned int count[24] = { 0 };
	struct mp_rng rng = { 1234567 };
	int same = 1, range = 1;

	for (size_t i = 0; i < COUNT(want); i++)
		same &= mp_rng_next(&rng) == want[i];
	ok(same, "rng: splitmix64 of seed 1234567");
	rng.state = 42;
	for (size_t i = 0; i < COUNT(below); i++)
		same &= mp_rng_below(&rng, 10) == below[i];
	ok(same, "rng: below 10 of seed 42");
	rng.state = 1;
	for (size_t i = 0; i < COUNT(large); i++)
		same &= mp_rng_below(&rng, 3000000000U) == large[i];
	ok(same, "rng: below 3e9 of seed 1");
	for (int i = 0; i < 1000; i++)
		range &= mp_rng_below(&rng, 3000000000U) < 3000000000U && !mp_rng_below(&rng, 1);
	ok(range, "rng: below n is below n");
	rng.state = 7;
	mp_rng_shuffle(&rng, v, 10);
	ok(!memcmp(v, order, sizeof(v)), "rng: shuffle of seed 7");
	mp_rng_shuffle(&rng, v, 0);
	mp_rng_shuffle(&rng, v, 1);
	ok(!memcmp(v, order, sizeof(v)), "rng: shuffle of none and of one");

	/* All 24 orders of 4 equally often: chi-square of 23 degrees, 99.9 %: 49.7. */
	double chi = 0;

	for (int i = 0; i < 24000; i++) {
		unsigned int w[4] = { 0, 1, 2, 3 };
		int at = 0;

		mp_rng_shuffle(&rng, w, 4);
		for (int j = 0; j < 4; j++) {
			int less = 0;

			for (int k = j + 1; k < 4; k++)
				less += w[k] < w[j];
			at = at * (4 - j) + less;
		}
		count[at]++;
	}
	for (int i = 0; i < 24; i++)
		chi += (count[i] - 1000.0) * (count[i] - 1000.0) / 1000;
	is_between(chi, 5, 49.7, "rng: every order of four equally often");
}

/* A number from 0 to 1. */
static double uniform(struct mp_rng *rng)
{
	return ldexp(mp_rng_next(rng) >> 11, -53);
}

/*
 * One cycle of a made-up machine: the true cost, a little jitter above it, and
 * in @noisy of all cycles a neighbour that costs up to as much again.
 */
static double cycle(struct mp_rng *rng, double cost, double noisy)
{
	double t = cost * (1 + 0.004 * uniform(rng));

	if (uniform(rng) < noisy)
		t += cost * (0.02 + uniform(rng));
	return t;
}

static double floor_of(double *v, size_t n)
{
	mp_stats_sort(v, n);
	return mp_stats_floor(v, n);
}

static void test_floor(void)
{
	double few[] = { 1, 11, 50 };
	double freak[20] = { 3, 100, 100.1, 100.2 };
	double sparse[] = { 10, 20, 22, 23, 26, 27, 28, 28.1 };
	double lower[] = { 100, 100.2, 100.4, 110, 110.1, 110.15, 120, 130 };
	double steps[] = { 10, 20, 20, 20, 20, 20, 30, 30, 30, 30, 30, 30 };
	struct mp_rng rng = { 1 };
	double v[1000];

	is_double(mp_stats_floor(few, 3), 11, "floor: three samples: their median");
	for (int i = 4; i < 20; i++)
		freak[i] = 200 + 10 * i;
	is_double(mp_stats_floor(freak, 20), 100.1, "floor: dense three above one freak");
	/* Windows of 3 that begin at 10, 20, 22, 23: 12, 3, 4, 4 wide. */
	is_double(mp_stats_floor(sparse, 8), 22, "floor: none dense: narrowest of the lowest");
	is_double(mp_stats_floor(lower, 8), 100.2, "floor: lowest dense, not the densest");
	is_double(mp_stats_floor(steps, 12), 20, "floor: ties of a coarse clock");
	for (int i = 0; i < 1000; i++)
		v[i] = 5;
	is_double(mp_stats_floor(v, 1000), 5, "floor: all the same (instructions)");

	for (int i = 0; i < 1000; i++)
		v[i] = cycle(&rng, 100, 0.1);
	is_near(floor_of(v, 1000), 100, 0.004, "floor: quiet machine");
	v[0] = NEAR;
	is_near(floor_of(v, 1000), 100, 0.004, "floor: one freak sample");
	for (int i = 0; i < 40; i++)
		v[i] = i;
	is_near(floor_of(v, 1000), 100, 0.004, "floor: forty freak samples in a thousand");
	for (int i = 0; i < 1000; i++)
		v[i] = cycle(&rng, 100, 0.9);
	is_near(floor_of(v, 1000), 100, 0.006, "floor: noisy in nine cycles of ten");
	for (int i = 0; i < 20; i++)
		v[i] = cycle(&rng, 100, 0.5);
	v[0] = 60;
	is_near(floor_of(v, 20), 100, 0.01, "floor: twenty cycles and a freak");
	for (int i = 0; i < 1000; i++)
		v[i] = cycle(&rng, i < 500 ? 100 : 120, 0.2);
	is_near(floor_of(v, 1000), 100, 0.004, "floor: frequency change midway, down");
	for (int i = 0; i < 1000; i++)
		v[i] = cycle(&rng, i < 800 ? 120 : 100, 0.2);
	is_near(floor_of(v, 1000), 100, 0.004, "floor: frequency change late, up");
}

/* What makes it a floor: it scales with the cost, and 5 % more is seen as 5 %. */
static void test_floor_scale(void)
{
	struct mp_rng rng = { 3 };
	double v[1000], w[1000];

	for (int i = 0; i < 1000; i++) {
		v[i] = cycle(&rng, 100, 0.5);
		w[i] = 1024 * v[i];
	}
	is_double(floor_of(w, 1000), 1024 * floor_of(v, 1000), "floor: scales exactly");
	for (int i = 0; i < 1000; i++)
		w[i] = cycle(&rng, 105, 0.7);
	is_near(floor_of(w, 1000) / floor_of(v, 1000), 1.05, 0.002,
		"floor: 5 % more through more noise is 5 %");
}

static void test_groups(void)
{
	static double v[12][500];
	struct mp_group g[12];
	struct mp_stats s, pooled;
	struct mp_rng rng = { 5 };
	double q[] = { 60, 50, 40, 10, 30, 20 };
	double all[12 * 500];

	is_double(mp_stats_run_floor(q, 6), 20, "groups: of six floors the second");
	is_double(mp_stats_run_floor(q, 5), 10, "groups: of five floors the first");
	is_int(mp_stats_of_groups(NULL, 0, &s), 0, "groups: none");
	ok(!s.n && !s.floor && !s.max, "groups: none, every figure is 0");

	/* Process 3 is lucky; 7 of the others are slowed from begin to end. */
	for (int p = 0; p < 12; p++) {
		double cost = p == 3 ? 93 : p < 8 ? 108 : 100;

		for (int i = 0; i < 500; i++)
			v[p][i] = cycle(&rng, cost, 0.3);
		g[p] = (struct mp_group){ v[p], 500 };
	}
	is_int(mp_stats_of_groups(g, 12, &s), 0, "groups: twelve");
	is_near(s.floor, 100, 0.004, "groups: floor follows neither the lucky nor the slow");
	memcpy(all, v, sizeof(all));
	pooled = mp_stats_of(all, 12 * 500);
	ok(s.n == 6000 && s.median == pooled.median && s.mean == pooled.mean &&
	   s.sd == pooled.sd && s.cv == pooled.cv && s.p99 == pooled.p99 && s.min == pooled.min &&
	   s.max == pooled.max, "groups: the other figures are those of all samples");
	mp_stats_of_groups(g, 1, &s);
	memcpy(all, v[0], sizeof(v[0]));
	is_double(s.floor, floor_of(all, 500), "groups: one process, its own floor");
	v[5][77] = NAN;
	mp_stats_of_groups(g, 12, &s);
	ok(isnan(s.floor) && isnan(s.mean), "groups: NaN is not hidden");
}

static void test_settled(void)
{
	static const struct {
		const char *what;
		enum mp_settled want;
		size_t n;
		double floor[18];
	} t[] = {
		{ "fifteen processes", MP_TOO_FEW, 15,
		  { 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7 } },
		{ "exactly alike", MP_SETTLED, 16,
		  { 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7 } },
		{ "agree", MP_SETTLED, 16,
		  { 100, 100.1, 100.2, 100, 100.3, 100.1, 100.4, 100,
		    100.2, 100.1, 100, 100.2, 100.1, 100.3, 100, 100.1 } },
		{ "four clean of sixteen", MP_SETTLED, 16,
		  { 100, 130, 100.3, 111, 122, 140, 128, 117,
		    100.1, 135, 128, 100.2, 117, 125, 131, 122 } },
		{ "two clean of sixteen", MP_UNSUPPORTED, 16,
		  { 100, 130, 103, 111, 122, 140, 100.1, 135,
		    128, 120, 117, 125, 133, 119, 126, 138 } },
		{ "nobody agrees", MP_UNSUPPORTED, 16,
		  { 100, 102, 104, 106, 108, 110, 112, 114,
		    116, 118, 120, 122, 124, 126, 128, 130 } },
		{ "lucky one", MP_SETTLED, 16,
		  { 100, 100.1, 93, 100.2, 100.3, 100, 100.1, 100,
		    100, 100.2, 100, 100.1, 100, 100.2, 100.1, 100 } },
		{ "the last two moved it", MP_MOVING, 16,
		  { 110, 110, 110, 110, 110, 110, 110, 110,
		    110, 110, 110, 110, 100.3, 100.2, 100.1, 100 } },
		{ "only the last one moved it", MP_MOVING, 17,
		  { 100, 110, 110, 110, 100.1, 110, 110, 110, 100.3,
		    110, 110, 110, 110, 110, 110, 110, 100.2 } },
		{ "the last one but one moved it", MP_MOVING, 18,
		  { 100, 110, 110, 110, 110, 110, 100.1, 110, 110,
		    110, 100.3, 110, 110, 110, 110, 110, 100.2, 110 } },
		{ "slower from the middle on", MP_DRIFTING, 16,
		  { 100, 100.1, 100, 100.2, 100, 100, 100, 100,
		    120, 120.1, 120, 120, 120, 120, 120, 120 } },
		{ "faster from the middle on", MP_DRIFTING, 16,
		  { 120, 120, 120.1, 120, 120, 120, 120, 120,
		    100, 100, 100.1, 100.1, 100, 100, 100, 100 } },
		{ "NaN", MP_UNSUPPORTED, 16,
		  { NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN,
		    NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN } },
	};

	for (size_t i = 0; i < COUNT(t); i++) {
		char what[80];

		snprintf(what, sizeof(what), "settled: %s", t[i].what);
		is_int(mp_stats_settled(t[i].floor, t[i].n, 0.005), t[i].want, what);
	}
	is_int(mp_stats_settled(t[5].floor, 16, 0.5), MP_SETTLED, "settled: wider tolerance");
}

/* The same groups, seed and draws as in tests/vectors_stats.py. */
static void test_bootstrap_vectors(void)
{
	static const double want_floor[] = { 100, 95, 95, 103, 104 };
	static const double want_median[] = { 103, 103.5, 111, 119, 126 };
	double a[30], b[20], c[] = { 110, 95, 130 };
	double d[] = { 97, 97 }, e[] = { 100, 100 }, f[] = { 103, 103 }, h[] = { 106, 106 };
	struct mp_group g[] = {
		{ a, 30 }, { b, 20 }, { c, 3 }, { d, 2 }, { e, 2 }, { f, 2 }, { h, 2 },
	};
	double floor[5], median[5];
	struct mp_stats s;

	for (int i = 0; i < 30; i++)
		a[i] = 100 + (i * 37) % 61;
	for (int i = 0; i < 20; i++)
		b[i] = 90 + (i * 29) % 53;
	mp_stats_of_groups(g, 7, &s);
	is_double(s.floor, 97, "bootstrap: floor of the run");
	is_int(mp_stats_bootstrap(g, 7, 2026, floor, median, 5), 0, "bootstrap: vectors");
	for (int i = 0; i < 5; i++) {
		is_double(floor[i], want_floor[i], "bootstrap: floor as in Python");
		is_double(median[i], want_median[i], "bootstrap: median as in Python");
	}
}

static void test_bootstrap_edges(void)
{
	double one[] = { 7 }, two[] = { 1, 3 }, same[50];
	struct mp_group g = { one, 1 }, h = { two, 2 }, many[2];
	double floor[200], median[200];
	int possible = 1;

	mp_stats_bootstrap(&g, 1, 1, floor, median, 3);
	ok(floor[2] == 7 && median[2] == 7, "bootstrap: one sample");
	mp_stats_bootstrap(&h, 1, 1, floor, median, 200);
	for (int i = 0; i < 200; i++)
		possible &= median[i] == 1 || median[i] == 2 || median[i] == 3;
	ok(possible, "bootstrap: two samples");
	for (int i = 0; i < 50; i++)
		same[i] = 12345;
	many[0] = (struct mp_group){ same, 50 };
	many[1] = many[0];
	mp_stats_bootstrap(many, 2, 1, floor, median, 200);
	ok(mp_stats_interval(floor, 200, 0.95).low == 12345 &&
	   mp_stats_interval(floor, 200, 0.95).high == 12345 &&
	   mp_stats_interval(median, 200, 0.95).high == 12345,
	   "bootstrap: what does not vary has an interval of no width");
}

/*
 * Against theory. The median of n uniform numbers has a standard error of
 * 1 / (2 sqrt(n)) (asymptotically, of a density of 1); the 95 % interval is
 * 3.92 of those wide. And if processes differ but their cycles do not, the
 * interval must be as wide as the processes differ, however many cycles.
 */
static void test_bootstrap_theory(void)
{
	static double v[20][400], all[8000], floor[2000], median[2000];
	struct mp_rng rng = { 12 };
	struct mp_group g[20], whole = { all, 8000 };
	struct mp_interval ci;

	for (int i = 0; i < 8000; i++)
		all[i] = 100 + uniform(&rng);
	mp_stats_bootstrap(&whole, 1, 12, floor, median, 2000);
	ci = mp_stats_interval(median, 2000, 0.95);
	is_near(ci.high - ci.low, 3.92 / (2 * sqrt(8000)), 0.15, "bootstrap: width of the median");
	ok(ci.low < 100.5 && ci.high > 100.5, "bootstrap: the true median is in it");

	for (int p = 0; p < 20; p++) {
		for (int i = 0; i < 400; i++)
			v[p][i] = 100 + p + uniform(&rng) / 1000;
		g[p] = (struct mp_group){ v[p], 400 };
	}
	mp_stats_bootstrap(g, 20, 13, floor, median, 2000);
	ci = mp_stats_interval(floor, 2000, 0.95);
	ok(ci.low <= 103.1 && ci.high >= 103, "bootstrap: floor of 20 processes is in it");
	is_between(ci.high - ci.low, 5, 11, "bootstrap: processes that differ make it wide");
}

static void test_interval(void)
{
	double v[1001];
	struct mp_interval ci;

	for (int i = 0; i <= 1000; i++)
		v[i] = 1000 - i;
	ci = mp_stats_interval(v, 1001, 0.95);
	is_near(ci.low, 25, CLOSE, "interval: low");
	is_near(ci.high, 975, CLOSE, "interval: high");
}

static void test_student(void)
{
	static const struct {
		double level, want;
		unsigned int df;
	} t[] = {
		{ 0.95, 12.706204736, 1 }, { 0.95, 4.302652730, 2 }, { 0.95, 3.182446305, 3 },
		{ 0.99, 4.604094871, 4 }, { 0.9875, 3.810004700, 5 }, { 0.999, 3.673906401, 28 },
		{ 0.95, 1.959963985, 1000 },	/* of the normal distribution */
	};

	for (size_t i = 0; i < COUNT(t); i++) {
		char what[64];

		snprintf(what, sizeof(what), "t: %g of %u degrees", t[i].level, t[i].df);
		is_near(mp_stats_t(t[i].level, t[i].df), t[i].want, NEAR, what);
	}
}

int main(void)
{
	test_figures();
	test_edges();
	test_cancellation();
	test_huge();
	test_rng();
	test_floor();
	test_floor_scale();
	test_groups();
	test_settled();
	test_bootstrap_vectors();
	test_bootstrap_edges();
	test_bootstrap_theory();
	test_interval();
	test_student();
	return done_testing();
}
