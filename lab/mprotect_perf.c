// SPDX-License-Identifier: GPL-2.0
/*
 * mprotect_perf: is mprotect() right, and what does it cost?
 *
 * Without options every scenario is validated: returned values, access,
 * content, and the state of its mapping in every phase, as far as this
 * process may look. With -p the scenarios are timed as well, in processes that
 * look at state and content before and after.
 *
 * This is the only file that prints KTAP. The work is done in children:
 *
 *	main -> mp_api_run()      one API case                mprotect_perf_api.c
 *	     -> mp_run_check()    is a scenario right?        mprotect_perf_check.c
 *	     -> mp_run_time()     many processes of each      mprotect_perf_run.c
 *		-> mp_measure_run()   what does it cost?      mprotect_perf_measure.c
 *
 * With -c nothing is run: records are compared, mprotect_perf_versus.c.
 *
 * What this cannot tell: a figure taken in a virtual machine, on a debug
 * kernel or with a coarse clock says little of any other machine. Times are
 * diagnostics; they fail a test only against a limit that somebody gave.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest.h"

#include "mprotect_perf_api.h"
#include "mprotect_perf_group.h"
#include "mprotect_perf_opts.h"
#include "mprotect_perf_record.h"
#include "mprotect_perf_picture.h"
#include "mprotect_perf_report.h"
#include "mprotect_perf_run.h"
#include "mprotect_perf_session.h"
#include "mprotect_perf_summary.h"
#include "mprotect_perf_timed.h"
#include "mprotect_perf_versus.h"

static bool selected(const struct mp_opts *o, unsigned int row)
{
	return o->select & 1ULL << row;
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
	for (i = 0; !o->scenarios && mp_protocol_at(i); i++)
		printf("--protocol %-9s %s\n", mp_protocol_at(i)->name, mp_protocol_at(i)->what);
}

/* One line of KTAP. The name stays when the test is skipped; the reason follows. */
static void result(const char *kind, const char *row, const char *what, int code,
		   const char *text)
{
	char name[128];

	snprintf(name, sizeof(name), "%s.%s.%s", kind, row, what);
	if (text && *text)
		ksft_test_result_code(code, name, "%s", text);
	else
		ksft_test_result_code(code, name, NULL);
}

static void finding(const char *row, const char *what, const struct mp_finding *f)
{
	static const int code[] = {
		[MP_UNSEEN] = KSFT_SKIP, [MP_PASS] = KSFT_PASS,
		[MP_SKIP] = KSFT_SKIP, [MP_FAIL] = KSFT_FAIL,
	};

	result("validate", row, what, code[f->outcome], f->text.text);
}

static void run_api(const struct mp_opts *o)
{
	unsigned int i;

	for (i = 0; i < mp_nr_api_cases; i++) {
		struct mp_finding v = mp_api_run(i, o->timeout);

		finding("api", mp_api_name(i), &v);
	}
}

/*
 * A check that the child did not get to is no pass. What killed the child is
 * told once as a failure, and as the reason of the others.
 */
static void report_checks(const struct mp_run_row *rows, unsigned int n)
{
	struct mp_run_row row;
	struct mp_report *rep = &row.report;
	const char *died;
	unsigned int i;
	bool failed;

	mp_group_checks(rows, n, &row);
	died = row.died.text[0] ? row.died.text : NULL;
	failed = mp_report_failed(rep);
	for (i = 0; i < MP_CHECKS; i++) {
		struct mp_finding *v = &rep->v[i];

		if (row.missing.text[0]) {
			mp_finding_set(v, MP_SKIP, "%s", row.missing.text);
		} else if (died && !failed) {
			mp_finding_set(v, MP_FAIL, "%s", died);
			failed = true;
		} else if (v->outcome == MP_UNSEEN || (died && v->outcome == MP_PASS)) {
			v->outcome = MP_UNSEEN;
			mp_finding_set(v, MP_SKIP, "not reached: %s",
				       died ? died : "an earlier check failed");
		} else if (v->outcome == MP_PASS && i == MP_CHECK_FAULTS) {
			snprintf(v->text.text, sizeof(v->text.text),
				 "populate=%llu protect=%llu restore=%llu touch=%llu",
				 (unsigned long long)rep->faults[MP_POPULATE],
				 (unsigned long long)rep->faults[MP_PROTECT],
				 (unsigned long long)rep->faults[MP_RESTORE],
				 (unsigned long long)rep->faults[MP_TOUCH]);
		}
		finding(row.sc->name, mp_check_name[i], v);
	}
}

