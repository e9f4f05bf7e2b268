// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the verdict of a run: rows made up here, against limits and
 * against a record that is written here.
 *
 * Sources: mprotect_perf_gate.c mprotect_perf_run.c mprotect_perf_scenario.c
 * Sources: mprotect_perf_compare.c mprotect_perf_rows.c mprotect_perf_column.c
 * Sources: mprotect_perf_judge.c mprotect_perf_boot.c mprotect_perf_rate.c
 * Sources: mprotect_perf_stats.c mprotect_perf_record.c mprotect_perf_record_read.c
 * Sources: mprotect_perf_record_line.c mprotect_perf_record_order.c
 * Sources: mprotect_perf_new_file.c
 */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit.h"
#include "mprotect_perf_gate.h"
#include "no_measure.h"

#define PROCS 12
#define CYCLES 40
#define PAGES 1000

/* What each process would have had alone: as the program keeps it. */
static void make_floors(struct mp_run_row *row, int phase)
{
	struct mp_group *g;
	unsigned int p;

	if (mp_run_groups(row, phase, &g))
		return;
	row->floor[phase] = calloc(row->nprocs, sizeof(*row->floor[phase]));
	for (p = 0; p < row->nprocs; p++) {
		mp_stats_sort((double *)g[p].v, g[p].n);
		row->floor[phase][p] = mp_stats_floor(g[p].v, g[p].n);
	}
	free(g);
}

/*
 * A row with a floor of @floor ns per page, and noise on top of it; each process
 * slower than the one before by @slower, as a part of it.
 */
static void make_slower_row(struct mp_run_row *row, double floor, double slower, uint64_t seed)
{
	struct mp_rng rng = { seed };
	unsigned int p, c;

	memset(row, 0, sizeof(*row));
	row->sc = &mp_scenarios[mp_scenario_find("private-none")];
	row->nprocs = PROCS;
	row->n = PROCS * CYCLES;
	row->sample = calloc(row->n, sizeof(*row->sample));
	row->first = calloc(PROCS + 1, sizeof(*row->first));
	for (p = 0; p <= PROCS; p++)
		row->first[p] = p * CYCLES;
	for (p = 0; p < PROCS; p++) {
		for (c = 0; c < CYCLES; c++) {
			struct mp_sample *s = &row->sample[p * CYCLES + c];
			double noise = mp_rng_below(&rng, 4) ? mp_rng_below(&rng, 200) : 4000;

			memset(s->phase, 0xff, sizeof(s->phase));
			snprintf(s->scenario, sizeof(s->scenario), "%s", row->sc->name);
			s->proc = p;
			s->cycle = c;
			s->pages = PAGES;
			s->calls = 1;
			s->tasks = 1;
			s->start = MP_NOT_TAKEN;
			noise += floor * PAGES * (1 + slower * p);
			s->phase[MP_PROTECT].time = (uint64_t)noise;
			s->phase[MP_RESTORE].time = (uint64_t)noise;
		}
	}
	make_floors(row, MP_PROTECT);
	make_floors(row, MP_RESTORE);
}

static void make_row(struct mp_run_row *row, double floor, uint64_t seed)
{
	make_slower_row(row, floor, 0, seed);
}

static struct mp_boot *make_facts(const char *unit, const char *hypervisor, const char *debug,
				  const char *step)
{
	struct mp_err err;
	struct mp_boot *b = mp_boot_new("facts", &err);

	mp_boot_add_fact(b, "unit", unit, &err);
	mp_boot_add_fact(b, "page_size", "4096", &err);
	mp_boot_add_fact(b, "release", "1.0", &err);
	mp_boot_add_fact(b, "model", "a CPU", &err);
	mp_boot_add_fact(b, "hypervisor", hypervisor, &err);
	mp_boot_add_fact(b, "debug", debug, &err);
	mp_boot_add_fact(b, "clock_step_ns", step, &err);
	return b;
}

static enum mp_verdict row_against_max(struct mp_run_row *row, double max, const char *unit,
				       const char *step, char *text)
{
	struct mp_boot *facts = make_facts(unit, "no", "none", step);
	struct mp_gate g = { .threshold = 5, .seed = 1, .facts = facts };
	struct mp_ruling r[MP_PHASES];
	struct mp_err err;
	unsigned int has;

	g.max[MP_PROTECT] = max;
	is_int(mp_gate_judge(&g, row, r, &has, &err), 0, "judged");
	is_int(has, 1 << MP_PROTECT, "the phase with a limit, and no other");
	strcpy(text, r[MP_PROTECT].text.text);
	ok(r[MP_PROTECT].final ==
	   (r[MP_PROTECT].verdict != MP_INCONCLUSIVE || strstr(text, "clock steps")),
	   "final but for what more samples may decide");
	mp_run_free(row);
	mp_boot_free(facts);
	return r[MP_PROTECT].verdict;
}

