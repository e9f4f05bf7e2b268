// SPDX-License-Identifier: GPL-2.0
/*
 * Sources: mprotect_perf_record_order.c mprotect_perf_rate.c mprotect_perf_column.c
 * Sources: mprotect_perf_rows.c
 * Sources: mprotect_perf_curve.c mprotect_perf_fit.c mprotect_perf_plot_curve.c
 * Sources: mprotect_perf_new_file.c
 * Sources: mprotect_perf_table.c mprotect_perf_tsv.c mprotect_perf_summary.c
 * Sources: mprotect_perf_caveats.c mprotect_perf_gate.c mprotect_perf_run.c
 * Sources: mprotect_perf_plot.c mprotect_perf_compare.c mprotect_perf_judge.c
 * Sources: mprotect_perf_boot.c mprotect_perf_stats.c mprotect_perf_record_read.c
 * Sources: mprotect_perf_record_line.c mprotect_perf_record.c
 *
 * What is written of a comparison: the words and the tables. That the figures in
 * them are right is unit_compare.c's.
 */
#include <stdlib.h>

#include "mprotect_perf_curve.h"
#include "mprotect_perf_plot.h"
#include "mprotect_perf_summary.h"
#include "mprotect_perf_table.h"
#include "mprotect_perf_tsv.h"
#include "no_measure.h"
#include "unit.h"

/* Times and counts of a phase of 100 pages; 0 instructions: not counted. */
struct load {
	const char *env;
	const char *row;
	double time, touch;
	unsigned int faults, kernel, user;
};

static struct mp_boot *make(const struct load *l)
{
	struct mp_err err = { "" };
	struct mp_boot *b;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	fprintf(f, "mprotect_perf-record 1\nenv unit=ns page_size=4096 %s\n", l->env);
	for (int i = 0; i < 200; i++) {
		double noise = 1 + 0.0005 * (i * 7 % 5 - 2);

		fprintf(f, "sample scenario=%s proc=%d cycle=%d pages=100 calls=1", l->row,
			i / 20, i % 20);
		fprintf(f, " protect=%.0f protect_faults=%u touch=%.0f", l->time * noise,
			l->faults, l->touch * noise);
		if (l->kernel)
			fprintf(f, " protect_insn_k=%u protect_insn_u=%u", l->kernel, l->user);
		fputc('\n', f);
	}
	fprintf(f, "end samples=200\n");
	fclose(f);
	f = fmemopen(text, size, "r");
	b = mp_boot_read_stream(f, "x.rec", &err);
	fclose(f);
	free(text);
	if (!b)
		ok(0, "record: %s", err.text);
	return b;
}

static void judge(struct mp_compare *c, const struct load *l, size_t n, const char *const *label)
{
	struct mp_err err = { "" };

	memset(c, 0, sizeof(*c));
	for (size_t i = 0; i < n; i++) {
		if (mp_compare_add(c, make(&l[i]), label ? label[i] : NULL, &err))
			ok(0, "added: %s", err.text);
	}
	if (mp_compare_judge(c, 5, 1, &err))
		ok(0, "judged: %s", err.text);
}

static char *text_of(const struct mp_compare *c, void (*write)(FILE *, const struct mp_compare *))
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	write(f, c);
	fclose(f);
	return text;
}

static void all_figures(FILE *f, const struct mp_compare *c)
{
	mp_table_figures(f, c, true);
}

static void figures(FILE *f, const struct mp_compare *c)
{
	mp_table_figures(f, c, false);
}

static void paragraph(FILE *f, const struct mp_compare *c)
{
	mp_summary_paragraph(f, c, 5);
}

static void script(FILE *f, const struct mp_compare *c)
{
	is_int(mp_plot_script(f, c, true), 0, "script: written");
}

static void has(const struct mp_compare *c, void (*write)(FILE *, const struct mp_compare *),
		const char *part, const char *what)
{
	char *text = text_of(c, write);

	has_str(text, part, what);
	free(text);
}