static const int verdict_code[] = {
	[MP_OK] = KSFT_PASS, [MP_IMPROVED] = KSFT_PASS,
	[MP_REGRESSED] = KSFT_FAIL, [MP_INCONCLUSIVE] = KSFT_SKIP,
};

/*
 * What the verdict of a phase means for the test, and why. XFAIL is the
 * warning of KTAP: seen and told, but the exit status stays 0.
 */
static int judgement(const struct mp_session *ses, const struct mp_ruling *r, char *text,
		     size_t size)
{
	const char *why = ses->opts.severity == MP_WARN ? "--severity warn" :
			  ses->opts.severity == MP_AUTO ? mp_gate_only_warns(ses->facts) : NULL;
	size_t used = strlen(text);

	used += (size_t)snprintf(text + used, size - used, " %s: %s",
				 mp_verdict_name[r->verdict], r->text.text);
	if (r->verdict != MP_REGRESSED || !why)
		return verdict_code[r->verdict];
	snprintf(text + used, size - used, " (only a warning: %s)", why);
	return KSFT_XFAIL;
}

/* Text of several lines, which it frees; NULL when there was no memory for it. */
static void print_lines(char *text)
{
	char *p = text, *line;

	while ((line = strsep(&p, "\n")))
		if (p || *line)
			ksft_print_msg("%s\n", line);
	free(text);
}

/* One phase of a scenario: the figures, and the worst verdict of its variants. */
static void report_phase(const struct mp_session *ses, const struct mp_timed *t, int phase)
{
	const struct mp_run_row *row = t->row;
	const struct mp_ruling *worst = mp_timed_worst(t, phase);
	struct mp_err fault = mp_timed_fault(t);
	char text[768];
	int code = KSFT_PASS;

	if (fault.text[0]) {
		result("perf", row->sc->name, mp_phase_name[phase], KSFT_FAIL, fault.text);
	} else if (mp_timed_figures(t, phase, ses->opts.insn ? "insn" : "ns", text, sizeof(text))) {
		mp_error(&fault, "not timed: %.200s", row->missing.text[0] ? row->missing.text :
			 "the scenario failed its checks");
		result("perf", row->sc->name, mp_phase_name[phase], KSFT_SKIP, fault.text);
	} else {
		if (worst)
			code = judgement(ses, worst, text, sizeof(text));
		if (t->why.text[0] && code == KSFT_PASS) {
			snprintf(text + strlen(text), sizeof(text) - strlen(text),
				 " no verdict: %s", t->why.text);
			code = KSFT_SKIP;
		}
		result("perf", row->sc->name, mp_phase_name[phase], code, text);
	}
}

static void report_times(const struct mp_session *ses, const struct mp_run_row *row,
			 unsigned int n)
{
	const struct mp_gate g = mp_session_gate(ses);
	struct mp_timed t = { .row = row, .n = n };
	unsigned int i;
	int phase;

	if (n > 1 || row->sc->team != MP_ALONE)
		print_lines(mp_report_curve(row, n, &ses->opts));
	else
		print_lines(mp_report_table(row, ses->facts, &ses->opts));
	for (i = 0; ses->opts.protocol && i < n; i++)
		if (row[i].n)
			print_lines(mp_report_published(&row[i], &ses->opts));
	mp_timed_judge(&t, &g);
	for (phase = 0; phase < MP_PHASES; phase++)
		if (row->sc->timed & 1U << phase)
			report_phase(ses, &t, phase);
	mp_timed_free(&t);
}

static void show_progress(const struct mp_scenario *sc, unsigned int procs, double elapsed)
{
	fprintf(stderr, "\r%5.1f s  %-16s process %-4u", elapsed, sc->name, procs);
}

