// SPDX-License-Identifier: GPL-2.0
/*
 * Sources: mprotect_perf_rows.c mprotect_perf_compare.c mprotect_perf_column.c
 * Sources: mprotect_perf_judge.c mprotect_perf_boot.c mprotect_perf_rate.c
 * Sources: mprotect_perf_stats.c mprotect_perf_record.c mprotect_perf_record_read.c
 * Sources: mprotect_perf_record_line.c mprotect_perf_record_order.c
 * Sources: mprotect_perf_new_file.c
 *
 * Comparisons of scenarios that were run in several sizes and with several
 * numbers of tasks.
 */
#include "unit_records.h"

/* A load in one of its variants. */
struct variant {
	struct load l;
	unsigned int calls, tasks;
};

static struct mp_boot *make_variants(const char *name, const char *env, const struct variant *v,
				     size_t n)
{
	unsigned long long samples = 0;
	struct mp_boot *b;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	fprintf(f, "mprotect_perf-record 1\nenv %s\n", env);
	for (size_t i = 0; i < n; i++) {
		put_variant(f, &v[i].l, v[i].calls, v[i].tasks);
		samples += v[i].l.procs * v[i].l.cycles * v[i].tasks;
	}
	fprintf(f, "end samples=%llu\n", samples);
	fclose(f);
	b = read_text(text, size, name);
	free(text);
	return b;
}

static const struct mp_row *variant(const struct mp_compare *c, const char *size,
				    unsigned int scale, int phase)
{
	for (size_t i = 0; i < c->nrows; i++) {
		if (!strcmp(c->row[i].size, size) && c->row[i].scale == scale &&
		    (int)c->row[i].phase == phase)
			return &c->row[i];
	}
	ok(0, "%s %u %s is there", size, scale, mp_phase_name[phase]);
	exit(1);
}

/* The published sizes as one scenario: a row for each, but one test. */
static void test_one_scenario(void)
{
	static const unsigned int pages[] = { 100, 1, 1000, 10 };
	static const double cost[2][4] = {
		{ 3453, 1713, 18804, 2071 }, { 5993, 1775, 44116, 2362 },
	};
	static const char *const size[] = { "4KiB", "40KiB", "400KiB", "4000KiB" };
	static const double ratio[] = { 1.04, 1.14, 1.74, 2.35 };
	struct load l[2][4];
	struct mp_compare c = { 0 };

	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < 4; i++)
			l[k][i] = (struct load){ "s", pages[i], 15, 100, cost[k][i], 0, 10, 0.001 };
	}
	add(&c, make("6.16.rec", FACTS " release=6.16.0", l[0], 4), NULL);
	add(&c, make("6.17.rec", FACTS " release=6.17.0-rc1", l[1], 4), NULL);
	judge(&c, 5);
	is_int(c.nrows, 8, "one scenario: a row a size and phase");
	is_int(c.judged, 8, "one scenario: a verdict each");
	is_int(c.ntests, 2, "one scenario: a test a phase");
	for (int i = 0; i < 4; i++) {
		const struct mp_row *r = &c.row[2 * i];

		is_str(r->size, size[i], "one scenario: in the order of sizes");
		is_int(r->phase, MP_PROTECT, "one scenario: and phases");
		is_int(r->scale, 0, "one scenario: one number of tasks");
		is_near(r->column[1].figure[MP_MEAN] / r->column[0].figure[MP_MEAN], ratio[i],
			0.005 / ratio[i], "one scenario: published ratio");
		is_int(r->column[0].processes, 15, "one scenario: processes of this size only");
	}
	is_int(c.test[0], 6, "one scenario: the worst of the test");
	is_verdict(&c.row[c.test[0]].whole, MP_REGRESSED, "one scenario: its verdict");
	is_int(c.row[c.test[1]].phase, MP_TOUCH, "one scenario: the other test");
	mp_compare_free(&c);
}

