// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the order of things: rows whose processes are made up here, and
 * a clock that goes on by a second with each of them.
 *
 * Sources: mprotect_perf_run.c mprotect_perf_stats.c mprotect_perf_scenario.c
 */
#include <stdlib.h>

#include "unit.h"
#include "mprotect_perf_run.h"

#define CYCLES 20
#define PAGES 1000

/*
 * What the processes of a test do: that with number @fails dies, the check of
 * that with number @wrong fails, and that with number @lacks finds something
 * missing; numbers are of all processes, from 1. @floor is ns a page, and rises
 * by @rise of it with each process of a row, of touch by @touch_rise.
 */
static struct {
	unsigned int fails, wrong, lacks;
	double floor, rise, touch_rise;
	unsigned int runs, asked, refuse;
	char order[64];
} play;

static struct mp_finding failed(const char *text)
{
	struct mp_finding f = { .outcome = MP_FAIL };

	mp_error(&f.text, "%s", text);
	return f;
}

uint64_t mp_clock_now(void)
{
	return play.runs * 1000000000ULL;
}

bool mp_scenario_missing(const struct mp_scenario *sc, struct mp_err *why)
{
	(void)sc;
	(void)why;
	return false;
}

static uint64_t risen(double rise, uint32_t proc)
{
	return (uint64_t)(play.floor * PAGES * (1 + rise * proc));
}

int mp_measure_run(const struct mp_job *job, struct mp_result *res, struct mp_err *err)
{
	unsigned int i;

	*res = (struct mp_result){ .n = 0 };
	if (play.runs < sizeof(play.order) - 1)
		play.order[play.runs] = job->sc->name[0];
	if (++play.runs == play.fails)
		return mp_error(err, "it died");
	if (play.runs == play.wrong)
		res->report.v[MP_CHECK_CONTENT] = failed("a byte is lost");
	if (play.runs == play.lacks)
		mp_error(&res->report.missing, "no folios any more");
	res->sample = calloc(CYCLES, sizeof(*res->sample));
	res->n = CYCLES;
	for (i = 0; i < CYCLES; i++) {
		struct mp_sample *s = &res->sample[i];

		memset(s->phase, 0xff, sizeof(s->phase));
		s->proc = job->proc;
		s->cycle = i;
		s->pages = PAGES;
		s->phase[MP_PROTECT].time = risen(play.rise, job->proc) + i % 5;
		s->phase[MP_RESTORE].time = s->phase[MP_PROTECT].time;
		s->phase[MP_TOUCH].time = risen(play.touch_rise, job->proc) + i % 5;
	}
	return 0;
}

static bool enough(void *ctx, const struct mp_run_row *row)
{
	(void)ctx;
	(void)row;
	return play.asked++ >= play.refuse;
}

static void rows(struct mp_run_row row[2])
{
	memset(row, 0, 2 * sizeof(*row));
	row[0].sc = &mp_scenarios[mp_scenario_find("shared-dirty")];
	row[1].sc = &mp_scenarios[mp_scenario_find("one-page")];
}

static struct mp_plan new_plan(double rise)
{
	memset(&play, 0, sizeof(play));
	play.floor = 40;
	play.rise = rise;
	play.touch_rise = rise;
	return (struct mp_plan){ .seconds = 1e6, .procs_max = 50, .enough = enough, .seed = 1 };
}

static void forget(struct mp_run_row row[2])
{
	mp_run_free(&row[0]);
	mp_run_free(&row[1]);
}

static void test_settles(void)
{
	struct mp_plan plan = new_plan(0);
	struct mp_run_row row[2];
	unsigned int p;

	rows(row);
	mp_run_time(row, 2, &plan);
	is_int(row[0].nprocs, 16, "quiet: sixteen processes settle it");
	is_int(row[1].nprocs, 16, "quiet: and the other");
	is_int(row[0].settled, MP_SETTLED, "quiet: it is");
	is_int(row[0].n, 16 * CYCLES, "quiet: all samples are kept");
	for (p = 0; p < 16; p++)
		if (row[0].first[p] != p * CYCLES || row[0].sample[p * CYCLES].proc != p)
			break;
	is_int(p, 16, "quiet: process by process");
	is_int(row[0].first[16], row[0].n, "quiet: to the end");
	is_near(row[0].floor[MP_TOUCH][15], 40, 1e-3, "quiet: and their floors");
	ok(!row[0].floor[MP_POPULATE], "quiet: not those of what is not timed");
	is_int(mp_run_supported(&row[0], MP_PROTECT), true, "quiet: which agree");
	ok(strstr(play.order, "os") && strstr(play.order, "so") && strstr(play.order, "oo"),
	   "rows take turns, shuffled: %s", play.order);
	is_int(play.asked, 2, "each is asked once whether it may stop");
	forget(row);
}

