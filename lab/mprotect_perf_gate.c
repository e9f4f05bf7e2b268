// SPDX-License-Identifier: GPL-2.0
/*
 * A run against its limits. The comparison is that of two records, so that a
 * verdict given now is the one that the files would give later.
 *
 * What this cannot tell: whether a machine was the same when the baseline was
 * taken. It asks for the same CPU, clock and page size, and no more.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mprotect_perf_gate.h"

/* runs that the bootstrap makes up */
#define BOOTSTRAP 1000
#define LEVEL 0.95
#define COARSE_STEP_NS 1000
/* so many processes can disagree */
#define LEAST_PROCESSES 5

static struct mp_boot *this_run(const struct mp_gate *g, const struct mp_run_row *row,
				struct mp_err *err)
{
	struct mp_boot *b = mp_boot_new("this run", err);
	size_t i;

	for (i = 0; b && i < g->facts->nfact; i++) {
		if (mp_boot_add_fact(b, g->facts->fact[i].key, g->facts->fact[i].value, err))
			goto fail;
	}
	for (i = 0; b && row && i < row->n; i++) {
		if (mp_boot_add_sample(b, &row->sample[i], err))
			goto fail;
	}
	return b;
fail:
	mp_boot_free(b);
	return NULL;
}

/* Base and head; a row of NULL compares the environments only. */
static int load(const struct mp_gate *g, const struct mp_run_row *row, struct mp_compare *c,
		struct mp_err *err)
{
	memset(c, 0, sizeof(*c));
	/* what this row is not held against need not be known */
	c->common = 1;
	if (!mp_compare_add(c, mp_boot_read(g->baseline, err), "baseline", err) &&
	    !mp_compare_add(c, this_run(g, row, err), "this run", err))
		return 0;
	mp_compare_free(c);
	return -1;
}

int mp_gate_check(const struct mp_gate *g, struct mp_err *err)
{
	struct mp_compare c;

	if (!g->baseline)
		return 0;
	if (load(g, NULL, &c, err))
		return -1;
	mp_compare_free(&c);
	return 0;
}

static void rule(struct mp_ruling *r, bool first, enum mp_verdict v, const char *text)
{
	if (!first && mp_verdict_weight(v) <= mp_verdict_weight(r->verdict))
		return;
	r->verdict = v;
	snprintf(r->text.text, sizeof(r->text.text), "%s", text);
}

static double clock_fact(const struct mp_boot *facts, const char *key)
{
	const char *value = mp_boot_fact(facts, key);

	return value ? strtod(value, NULL) : 0;
}

double mp_gate_clock_steps(const struct mp_boot *facts, const struct mp_run_row *row, int phase)
{
	const char *unit = mp_boot_fact(facts, "unit");
	double step = clock_fact(facts, "clock_step_ns");
	struct mp_stats st;

	if (!step || (unit && !strcmp(unit, "insn")) || mp_run_stats(row, phase, &st))
		return INFINITY;
	return st.floor * (double)row->sample[0].pages / step;
}

static bool is_short(const struct mp_gate *g, const struct mp_run_row *row, int phase)
{
	return mp_gate_clock_steps(g->facts, row, phase) < MP_LEAST_STEPS;
}

/* Noise only adds: what it cannot do is to keep a limit that is exceeded. */
static enum mp_verdict over_max(const struct mp_gate *g, const struct mp_run_row *row,
				int phase, struct mp_err *why)
{
	const char *unit = mp_boot_fact(g->facts, "unit");

	if ((unit && !strcmp(unit, "insn")) || row->nprocs < LEAST_PROCESSES ||
	    mp_run_supported(row, phase))
		return MP_REGRESSED;
	mp_error(why, ": few processes agree on the floor: a busy machine?");
	return MP_INCONCLUSIVE;
}

static int judge_max(const struct mp_gate *g, const struct mp_run_row *row, int phase,
		     struct mp_ruling *r, struct mp_err *err)
{
	double floor[BOOTSTRAP], median[BOOTSTRAP], max = g->max[phase];
	enum mp_verdict v = MP_INCONCLUSIVE;
	struct mp_err why = { "" }, text;
	struct mp_interval in;
	struct mp_group *group;
	int ret;

