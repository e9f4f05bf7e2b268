// SPDX-License-Identifier: GPL-2.0
/*
 * The table of a run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "mprotect_perf_report.h"

static void settled(FILE *f, const struct mp_run_row *row)
{
	static const char *const why[] = {
		[MP_SETTLED] = "", [MP_TOO_FEW] = "there are too few processes",
		[MP_UNSUPPORTED] = "few processes agree on it",
		[MP_MOVING] = "the last processes moved it",
		[MP_DRIFTING] = "it drifts from the first half of the run to the second",
	};

	if (row->settled == MP_SETTLED)
		fprintf(f, "  settled\n");
	else
		fprintf(f, "  unsettled: the floor of %s: %s\n", mp_phase_name[row->moving],
			why[row->settled]);
}

/* What one step of the clock is of the shortest phase */
static void clock_part(FILE *f, const struct mp_run_row *row, const struct mp_boot *facts)
{
	double least = INFINITY, steps;
	int phase, shortest = 0;

	for (phase = 0; phase < MP_PHASES; phase++) {
		steps = mp_gate_clock_steps(facts, row, phase);
		if (steps < least) {
			least = steps;
			shortest = phase;
		}
	}
	if (isinf(least))
		return;
	fprintf(f, "  clock: steps of %s ns, %s ns a reading; ",
		mp_boot_fact(facts, "clock_step_ns"), mp_boot_fact(facts, "clock_cost_ns"));
	if (least > 0)
		fprintf(f, "a step is %.2f%% of %s\n", 100 / least, mp_phase_name[shortest]);
	else
		fprintf(f, "%s is shorter than one\n", mp_phase_name[shortest]);
}

char *mp_report_table(const struct mp_run_row *row, const struct mp_boot *facts,
		      const struct mp_opts *o)
{
	struct mp_stats st;
	char *text = NULL;
	size_t size;
	FILE *f;
	int phase;

	f = row->n ? open_memstream(&text, &size) : NULL;
	if (!f)
		return NULL;
	fprintf(f, "%s: %llu pages in %llu calls; %zu cycles in %u processes; %s per page\n",
		row->sc->name, (unsigned long long)row->sample[0].pages,
		(unsigned long long)row->sample[0].calls, row->n, row->nprocs,
		o->insn ? "instructions" : "ns");
	fprintf(f, "  %-8s %9s %9s %9s %9s %9s %9s %5s\n", "phase", "floor", "median",
		"mean", "sd", "p99", "max", "cv%");
	for (phase = 0; phase < MP_PHASES; phase++)
		if (!mp_run_stats(row, phase, &st))
			fprintf(f, "  %-8s %9.3f %9.3f %9.3f %9.3f %9.3f %9.3f %5.1f\n",
				mp_phase_name[phase], st.floor, st.median, st.mean, st.sd, st.p99,
				st.max, st.cv);
	if (row->missing.text[0])
		fprintf(f, "  cut short: %s\n", row->missing.text);
	clock_part(f, row, facts);
	settled(f, row);
	fclose(f);
	return text;
}