static void lacks(const struct mp_compare *c, void (*write)(FILE *, const struct mp_compare *),
		  const char *part, const char *what)
{
	char *text = text_of(c, write);

	ok(!strstr(text, part), "%s", what);
	free(text);
}

/* No line of the mail is longer than a mail is wide. */
static void fits(const struct mp_compare *c, const char *what)
{
	char *text = text_of(c, paragraph), *rest = text, *line;
	size_t most = 0;

	while ((line = strsep(&rest, "\n")))
		most = strlen(line) > most ? strlen(line) : most;
	ok(most <= MP_SUMMARY_WIDTH, "%s: %zu columns", what, most);
	free(text);
}

/* The question that a report of a slowdown is asked first. */
static void test_explanation(void)
{
	const struct load more[] = {
		{ "release=A", "s", 4000, 800, 0, 10000, 100 },
		{ "release=B", "s", 5600, 800, 0, 13838, 100 },
	};
	const struct load same[] = {
		{ "release=A", "s", 4000, 800, 0, 10000, 100 },
		{ "release=B", "s", 4400, 800, 0, 10010, 100 },
	};
	const struct load faults[] = {
		{ "release=A", "s", 4000, 800, 0, 0, 0 },
		{ "release=B", "s", 5600, 800, 100, 0, 0 },
	};
	struct mp_compare c;
	char text[768];

	judge(&c, more, 2, NULL);
	mp_summary_ruling(&c, &c.row[0], 5, text, sizeof(text));
	has_str(text, "REGRESSED floor 39.960 -> 55.940 ns/page, +39.99%", "more: verdict");
	has_str(text, "; time +40.0%, instructions +38.0%", "more: instructions grew as well");
	has(&c, paragraph, "+40.0%", "more: so says the mail");
	has(&c, figures, "   101.000            +38.0%   139.380          s.protect.instructions\n",
	    "more: in the table, per page");
	lacks(&c, figures, "s.protect.insn_k", "more: without its parts");
	has(&c, all_figures, "s.protect.insn_k", "more: which all of it has");
	lacks(&c, figures, "s.touch.instructions", "more: nothing of what was not counted");
	mp_summary_ruling(&c, &c.row[0], 5, text, 40);
	is_int(strlen(text), 39, "more: a line that is cut");
	mp_compare_free(&c);

	judge(&c, same, 2, NULL);
	mp_summary_ruling(&c, &c.row[0], 5, text, sizeof(text));
	has_str(text, "; time +10.0%, instructions unchanged (layout, cache or noise)",
		"same: instructions did not grow");
	mp_compare_free(&c);

	judge(&c, faults, 2, NULL);
	mp_summary_ruling(&c, &c.row[0], 5, text, sizeof(text));
	has_str(text, "; time +40.0%, faults 0 -> 100 a cycle", "faults: there were none");
	has(&c, figures, "     0.000           +100.0    100.000          s.protect.faults\n",
	    "faults: no percent of nothing");
	mp_compare_free(&c);
}

#define LONG "0123456789012345678901234567890123456789012345678901234567890123456789"
#define MODEL "model=\"`x` $(y) \\x22'\\x5c{}@ " LONG "\" "

/* Names as long as they may be, a row that one kernel lacks, a figure of 0. */
static void test_bounds(void)
{
	const struct load l[] = {
		{ MODEL "cmdline=\"BOOT_IMAGE=a quiet x=1\" turbo=\"\" release=" LONG LONG,
		  "abcdefghijklmnopqrstuvwxyz-1234", 4000, 0, 0, 0, 0 },
		{ MODEL "cmdline=\"BOOT_IMAGE=b x=2 quiet\" release=\"`B`'\\x22\"",
		  "abcdefghijklmnopqrstuvwxyz-1234", 5600, 800, 0, 0, 0 },
		{ MODEL "release=C hypervisor=no debug=KASAN", "t", 4000, 800, 0, 0, 0 },
	};
	struct mp_compare c = { 0 };
	struct mp_err err = { "" };
	char text[768];

	is_int(mp_compare_add(&c, make(&l[0]), NULL, &err), 0, "bounds: first");
	is_int(mp_compare_add(&c, make(&l[1]), NULL, &err), 0, "bounds: second");
	is_int(mp_compare_judge(&c, 5, 1, &err), 0, "bounds: two");
	mp_summary_ruling(&c, &c.row[1], 5, text, sizeof(text));
	has_str(text, "INCONCLUSIVE: a figure is 0", "bounds: nothing from 0");
	fits(&c, "bounds: the mail of two");
	has(&c, mp_summary_caveats, "differs: turbo:  in x.rec, absent in x.rec\n", "bounds: empty");
	has(&c, mp_summary_caveats, "differs: cmdline: only in base: x=1 only later: x=2\n",
	    "bounds: words of a command line in any order");
	has(&c, script, "title '?B?", "bounds: a name for gnuplot");
	lacks(&c, script, "`", "bounds: nothing that gnuplot runs");
	mp_compare_free(&c);
}

