// SPDX-License-Identifier: GPL-2.0
/*
 * Operations per second of tasks that run at once.
 *
 * What this cannot tell: how the rate changed while they ran. Where tasks are
 * more than CPUs and their cycles few, one may have all of them in a time slice
 * of its own, and the total is too high.
 */
#include <math.h>
#include <stdlib.h>

#include "mprotect_perf_rate.h"

#define PER_SECOND 1e9

void mp_rate_add(struct mp_span *span, const struct mp_sample *s)
{
	double start = s->start == MP_NOT_TAKEN ? NAN : (double)s->start;

	if (s->tasks == 1)
		start = span->last;
	if (!span->n++)
		span->first = start;
	span->last = start;
	for (int k = 0; k < MP_PHASES; k++) {
		if (s->phase[k].time != MP_NOT_TAKEN)
			span->last += s->phase[k].time;
	}
}

int mp_rate_of_spans(const struct mp_span *span, size_t tasks, struct mp_rate *rate)
{
	double low = INFINITY, high = 0, total = 0;

	for (size_t i = 0; i < tasks; i++) {
		double time = span[i].last - span[i].first;

		if (!(time > 0))
			return -1;
		total += span[i].n / time;
		low = fmin(low, span[i].n / time);
		high = fmax(high, span[i].n / time);
	}
	if (!tasks)
		return -1;
	rate->total = PER_SECOND * total;
	rate->per_task = rate->total / tasks;
	rate->imbalance = high / low;
	return 0;
}

int mp_rate_of(const struct mp_sample *s, size_t n, struct mp_rate *rate)
{
	struct mp_span *span = n ? calloc(s->tasks, sizeof(*span)) : NULL;
	int ret;

	if (!span)
		return -1;
	for (size_t i = 0; i < n; i++)
		mp_rate_add(&span[s[i].task], &s[i]);
	ret = mp_rate_of_spans(span, s->tasks, rate);
	free(span);
	return ret;
}
