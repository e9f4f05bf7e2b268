// SPDX-License-Identifier: GPL-2.0
/*
 * Sources: mprotect_perf_record_order.c mprotect_perf_rate.c mprotect_perf_column.c
 * Sources: mprotect_perf_rows.c
 * Sources: mprotect_perf_new_file.c
 * Sources: mprotect_perf_compare.c mprotect_perf_judge.c mprotect_perf_boot.c
 * Sources: mprotect_perf_stats.c mprotect_perf_record_read.c mprotect_perf_record_line.c
 * Sources: mprotect_perf_record.c
 *
 * Comparisons of records whose outcome is known: published figures, and made-up
 * kernels that differ by so much. Where a figure is asked for to more digits
 * than were published, it was worked out by hand from the exact fractions.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "unit.h"
#include "unit_records.h"

/* The base twice, with the head between; means per page of 15 processes. */
static void aba(struct mp_compare *c, double a1, double b, double a2, double threshold)
{
	struct load l = { "shared-dirty", 16384, 15, 100, 0, 0, 0, 0.001 };
	const double cost[] = { a1, b, a2 };
	static const char *const env[] = { ENV_A, ENV_B, ENV_A };
	static const char *const name[] = { "a1.rec", "b.rec", "a2.rec" };

	memset(c, 0, sizeof(*c));
	for (int i = 0; i < 3; i++) {
		l.protect = cost[i] * 16384;
		l.touch = 8 * 16384;
		add(c, make(name[i], env[i], &l, 1), NULL);
	}
	judge(c, threshold);
}

/* The follow-up: one protect of a fresh mapping, 55.333, 58.200, 54.267 ns/page. */
static void test_published_small(void)
{
	const struct mp_row *r;
	struct mp_compare c;

	aba(&c, 830 / 15.0, 873 / 15.0, 814 / 15.0, 3);
	is_int(c.nkernels, 2, "A/B/A: two kernels");
	is_int(c.kernel[0].boots, 2, "A/B/A: two boots of A");
	is_str(c.kernel[1].name, "B", "A/B/A: the other one is B");
	r = row(&c, "shared-dirty", MP_PROTECT);
	is_near(r->column[0].figure[MP_MEAN], 54.800, 0.000001, "published: midpoint 54.800");
	is_near(r->column[1].figure[MP_MEAN], 58.200, 0.000001, "published: head 58.200");
	is_near(r->whole.delta[MP_MEAN], 6.2044, 0.0001, "published: +6.20 %");
	is_near(r->column[0].drift[MP_MEAN], -0.019277, 0.0001, "published: drift -1.93 %");
	is_near(r->whole.delta[MP_FLOOR], 6.2044, 0.005, "published: the floor says the same");
	is_near(r->whole.delta[MP_MEDIAN], 6.2044, 0.001, "published: so does the median");
	is_near(r->whole.without_first[MP_MEAN], 6.2044, 0.001, "published: without the first");
	/* 1.0667 / 54.8 / 2 */
	is_near(r->whole.between, 0.9732, 0.01, "published: half the drift is uncertain");
	is_verdict(&r->whole, MP_REGRESSED, "published: more than 3 % for certain");
	is_int(r->change, 0, "published: the first step is the change");
	is_near(r->whole.control, 0, 1, "published: touch, the control, did not move");
	is_int(r->whole.control_moved, 0, "published: and the verdict says so");
	is_verdict(&row(&c, "shared-dirty", MP_TOUCH)->whole, MP_OK, "published: touch is OK");
	mp_compare_free(&c);
	aba(&c, 830 / 15.0, 873 / 15.0, 814 / 15.0, 5.5);
	r = row(&c, "shared-dirty", MP_PROTECT);
	is_verdict(&r->whole, MP_INCONCLUSIVE, "published: 5.5 % lies within the drift");
	is_str(r->whole.why.text, "the uncertainty reaches over the threshold",
	       "published: which is said");
	mp_compare_free(&c);
}

