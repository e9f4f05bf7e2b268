// SPDX-License-Identifier: GPL-2.0
/*
 * Sources: mprotect_perf_fit.c
 *
 * Straight lines. Those that are not exact by construction were computed by
 * tests/vectors_stats.py in fractions, by the normal equations.
 */
#include "mprotect_perf_fit.h"
#include "unit.h"

#define NEAR 1e-9
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void is_line(const struct mp_point *p, size_t n, const double want[5], const char *what)
{
	struct mp_fit fit = { .n = 0 };
	char name[80];
	const double got[] = {
		mp_fit_line(p, n, &fit) ? NAN : fit.fixed, fit.per_page, fit.fixed_error,
		fit.per_page_error, fit.worst_residual
	};
	static const char *const figure[] = {
		"fixed", "per page", "error of fixed", "error of per page", "worst residual"
	};

	is_int(fit.n, n, what);
	for (size_t i = 0; i < COUNT(got); i++) {
		snprintf(name, sizeof(name), "%s: %s", what, figure[i]);
		is_near(got[i], want[i], NEAR, name);
	}
}

/* v6.16 and v6.17-rc1, private-none of 4 to 4,000 KiB, ns a call. */
static void test_published(void)
{
	static const struct mp_point v616[] = {
		{ 1, 1713, 0 }, { 10, 2071, 0 }, { 100, 3453, 0 }, { 1000, 18804, 0 },
	};
	static const struct mp_point v617[] = {
		{ 1, 1775, 0 }, { 10, 2362, 0 }, { 100, 5993, 0 }, { 1000, 44116, 0 },
	};
	static const double is616[] = {
		1775.120480659661, 17.044080409811492, 69.42176280628622, 0.9288294479978891,
		6.056915270025298,
	};
	static const double is617[] = {
		1803.3635971398721, 42.44164215386817, 70.87317279178376, 1.8037961176098365,
		5.682471690154371,
	};

	is_line(v616, COUNT(v616), is616, "v6.16");
	is_line(v617, COUNT(v617), is617, "v6.17-rc1");
}

static void test_errors(void)
{
	/* Errors that are larger than the points miss by, and smaller. */
	static const struct mp_point large[] = {
		{ 1, 110, 0.25 }, { 2, 120, 0.125 }, { 4, 144, 0.5 }, { 16, 250, 0.0625 },
	};
	static const struct mp_point small[] = {
		{ 1, 110, 0.0009765625 }, { 2, 120, 0.001953125 }, { 4, 144, 0.0009765625 },
		{ 16, 250, 0.00390625 },
	};
	static const double is_large[] = {
		101.40041453316702, 9.290756238993463, 14.76431076006476, 1.4307767796293038,
		3.7753892436521763,
	};
	static const double is_small[] = {
		100.23306358694578, 10.453985290415503, 2.1616140972239735, 0.7688171648286751,
		6.998731293437522,
	};
	struct mp_point one[] = { { 1, 110, 0.1 }, { 2, 120, 0 }, { 4, 140, 0.3 } };
	struct mp_fit fit;

	is_line(large, COUNT(large), is_large, "known errors");
	is_line(small, COUNT(small), is_small, "errors too small");
	is_int(mp_fit_line(one, 3, &fit), 0, "an exact line");
	is_near(fit.fixed, 100, NEAR, "an exact line: fixed");
	is_near(fit.per_page, 10, NEAR, "an exact line: per page");
	ok(fit.fixed_error < 1e-6 && fit.per_page_error < 1e-6,
	   "an exact line: one error that is not known, and none are: no error");
	ok(fit.worst_residual < 1e-9, "an exact line: no residual");
	one[1].rel_error = 0.2;
	mp_fit_line(one, 3, &fit);
	ok(fit.fixed_error > 5, "an exact line: known errors are not smaller for that");
}

/* A cost that does not grow, and one that is no line. */
static void test_shapes(void)
{
	static const struct mp_point flat[] = { { 1, 50, 0 }, { 8, 50, 0 }, { 64, 50, 0 } };
	static const struct mp_point bent[] = { { 1, 100, 0 }, { 10, 100, 0 }, { 100, 1000, 0 },
						{ 1000, 1100, 0 } };
	static const struct mp_point twice[] = {
		{ 1, 11, 0 }, { 1, 11, 0 }, { 2, 12, 0 }, { 3, 13, 0 },
	};
	struct mp_fit fit;

	is_int(mp_fit_line(flat, 3, &fit), 0, "flat: is a line");
	is_near(fit.fixed, 50, NEAR, "flat: all is fixed");
	ok(fabs(fit.per_page) < NEAR, "flat: no page costs anything");
	is_int(mp_fit_line(bent, 4, &fit), 0, "bent: is taken for one");
	ok(fit.worst_residual > MP_FIT_BENT, "bent: but misses by %.0f %%", fit.worst_residual);
	is_int(mp_fit_line(twice, 4, &fit), 0, "a size that is there twice");
	is_near(fit.per_page, 1, NEAR, "a size that is there twice: per page");
}

static void refused(struct mp_point a, struct mp_point b, struct mp_point c, const char *what)
{
	const struct mp_point p[] = { a, b, c };
	struct mp_fit fit;

	is_int(mp_fit_line(p, 3, &fit), -1, what);
}

static void test_refusals(void)
{
	const struct mp_point a = { 1, 10, 0.1 }, b = { 2, 20, 0.1 }, c = { 3, 30, 0.1 };
	const struct mp_point p[] = { a, b };
	struct mp_fit fit;

	is_int(mp_fit_line(p, 0, &fit), -1, "refused: nothing");
	is_int(mp_fit_line(p, 2, &fit), -1, "refused: two sizes");
	refused(a, b, b, "refused: two sizes of three points");
	refused(a, a, a, "refused: one size");
	refused(a, b, (struct mp_point){ 3, NAN, 0.1 }, "refused: a cost that is none");
	refused(a, (struct mp_point){ INFINITY, 20, 0.1 }, c, "refused: an endless size");
	refused((struct mp_point){ 1, 0, 0.1 }, b, c, "refused: no cost");
	refused((struct mp_point){ 1, -10, 0.1 }, b, c, "refused: a cost below 0");
	refused((struct mp_point){ 1e300, 1e-300, 0.1 }, b, c, "refused: beyond all bounds");
}

int main(void)
{
	test_published();
	test_errors();
	test_shapes();
	test_refusals();
	return done_testing();
}
