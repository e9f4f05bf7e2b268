// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the command line.
 *
 * Sources: mprotect_perf_record_order.c
 * Sources: mprotect_perf_new_file.c
 * Sources: mprotect_perf_opts.c mprotect_perf_opts_value.c mprotect_perf_protocol.c
 * Sources: mprotect_perf_scenario.c mprotect_perf_variant.c
 * Sources: mprotect_perf_record.c mprotect_perf_record_read.c mprotect_perf_record_line.c
 */
#include "unit.h"
#include "mprotect_perf_opts.h"
#include "mprotect_perf_scenario.h"

#define ARGS 16

static int parse(struct mp_opts *o, struct mp_err *err, const char *line)
{
	static char words[512];
	char *argv[ARGS + 2] = { "mprotect_perf" };
	int argc = 1;
	char *word;

	snprintf(words, sizeof(words), "%s", line);
	for (word = strtok(words, " "); word && argc <= ARGS; word = strtok(NULL, " "))
		argv[argc++] = word;
	err->text[0] = '\0';
	return mp_opts_parse(o, argc, argv, err);
}

static void test_protocols(void)
{
	struct mp_opts o;
	struct mp_err err;
	unsigned int i;
	char line[64];

	is_int(parse(&o, &err, "-p --protocol lin"), 0, "--protocol");
	ok(o.procs == 15 && o.warmup_procs == 3 && o.cycles == 1000, "is the published one");
	for (i = 0; mp_protocol_at(i); i++) {
		snprintf(line, sizeof(line), "-p --protocol %s", mp_protocol_at(i)->name);
		is_int(parse(&o, &err, line), 0, line);
		ok(o.protocol == mp_protocol_at(i) && o.select && o.select != ~0ULL,
		   "chooses rows that there are");
		ok(!o.protocol->sweep == !o.choice.nsizes, "and sizes");
	}
	is_int(parse(&o, &err, "-p --protocol yang -s one-page --sweep 4k..8k --time 3"), 0,
	       "others may be given beside it");
	ok(o.select == 1ULL << mp_scenario_find("one-page") && o.choice.nsizes == 2, "and are taken");
	for (i = 0; i < 2; i++) {
		is_int(parse(&o, &err, i ? "-p --protocol yang --procs 20 --cycles 5" :
			     "-p --procs 20 --cycles 5 --protocol yang"), 0,
		       "what a protocol leaves open, before and behind it");
		ok(o.procs == 20 && o.cycles == 5 && !o.warmup, "is taken");
	}
}

static void test_good(void)
{
	struct mp_opts o;
	struct mp_err err;

	is_int(parse(&o, &err, ""), 0, "no options");
	ok(!o.perf && !o.list && !o.help && !o.verbose && !o.output && !o.insn, "ask for nothing");
	ok(o.select == ~0ULL, "and for every scenario");
	is_int(o.cpu, -1, "on any CPU");

	is_int(parse(&o, &err, "-pv -s one-page,api --time 2.5 --cycles=7 --warmup 0 --cpu 3 "
		     "-o x.rec"), 0, "many options");
	ok(o.perf && o.verbose, "flags");
	ok(o.select == (MP_SELECT_API | 1ULL << mp_scenario_find("one-page")), "selection");
	is_double(o.time, 2.5, "--time");
	is_int(o.cycles, 7, "--cycles=");
	is_int(o.warmup, 0, "--warmup");
	is_int(o.cpu, 3, "--cpu");
	is_str(o.output, "x.rec", "-o");

	is_int(parse(&o, &err, "--perf --unit insn --timeout 5"), 0, "long options");
	ok(o.insn && o.perf && o.timeout == 5, "taken");
	is_int(parse(&o, &err, "--unit ns -p"), 0, "-p may come last");
	is_int(parse(&o, &err, "-p --threshold 3 --severity fail --baseline x"), 0, "of a baseline");
	is_int(parse(&o, &err, "-p --severity fail --max touch=1 -s private-none,one-page"), 0,
	       "a limit that one of the rows has");
	is_int(parse(&o, &err, "-s shared-dirty,shared-dirty"), 0, "the same row twice");
	is_int(parse(&o, &err, "--allow-settings --sweep 4k..64kx4 --tasks 1,2 -s processes"), 0,
	       "variants may be validated");
	ok(o.allow_settings && o.choice.nsizes == 3 && o.choice.ncounts == 2, "taken");

	is_int(parse(&o, &err, "-c x=a.rec --tsv t --threshold 3 b.rec --plot p.svg -s any -- -c"),
	       0, "records and options in any order");
	is_int(o.nfiles, 3, "are told apart");
	is_str(o.file[0], "x=a.rec", "the first");
	is_str(o.file[2], "-c", "also one that looks like an option");
	ok(!strcmp(o.tsv, "t") && !strcmp(o.plot, "p.svg") && !o.bisect, "where to write");
	is_str(o.scenarios, "any", "rows that this program does not know");
	is_int(parse(&o, &err, "-c a b --severity auto --bisect"), 0, "--bisect");
	ok(o.bisect, "taken");
	is_int(parse(&o, &err, "--nosuch --bisect"), -1, "a wrong option before --bisect");
	ok(o.bisect, "which is seen for its exit status");
}

struct bad {
	const char *line;
	const char *say;
};

static void refused(const struct bad *bad, size_t n)
{
	struct mp_opts o;
	struct mp_err err;
	size_t i;

	for (i = 0; i < n; i++) {
		is_int(parse(&o, &err, bad[i].line), -1, bad[i].line);
		has_str(err.text, bad[i].say, "and says why");
		ok(!strchr(err.text, '\n'), "in one line");
	}
}