	if (mp_run_groups(row, phase, &group))
		return mp_error(err, "no memory for the samples");
	ret = mp_stats_bootstrap(group, row->nprocs, g->seed, floor, median, BOOTSTRAP);
	free(group);
	if (ret)
		return mp_error(err, "no memory for the bootstrap");
	in = mp_stats_interval(floor, BOOTSTRAP, LEVEL);
	if (is_short(g, row, phase))
		mp_error(&why, ": the phase is only %.1f clock steps long; %d are needed",
			 mp_gate_clock_steps(g->facts, row, phase), MP_LEAST_STEPS);
	else if (in.high <= max)
		v = MP_OK;
	else if (in.low > max)
		v = over_max(g, row, phase, &why);
	mp_error(&text, "floor %.3f to %.3f, limit %.3f%.120s", in.low, in.high, max, why.text);
	rule(r, true, v, text.text);
	r->final = v != MP_INCONCLUSIVE || is_short(g, row, phase);
	return 0;
}

static void judge_step(const struct mp_gate *g, const struct mp_step *s, bool first,
		       struct mp_ruling *r)
{
	struct mp_err text = s->why;
	char in[MP_INTERVAL_LEN];

	if (!isnan(s->delta[MP_FLOOR]))
		mp_error(&text, "floor %+.2f%%%s, median %+.2f%%, threshold %.2f%%%s%s",
			 s->delta[MP_FLOOR], mp_interval_text(&s->interval[MP_FLOOR], 2, in),
			 s->delta[MP_MEDIAN], g->threshold, s->why.text[0] ? ": " : "",
			 s->why.text);
	rule(r, first, s->verdict, text.text);
}

static bool is_of(const struct mp_sample *s, const struct mp_row *row)
{
	return s->pages == row->pages && s->calls == row->calls && s->tasks == row->tasks &&
	       !strcmp(s->scenario, row->scenario);
}

static int judge_baseline(const struct mp_gate *g, const struct mp_run_row *row,
			  struct mp_ruling ruling[MP_PHASES], unsigned int *has,
			  struct mp_err *err)
{
	struct mp_compare c;
	int ret;

	if (load(g, row, &c, err))
		return -1;
	ret = mp_compare_judge(&c, g->threshold, g->seed, err);
	for (size_t i = 0; !ret && i < c.nrows; i++) {
		int phase = c.row[i].phase;

		if (!is_of(&row->sample[0], &c.row[i]) || !(row->sc->timed & 1U << phase))
			continue;
		if (!(*has & 1U << phase))
			ruling[phase].final = true;
		ruling[phase].final &= c.row[i].whole.verdict != MP_INCONCLUSIVE ||
				       !c.row[i].column[0].boots || is_short(g, row, phase);
		judge_step(g, &c.row[i].whole, !(*has & 1U << phase), &ruling[phase]);
		*has |= 1U << phase;
	}
	mp_compare_free(&c);
	return ret;
}

int mp_gate_judge(const struct mp_gate *g, const struct mp_run_row *row,
		  struct mp_ruling ruling[MP_PHASES], unsigned int *has, struct mp_err *err)
{
	int phase;

	*has = 0;
	for (phase = 0; phase < MP_PHASES; phase++) {
		if (!(row->sc->timed & 1U << phase) || g->max[phase] <= 0)
			continue;
		if (judge_max(g, row, phase, &ruling[phase], err))
			return -1;
		*has |= 1U << phase;
	}
	return g->baseline ? judge_baseline(g, row, ruling, has, err) : 0;
}

const char *mp_gate_only_warns(const struct mp_boot *facts)
{
	const char *unit = mp_boot_fact(facts, "unit");
	const char *hypervisor = mp_boot_fact(facts, "hypervisor");
	const char *debug = mp_boot_fact(facts, "debug");

	if (unit && !strcmp(unit, "insn"))
		return NULL;
	if (hypervisor && !strcmp(hypervisor, "yes"))
		return "a virtual machine";
	if (debug && strcmp(debug, "none") && strcmp(debug, "unknown"))
		return "a debug kernel";
	if (clock_fact(facts, "clock_step_ns") >= COARSE_STEP_NS)
		return "a coarse clock";
	return NULL;
}
