// SPDX-License-Identifier: GPL-2.0
/*
 * The verdict on a step from one kernel to another. The formulas are told at
 * mp_compare_judge().
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "mprotect_perf_compare.h"

/* Less than this, in a unit that can be noisy, says nothing. */
#define LEAST_PROCESSES 5
#define LEAST_SAMPLES 100

/* With fewer boots Student's t is so wide that the plain spread says more. */
#define T_BOOTS 3

/* Half the width of an interval that says nothing: a factor of 10, as a logarithm. */
#define WIDEST M_LN10

const char *const mp_verdict_name[] = {
	[MP_OK] = "OK",
	[MP_IMPROVED] = "IMPROVED",
	[MP_REGRESSED] = "REGRESSED",
	[MP_INCONCLUSIVE] = "INCONCLUSIVE",
};

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

const char *mp_interval_text(const struct mp_interval *in, int digits,
			     char text[MP_INTERVAL_LEN])
{
	text[0] = '\0';
	if (!isnan(in->low) && !isnan(in->high))
		snprintf(text, MP_INTERVAL_LEN, " (%+.*f to %+.*f)", digits, in->low, digits,
			 in->high);
	return text;
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
	else if (col->steps < MP_LEAST_STEPS)
		mp_error(&s->why, "the phase is only %.1f clock steps long in %s; %d are needed",
			 col->steps, name, MP_LEAST_STEPS);
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

		if (!(half <= WIDEST))
			half = NAN;
		s->interval[f].low = 100 * (ratio * exp(-half) - 1);
		s->interval[f].high = 100 * (ratio * exp(half) - 1);
	}
	s->within = 100 * within;
	s->between = 100 * between;
	if (!(from->figure[MP_FLOOR] > 0 && to->figure[MP_FLOOR] > 0))
		s->verdict = inconclusive(s, "a figure is 0");
	else if (too_few(c, from, "the base", s) || too_few(c, to, "the head", s))
		s->verdict = MP_INCONCLUSIVE;
	else if (isnan(s->interval[MP_FLOOR].low) || isnan(s->interval[MP_MEDIAN].low))
		s->verdict = inconclusive(s, "too few or too noisy samples to say");
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