/* The report: shared-dirty, 38.133, 53.533, 38.467 ns/page. */
static void test_published_large(void)
{
	const struct mp_row *r;
	struct mp_compare c;

	aba(&c, 572 / 15.0, 803 / 15.0, 577 / 15.0, 5);
	r = row(&c, "shared-dirty", MP_PROTECT);
	is_near(r->column[0].figure[MP_MEAN], 38.300, 0.000001, "published: midpoint 38.300");
	is_near(r->column[0].figure[MP_FLOOR], 38.300, 0.005, "published: floor a page");
	is_near(r->column[0].figure[MP_MEDIAN], 38.300, 0.001, "published: median a page");
	is_near(r->whole.delta[MP_MEAN], 39.7737, 0.0001, "published: +39.77 %");
	is_near(r->column[0].drift[MP_MEAN], 0.0087413, 0.001, "published: drift 0.87 %");
	is_verdict(&r->whole, MP_REGRESSED, "published: REGRESSED");
	is_near(r->column[0].count[MP_FAULTS], 2, 0, "counters: faults a cycle");
	is_near(r->column[0].count[MP_CSW], 0.5, 0, "counters: context switches a cycle");
	ok(isnan(row(&c, "shared-dirty", MP_TOUCH)->column[0].count[MP_FAULTS]) &&
	   isnan(row(&c, "shared-dirty", MP_TOUCH)->column[0].count[MP_CSW]), "counters: not counted");
	is_int(r->column[0].samples, 3000, "counters: samples of both boots");
	is_int(r->column[0].processes, 30, "counters: processes of both boots");
	/* Processes +-0.05 %, cycles +-0.1 and 0.2 %, boots +-0.435 %. */
	is_near(r->column[0].cv, 0.462, 0.01, "column: cv over processes and boots");
	mp_compare_free(&c);
}

/* v6.16 and v6.17-rc1, private-none of 4 to 4,000 KiB, ns a call. */
static void test_published_sizes(void)
{
	static const struct {
		const char *name;
		unsigned int pages;
		double base, head, ratio;
		enum mp_verdict verdict;
	} t[] = {
		{ "none-4k", 1, 1713, 1775, 1.04, MP_OK },
		{ "none-40k", 10, 2071, 2362, 1.14, MP_REGRESSED },
		{ "none-400k", 100, 3453, 5993, 1.74, MP_REGRESSED },
		{ "none-4000k", 1000, 18804, 44116, 2.35, MP_REGRESSED },
	};
	struct load base[4], head[4];
	struct mp_compare c = { 0 };

	for (int i = 0; i < 4; i++) {
		base[i] = (struct load){ t[i].name, t[i].pages, 15, 100, t[i].base, 0, 0, 0.001 };
		head[i] = base[i];
		head[i].protect = t[i].head;
	}
	add(&c, make("6.16.rec", FACTS " release=6.16.0", base, 4), NULL);
	add(&c, make("6.17.rec", FACTS " release=6.17.0-rc1", head, 4), NULL);
	judge(&c, 5);
	is_int(c.judged, 4, "sizes: four verdicts");
	is_near(c.level, 0.9875, 0.000000000001, "sizes: each at 1 - 0.05 / 4");
	for (int i = 0; i < 4; i++) {
		const struct mp_row *r = row(&c, t[i].name, MP_PROTECT);

		is_near(r->column[1].figure[MP_MEAN] / r->column[0].figure[MP_MEAN], t[i].ratio,
			0.005 / t[i].ratio, "sizes: published ratio");
		is_verdict(&r->whole, t[i].verdict, t[i].name);
		ok(isnan(r->whole.between), "sizes: one boot each, between boots unknown");
		ok(isnan(r->column[0].drift[MP_MEAN]), "sizes: no drift either");
	}
	mp_compare_free(&c);
}