static void test_missing(void)
{
	const struct load l[] = {
		{ "release=A debug=KASAN", "s", 4000, 800, 0, 0, 0 },
		{ "release=B debug=KASAN", "s", 5600, 800, 0, 0, 0 },
		{ "release=C debug=none", "t", 4000, 800, 0, 0, 0 },
	};
	struct mp_compare c;
	char *text;

	judge(&c, l, 3, NULL);
	has(&c, figures, "   -                 -         -                 -    39.960          t.pro",
	    "missing: no figure");
	has(&c, mp_table_changes, "s.protect                             -                     -",
	    "missing: no change");
	has(&c, mp_table_changes, "> to B                          +39.99%", "missing: the step");
	has(&c, mp_table_changes, "  to C                                -", "missing: and none");
	has(&c, mp_summary_caveats, "a debug kernel: the times say little", "missing: KASAN");
	has(&c, paragraph, " B; 0 of 4 rows OK, 4 INCONCLUSIVE\n(s.protect: one", "missing: why");
	has(&c, script, " NaN", "missing: nothing to draw");
	text = text_of(&c, mp_tsv_write);
	for (char *rest = text, *line; (line = strsep(&rest, "\n")) && *line; ) {
		size_t tabs = 0;

		for (char *p = line; *p; p++)
			tabs += *p == '\t';
		is_int(tabs, 35, "missing: every field has its place");
		ok(!strstr(line, "nan") && !strstr(line, "-100"), "missing: and is empty");
	}
	free(text);
	mp_compare_free(&c);
}

static void test_summary(void)
{
	static const char *const label[] = { "v1", "v2", "v3", "v4" };
	const struct load l[] = {
		{ "release=A", "s", 4000, 800, 0, 0, 0 },
		{ "release=B", "s", 5600, 800, 0, 0, 0 },
		{ "release=C", "s", 4000, 1000, 0, 0, 0 },
		{ "release=D", "s", 3000, 800, 0, 0, 0 },
	};
	const struct load late[] = { l[0], l[0], l[1] };
	struct mp_compare c;

	judge(&c, l, 3, label);
	has(&c, paragraph, "mprotect() of v3 against v1 over 3 kernels (1 and 1 boots, unknown CPU",
	    "summary: who");
	has(&c, paragraph, "s.protect +40.0% at v2, but +0.0%", "summary: came and went");
	has(&c, paragraph, "1 INCONCLUSIVE (s.touch: the control moved", "summary: control");
	fits(&c, "summary");
	mp_compare_free(&c);

	judge(&c, late, 3, label);
	has(&c, paragraph, "s.protect 39.960 -> 55.940, +40.0% (", "summary: the worst");
	has(&c, paragraph, "REGRESSED, most at v3: +40.0%;", "summary: and since when");
	mp_compare_free(&c);

	judge(&c, l, 4, label);
	has(&c, paragraph, "s.protect 39.960 -> 29.970, -25.0% (", "summary: the better");
	has(&c, paragraph, "IMPROVED, most at v2: +40.0%;", "summary: though it was worse between");
	has(&c, paragraph, "(at most s.touch +0.0%).", "summary: and the rest");
	mp_compare_free(&c);
}

