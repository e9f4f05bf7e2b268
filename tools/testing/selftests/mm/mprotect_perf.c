// SPDX-License-Identifier: GPL-2.0
/*
 * mprotect_perf: is mprotect() right, and what does it cost?
 *
 * Without options every scenario is validated: returned values, access,
 * content, and the state of its mapping in every phase, as far as this
 * process may look. With -p the scenarios are timed as well, in the process
 * that checks them.
 *
 * This is the only file that prints KTAP. The work is done in children:
 *
 *	main -> mp_api_run()      one API case         mprotect_perf_api.c
 *	     -> mp_measure_run()  one scenario         mprotect_perf_measure.c
 *		-> mp_check_cycle()   is it right?     mprotect_perf_check.c
 *		-> time_cycles()      what does it cost?
 *
 * What this cannot tell: a figure taken in a virtual machine, on a debug
 * kernel or with a coarse clock says little of any other machine. Times are
 * diagnostics; they never fail a test by themselves.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../kselftest.h"

#include "mprotect_perf_api.h"
#include "mprotect_perf_env.h"
#include "mprotect_perf_measure.h"
#include "mprotect_perf_opts.h"
#include "mprotect_perf_record.h"
#include "mprotect_perf_stats.h"

#define MP_VERSION "1"

static bool selected(const struct mp_opts *o, unsigned int row)
{
	return o->select & 1ULL << row;
}

static unsigned int rows_selected(const struct mp_opts *o)
{
	unsigned int i, n = 0;

	for (i = 0; i < mp_nr_scenarios; i++)
		n += selected(o, i);
	return n;
}

static unsigned int tests_planned(const struct mp_opts *o)
{
	unsigned int i, n = o->select & MP_SELECT_API ? mp_nr_api_cases : 0;

	for (i = 0; i < mp_nr_scenarios; i++)
		if (selected(o, i))
			n += MP_CHECKS + (o->perf ? __builtin_popcount(mp_scenarios[i].timed) : 0);
	return n;
}

static void list(const struct mp_opts *o)
{
	unsigned int i;

	for (i = 0; i < mp_nr_scenarios; i++)
		if (selected(o, i))
			printf("%-16s %s\n%-16s (%s)\n", mp_scenarios[i].name,
			       mp_scenarios[i].what, "", mp_scenarios[i].origin);
	if (o->select & MP_SELECT_API)
		printf("%-16s %u single calls: returned value, and what they leave behind\n",
		       "api", mp_nr_api_cases);
}

/* One line of KTAP. The name stays when the test is skipped; the reason follows. */
static void result(const char *kind, const char *row, const char *what,
		   enum mp_outcome outcome, const char *text)
{
	static const int code[] = {
		[MP_UNSEEN] = KSFT_SKIP, [MP_PASS] = KSFT_PASS,
		[MP_SKIP] = KSFT_SKIP, [MP_FAIL] = KSFT_FAIL,
	};
	char name[128];

	snprintf(name, sizeof(name), "%s.%s.%s", kind, row, what);
	if (text && *text)
		ksft_test_result_code(code[outcome], name, "%s", text);
	else
		ksft_test_result_code(code[outcome], name, NULL);
}

static void run_api(const struct mp_opts *o)
{
	unsigned int i;

	for (i = 0; i < mp_nr_api_cases; i++) {
		struct mp_verdict v = mp_api_run(i, o->timeout);

		result("validate", "api", mp_api_name(i), v.outcome, v.text.text);
	}
}