/* An interval of a factor of 10 either way is none. */
static void test_wide(void)
{
	struct load l = { "s", 100, 1, 3, 1e6, 0, 1e6, 0.4 };
	struct mp_compare c = { 0 };
	char text[MP_INTERVAL_LEN];
	const struct mp_step *s;

	add(&c, make("a", "unit=insn page_size=4096 release=A", &l, 1), NULL);
	l.protect *= 1.5;
	add(&c, make("b", "unit=insn page_size=4096 release=B", &l, 1), NULL);
	judge(&c, 5);
	s = &row(&c, "s", MP_PROTECT)->whole;
	is_verdict(s, MP_INCONCLUSIVE, "wide: three noisy cycles");
	is_str(s->why.text, "too few or too noisy samples to say", "wide: why");
	ok(isnan(s->interval[MP_FLOOR].low) && isnan(s->interval[MP_FLOOR].high), "wide: no interval");
	is_str(mp_interval_text(&s->interval[MP_FLOOR], 2, text), "", "wide: nor a word of it");
	is_near(s->delta[MP_FLOOR], 50, 0.001, "wide: the change is told all the same");
	is_str(mp_interval_text(&row(&c, "s", MP_TOUCH)->whole.interval[MP_FLOOR], 2, text),
	       " (+0.00 to +0.00)", "wide: the same count is no accident");
	mp_compare_free(&c);

	/* Large is not wide. */
	l = (struct load){ "s", 100, 15, 100, 1e6, 0, 1e6, 0.001 };
	add(&c, make("a", ENV_A, &l, 1), NULL);
	l.protect *= 20;
	l.touch /= 20;
	add(&c, make("b", ENV_B, &l, 1), NULL);
	judge(&c, 5);
	s = &row(&c, "s", MP_PROTECT)->whole;
	is_verdict(s, MP_REGRESSED, "wide: 20 times as much is no noise");
	is_between(s->interval[MP_FLOOR].low, 1890, 1900, "wide: and has an interval");
	is_between(row(&c, "s", MP_TOUCH)->whole.interval[MP_FLOOR].high, -95, -94.9,
		   "wide: so has a twentieth");
	mp_compare_free(&c);
}

static void test_verdicts(void)
{
	static const struct {
		const char *what;
		double head, touch, noise, threshold;
		unsigned int procs, cycles;
		enum mp_verdict verdict;
		const char *why;
	} t[] = {
		{ "the same", 1, 1, 0.001, 5, 15, 100, MP_OK, "" },
		{ "+10 %", 1.1, 1, 0.001, 5, 15, 100, MP_REGRESSED, "" },
		{ "-10 %", 0.9, 1, 0.001, 5, 15, 100, MP_IMPROVED, "" },
		{ "+4 %", 1.04, 1, 0.001, 5, 15, 100, MP_OK, "" },
		{ "-4 %", 0.96, 1, 0.001, 5, 15, 100, MP_OK, "" },
		{ "+5 % at 5 %", 1.05, 1, 0.001, 5, 15, 100, MP_INCONCLUSIVE, "the uncertainty" },
		{ "-5 % at 5 %", 0.95, 1, 0.001, 5, 15, 100, MP_OK, "" },
		{ "to nothing", 0.0000001, 1, 0.001, 5, 15, 100, MP_INCONCLUSIVE, "a figure is 0" },
		{ "+10 % of 20 cycles", 1.1, 1, 0.001, 5, 1, 20, MP_INCONCLUSIVE,
		  "only 20 cycles of 1 processes in 1 boots; a boot needs 100 of 5" },
		{ "of 4 processes", 1.1, 1, 0.001, 5, 4, 100, MP_INCONCLUSIVE, "only 400 cycles" },
		{ "of 99 cycles", 1.1, 1, 0.001, 5, 9, 11, MP_INCONCLUSIVE, "only 99 cycles" },
	};

	for (size_t i = 0; i < COUNT(t); i++) {
		struct load l = { "s", 100, t[i].procs, t[i].cycles, 1e6, 0, 1e6, t[i].noise };
		struct mp_compare c = { 0 };
		char what[80];

		add(&c, make("a", ENV_A, &l, 1), NULL);
		l.protect *= t[i].head;
		l.touch *= t[i].touch;
		add(&c, make("b", ENV_B, &l, 1), NULL);
		judge(&c, t[i].threshold);
		snprintf(what, sizeof(what), "verdict: %s", t[i].what);
		is_verdict(&row(&c, "s", MP_PROTECT)->whole, t[i].verdict, what);
		snprintf(what, sizeof(what), "verdict: %s, why", t[i].what);
		has_str(row(&c, "s", MP_PROTECT)->whole.why.text, t[i].why, what);
		mp_compare_free(&c);
	}
}