static void run_rows(struct mp_session *ses)
{
	const struct mp_opts *o = &ses->opts;
	bool tty = isatty(STDERR_FILENO);
	struct mp_plan plan = {
		.cpu = ses->cpu, .seed = o->seed, .seconds = o->time, .procs = o->procs,
		.procs_max = ses->procs_max,
		.warmup_procs = o->warmup_procs, .warmup = o->warmup, .cycles = o->cycles,
		.timeout = o->timeout, .progress = tty ? show_progress : NULL,
		.enough = mp_session_sure, .ctx = ses,
	};
	unsigned int i, k, n = ses->nrows, size;
	struct mp_run_row *row = ses->row;
	size_t at;

	for (i = 0; i < n; i += size) {
		size = mp_group_size(&row[i], n - i);
		for (k = 0; k < size; k++)
			mp_run_check(&row[i + k], &plan);
		report_checks(&row[i], size);
	}
	if (!o->perf)
		return;
	mp_run_time(row, n, &plan);
	if (tty)
		fprintf(stderr, "\r%60s\r", "");
	for (i = 0; i < n; i += size) {
		size = mp_group_size(&row[i], n - i);
		report_times(ses, &row[i], size);
		for (k = i; ses->record && k < i + size; k++)
			for (at = 0; at < row[k].n; at++)
				mp_record_sample(ses->record, &row[k].sample[at]);
	}
}

static void print_facts(const struct mp_boot *facts)
{
	size_t i;

	for (i = 0; i < facts->nfact; i++)
		ksft_print_msg("env %s=%s\n", facts->fact[i].key, facts->fact[i].value);
}

static int usage_error(const struct mp_opts *o, const struct mp_err *err)
{
	fprintf(stderr, "mprotect_perf: %s\n", err->text);
	return o->bisect ? MP_BISECT_SKIP : KSFT_FAIL;
}

/* A record that could not be written is a failure, however well the tests went. */
static int finish(int ret, struct mp_record_writer *record, const struct mp_opts *o)
{
	struct mp_err err;

	if (record && mp_record_finish(record, &err))
		ret = usage_error(o, &err);
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

static void report_rows(const struct mp_versus *v)
{
	size_t i;

	for (i = 0; i < v->c.ntests; i++) {
		const struct mp_row *row = &v->c.row[v->c.test[i]];
		bool warn = v->opts->severity == MP_WARN && row->whole.verdict == MP_REGRESSED;
		char text[768];

		mp_summary_ruling(&v->c, row, v->opts->threshold, text, sizeof(text));
		result("compare", row->scenario, mp_phase_name[row->phase],
		       warn ? KSFT_XFAIL : verdict_code[row->whole.verdict], text);
	}
}

/* For git bisect run, what is no verdict is no verdict on this kernel. */
static int bisect_status(const struct mp_versus *v, int ret)
{
	int verdict = mp_versus_bisect(v);

	return verdict != 1 && ret && ret != KSFT_SKIP ? MP_BISECT_SKIP : verdict;
}

static int compare(const struct mp_opts *o)
{
	struct mp_versus v;
	struct mp_err err, plot;
	int ret;

	if (mp_versus_begin(&v, o, &err))
		return usage_error(o, &err);
	ksft_print_header();
	ksft_set_plan(v.c.ntests);
	print_lines(mp_versus_tables(&v));
	report_rows(&v);
	print_lines(mp_versus_summary(&v));
	ret = mp_versus_write(&v, &plot, &err) ? usage_error(o, &err) : KSFT_PASS;
	if (plot.text[0])
		ksft_print_msg("no picture: %s\n", plot.text);
	ret = finish(ret, NULL, o);
	if (o->bisect)
		ret = bisect_status(&v, ret);
	mp_versus_end(&v);
	return ret;
}

int main(int argc, char **argv)
{
	struct mp_session ses = { .cpu = -1 };
	struct mp_err err;
	int ret;

	if (mp_opts_parse(&ses.opts, argc, argv, &err))
		return usage_error(&ses.opts, &err);
	if (ses.opts.help)
		return fputs(mp_opts_help(), stdout) < 0;
	if (ses.opts.list) {
		list(&ses.opts);
		return KSFT_PASS;
	}
	if (ses.opts.compare)
		return compare(&ses.opts);
	if (mp_session_begin(&ses, argc, argv, &err))
		return usage_error(&ses.opts, &err);

	ksft_print_header();
	ksft_set_plan(tests_planned(&ses.opts));
	if (ses.opts.verbose)
		print_facts(ses.facts);
	if (ses.opts.select & MP_SELECT_API)
		run_api(&ses.opts);
	run_rows(&ses);
	if (ses.opts.perf && ses.opts.plot && mp_picture_draw(&ses, &err))
		ksft_print_msg("no picture: %s\n", err.text);
	ret = mp_session_end(&ses, &err) ? usage_error(&ses.opts, &err) : KSFT_PASS;
	return finish(ret, ses.record, &ses.opts);
}