/* A check that the child did not get to is no pass; the first one bears the reason. */
static void report_checks(const struct mp_scenario *sc, struct mp_report *rep,
			  const char *died)
{
	bool failed = false;
	unsigned int i;

	for (i = 0; i < MP_CHECKS; i++)
		failed |= rep->v[i].outcome == MP_FAIL;
	for (i = 0; i < MP_CHECKS; i++) {
		struct mp_verdict *v = &rep->v[i];

		if (died && v->outcome < MP_SKIP && !failed) {
			mp_verdict_set(v, MP_FAIL, "%s", died);
			failed = true;
		} else if (v->outcome == MP_UNSEEN || (died && v->outcome == MP_PASS)) {
			v->outcome = MP_UNSEEN;
			mp_verdict_set(v, MP_SKIP, "not reached: %s",
				       died ? died : "an earlier check failed");
		} else if (v->outcome == MP_PASS && i == MP_CHECK_FAULTS) {
			snprintf(v->text.text, sizeof(v->text.text),
				 "populate=%llu protect=%llu restore=%llu touch=%llu",
				 (unsigned long long)rep->faults[MP_POPULATE],
				 (unsigned long long)rep->faults[MP_PROTECT],
				 (unsigned long long)rep->faults[MP_RESTORE],
				 (unsigned long long)rep->faults[MP_TOUCH]);
		}
		result("validate", sc->name, mp_check_name[i], v->outcome, v->text.text);
	}
}

/* Statistics of one phase, per page; false when there are no samples of it. */
static bool phase_stats(const struct mp_result *res, int phase, struct mp_stats *st)
{
	double *v = malloc((res->n ? res->n : 1) * sizeof(*v));
	size_t i, n = 0;

	if (!v)
		return false;
	for (i = 0; i < res->n; i++) {
		const struct mp_sample *s = &res->sample[i];

		if (s->phase[phase].time != MP_NOT_TAKEN)
			v[n++] = (double)s->phase[phase].time / (double)s->pages;
	}
	*st = mp_stats_of(v, n);
	free(v);
	return n > 0;
}

static void report_phase(const struct mp_opts *o, const struct mp_scenario *sc,
			 const struct mp_result *res, int phase)
{
	const char *unit = o->insn ? "insn" : "ns";
	struct mp_stats st;
	char text[256];

	if (!phase_stats(res, phase, &st)) {
		result("perf", sc->name, mp_phase_name[phase], MP_SKIP,
		       "not timed: a check of this scenario failed or could not run");
		return;
	}
	snprintf(text, sizeof(text), "floor=%.3f median=%.3f mean=%.3f cv=%.1f%% unit=%s/page",
		 st.floor, st.median, st.mean, st.cv, unit);
	result("perf", sc->name, mp_phase_name[phase], MP_PASS, text);
}

static void print_table(const struct mp_opts *o, const struct mp_scenario *sc,
			const struct mp_result *res)
{
	struct mp_stats st;
	int phase;

	if (!res->n)
		return;
	ksft_print_msg("%s: %llu pages in %llu calls, %zu cycles, in %s per page\n", sc->name,
		       (unsigned long long)res->sample[0].pages,
		       (unsigned long long)res->sample[0].calls, res->n,
		       o->insn ? "instructions" : "ns");
	ksft_print_msg("  %-8s %9s %9s %9s %9s %9s %9s %5s\n", "phase", "floor", "median",
		       "mean", "sd", "p99", "max", "cv%");
	for (phase = 0; phase < MP_PHASES; phase++)
		if (phase_stats(res, phase, &st))
			ksft_print_msg("  %-8s %9.3f %9.3f %9.3f %9.3f %9.3f %9.3f %5.1f\n",
				       mp_phase_name[phase], st.floor, st.median, st.mean,
				       st.sd, st.p99, st.max, st.cv);
}

static void run_row(const struct mp_opts *o, const struct mp_scenario *sc,
		    struct mp_record_writer *record, int cpu)
{
	struct mp_job job = { .sc = sc, .cpu = cpu, .seconds = o->timeout };
	struct mp_result res = { .n = 0 };
	struct mp_err why;
	const char *died = NULL;
	size_t i;
	int phase;