/* Two loads make a column whose floor and median do not move alike. */
static void test_disagree(void)
{
	struct load l = { "s", 100, 15, 100, 1e6, 0, 1e6, 0.001 };
	struct mp_compare c = { 0 };

	add(&c, make("a", ENV_A, &l, 1), NULL);
	l.noise = 0.06;		/* floor -12 %, median 0 */
	add(&c, make("b", ENV_B, &l, 1), NULL);
	judge(&c, 5);
	is_verdict(&row(&c, "s", MP_PROTECT)->whole, MP_INCONCLUSIVE, "disagree: floor fell alone");
	is_str(row(&c, "s", MP_PROTECT)->whole.why.text, "the floor fell, the median did not",
	       "disagree: floor fell, why");
	mp_compare_free(&c);
	add(&c, make("b", ENV_B, &l, 1), NULL);
	l.noise = 0.001;
	add(&c, make("a", ENV_A, &l, 1), NULL);
	judge(&c, 5);
	is_str(row(&c, "s", MP_PROTECT)->whole.why.text, "the floor rose, the median did not",
	       "disagree: floor rose, why");
	mp_compare_free(&c);
	add(&c, make("a", ENV_A, &l, 1), NULL);
	l.noise = 0.06;
	l.protect *= 1.13;	/* floor -0.5 %, median +13 % */
	add(&c, make("b", ENV_B, &l, 1), NULL);
	judge(&c, 5);
	is_str(row(&c, "s", MP_PROTECT)->whole.why.text, "the median rose, the floor did not",
	       "disagree: median rose, why");
	mp_compare_free(&c);
}

static void test_control(void)
{
	struct load l = { "s", 100, 15, 100, 1e6, 1e6, 1e6, 0.001 };
	struct mp_compare c = { 0 };

	add(&c, make("a", ENV_A, &l, 1), NULL);
	l.protect *= 1.10;
	l.restore *= 1.30;
	l.touch *= 1.06;
	add(&c, make("b", ENV_B, &l, 1), NULL);
	judge(&c, 5);
	is_near(row(&c, "s", MP_PROTECT)->whole.control, 6, 0.001, "control: +6 %");
	is_int(row(&c, "s", MP_PROTECT)->whole.control_moved, 1, "control: moved with +10 %");
	is_int(row(&c, "s", MP_RESTORE)->whole.control_moved, 0, "control: not with +30 %");
	ok(isnan(row(&c, "s", MP_TOUCH)->whole.control), "control: has none itself");
	mp_compare_free(&c);

	add(&c, make("a", ENV_A, &l, 1), NULL);
	l.touch *= 1.04;
	add(&c, make("b", ENV_B, &l, 1), NULL);
	judge(&c, 5);
	is_int(row(&c, "s", MP_PROTECT)->whole.control_moved, 0, "control: nothing else changed");
	mp_compare_free(&c);
}

static struct mp_boot *make_touch(const char *env, int touch, int faults)
{
	char text[40000];
	FILE *f = fmemopen(text, sizeof(text), "w");
	long size;

	fprintf(f, "mprotect_perf-record 1\nenv page_size=4096 %s\n", env);
	for (int i = 0; i < 200; i++) {
		fprintf(f, "sample scenario=s proc=%d cycle=%d pages=100 calls=1 touch=%d", i / 20,
			i, touch);
		if (faults >= 0)
			fprintf(f, " touch_faults=%d", faults);
		fputc('\n', f);
	}
	fprintf(f, "end samples=200\n");
	size = ftell(f);
	fclose(f);
	return read_text(text, size, env);
}

/* Where the pages of a run lie is no regression; faults that were not there are. */
static void test_touch(void)
{
	static const struct {
		const char *what, *unit;
		int touch, faults_before, faults;
		enum mp_verdict verdict;
	} t[] = {
		{ "no faults", "unit=ns", 1200, 0, 0, MP_INCONCLUSIVE },
		{ "not counted", "unit=ns", 1200, -1, -1, MP_INCONCLUSIVE },
		{ "as many faults", "unit=ns", 1200, 5, 5, MP_INCONCLUSIVE },
		{ "fewer faults", "unit=ns", 1200, 5, 4, MP_INCONCLUSIVE },
		{ "more faults", "unit=ns", 1200, 0, 1, MP_REGRESSED },
		{ "faster", "unit=ns", 800, 0, 0, MP_INCONCLUSIVE },
		{ "faster with more faults", "unit=ns", 800, 0, 9, MP_INCONCLUSIVE },
		{ "faster with fewer", "unit=ns", 800, 9, 0, MP_IMPROVED },
		{ "the same with more", "unit=ns", 1000, 0, 9, MP_OK },
		{ "instructions", "unit=insn", 1200, 0, 0, MP_REGRESSED },
	};

	for (size_t i = 0; i < COUNT(t); i++) {
		struct mp_compare c = { 0 };

		add(&c, make_touch(t[i].unit, 1000, t[i].faults_before), "base");
		add(&c, make_touch(t[i].unit, t[i].touch, t[i].faults), "head");
		judge(&c, 5);
		is_verdict(&c.row[0].whole, t[i].verdict, t[i].what);
		is_verdict(&c.row[0].step[0], t[i].verdict, t[i].what);
		is_int(c.row[0].change == 0, t[i].verdict == MP_REGRESSED ||
		       t[i].verdict == MP_IMPROVED, t[i].what);
		mp_compare_free(&c);
	}
}