/*
 * Sizes from 1 to 1000 pages without the @skip smallest, 1 and 4 tasks, which
 * wait for each other.
 */
static struct mp_boot *make_variants(const char *env, double per_page, unsigned int skip)
{
	static const unsigned int pages[] = { 1, 10, 100, 1000 };
	struct mp_err err = { "" };
	struct mp_boot *b;
	unsigned int n = 0;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	fprintf(f, "mprotect_perf-record 1\nenv unit=ns page_size=4096 %s\n", env);
	for (unsigned int i = 0; i < 4 * 2 * 120; i++) {
		unsigned int p = pages[i / 240], tasks = i % 240 / 120 ? 4 : 1, at = i % 120;
		double wait = (tasks > 1 ? 1.5 : 1) * (1 + 0.0005 * (at * 7 % 5 - 2.0));

		if (i / 240 < skip)
			continue;
		n++;
		fprintf(f, "sample scenario=s proc=%u cycle=%u pages=%u calls=1", at / 12,
			at % 12 / tasks, p);
		if (tasks > 1)
			fprintf(f, " tasks=%u task=%u start=%u", tasks, at % tasks,
				at % 12 / tasks * 1000000);
		fprintf(f, " protect=%.0f\n", (1000 + per_page * p) * wait);
	}
	fprintf(f, "end samples=%u\n", n);
	fclose(f);
	f = fmemopen(text, size, "r");
	b = mp_boot_read_stream(f, "x.rec", &err);
	fclose(f);
	free(text);
	if (!b)
		ok(0, "record: %s", err.text);
	return b;
}

static void test_variants(void)
{
	struct mp_compare c = { 0 };
	struct mp_err err = { "" };
	char text[768];

	mp_compare_add(&c, make_variants("release=A", 20, 0), NULL, &err);
	mp_compare_add(&c, make_variants("release=B", 30, 0), NULL, &err);
	is_int(mp_compare_judge(&c, 5, 1, &err), 0, "variants: judged");
	is_int(c.ntests, 1, "variants: one test");
	mp_summary_ruling(&c, &c.row[c.test[0]], 5, text, sizeof(text));
	has_str(text, "REGRESSED at 4000KiB, ", "variants: which is the worst");
	has_str(text, "; 8 variants (6 REGRESSED, 2 OK), +1.0% at 4KiB, ", "variants: and the range");
	has_str(text, " to +47.6% at 4000KiB, ", "variants: and its end");
	has(&c, figures, "  s@400KiB*4.protect.floor\n", "variants: names in the table");
	has(&c, mp_table_changes, "\ns@40KiB*1.protect ", "variants: in the other");
	has(&c, paragraph, "s@4000KiB*", "variants: in the mail");
	fits(&c, "variants");
	has(&c, mp_tsv_write, "s\tprotect\tns\t1000\t1\t4\tB\t1\t10\t120\t", "variants: TSV");
	has(&c, mp_curve_fits, "\ns*4.protect                    A  ", "variants: a line");
	has(&c, mp_curve_fits, "   19.9", "variants: of 20 a page");
	has(&c, mp_curve_fits, "   29.9", "variants: of 30 where tasks wait");
	has(&c, mp_curve_fits, " change                +0.0% ", "variants: the fixed part is the same");
	has(&c, mp_curve_fits, "   +50.0% ±", "variants: but the other did");
	lacks(&c, mp_curve_fits, "no line", "variants: it is one");
	has(&c, mp_curve_scaling, "\ns@4KiB                         A  ", "variants: tasks");
	has(&c, mp_curve_scaling, "                      4     ", "variants: four of them");
	has(&c, script, "title 's@400KiB*1.protect'", "variants: processes are drawn");
	has(&c, script, "title 's*4.protect: cost against size'", "variants: so are sizes");
	has(&c, script, "lc 2 notitle", "variants: with the line of each kernel");
	has(&c, script, "title 's@4KiB: scaling'", "variants: and tasks");
	mp_compare_free(&c);

	/* what is not there */
	mp_compare_add(&c, make_variants("release=A", 20, 1), NULL, &err);
	mp_compare_add(&c, make_variants("release=C", 20, 0), NULL, &err);
	mp_compare_add(&c, make_variants("release=B", 20, 2), NULL, &err);
	mp_compare_judge(&c, 5, 1, &err);
	has(&c, mp_curve_fits, "\ns*1.protect                    A                    99", "missing: three are");
	has(&c, mp_curve_fits, "B                 no line: it takes 3 sizes\n",
	    "missing: two sizes are no line");
	lacks(&c, mp_curve_fits, "change", "missing: nor a change of one");
	mp_summary_ruling(&c, &c.row[c.test[0]], 5, text, sizeof(text));
	has_str(text, "8 variants (4 INCONCLUSIVE, 4 OK)", "missing: no verdict");
	mp_compare_free(&c);
}