	if (o->perf) {
		job.warmup = o->warmup;
		job.cycles = o->cycles;
		job.ns = (uint64_t)(o->time * 1e9 / rows_selected(o));
		if (isatty(STDERR_FILENO))
			fprintf(stderr, "timing %s for %.1f s ...\n", sc->name, job.ns / 1e9);
	}
	if (mp_scenario_missing(sc, &why)) {
		for (i = 0; i < MP_CHECKS; i++)
			mp_verdict_set(&res.report.v[i], MP_SKIP, "%s", why.text);
	} else if (mp_measure_run(&job, &res, &why)) {
		died = why.text;
	}
	report_checks(sc, &res.report, died);
	if (o->perf) {
		print_table(o, sc, &res);
		for (phase = 0; phase < MP_PHASES; phase++)
			if (sc->timed & 1U << phase)
				report_phase(o, sc, &res, phase);
	}
	for (i = 0; record && i < res.n; i++)
		mp_record_sample(record, &res.sample[i]);
	free(res.sample);
}

static void put_env(void *ctx, const char *key, const char *value)
{
	mp_record_env(ctx, key, value);
}

static void print_env(void *ctx, const char *key, const char *value)
{
	(void)ctx;
	ksft_print_msg("env %s=%s\n", key, value);
}

/* What the program itself knows of the run, and then what the machine shows. */
static void tell_env(const struct mp_env_sink *sink, const struct mp_opts *o, int cpu,
		     int argc, char **argv)
{
	struct mp_clock clock = mp_clock_probe();
	char text[1024] = "";
	size_t used = 0;
	int i;

	sink->put(sink->ctx, "tool", "mprotect_perf " MP_VERSION);
	for (i = 1; i < argc && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
					 i > 1 ? " " : "", argv[i]);
	sink->put(sink->ctx, "options", text);
	sink->put(sink->ctx, "unit", o->insn ? "insn" : "ns");
	snprintf(text, sizeof(text), "%llu", (unsigned long long)clock.step);
	sink->put(sink->ctx, "clock_step_ns", text);
	snprintf(text, sizeof(text), "%.1f", clock.cost);
	sink->put(sink->ctx, "clock_cost_ns", text);
	mp_env_collect(sink, cpu);
}

static int usage_error(const struct mp_err *err)
{
	fprintf(stderr, "mprotect_perf: %s\n", err->text);
	return KSFT_FAIL;
}

/* A record that could not be written is a failure, however well the tests went. */
static int finish(struct mp_record_writer *record, const struct mp_opts *o)
{
	struct mp_err err;
	int ret = KSFT_PASS;

	if (record && mp_record_finish(record, &err))
		ret = usage_error(&err);
	else if (record)
		ksft_print_msg("record: %s\n", o->output);
	ksft_print_cnts();
	if (ksft_get_fail_cnt() || ksft_test_num() != ksft_plan)
		ret = KSFT_FAIL;
	else if (!ret && ksft_get_xskip_cnt() == (int)ksft_plan)
		ret = KSFT_SKIP;
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "mprotect_perf: writing the results failed; is the disk full?\n");
		ret = KSFT_FAIL;
	}
	return ret;
}

int main(int argc, char **argv)
{
	struct mp_record_writer *record = NULL;
	struct mp_opts opts;
	struct mp_err err;
	unsigned int i;
	int cpu;

	if (mp_opts_parse(&opts, argc, argv, &err))
		return usage_error(&err);
	if (opts.help)
		return fputs(mp_opts_help(), stdout) < 0;
	if (opts.list) {
		list(&opts);
		return KSFT_PASS;
	}
	cpu = opts.cpu >= 0 ? opts.cpu : mp_env_last_cpu();
	if (opts.output) {
		record = mp_record_create(opts.output, &err);
		if (!record)
			return usage_error(&err);
		tell_env(&(struct mp_env_sink){ put_env, record }, &opts, cpu, argc, argv);
	}

	ksft_print_header();
	ksft_set_plan(tests_planned(&opts));
	if (opts.verbose)
		tell_env(&(struct mp_env_sink){ print_env, NULL }, &opts, cpu, argc, argv);
	if (opts.select & MP_SELECT_API)
		run_api(&opts);
	for (i = 0; i < mp_nr_scenarios; i++)
		if (selected(&opts, i))
			run_row(&opts, &mp_scenarios[i], record, cpu);
	return finish(record, &opts);
}