static enum mp_verdict against_max(double floor, double max, const char *step, char *text)
{
	struct mp_run_row row;

	make_row(&row, floor, 7);
	return row_against_max(&row, max, "ns", step, text);
}

/* No two processes agree: only noise adds, so that a limit is kept or not known. */
static void test_max_of_a_busy_machine(void)
{
	char text[MP_ERR_LEN];
	struct mp_run_row row;

	make_slower_row(&row, 40, 0.05, 7);
	is_int(row_against_max(&row, 80, "ns", "1", text), MP_OK, "busy: below the limit");
	make_slower_row(&row, 40, 0.05, 7);
	is_int(row_against_max(&row, 30, "ns", "1", text), MP_INCONCLUSIVE, "busy: above it");
	has_str(text, "few processes agree on the floor", "busy: which is told");
	make_slower_row(&row, 40, 0.05, 7);
	is_int(row_against_max(&row, 30, "insn", "1", text), MP_REGRESSED,
	       "busy: instructions know of no noise");
	make_slower_row(&row, 40, 0.05, 7);
	row.nprocs = 4;
	is_int(row_against_max(&row, 30, "ns", "1", text), MP_REGRESSED,
	       "busy: four processes cannot disagree");
}

static void test_max(void)
{
	char text[MP_ERR_LEN];
	double low, high;

	is_int(against_max(40, 50, "1", text), MP_OK, "below the limit");
	has_str(text, "limit 50.000", "the limit is told");
	is_int(against_max(40, 39, "1", text), MP_REGRESSED, "above the limit");
	against_max(40, 50, "1", text);
	if (ok(sscanf(text, "floor %lf to %lf", &low, &high) == 2 && low < high, "an interval"))
		is_int(against_max(40, (low + high) / 2, "1", text), MP_INCONCLUSIVE,
		       "a limit within it");
	is_int(against_max(40, 39, "400", text), MP_REGRESSED, "100 clock steps are enough");
	is_int(against_max(40, 39, "410", text), MP_INCONCLUSIVE, "97 are not");
	has_str(text, "clock steps", "and that is told");
}

static void write_record(const char *path, const struct mp_boot *facts,
			 const struct mp_run_row *row)
{
	struct mp_err err;
	struct mp_record_writer *w = mp_record_create(path, &err);
	size_t i;

	for (i = 0; i < facts->nfact; i++)
		mp_record_env(w, facts->fact[i].key, facts->fact[i].value);
	for (i = 0; row && i < row->n; i++)
		mp_record_sample(w, &row->sample[i]);
	is_int(mp_record_finish(w, &err), 0, "a record is written");
}

/* Append what has the same times a page, as another variant. */
static void add_variant(struct mp_run_row *row, double floor, uint64_t pages, uint32_t tasks)
{
	struct mp_run_row more;

	make_row(&more, floor, 10);
	row->sample = realloc(row->sample, (row->n + more.n) * sizeof(*row->sample));
	for (size_t i = 0; i < more.n; i++) {
		struct mp_sample *s = &more.sample[i];

		for (int k = MP_PROTECT; k <= MP_RESTORE; k++)
			s->phase[k].time = s->phase[k].time * pages / s->pages;
		s->pages = pages;
		s->tasks = tasks;
		row->sample[row->n++] = *s;
	}
	mp_run_free(&more);
}

static enum mp_verdict against_record(const char *path, const struct mp_boot *facts, double floor,
				      double max)
{
	struct mp_gate g = { .baseline = path, .threshold = 5, .seed = 1, .facts = facts };
	struct mp_ruling r[MP_PHASES];
	struct mp_run_row row;
	struct mp_err err;
	unsigned int has;

	g.max[MP_RESTORE] = max;
	make_row(&row, floor, 8);
	is_int(mp_gate_judge(&g, &row, r, &has, &err), 0, "judged against a record");
	ok(r[MP_RESTORE].final, "which is final");
	is_int(has, 1 << MP_PROTECT | 1 << MP_RESTORE, "every timed phase of it");
	mp_run_free(&row);
	return r[MP_RESTORE].verdict;
}

