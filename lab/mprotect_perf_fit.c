// SPDX-License-Identifier: GPL-2.0
/*
 * A straight line through costs of several sizes.
 *
 * What this cannot tell: whether the cost is a straight line at all. Caches and
 * batches bend it; the worst residual says by how much.
 */
#include <math.h>
#include <stdbool.h>

#include "mprotect_perf_fit.h"

/* Are there enough of them, and different ones? */
static bool enough(const struct mp_point *p, size_t n)
{
	size_t sizes = 0;

	for (size_t i = 0; i < n; i++) {
		size_t j = 0;

		if (!(p[i].cost > 0))
			return false;
		while (j < i && p[j].pages != p[i].pages)
			j++;
		sizes += j == i;
	}
	return sizes >= MP_FIT_LEAST;
}

static bool errors_known(const struct mp_point *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(p[i].rel_error) || p[i].rel_error <= 0)
			return false;
	}
	return true;
}

static double weight(const struct mp_point *p, bool known)
{
	double error = (known ? p->rel_error : 1) * p->cost;

	return 1 / (error * error);
}

int mp_fit_line(const struct mp_point *p, size_t n, struct mp_fit *fit)
{
	double s = 0, x = 0, y = 0, sxx = 0, sxy = 0, s2 = 0;
	bool known = errors_known(p, n);

	if (!enough(p, n))
		return -1;
	for (size_t i = 0; i < n; i++) {
		double w = weight(&p[i], known);

		s += w;
		x += w * p[i].pages;
		y += w * p[i].cost;
	}
	x /= s;
	y /= s;
	for (size_t i = 0; i < n; i++) {
		double w = weight(&p[i], known), off = p[i].pages - x;

		sxx += w * off * off;
		sxy += w * off * (p[i].cost - y);
	}
	*fit = (struct mp_fit){ .per_page = sxy / sxx, .n = n };
	fit->fixed = y - fit->per_page * x;
	for (size_t i = 0; i < n; i++) {
		double off = p[i].cost - fit->fixed - fit->per_page * p[i].pages;

		s2 += weight(&p[i], known) * off * off / (n - 2);
		fit->worst_residual = fmax(fit->worst_residual, 100 * fabs(off) / p[i].cost);
	}
	if (known)
		s2 = fmax(s2, 1);
	fit->per_page_error = sqrt(s2 / sxx);
	fit->fixed_error = sqrt(s2 * (1 / s + x * x / sxx));
	/* what was not finite has come through to here */
	return isfinite(fit->fixed_error) && isfinite(fit->per_page_error) ? 0 : -1;
}