/* One size, one number of tasks: nothing is different from before. */
static void test_no_variants(void)
{
	const struct load l[] = { { "release=A", "s", 4000, 800, 0, 0, 0 },
				  { "release=B", "s", 5600, 800, 0, 0, 0 } };
	struct mp_compare c;
	char text[768], *table;

	judge(&c, l, 2, NULL);
	mp_summary_ruling(&c, &c.row[0], 5, text, sizeof(text));
	ok(!strstr(text, " at ") && !strstr(text, "sizes"), "no variants: no word of them");
	table = text_of(&c, mp_curve_fits);
	is_str(table, "", "no variants: no table of lines");
	free(table);
	table = text_of(&c, mp_curve_scaling);
	is_str(table, "", "no variants: nor of tasks");
	free(table);
	lacks(&c, script, "against size", "no variants: no curve");
	mp_compare_free(&c);
}

/* Sizes that were run with one number of tasks, and tasks with one of the sizes. */
static void test_corner(void)
{
	static const char text[] = "mprotect_perf-record 1\nenv unit=ns page_size=4096\n"
		"sample scenario=s proc=0 cycle=0 pages=4 calls=1 touch=9\n"
		"sample scenario=s proc=0 cycle=0 pages=8 calls=1 touch=9\n"
		"sample scenario=s proc=0 cycle=0 pages=8 calls=1 tasks=2 start=1 touch=9\n"
		"sample scenario=s proc=0 cycle=0 pages=8 calls=1 tasks=2 task=1 start=1 touch=9\n"
		"end samples=4\n";
	struct mp_compare c = { 0 };
	struct mp_err err = { "" };

	for (int i = 0; i < 2; i++) {
		FILE *f = fmemopen((void *)text, strlen(text), "r");

		mp_compare_add(&c, mp_boot_read_stream(f, "x", &err), i ? "a" : "b", &err);
		fclose(f);
	}
	is_int(mp_compare_judge(&c, 5, 1, &err), 0, "corner: judged");
	has(&c, mp_curve_fits, "\ns*1.touch ", "corner: a curve over sizes");
	lacks(&c, mp_curve_fits, "s*2", "corner: but not of one size");
	has(&c, mp_curve_scaling, "\ns@32KiB ", "corner: one over tasks");
	lacks(&c, mp_curve_scaling, "s@16KiB", "corner: but not of one number");
	mp_compare_free(&c);
}

static void test_numbers(void)
{
	char text[32], dirty[] = "a\tb\x7f\xe9\x1b";

	is_str(mp_table_number(text, sizeof(text), NAN), "-", "number: none");
	is_str(mp_table_number(text, sizeof(text), 0.1234), "0.123", "number: small");
	is_str(mp_table_number(text, sizeof(text), 123456.7), "123457", "number: large");
	is_str(mp_table_clean(dirty), "a?b???", "clean: one byte, one character");
	ok(isnan(mp_table_change(0, 1)) && isnan(mp_table_change(NAN, 1)), "change: of nothing");
	is_near(mp_table_change(4, 5), 25, 1e-12, "change: percent");
}

int main(void)
{
	test_explanation();
	test_bounds();
	test_missing();
	test_summary();
	test_variants();
	test_no_variants();
	test_corner();
	test_numbers();
	return done_testing();
}