/* Process 0 slow in the head only: the sensitivity line shows it. */
static void test_without_first(void)
{
	struct load l = { "s", 100, 1, 100, 2e6, 0, 0, 0.001 };
	struct mp_compare c = { 0 };
	char text[200000];
	FILE *f = fmemopen(text, sizeof(text), "w");
	long size;

	fprintf(f, "mprotect_perf-record 1\nenv " ENV_B "\n");
	put_load(f, &l);
	for (int p = 1; p < 10; p++) {
		for (int i = 0; i < 100; i++)
			fprintf(f, "sample scenario=s proc=%d cycle=%d pages=100 calls=%d %s\n",
				p, i, 1, "protect=1000000");
	}
	fprintf(f, "end samples=1000\n");
	size = ftell(f);
	fclose(f);
	l.protect = 1e6;
	l.procs = 10;
	add(&c, make("a", ENV_A, &l, 1), NULL);
	add(&c, read_text(text, size, "b"), NULL);
	judge(&c, 5);
	is_near(row(&c, "s", MP_PROTECT)->whole.delta[MP_MEAN], 10, 0.02, "first: mean with it");
	is_between(row(&c, "s", MP_PROTECT)->whole.without_first[MP_MEAN], -0.1, 0.1,
		   "first: mean without it");
	mp_compare_free(&c);
}

/* Means are published by process: a longer process does not weigh more. */
static void test_unequal(void)
{
	struct mp_compare c = { 0 };
	char text[50000];
	FILE *f = fmemopen(text, sizeof(text), "w");
	long size;

	fprintf(f, "mprotect_perf-record 1\nenv " ENV_A "\n");
	for (int i = 0; i < 400; i++)
		fprintf(f, "sample scenario=s proc=%d cycle=%d pages=10 calls=1 touch=%d\n",
			i >= 100, i, i < 100 ? 100 : 200);
	fprintf(f, "end samples=400\n");
	size = ftell(f);
	fclose(f);
	add(&c, read_text(text, size, "a"), NULL);
	add(&c, read_text(text, size, "b"), NULL);
	judge(&c, 5);
	is_near(c.row[0].column[0].figure[MP_MEAN], 15, 0.000001, "unequal: mean of the means");
	/* 100 times (10 - 17.5)^2 and 300 times (20 - 17.5)^2: 7500 / 399 = 4.3356^2 */
	is_near(c.row[0].column[0].cv, 24.775, 0.0001, "unequal: cv is of all samples");
	mp_compare_free(&c);
}

static void test_series(void)
{
	static const double cost[] = { 1, 1.001, 1.2, 1.2, 1.13 };
	static const char *const label[] = { "v1", "v2", "v3", "v4", "v5" };
	struct load l = { "s", 100, 10, 50, 0, 0, 0, 0.001 };
	struct mp_compare c = { 0 };
	const struct mp_row *r;

	for (int i = 0; i < 5; i++) {
		l.protect = 1e6 * cost[i];
		add(&c, make(label[i], ENV_A, &l, 1), label[i]);
	}
	judge(&c, 5);
	r = row(&c, "s", MP_PROTECT);
	is_int(c.nkernels, 5, "series: five columns by label");
	is_verdict(&r->step[0], MP_OK, "series: step 1");
	is_verdict(&r->step[1], MP_REGRESSED, "series: step 2");
	is_verdict(&r->step[2], MP_OK, "series: step 3");
	is_verdict(&r->step[3], MP_IMPROVED, "series: step 4");
	is_int(r->change, 1, "series: the cost changed most at step 2");
	is_verdict(&r->whole, MP_REGRESSED, "series: from the first to the last");
	is_int(c.judged, 5, "series: a verdict on each step, and one on all");
	mp_compare_free(&c);
}

/*
 * Three boots each: pooled deviations instead of half the spread. With figures
 * 100, 101, 102 and 100, 101, 102 the logarithms deviate by 0.0099: s of 4
 * degrees is 0.0099, t of 95 % 2.776, times sqrt(1/3 + 1/3): 2.245 %.
 */
