// SPDX-License-Identifier: GPL-2.0
/*
 * One line and one verdict for a scenario, however many variants it was timed
 * in.
 */
#include <stdio.h>
#include <stdlib.h>

#include "mprotect_perf_group.h"
#include "mprotect_perf_report.h"
#include "mprotect_perf_timed.h"

void mp_timed_judge(struct mp_timed *t, const struct mp_gate *g)
{
	unsigned int i, phase;

	t->ruling = calloc(t->n, sizeof(*t->ruling));
	t->has = calloc(t->n, sizeof(*t->has));
	if (!t->ruling || !t->has) {
		mp_error(&t->why, "no memory for the verdicts");
		return;
	}
	for (i = 0; i < t->n; i++) {
		char prefix[64];

		if (!t->row[i].n)
			continue;
		if (mp_gate_judge(g, &t->row[i], t->ruling[i], &t->has[i], &t->why))
			t->has[i] = 0;
		mp_group_prefix(&t->row[i], t->n, prefix, sizeof(prefix));
		for (phase = 0; prefix[0] && phase < MP_PHASES; phase++) {
			struct mp_err *text = &t->ruling[i][phase].text;
			struct mp_err plain = *text;

			if (t->has[i] & 1U << phase)
				mp_error(text, "%s%.180s", prefix, plain.text);
		}
	}
}

void mp_timed_free(struct mp_timed *t)
{
	free(t->ruling);
	free(t->has);
	t->ruling = NULL;
	t->has = NULL;
}

const struct mp_ruling *mp_timed_worst(const struct mp_timed *t, int phase)
{
	const struct mp_ruling *worst = NULL;
	unsigned int i;

	for (i = 0; t->has && t->ruling && i < t->n; i++) {
		const struct mp_ruling *r = &t->ruling[i][phase];

		if (t->has[i] & 1U << phase &&
		    (!worst || mp_verdict_weight(r->verdict) > mp_verdict_weight(worst->verdict)))
			worst = r;
	}
	return worst;
}

struct mp_err mp_timed_fault(const struct mp_timed *t)
{
	struct mp_err why = { "" };
	char prefix[64];
	unsigned int i;

	for (i = 0; i < t->n && !t->row[i].fault.text[0]; i++)
		;
	if (i < t->n)
		mp_error(&why, "%s%.180s",
			 mp_group_prefix(&t->row[i], t->n, prefix, sizeof(prefix)),
			 t->row[i].fault.text);
	return why;
}

int mp_timed_figures(const struct mp_timed *t, int phase, const char *unit, char *text,
		     size_t size)
{
	struct mp_stats first, last, st;
	unsigned int i, timed = 0, a = 0, b = 0;
	char from[64], to[64];
	struct mp_fit fit;
	int used;

	for (i = 0; i < t->n; i++) {
		if (mp_run_stats(&t->row[i], phase, &st))
			continue;
		if (!timed++) {
			first = st;
			a = i;
		}
		last = st;
		b = i;
	}
	if (!timed)
		return -1;
	if (t->n == 1) {
		snprintf(text, size, "floor=%.3f median=%.3f mean=%.3f cv=%.1f%% unit=%s/page",
			 first.floor, first.median, first.mean, first.cv, unit);
		return 0;
	}
	used = snprintf(text, size, "floor=%.3f at %s, %.3f at %s; variants=%u unit=%s/page",
			first.floor, mp_variant_name(t->row[a].sc, from, sizeof(from)), last.floor,
			mp_variant_name(t->row[b].sc, to, sizeof(to)), timed, unit);
	if (t->row[a].sc->tasks == t->row[b].sc->tasks &&
	    !mp_report_fit(t->row, t->n, t->row[a].sc->tasks, phase, &fit))
		snprintf(text + used, size - (size_t)used, " fixed=%.1f/call per_page=%.4f",
			 fit.fixed, fit.per_page);
	return 0;
}