static void test_baseline(void)
{
	char dir[] = "/tmp/unit_gate.XXXXXX", path[64], empty[64];
	struct mp_boot *facts = make_facts("ns", "no", "none", "1");
	struct mp_boot *other = make_facts("insn", "no", "none", "1");
	struct mp_gate g = { .threshold = 5, .facts = facts };
	struct mp_ruling r[MP_PHASES];
	struct mp_run_row row;
	struct mp_err err;
	unsigned int has;

	if (!ok(mkdtemp(dir) != 0, "a directory"))
		return;
	snprintf(path, sizeof(path), "%s/base.rec", dir);
	snprintf(empty, sizeof(empty), "%s/other.rec", dir);
	make_row(&row, 40, 9);
	write_record(path, facts, &row);
	write_record(empty, other, &row);
	mp_run_free(&row);

	is_int(against_record(path, facts, 40, 0), MP_OK, "the same");
	is_int(against_record(path, facts, 44, 0), MP_REGRESSED, "10 % slower");
	is_int(against_record(path, facts, 36, 0), MP_IMPROVED, "10 % faster");
	is_int(against_record(path, facts, 41, 0), MP_OK, "2.5 % slower");
	is_int(against_record(path, facts, 36, 30), MP_REGRESSED, "the limit is the worse");
	is_int(against_record(path, facts, 44, 50), MP_REGRESSED, "the record is the worse");

	is_int(mp_gate_check(&g, &err), 0, "no record, nothing to refuse");
	g.baseline = path;
	is_int(mp_gate_check(&g, &err), 0, "a record of this machine");
	g.baseline = empty;
	is_int(mp_gate_check(&g, &err), -1, "a record in another unit");
	has_str(err.text, "unit: ", "and which fact differs");
	/* more samples of this run do not give the record what it lacks */
	make_row(&row, 40, 8);
	row.sc = &mp_scenarios[mp_scenario_find("private-dirty")];
	for (size_t i = 0; i < row.n; i++)
		strcpy(row.sample[i].scenario, "private-dirty");
	g.baseline = path;
	is_int(mp_gate_judge(&g, &row, r, &has, &err), 0, "a row that the record lacks");
	ok(r[MP_PROTECT].verdict == MP_INCONCLUSIVE && r[MP_PROTECT].final,
	   "has no verdict, and never will");
	mp_run_free(&row);
	g.baseline = "/tmp/unit_gate.none";
	is_int(mp_gate_check(&g, &err), -1, "no such record");
	unlink(path);
	unlink(empty);
	rmdir(dir);
	mp_boot_free(facts);
	mp_boot_free(other);
}

/* A record of several variants: a row is held against its own. */
static void test_variants(void)
{
	char dir[] = "/tmp/unit_gate.XXXXXX", path[64];
	struct mp_boot *facts = make_facts("ns", "no", "none", "1");
	struct mp_gate g = { .baseline = path, .threshold = 5, .seed = 1, .facts = facts };
	struct mp_ruling r[MP_PHASES];
	struct mp_run_row row;
	struct mp_err err = { "no error" };
	unsigned int has;

	if (!ok(mkdtemp(dir) != 0, "a directory"))
		return;
	snprintf(path, sizeof(path), "%s/base.rec", dir);
	make_row(&row, 80, 9);
	add_variant(&row, 40, 500, 1);
	add_variant(&row, 20, 1000, 2);
	write_record(path, facts, &row);
	mp_run_free(&row);

	is_int(against_record(path, facts, 80, 0), MP_OK, "variants: of 1000 pages");
	is_int(against_record(path, facts, 40, 0), MP_IMPROVED, "variants: not of 500");
	make_row(&row, 20, 8);
	for (size_t i = 0; i < row.n; i++)
		row.sample[i].tasks = 2;
	is_int(mp_gate_judge(&g, &row, r, &has, &err), 0, "variants: of two tasks");
	is_int(r[MP_PROTECT].verdict, MP_OK, "variants: which is its own");
	for (size_t i = 0; i < row.n; i++)
		row.sample[i].tasks = 3;
	is_int(mp_gate_judge(&g, &row, r, &has, &err), -1, "variants: not of three");
	has_str(err.text, "private-none: pages=1000 calls=1 tasks=1 in /tmp/",
		"variants: which is said");
	has_str(err.text, "/base.rec, 1000, 1, 3 in this run", "variants: with both");
	mp_run_free(&row);
	unlink(path);
	rmdir(dir);
	mp_boot_free(facts);
}

static void test_severity(void)
{
	static const struct {
		const char *unit, *hypervisor, *debug, *step, *why;
	} machine[] = {
		{ "ns", "no", "none", "20", NULL },
		{ "ns", "yes", "none", "20", "a virtual machine" },
		{ "ns", "no", "KASAN,lockdep", "20", "a debug kernel" },
		{ "ns", "no", "unknown", "20", NULL },
		{ "ns", "no", "none", "1000", "a coarse clock" },
		{ "ns", "no", "none", "999", NULL },
		{ "insn", "yes", "none", "4000000", NULL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(machine); i++) {
		struct mp_boot *facts = make_facts(machine[i].unit, machine[i].hypervisor,
						   machine[i].debug, machine[i].step);
		const char *why = mp_gate_only_warns(facts);

		is_str(why ? why : "stands", machine[i].why ? machine[i].why : "stands",
		       "what a verdict is worth");
		mp_boot_free(facts);
	}
}

int main(void)
{
	test_max();
	test_max_of_a_busy_machine();
	test_baseline();
	test_variants();
	test_severity();
	return done_testing();
}