static void test_goes_on(void)
{
	struct mp_plan plan = new_plan(0.05);
	struct mp_run_row row[2];

	rows(row);
	mp_run_time(row, 2, &plan);
	is_int(row[0].nprocs, 50, "drifting: ends where a record would be full");
	is_int(row[0].settled == MP_SETTLED, false, "drifting: and is not settled");
	is_int(mp_run_supported(&row[0], MP_PROTECT), false, "drifting: no two agree");
	is_int(play.asked, 0, "drifting: nobody is asked");
	forget(row);

	plan = new_plan(0);
	play.touch_rise = 0.05;
	rows(row);
	mp_run_time(row, 2, &plan);
	is_int(row[0].nprocs, 50, "one phase drifts: no end either");
	is_int(row[0].moving, MP_TOUCH, "one phase drifts: it is named");
	forget(row);

	plan = new_plan(0.05);
	plan.seconds = 30;
	rows(row);
	mp_run_time(row, 2, &plan);
	is_int(play.runs, 30, "drifting: or when the time is used up");
	forget(row);

	plan = new_plan(0);
	plan.seconds = 0.1;
	rows(row);
	mp_run_time(row, 2, &plan);
	ok(row[0].nprocs == 1 && row[1].nprocs == 1, "no time: one of each all the same");
	forget(row);

	plan = new_plan(0);
	play.refuse = 2;
	rows(row);
	mp_run_time(row, 1, &plan);
	is_int(play.asked, 3, "not sure: asked again");
	is_int(row[0].nprocs, 27, "not sure: with a quarter more each time");
	forget(row);
}

static void test_fixed(void)
{
	struct mp_plan plan = new_plan(0);
	struct mp_run_row row[2];

	plan.procs = 20;
	plan.warmup_procs = 2;
	plan.seconds = 0.1;
	rows(row);
	mp_run_time(row, 2, &plan);
	is_int(row[0].nprocs, 20, "--procs: so many, however long it takes");
	is_int(play.runs, 44, "--procs: and the warm-up, which is forgotten");
	is_int(row[0].sample[0].proc, 0, "--procs: it has no number");
	is_int(row[0].settled, MP_SETTLED, "--procs: whether they settled is told");
	is_int(play.asked, 0, "--procs: nobody is asked");
	forget(row);
}

/* What ends a row does not end the other, and what was had is kept. */
static void test_ends(void)
{
	struct mp_plan plan = new_plan(0);
	struct mp_run_row row[2];

	play.fails = 1;
	rows(row);
	mp_run_time(row, 2, &plan);
	is_int(row[play.order[0] == 'o'].nprocs, 0, "one dies: its row ends");
	is_str(row[play.order[0] == 'o'].fault.text, "it died", "one dies: which is told");
	is_int(row[play.order[0] != 'o'].nprocs, 16, "one dies: the other goes on");
	forget(row);

	plan = new_plan(0);
	play.wrong = 7;
	rows(row);
	mp_run_time(row, 1, &plan);
	is_int(row[0].nprocs, 6, "one is wrong: none comes after it");
	is_str(row[0].fault.text, "a byte is lost", "one is wrong: which is told");
	forget(row);

	plan = new_plan(0);
	play.lacks = 7;
	rows(row);
	mp_run_time(row, 1, &plan);
	is_int(row[0].nprocs, 6, "one lacks something: none comes after it");
	is_str(row[0].missing.text, "no folios any more", "one lacks something: which is told");
	ok(!row[0].fault.text[0], "one lacks something: which is no fault");
	forget(row);

	plan = new_plan(0);
	rows(row);
	row[0].report.v[MP_CHECK_STATE] = failed("huge pages");
	mp_error(&row[1].died, "it hung");
	mp_run_time(row, 2, &plan);
	is_int(play.runs, 0, "what failed its checks is not timed");
	forget(row);
}

int main(void)
{
	test_settles();
	test_goes_on();
	test_fixed();
	test_ends();
	return done_testing();
}