/* Which of the rows of a test has its verdict. */
static void test_worst(void)
{
	static const struct {
		const char *what;
		double change[3];	/* of 1, 2 and 4 tasks; 0: only the base has it */
		unsigned int scale;
		enum mp_verdict verdict;
	} t[] = {
		{ "the larger of two rises", { 1.2, 1.3, 1 }, 2, MP_REGRESSED },
		{ "one rise among falls", { 0.5, 1.1, 0.5 }, 2, MP_REGRESSED },
		{ "a rise before what cannot be told", { 0, 1.1, 1.05 }, 2, MP_REGRESSED },
		{ "what cannot be told before the rest", { 0.5, 1, 1.05 }, 4, MP_INCONCLUSIVE },
		{ "what is missing is the least told", { 0, 1.05, 1 }, 2, MP_INCONCLUSIVE },
		{ "but it is not OK", { 1, 1, 0 }, 4, MP_INCONCLUSIVE },
		{ "OK before a fall", { 0.5, 0.8, 1 }, 4, MP_OK },
		{ "all of them fell", { 0.5, 0.8, 0.7 }, 2, MP_IMPROVED },
	};

	for (size_t i = 0; i < COUNT(t); i++) {
		struct variant base[3], head[3];
		struct mp_compare c = { 0 };
		size_t n = 0;

		for (int j = 0; j < 3; j++) {
			base[j] = (struct variant){ { "s", 100, 10, 50, 1e6, 0, 0, 0.001 },
						    1, 1 << j };
			if (!t[i].change[j])
				continue;
			head[n] = base[j];
			head[n++].l.protect *= t[i].change[j];
		}
		add(&c, make_variants("a", ENV_A, base, 3), NULL);
		add(&c, make_variants("b", ENV_B, head, n), NULL);
		judge(&c, 5);
		is_int(c.ntests, 1, t[i].what);
		is_int(c.row[c.test[0]].scale, t[i].scale, t[i].what);
		is_verdict(&c.row[c.test[0]].whole, t[i].verdict, t[i].what);
		mp_compare_free(&c);
	}
}

/* Sizes and tasks that one of two records has not, or no two have. */
static void test_shared(void)
{
	const struct variant a[] = {
		{ { "s", 4, 10, 50, 1e6, 0, 1e5, 0.001 }, 1, 2 },
		{ { "s", 16, 10, 50, 4e6, 0, 1e5, 0.001 }, 1, 2 },
		{ { "t", 4, 10, 50, 1e6, 0, 0, 0.001 }, 1, 1 },
	};
	struct variant b[] = { a[1], a[1] };
	struct mp_compare c = { 0 };
	struct mp_err err = { "no error" };

	b[0].l.touch = 2e5;
	b[1].tasks = 1;
	add(&c, make_variants("a.rec", ENV_A, a, 3), NULL);
	add(&c, make_variants("b.rec", ENV_B, b, 2), NULL);
	judge(&c, 5);
	is_int(c.nrows, 7, "shared: every row that one has");
	is_verdict(&variant(&c, "64KiB", 2, MP_PROTECT)->whole, MP_OK, "shared: what both have");
	is_near(variant(&c, "64KiB", 2, MP_PROTECT)->whole.control, 100, 0.001,
		"shared: with the control of this size");
	is_verdict(&variant(&c, "16KiB", 2, MP_PROTECT)->whole, MP_INCONCLUSIVE,
		   "shared: not the base's own size");
	ok(isnan(variant(&c, "16KiB", 2, MP_PROTECT)->whole.control), "shared: which has no control");
	has_str(variant(&c, "64KiB", 1, MP_PROTECT)->whole.why.text, "no such row",
		"shared: nor the head's own number of tasks");
	is_str(c.row[c.nrows - 1].scenario, "t", "shared: another scenario");
	is_str(c.row[c.nrows - 1].size, "", "shared: whose one size needs no name");
	mp_compare_free(&c);

	add(&c, make_variants("a.rec", ENV_A, &a[1], 1), NULL);
	is_int(mp_compare_add(&c, make_variants("b.rec", ENV_B, &b[1], 1), NULL, &err), -1,
	       "shared: no number of tasks");
	is_str(err.text, "s: pages=16 calls=1 tasks=2 in a.rec, 16, 1, 1 in b.rec",
	       "shared: which is said");
	add(&c, make_variants("b.rec", ENV_B, b, 2), NULL);
	is_int(mp_compare_add(&c, make_variants("c.rec", ENV_B, &b[1], 1), NULL, &err), -1,
	       "shared: with the second, but not with the first");
	b[1].l.pages = 16384;
	b[1].tasks = 2;
	is_int(mp_compare_add(&c, make_variants("d.rec", ENV_B, &b[1], 1), NULL, &err), -1,
	       "shared: no size");
	is_str(err.text, "s: pages=16 calls=1 in a.rec, 16384, 1 in d.rec",
	       "shared: tasks that do not differ need no word");
	mp_compare_free(&c);
}