static void test_many_boots(void)
{
	struct load l = { "s", 100, 10, 50, 0, 0, 0, 0 };
	struct mp_compare c = { 0 };
	const struct mp_row *r;

	for (int i = 0; i < 6; i++) {
		l.protect = 1e6 * (1 + 0.01 * (i / 2));
		add(&c, make("x", i % 2 ? ENV_A : ENV_B, &l, 1), NULL);
	}
	judge(&c, 5);
	r = row(&c, "s", MP_PROTECT);
	is_int(r->column[0].boots, 3, "boots: three");
	is_near(r->whole.between, 2.245, 0.002, "boots: t interval between them");
	is_near(r->whole.interval[MP_FLOOR].high, 2.270, 0.01, "boots: it is the whole interval");
	is_near(r->column[0].drift[MP_FLOOR], 0.02, 0.000001, "boots: drift");
	is_near(r->column[0].spread[MP_FLOOR], 2 / 101.0, 0.0001, "boots: spread");
	is_verdict(&r->whole, MP_OK, "boots: OK");
	mp_compare_free(&c);
}

static void refused(const char *env, unsigned int pages, const char *text, const char *what)
{
	struct load l = { "s", 100, 1, 1, 1e6, 0, 0, 0 };
	struct mp_compare c = { 0 };
	struct mp_err err = { "no error" };

	add(&c, make("dir/a.rec", ENV_A, &l, 1), NULL);
	l.pages = pages;
	is_int(mp_compare_add(&c, make("b.rec", env, &l, 1), NULL, &err), -1, what);
	is_str(err.text, text, what);
	is_int(c.nboots, 1, what);
	mp_compare_free(&c);
}

static void test_refusals(void)
{
	struct load l = { "s", 100, 1, 1, 1e6, 0, 0, 0 };
	struct mp_compare c = { 0 };
	struct mp_err err = { "no error" };
	const char *a, *b;

	refused("unit=insn page_size=4096 arch=x86_64 model=EPYC clocksource=tsc", 100,
		"unit: ns in dir/a.rec, insn in b.rec; not comparable", "refused: unit");
	refused("unit=ns page_size=16384 arch=x86_64 model=EPYC clocksource=tsc", 100,
		"page_size: 4096 in dir/a.rec, 16384 in b.rec; not comparable",
		"refused: page size");
	refused("unit=ns page_size=4096 arch=x86_64 model=Xeon clocksource=tsc", 100,
		"model: EPYC in dir/a.rec, Xeon in b.rec; not comparable",
		"refused: CPU");
	refused("unit=ns page_size=4096 arch=x86_64 model=EPYC clocksource=hpet", 100,
		"clocksource: tsc in dir/a.rec, hpet in b.rec; not comparable",
		"refused: clock");
	refused(FACTS " accel=tcg", 100,
		"accel: absent in dir/a.rec, tcg in b.rec; not comparable",
		"refused: accelerator");
	refused(ENV_B, 50,
		"s: pages=100 calls=1 in dir/a.rec, 50, 1 in b.rec",
		"refused: pages");

	is_int(mp_compare_add(&c, NULL, NULL, &err), -1, "refused: no boot");
	is_int(mp_compare_judge(&c, 5, 1, &err), -1, "refused: nothing to judge");
	add(&c, make("a", ENV_A " governor=performance", &l, 1), "x");
	is_int(mp_compare_judge(&c, 5, 1, &err), -1, "refused: one record");
	has_str(err.text, "1 records of one kernel, x; say base=FILE head=FILE",
		"refused: its text");
	add(&c, make("b", ENV_A " governor=powersave", &l, 1), "x");
	is_int(mp_compare_judge(&c, 5, 1, &err), -1, "refused: one label");
	is_int(mp_compare_fact(&c, "release", &a, &b), 0, "fact: the same");
	is_int(mp_compare_fact(&c, "governor", &a, &b), 1, "fact: the second differs");
	ok(!strcmp(a, "performance") && !strcmp(b, "powersave"), "fact: both values");
	mp_compare_free(&c);
}

