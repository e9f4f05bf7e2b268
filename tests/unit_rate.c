// SPDX-License-Identifier: GPL-2.0
/*
 * Sources: mprotect_perf_rate.c
 *
 * Operations per second of tasks whose times are made up; all expected figures
 * are worked out by hand.
 */
#include "mprotect_perf_rate.h"
#include "unit.h"

#define CLOSE 1e-12

static struct mp_sample sample(unsigned int tasks, unsigned int task, uint64_t start,
			       uint64_t protect, uint64_t touch)
{
	struct mp_sample s = { .tasks = tasks, .task = task, .start = start };

	for (int k = 0; k < MP_PHASES; k++)
		s.phase[k].time = MP_NOT_TAKEN;
	s.phase[MP_PROTECT].time = protect;
	s.phase[MP_TOUCH].time = touch;
	return s;
}

/* Alone there is no start: two cycles in 400 + 600 ns are two million a second. */
static void test_one(void)
{
	const struct mp_sample s[] = {
		sample(1, 0, MP_NOT_TAKEN, 300, 100), sample(1, 0, MP_NOT_TAKEN, 500, 100),
	};
	struct mp_rate r;

	is_int(mp_rate_of(s, 2, &r), 0, "one: has a rate");
	is_near(r.total, 2e6, CLOSE, "one: cycles over the times of the phases");
	is_near(r.per_task, 2e6, CLOSE, "one: the task's is the total");
	is_double(r.imbalance, 1, "one: it is as fast as itself");
	is_int(mp_rate_of(s, 0, &r), -1, "one: no sample, no rate");
}

/*
 * Task 0: from 1000 to 2000 two cycles. Task 1: from 500 to 1500, with a pause
 * between, four. In any order, as long as that of each task is kept.
 */
static void test_two(void)
{
	const struct mp_sample s[] = {
		sample(2, 1, 500, 50, 50), sample(2, 0, 1000, 200, 200),
		sample(2, 1, 600, 50, 50), sample(2, 1, 700, 50, 50),
		sample(2, 0, 1500, 250, 250), sample(2, 1, 1400, 60, 40),
	};
	struct mp_rate r;

	is_int(mp_rate_of(s, 6, &r), 0, "two: have a rate");
	is_near(r.total, 6e6, CLOSE, "two: 2 in 1000 ns and 4 in 1000 ns");
	is_near(r.per_task, 3e6, CLOSE, "two: half of it each");
	is_near(r.imbalance, 2, CLOSE, "two: one is twice as fast");
}

static void test_none(void)
{
	const struct mp_sample missing[] = { sample(2, 0, 0, 10, 10), sample(2, 0, 20, 10, 10) };
	const struct mp_sample untold[] = {
		sample(2, 0, MP_NOT_TAKEN, 10, 10), sample(2, 1, 0, 10, 10),
	};
	const struct mp_sample backwards[] = {
		sample(2, 0, 1000, 10, 10), sample(2, 0, 0, 10, 10), sample(2, 1, 0, 10, 10),
	};
	const struct mp_sample nothing = sample(1, 0, MP_NOT_TAKEN, 0, 0);
	const struct mp_sample huge = sample(2, 0, MP_NOT_TAKEN - 1, MP_NOT_TAKEN - 1, 0);
	struct mp_span span[2] = { { 0 } };
	struct mp_rate r;

	is_int(mp_rate_of(missing, 2, &r), -1, "none: a task without a cycle");
	is_int(mp_rate_of(untold, 2, &r), -1, "none: a task that does not say when");
	is_int(mp_rate_of(backwards, 3, &r), -1, "none: a task that ends before it begins");
	is_int(mp_rate_of(&nothing, 1, &r), -1, "none: a cycle that takes no time");
	is_int(mp_rate_of_spans(span, 0, &r), -1, "none: no task");
	mp_rate_add(&span[0], &huge);
	mp_rate_add(&span[1], &huge);
	is_int(mp_rate_of_spans(span, 2, &r), 0, "huge: figures that 64 bits do not add");
	ok(r.total > 0 && isfinite(r.total), "huge: have a rate");
}

int main(void)
{
	test_one();
	test_two();
	test_none();
	return done_testing();
}