/* Names that tell variants apart: only by what differs. */
static void test_names(void)
{
	static const struct variant l[] = {
		{ { "s", 64, 1, 1, 1, 0, 0, 0 }, 64, 1 }, { { "s", 1, 1, 1, 1, 0, 0, 0 }, 1, 1 },
		{ { "s", 256, 1, 1, 1, 0, 0, 0 }, 1, 3 }, { { "s", 512, 1, 1, 1, 0, 0, 0 }, 1, 1 },
		{ { "s", 1000, 1, 1, 1, 0, 0, 0 }, 3, 1 },
	};
	static const struct {
		unsigned int scale;
		const char *size;
	} want[] = { { 1, "4KiBx1" }, { 1, "4KiBx64" }, { 1, "1333.333333KiB" }, { 1, "2MiB" },
		     { 3, "1MiB" } };
	struct mp_compare c = { 0 };

	add(&c, make_variants("a", ENV_A, l, COUNT(l)), NULL);
	add(&c, make_variants("b", ENV_B, l, COUNT(l)), NULL);
	judge(&c, 5);
	for (size_t i = 0; i < COUNT(want); i++) {
		is_int(c.row[i].scale, want[i].scale, "names: tasks");
		is_str(c.row[i].size, want[i].size, "names: size");
	}
	mp_compare_free(&c);
}

/* Two tasks of 50 cycles, 2 ms apart: each 50 in 98 ms and one of its cycles. */
static void test_rates(void)
{
	struct variant l[] = { { { "s", 4, 10, 50, 5e5, 0, 5e5, 0 }, 1, 1 },
			       { { "s", 4, 10, 50, 5e5, 0, 5e5, 0 }, 1, 2 } };
	struct mp_compare c = { 0 };
	const struct mp_row *r;

	add(&c, make_variants("a", ENV_A, l, 2), NULL);
	l[0].l.touch = 15e5;
	add(&c, make_variants("b", ENV_B, l, 2), NULL);
	judge(&c, 5);
	r = variant(&c, "", 1, MP_PROTECT);
	is_near(r->column[0].rate.total, 1000, 0.001, "rates: one task, from the phases' times");
	is_near(r->column[1].rate.total, 500, 0.001, "rates: of each kernel");
	r = variant(&c, "", 2, MP_TOUCH);
	is_near(r->column[0].rate.total, 2 * 50 / 0.099, 0.001, "rates: two tasks");
	is_near(r->column[0].rate.per_task, 50 / 0.099, 0.001, "rates: each of them");
	is_near(r->column[0].rate.imbalance, 1, 0.001, "rates: which are alike");
	is_int(r->column[0].samples, 1000, "rates: a cycle of any task is a cycle");
	is_int(r->column[0].processes, 10, "rates: tasks are no processes");
	mp_compare_free(&c);
}

/* Rows that one of the two has not are counted, and not looked into. */
static void test_common(void)
{
	const struct load l[] = { { "s", 4, 10, 50, 1e6, 0, 0, 0.001 },
				  { "s", 16, 10, 50, 4e6, 0, 0, 0.001 } };
	struct mp_compare c = { .common = 1 };

	add(&c, make("a", ENV_A, l, 2), NULL);
	add(&c, make("b", ENV_B, l, 1), NULL);
	judge(&c, 5);
	is_int(c.judged, 2, "common: both are counted");
	is_int(variant(&c, "16KiB", 0, MP_PROTECT)->column[0].boots, 1, "common: one is looked at");
	is_int(variant(&c, "64KiB", 0, MP_PROTECT)->column[0].boots, 0, "common: one is not");
	mp_compare_free(&c);
}

int main(void)
{
	test_one_scenario();
	test_worst();
	test_shared();
	test_names();
	test_rates();
	test_common();
	return done_testing();
}