static void test_grouping(void)
{
	struct load l = { "s", 100, 10, 50, 1e6, 0, 0, 0.001 };
	struct mp_compare c = { 0 };

	add(&c, make("a", ENV_A, &l, 1), NULL);
	add(&c, make("b", ENV_A, &l, 1), NULL);
	judge(&c, 5);
	is_int(c.nkernels, 2, "grouping: two records of one kernel are base and head");
	is_str(c.kernel[1].name, "A/2", "grouping: with a name of its own");
	is_verdict(&c.row[0].whole, MP_OK, "grouping: and the same to itself");
	mp_compare_free(&c);

	add(&c, make("a", FACTS " release=6.1 build=#1", &l, 1), NULL);
	add(&c, make("b", FACTS " release=6.1 build=#2", &l, 1), NULL);
	add(&c, make("c", FACTS " release=6.1 build=#1", &l, 1), NULL);
	add(&c, make("d", FACTS " release=6.1", &l, 1), NULL);
	is_int(c.nkernels, 3, "grouping: by release and build");
	is_str(c.kernel[1].name, "6.1/2", "grouping: a rebuild is told apart");
	is_int(c.of[2], 0, "grouping: the third is the first");
	mp_compare_free(&c);

	add(&c, make("a", ENV_A, &l, 1), "base");
	l.name = "t";
	add(&c, make("b", ENV_B, &l, 1), "head");
	judge(&c, 5);
	is_int(c.nrows, 2, "grouping: rows that only one has are there");
	is_verdict(&row(&c, "t", MP_PROTECT)->whole, MP_INCONCLUSIVE, "grouping: and say so");
	has_str(row(&c, "t", MP_PROTECT)->whole.why.text, "no such row", "grouping: why");
	ok(isnan(row(&c, "s", MP_PROTECT)->whole.delta[MP_FLOOR]),
	   "grouping: a row that went is no change of -100 %%");
	mp_compare_free(&c);
}

/* Instructions: exact, so that one process of one cycle is enough. */
static void test_insn(void)
{
	struct load l = { "s", 100, 1, 1, 1000000, 0, 0, 0 };
	struct mp_compare c = { 0 };

	add(&c, make("a", "unit=insn page_size=4096 release=A", &l, 1), NULL);
	l.protect = 1060000;
	add(&c, make("b", "unit=insn page_size=4096 release=B", &l, 1), NULL);
	judge(&c, 5);
	is_near(c.row[0].whole.delta[MP_FLOOR], 6, 0.00001, "insn: +6 %");
	is_verdict(&c.row[0].whole, MP_REGRESSED, "insn: REGRESSED, from one cycle");
	ok(isnan(c.row[0].whole.without_first[MP_FLOOR]), "insn: no first process to leave out");
	mp_compare_free(&c);

	/* One process of five cycles, some of them with a tick of the timer. */
	l.cycles = 5;
	l.noise = 0.01;
	l.protect = 1000000;
	add(&c, make("a", "unit=insn page_size=4096 release=A", &l, 1), NULL);
	l.protect = 2000000;
	add(&c, make("b", "unit=insn page_size=4096 release=B", &l, 1), NULL);
	judge(&c, 5);
	is_verdict(&c.row[0].whole, MP_REGRESSED, "insn: +100 % of five cycles");
	/* t of 8 degrees of freedom is 2.3; each floor is off by about a hundredth. */
	is_between(c.row[0].whole.within, 1, 2.3 * 1.4 * M_SQRT2, "insn: some percent within");
	mp_compare_free(&c);
	l.noise = 0.1;
	add(&c, make("a", "unit=insn page_size=4096 release=A", &l, 1), "a");
	add(&c, make("b", "unit=insn page_size=4096 release=A", &l, 1), "b");
	judge(&c, 5);
	is_verdict(&c.row[0].whole, MP_OK, "insn: the same is the same, however it scatters");
	is_double(c.row[0].whole.interval[MP_FLOOR].high, 0, "insn: for certain");
	mp_compare_free(&c);
	add(&c, make("a", "unit=ns page_size=4096 release=A", &l, 1), "a");
	add(&c, make("b", "unit=ns page_size=4096 release=A", &l, 1), "b");
	judge(&c, 5);
	is_verdict(&c.row[0].whole, MP_INCONCLUSIVE, "insn: that is not so with time");
	mp_compare_free(&c);
}