static void test_bad_compare(void)
{
	static const struct bad bad[] = {
		{ "-c", "-c needs two records or more" },
		{ "-c a", "-c needs two records or more" },
		{ "-c -p a b", "-p and -c: give one of them" },
		{ "-c -l a b", "-l and -c: give one of them" },
		{ "-c -o x a b", "--output has no effect with -c" },
		{ "-c a b --time 3", "--time has no effect with -c" },
		{ "-c a b --timeout 3", "--timeout has no effect with -c" },
		{ "--tsv x", "--tsv has no effect without -c" },
		{ "-p --bisect", "--bisect has no effect without -c" },
		{ "--seed 1", "--seed has no effect without -p or -c" },
		{ "-p --plot x", "--plot 'x': give a name that ends in .svg or .png" },
		{ "--plot x.svg", "--plot has no effect without -p or -c" },
		{ "-c a b --plot x", "--plot 'x': give a name that ends in .svg or .png" },
		{ "-c a b --plot x.svg.gz", "--plot 'x.svg.gz'" },
		{ "-c a b --bisect --severity warn", "--severity warn has no effect" },
	};

	refused(bad, ARRAY_SIZE(bad));
}

static void test_bad(void)
{
	static const struct bad bad[] = {
		{ "--nosuch", "unknown option '--nosuch'" },
		{ "-p -z", "unknown option" },
		{ "-p --cyc 3", "'--cyc': write --cycles in full" },
		{ "-p --cyc=3", "write --cycles in full" },
		{ "-p --time", "needs an argument" },
		{ "-p --time 0", "--time '0': give seconds" },
		{ "-p --time 1e3", "--time '1e3'" },
		{ "-p --time 1.2.3", "--time '1.2.3'" },
		{ "-p --time 86401", "--time" },
		{ "-p --cycles -1", "--cycles '-1'" },
		{ "-p --cycles 1k", "--cycles '1k'" },
		{ "-p --cycles 0x10", "--cycles '0x10'" },
		{ "-p --warmup 18446744073709551616", "--warmup" },
		{ "-p --cpu 1024", "--cpu '1024'" },
		{ "-p --unit sec", "--unit 'sec'" },
		{ "-p --protocol linn", "--protocol 'linn': give lin, yang, jain or libmicro" },
		{ "-p --protocol yang --warmup 3", "--protocol sets --warmup" },
		{ "-p --sweep 4k", "--sweep '4k': give MIN..MAX[xSTEP]" },
		{ "-l --sweep 4k..4m", "--sweep has no effect with -l" },
		{ "-c a b --tasks 2", "--tasks has no effect with -c" },
		{ "--tasks 0", "--tasks '0': give up to 16 numbers" },
		{ "--tasks 2 -s one-page,api", "--tasks has no effect on these scenarios" },
		{ "-l --allow-settings", "--allow-settings has no effect with -l" },
		{ "-p --protocol lin --cycles 3", "--protocol sets --cycles" },
		{ "-p --time 3 --protocol lin", "--protocol sets --time" },
		{ "--protocol lin", "--protocol has no effect without -p" },
		{ "-p --threshold 3 --max protect=1",
		  "--threshold has no effect without --baseline" },
		{ "-p --severity fail", "--severity has no effect without --baseline or --max" },
		{ "-p --procs 2 --cycles 3 --time 1",
		  "--time has no effect beside --procs and --cycles" },
		{ "-p -s private-none --max touch=5",
		  "--max: none of these scenarios times touch" },
		{ "-p --cycles 1000001", "--cycles '1000001'" },
		{ "-p --max protect", "--max 'protect': give PHASE=NUMBER" },
		{ "-p --max populate=3", "--max 'populate=3'" },
		{ "-p --max protect=1,", "--max 'protect=1,'" },
		{ "-p --max protect=x", "--max 'protect=x'" },
		{ "-p --max protect=1restore=2", "--max 'protect=1restore=2'" },
		{ "-p --threshold -1", "--threshold '-1': give percent" },
		{ "-p --severity high", "--severity 'high': give auto, warn or fail" },
		{ "--cpu 1", "--cpu has no effect without -p" },
		{ "-o x", "--output has no effect without -p" },
		{ "-s ,", "no scenario ''" },
		{ "-s Shared-dirty", "no scenario 'Shared-dirty'" },
		{ "-s shared-dirty,nosuch", "no scenario 'nosuch'" },
		{ "-l -p", "-l and -p" },
		{ "file", "'file' is not an option" },
		{ "-- -p", "'-p' is not an option" },
	};

	refused(bad, ARRAY_SIZE(bad));
}

/* What the rest relies on, row by row. */
static void test_table(void)
{
	unsigned int i, k;

	ok(mp_nr_scenarios < 63, "a mask has room for every row");
	for (i = 0; i < mp_nr_scenarios; i++) {
		const struct mp_scenario *sc = &mp_scenarios[i];

		is_int(mp_scenario_find(sc->name), i, sc->name);
		ok(strlen(sc->name) < 32 &&
		   strspn(sc->name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(sc->name),
		   "its name is lower case and fits into a record");
		ok(sc->what && sc->origin, "it is described");
		ok(sc->regions && !sc->bytes != !sc->pages, "it has a size");
		ok(sc->bytes || sc->pages > 2 * sc->margin, "and pages to protect");
		for (k = 0; k < i; k++)
			if (!strcmp(mp_scenarios[k].name, sc->name))
				ok(0, "its name is its own");
	}
}

int main(void)
{
	test_good();
	test_protocols();
	test_bad();
	test_bad_compare();
	test_table();
	return done_testing();
}
