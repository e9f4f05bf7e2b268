// SPDX-License-Identifier: GPL-2.0
/*
 * Putting the parts together before the first test runs.
 */
#include <string.h>

#include "mprotect_perf_counters.h"
#include "mprotect_perf_env.h"
#include "mprotect_perf_session.h"
#include "mprotect_perf_settings.h"

struct facts_sink {
	struct mp_session *ses;
	struct mp_err *err;
	int ret;
};

/* The record gets the whole value, the boot what fits. */
static void put_fact(void *ctx, const char *key, const char *value)
{
	struct facts_sink *to = ctx;

	if (to->ses->record)
		mp_record_env(to->ses->record, key, value);
	if (mp_boot_add_fact(to->ses->facts, key, value, to->err))
		to->ret = -1;
}

static int collect_facts(struct mp_session *ses, int argc, char **argv, struct mp_err *err)
{
	const struct mp_clock clock = mp_clock_probe();
	struct mp_err counters;
	char text[256];
	const int n = mp_counters_open(&counters);
	const struct mp_env_run run = {
		.argc = argc, .argv = argv, .unit = ses->opts.insn ? "insn" : "ns",
		.cpu = ses->cpu, .counters = text, .clock_step = clock.step,
		.clock_cost = clock.cost,
	};
	struct facts_sink to = { ses, err, 0 };

	snprintf(text, sizeof(text), "%d perf events%s%.200s", n, counters.text[0] ? "; " : "",
		 counters.text);
	mp_env_collect(&(struct mp_env_sink){ put_fact, &to }, &run);
	mp_counters_close();
	return to.ret;
}

/* The settings that the chosen rows need */
static unsigned int needs(const struct mp_session *ses)
{
	unsigned int mask = 0, i;

	for (i = 0; i < ses->nrows; i++)
		mask |= mp_scenario_needs(ses->row[i].sc);
	return mask;
}

int mp_session_begin(struct mp_session *ses, int argc, char **argv, struct mp_err *err)
{
	struct mp_err restore;
	struct mp_gate g;

	ses->plot.fd = -1;
	ses->cpu = ses->opts.cpu >= 0 ? ses->opts.cpu : mp_env_last_cpu();
	ses->facts = mp_boot_new("this run", err);
	if (!ses->facts)
		return -1;
	if (ses->opts.output) {
		ses->record = mp_record_create(ses->opts.output, err);
		if (!ses->record)
			goto fail;
	}
	if (ses->opts.plot && mp_new_file_open(&ses->plot, ses->opts.plot, err))
		goto fail;
	if (mp_group_rows(&ses->opts, &ses->row, &ses->nrows, err))
		goto fail;
	if (ses->nrows > MP_VARIANT_MAX) {
		mp_error(err, "%u scenarios, sizes and numbers of tasks: at most %d; choose fewer",
			 ses->nrows, MP_VARIANT_MAX);
		goto fail;
	}
	ses->procs_max = ses->nrows ? mp_group_procs_max(ses->row, ses->nrows) : 0;
	if (ses->opts.procs > ses->procs_max) {
		mp_error(err, "--procs %u: a record holds %u processes of each of these scenarios, sizes and numbers of tasks; give fewer",
			 ses->opts.procs, ses->procs_max);
		goto fail;
	}
	/* before the facts, which are to tell what was in force */
	if (ses->opts.allow_settings && mp_settings_allow(needs(ses), err))
		goto fail;
	if ((ses->opts.perf || ses->opts.verbose) && collect_facts(ses, argc, argv, err))
		goto fail;
	g = mp_session_gate(ses);
	if (!mp_gate_check(&g, err))
		return 0;
fail:
	/* two things went wrong: both are told */
	if (mp_settings_restore(&restore))
		snprintf(err->text + strlen(err->text), sizeof(err->text) - strlen(err->text),
			 "; %s", restore.text);
	mp_group_free(ses->row, ses->nrows);
	mp_new_file_close(&ses->plot);
	mp_record_abandon(ses->record);
	mp_boot_free(ses->facts);
	return -1;
}

int mp_session_end(struct mp_session *ses, struct mp_err *err)
{
	mp_group_free(ses->row, ses->nrows);
	mp_new_file_close(&ses->plot);
	mp_boot_free(ses->facts);
	return mp_settings_restore(err);
}

struct mp_gate mp_session_gate(const struct mp_session *ses)
{
	struct mp_gate g = {
		.baseline = ses->opts.baseline, .threshold = ses->opts.threshold,
		.seed = ses->opts.seed, .facts = ses->facts,
	};

	memcpy(g.max, ses->opts.max, sizeof(g.max));
	return g;
}

bool mp_session_sure(void *ctx, const struct mp_run_row *row)
{
	const struct mp_gate g = mp_session_gate(ctx);
	struct mp_ruling ruling[MP_PHASES];
	unsigned int has = 0;
	struct mp_err err;
	int phase;

	if (mp_gate_judge(&g, row, ruling, &has, &err))
		return true;
	/* touch is the control, and seldom sure of itself: not waited for but for its own limit */
	if (!g.max[MP_TOUCH])
		has &= ~(1U << MP_TOUCH);
	for (phase = 0; phase < MP_PHASES; phase++)
		if (has & 1U << phase && !ruling[phase].final)
			return false;
	return true;
}
