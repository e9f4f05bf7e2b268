/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a call costs beside its pages: cost = fixed + per_page * pages, through
 * the costs of several sizes.
 */
#ifndef MPROTECT_PERF_FIT_H
#define MPROTECT_PERF_FIT_H

#include <stddef.h>

/* sizes that a line needs: two always lie on one */
#define MP_FIT_LEAST 3
/* percent of the cost: with a residual beyond this the curve is no line */
#define MP_FIT_BENT 10

/**
 * struct mp_point - one size
 * @pages: of a call
 * @cost: of a call
 * @rel_error: standard error of @cost, as a part of it; 0 when it is not known
 */
struct mp_point {
	double pages;
	double cost;
	double rel_error;
};

/**
 * struct mp_fit - a straight line
 * @fixed: cost of a call of no pages
 * @per_page: what a page adds
 * @fixed_error: standard error of @fixed
 * @per_page_error: standard error of @per_page
 * @worst_residual: how far the line is from the point that it misses most, in
 *                  percent of that point's cost
 * @n: points
 */
struct mp_fit {
	double fixed;
	double per_page;
	double fixed_error;
	double per_page_error;
	double worst_residual;
	size_t n;
};

/**
 * mp_fit_line() - the straight line through some sizes
 * @p: the sizes
 * @n: how many
 * @fit: filled
 *
 * Weighted least squares, with w = 1 / (rel_error * cost)^2; where a rel_error
 * is not known, all are taken to be the same. With S = sum(w), x = sum(w pages)
 * / S and Sxx = sum(w (pages - x)^2), the variance of per_page is s2 / Sxx, and
 * that of fixed s2 (1 / S + x^2 / Sxx): Bevington and Robinson, "Data Reduction
 * and Error Analysis for the Physical Sciences", chapter 6, in centred form. s2
 * is chi square over n - 2, which stands for errors that are not known (same;
 * NIST/SEMATECH e-Handbook of Statistical Methods, 4.1.4.3); for known ones it is
 * at least 1, and more where the points miss the line by more than their errors
 * (Birge, "The calculation of errors by the method of least squares", Physical
 * Review 40, 1932).
 *
 * Return: 0, or -1 when there are fewer than MP_FIT_LEAST different sizes, a
 * cost that is not above 0, or a figure that is not finite.
 */
int mp_fit_line(const struct mp_point *p, size_t n, struct mp_fit *fit);

#endif /* MPROTECT_PERF_FIT_H */