/* More than is kept: the times are thinned, means and counts stay exact. */
static void test_thinning(void)
{
	struct load l = { "s", 100, 30, 10000, 1e6, 1e6, 1e6, 0.001 };
	struct load once = { "s", 100, 30, 500, 1e6, 1e6, 1e6, 0.001 };
	struct mp_boot *b = make("big", ENV_A, &l, 1);
	struct mp_boot *o = make("small", ENV_A, &once, 1);
	const struct mp_series *s = &b->workload[0].process[29].phase[MP_TOUCH];
	const struct mp_series *t = &o->workload[0].process[29].phase[MP_TOUCH];
	unsigned int level[5] = { 0 };

	is_int(b->stride, 2, "thinning: 900,000 times are one too many twice");
	ok(b->nkept <= MP_BOOT_KEEP && b->nkept > MP_BOOT_KEEP / 2 - 100, "thinning: bounded");
	is_int(s->n, 10000, "thinning: every sample is counted");
	is_near(s->mean, t->mean, 0.000000000001, "thinning: the mean is of all");
	is_between(s->nkept, 4900, 5100, "thinning: half is kept");
	for (unsigned int i = 0; i < s->nkept; i++)
		level[(int)(s->kept[i] / 1e6 / 1.0005 * 1000 - 997.5)]++;
	ok(level[0] > 850 && level[1] > 850 && level[2] > 850 && level[3] > 850 &&
	   level[4] > 850, "thinning: every value is as likely to stay");
	mp_boot_free(b);
	mp_boot_free(o);
}

/* Every second cycle slow: halving must not meet only the fast ones. */
static void test_thinning_period(void)
{
	const struct mp_series *s;
	unsigned int slow = 0;
	struct mp_boot *b;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	fprintf(f, "mprotect_perf-record 1\nenv " ENV_A "\n");
	for (unsigned int i = 0; i < MP_BOOT_KEEP + 2; i++)
		fprintf(f, "sample scenario=s proc=0 cycle=%u pages=1 calls=1 touch=%u\n", i,
			1 + i % 2);
	fprintf(f, "end samples=%u\n", MP_BOOT_KEEP + 2);
	fclose(f);
	b = read_text(text, size, "period");
	free(text);
	s = &b->workload[0].process[0].phase[MP_TOUCH];
	for (unsigned int i = 0; i < s->nkept; i++)
		slow += s->kept[i] > 1;
	is_near(slow, s->nkept / 2.0, 0.02, "thinning: does not fall in step");
	is_near(s->mean, 1.5, 0.000001, "thinning: mean of all");
	mp_boot_free(b);
}

static void test_processes(void)
{
	struct load l = { "s", 1, MP_BOOT_PROCESSES, 1, 1, 0, 0, 0 };
	struct mp_boot *b = make("most", ENV_A, &l, 1);
	struct mp_err err = { "" };
	char *text;
	size_t size;
	FILE *f;

	is_int(b->nprocess, MP_BOOT_PROCESSES, "processes: the most");
	mp_boot_free(b);
	l.procs++;
	f = open_memstream(&text, &size);
	fprintf(f, "mprotect_perf-record 1\nenv " ENV_A "\n");
	put_load(f, &l);
	fclose(f);
	f = fmemopen(text, size, "r");
	ok(!mp_boot_read_stream(f, "F", &err), "processes: one more is refused");
	fclose(f);
	free(text);
	is_str(err.text, "F:32771: more than 32768 processes", "processes: text");
}

static void test_boot_refusals(void)
{
	struct mp_err err = { "" };
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	fprintf(f, "mprotect_perf-record 1\nenv " ENV_A "\n");
	for (unsigned int i = 0; i <= MP_BOOT_TASKS / MP_TASK_MAX; i++)
		fprintf(f, "sample scenario=s proc=%u cycle=0 pages=1 calls=1 tasks=%u\n", i,
			MP_TASK_MAX);
	fclose(f);
	f = fmemopen(text, size, "r");
	ok(!mp_boot_read_stream(f, "F", &err), "boot: one task too many is refused");
	fclose(f);
	free(text);
	has_str(err.text, "F:67: more than 262144 tasks of all processes", "boot: text");
	ok(!mp_boot_read("/nonexistent", &err), "boot: a file that is not there");
	has_str(err.text, "/nonexistent: cannot open", "boot: its text");
}

int main(void)
{
	test_published_small();
	test_published_large();
	test_published_sizes();
	test_wide();
	test_verdicts();
	test_disagree();
	test_control();
	test_touch();
	test_without_first();
	test_unequal();
	test_series();
	test_many_boots();
	test_refusals();
	test_grouping();
	test_insn();
	test_thinning();
	test_thinning_period();
	test_processes();
	test_boot_refusals();
	return done_testing();
}
