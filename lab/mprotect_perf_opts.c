// SPDX-License-Identifier: GPL-2.0
/*
 * Options. getopt_long() takes them apart; what it lets pass and we do not:
 * shortened long options (a script that uses one breaks when another option
 * with that beginning arrives), numbers with something behind them, an option
 * that has no effect with the others.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "mprotect_perf_opts_value.h"
#include "mprotect_perf_protocol.h"
#include "mprotect_perf_scenario.h"

enum {
	OPT_TIMEOUT = 256, OPT_TIME, OPT_PROCS, OPT_WARMUP_PROCS, OPT_CYCLES,
	OPT_WARMUP, OPT_SEED, OPT_CPU, OPT_UNIT, OPT_MAX, OPT_BASELINE,
	OPT_THRESHOLD, OPT_SEVERITY, OPT_PROTOCOL, OPT_TSV, OPT_PLOT, OPT_BISECT,
	OPT_SWEEP, OPT_TASKS, OPT_ALLOW,
};

static const struct option longopts[] = {
	{ "perf", no_argument, NULL, 'p' },
	{ "compare", no_argument, NULL, 'c' },
	{ "list", no_argument, NULL, 'l' },
	{ "scenario", required_argument, NULL, 's' },
	{ "output", required_argument, NULL, 'o' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "time", required_argument, NULL, OPT_TIME },
	{ "procs", required_argument, NULL, OPT_PROCS },
	{ "warmup-procs", required_argument, NULL, OPT_WARMUP_PROCS },
	{ "cycles", required_argument, NULL, OPT_CYCLES },
	{ "warmup", required_argument, NULL, OPT_WARMUP },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "cpu", required_argument, NULL, OPT_CPU },
	{ "unit", required_argument, NULL, OPT_UNIT },
	{ "max", required_argument, NULL, OPT_MAX },
	{ "baseline", required_argument, NULL, OPT_BASELINE },
	{ "threshold", required_argument, NULL, OPT_THRESHOLD },
	{ "protocol", required_argument, NULL, OPT_PROTOCOL },
	{ "severity", required_argument, NULL, OPT_SEVERITY },
	{ "tsv", required_argument, NULL, OPT_TSV },
	{ "plot", required_argument, NULL, OPT_PLOT },
	{ "bisect", no_argument, NULL, OPT_BISECT },
	{ "sweep", required_argument, NULL, OPT_SWEEP },
	{ "tasks", required_argument, NULL, OPT_TASKS },
	{ "allow-settings", no_argument, NULL, OPT_ALLOW },
	{ NULL, 0, NULL, 0 },
};

static int parse_protocol(const char *text, struct mp_opts *o, struct mp_err *err)
{
	o->protocol = mp_protocol_find(text, err);
	return o->protocol ? 0 : -1;
}

/* Rows and sizes, and what a protocol leaves open, may be given beside it. */
static int fill_from_protocol(struct mp_opts *o, struct mp_err *err)
{
	const struct mp_protocol *p = o->protocol;

	if (!p)
		return 0;
	o->warmup_procs = p->warmup_procs;
	o->warmup = p->warmup;
	if (p->procs)
		o->procs = p->procs;
	if (p->cycles)
		o->cycles = p->cycles;
	if (!o->scenarios)
		o->scenarios = p->scenarios;
	if (p->sweep && !o->choice.nsizes)
		return mp_choice_sweep(&o->choice, p->sweep, err);
	return 0;
}

static int parse_select(const char *text, uint64_t *select, struct mp_err *err)
{
	const char *p = text;

	*select = 0;
	for (;;) {
		size_t len = strcspn(p, ",");
		char name[64];
		int row;

		snprintf(name, sizeof(name), "%.*s", (int)(len < 63 ? len : 63), p);
		row = mp_scenario_find(name);
		if (row >= 0)
			*select |= 1ULL << row;
		else if (!strcmp(name, "api"))
			*select |= MP_SELECT_API;
		else
			return mp_error(err, "-s: no scenario '%s'; -l lists them", name);
		if (!p[len])
			return 0;
		p += len + 1;
	}
}

/* Options that are a whole number. */
static int parse_number(struct mp_opts *o, int opt, struct mp_err *err)
{
	const struct {
		int opt;
		const char *name;
		unsigned long min, max;
		uint32_t *to;
	} number[] = {
		{ OPT_TIMEOUT, "timeout", 1, 86400, &o->timeout },
		{ OPT_PROCS, "procs", 1, MP_PROC_MAX, &o->procs },
		{ OPT_WARMUP_PROCS, "warmup-procs", 0, 100000, &o->warmup_procs },
		{ OPT_CYCLES, "cycles", 1, 1000000, &o->cycles },
		{ OPT_WARMUP, "warmup", 0, 100000000, &o->warmup },
		{ OPT_SEED, "seed", 0, UINT32_MAX, &o->seed },
		{ OPT_CPU, "cpu", 0, 1023, (uint32_t *)&o->cpu },
	};
	unsigned long n;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(number); i++) {
		if (number[i].opt != opt)
			continue;
		if (mp_parse_count(number[i].name, optarg, number[i].min, number[i].max, &n, err))
			return -1;
		*number[i].to = (uint32_t)n;
	}
	return 0;
}

static int parse_one(struct mp_opts *o, int opt, struct mp_err *err)
{
	switch (opt) {
	case 'p':
		o->perf = true;
		return 0;
	case 'l':
		o->list = true;
		return 0;
	case 'v':
		o->verbose = true;
		return 0;
	case 'h':
		o->help = true;
		return 0;
	case 'c':
		o->compare = true;
		return 0;
	case 's':
		o->scenarios = optarg;
		return 0;
	case 'o':
		o->output = optarg;
		return 0;
	case OPT_TIME:
		return mp_parse_time(optarg, &o->time, err);
	case OPT_UNIT:
		return mp_parse_unit(optarg, &o->insn, err);
	case OPT_MAX:
		return mp_parse_max(optarg, o->max, err);
	case OPT_BASELINE:
		o->baseline = optarg;
		return 0;
	case OPT_THRESHOLD:
		return mp_parse_threshold(optarg, &o->threshold, err);
	case OPT_SEVERITY:
		return mp_parse_severity(optarg, &o->severity, err);
	case OPT_PROTOCOL:
		return parse_protocol(optarg, o, err);
	case OPT_TSV:
		o->tsv = optarg;
		return 0;
	case OPT_PLOT:
		o->plot = optarg;
		return 0;
	case OPT_BISECT:
		return 0;	/* seen before the others */
	case OPT_SWEEP:
		return mp_choice_sweep(&o->choice, optarg, err);
	case OPT_TASKS:
		return mp_choice_tasks(&o->choice, optarg, err);
	case OPT_ALLOW:
		o->allow_settings = true;
		return 0;
	default:
		return parse_number(o, opt, err);
	}
}

/* getopt_long() takes "--tim" for "--time" */
static int check_whole(const char *token, int index, struct mp_err *err)
{
	size_t len = strcspn(token + 2, "=");

	if (strlen(longopts[index].name) == len)
		return 0;
	return mp_error(err, "option '%.60s': write --%s in full", token, longopts[index].name);
}

static int refuse(const char *token, int opt, struct mp_err *err)
{
	if (opt == ':')
		return mp_error(err, "option '%.60s' needs an argument; -h lists the options",
				token);
	return mp_error(err, "unknown option '%.60s'; -h lists the options", token);
}

/* Where a long or a short option is in longopts[]. */
static int index_of(int opt)
{
	int i;

	for (i = 0; longopts[i].val != opt; i++)
		;
	return i;
}

/* @given is a mask of longopts[] */
static bool is_given(uint64_t given, int opt)
{
	return given & 1ULL << index_of(opt);
}

enum { CHECK = 1, PERF = 2, LIST = 4, COMPARE = 8, ALL = 15 };

/* The modes in which an option has an effect. */
static unsigned int modes(int opt)
{
	switch (opt) {
	case OPT_SEED:
	case OPT_THRESHOLD:
	case OPT_SEVERITY:
	case OPT_PLOT:
		return PERF | COMPARE;
	case OPT_TSV:
	case OPT_BISECT:
		return COMPARE;
	case OPT_TIMEOUT:
		return ALL & ~COMPARE;
	case OPT_SWEEP:
	case OPT_TASKS:
	case OPT_ALLOW:
		return CHECK | PERF;
	case 'o':
		return PERF;
	default:
		return opt > OPT_TIMEOUT ? PERF : ALL;
	}
}

static int check_protocol(const struct mp_opts *o, uint64_t given, struct mp_err *err)
{
	const struct mp_protocol *p = o->protocol;
	const struct {
		int opt;
		bool set;
	} by_protocol[] = {
		{ OPT_PROCS, p && p->procs }, { OPT_WARMUP_PROCS, true }, { OPT_WARMUP, true },
		{ OPT_CYCLES, p && p->cycles }, { OPT_TIME, p && p->procs && p->cycles },
	};
	unsigned int i;

	for (i = 0; p && i < ARRAY_SIZE(by_protocol); i++)
		if (by_protocol[i].set && is_given(given, by_protocol[i].opt))
			return mp_error(err, "--protocol sets --%s: give one of them",
					longopts[index_of(by_protocol[i].opt)].name);
	return 0;
}

static int check_together(const struct mp_opts *o, uint64_t given, struct mp_err *err)
{
	unsigned int mode = o->compare ? COMPARE : o->perf ? PERF : o->list ? LIST : CHECK;
	unsigned int i, can;

	if (o->compare + o->perf + o->list > 1)
		return mp_error(err, "%s and %s: give one of them", o->list ? "-l" : "-p",
				o->compare ? "-c" : "-p");
	for (i = 0; longopts[i].name; i++) {
		can = modes(longopts[i].val);
		if (!(given & 1ULL << i) || can & mode)
			continue;
		return mp_error(err, "--%s has no effect %s", longopts[i].name,
				mode == COMPARE ? "with -c" : can == PERF ? "without -p" :
				can == COMPARE ? "without -c" :
				can & CHECK ? "with -l" : "without -p or -c");
	}
	return check_protocol(o, given, err);
}

/* Tasks are asked for: is there a row that has any? */
static int check_tasks(const struct mp_opts *o, struct mp_err *err)
{
	unsigned int i;

	for (i = 0; i < mp_nr_scenarios; i++)
		if (o->select & 1ULL << i && mp_scenarios[i].team != MP_ALONE)
			return 0;
	return mp_error(err, "--tasks has no effect on these scenarios; give -s threads,threads-shared,processes");
}

static int check_plot(const struct mp_opts *o, struct mp_err *err)
{
	const char *end = o->plot ? strrchr(o->plot, '.') : NULL;

	if (!o->plot || (end && (!strcmp(end, ".svg") || !strcmp(end, ".png"))))
		return 0;
	return mp_error(err, "--plot '%.150s': give a name that ends in .svg or .png", o->plot);
}

/* With -p: nobody is to take a limit for kept that was not looked at. */
static int check_perf(const struct mp_opts *o, uint64_t given, struct mp_err *err)
{
	bool limited = o->baseline || is_given(given, OPT_MAX);

	if (is_given(given, OPT_THRESHOLD) && !o->baseline)
		return mp_error(err, "--threshold has no effect without --baseline");
	if (is_given(given, OPT_SEVERITY) && !limited)
		return mp_error(err, "--severity has no effect without --baseline or --max");
	if (o->procs && o->cycles && is_given(given, OPT_TIME))
		return mp_error(err, "--time has no effect beside --procs and --cycles");
	return 0;
}

/* A limit of a phase: is there a row that times it? */
static int check_max(const struct mp_opts *o, struct mp_err *err)
{
	unsigned int i, timed = 0;
	int phase;

	for (i = 0; i < mp_nr_scenarios; i++)
		if (o->select & 1ULL << i)
			timed |= mp_scenarios[i].timed;
	for (phase = 0; phase < MP_PHASES; phase++)
		if (o->max[phase] > 0 && !(timed & 1U << phase))
			return mp_error(err, "--max: none of these scenarios times %s",
					mp_phase_name[phase]);
	return 0;
}

static int check_compare(const struct mp_opts *o, struct mp_err *err)
{
	if (o->nfiles < 2)
		return mp_error(err, "-c needs two records or more: -c BASE HEAD");
	if (o->bisect && o->severity == MP_WARN)
		return mp_error(err, "--severity warn has no effect with --bisect");
	return 0;
}

int mp_opts_parse(struct mp_opts *o, int argc, char **argv, struct mp_err *err)
{
	uint64_t given = 0;
	int opt, index;

	*o = (struct mp_opts){ .select = ~0ULL, .time = 5, .threshold = 5, .seed = 1,
			       .warmup = 3, .timeout = 60, .cpu = -1 };
	/* Also what is wrong with the other options is told in its exit status. */
	for (index = 1; index < argc; index++)
		o->bisect |= !strcmp(argv[index], "--bisect");
	opterr = 0;
	optind = 0;
	for (;;) {
		const char *token;

		index = -1;
		opt = getopt_long(argc, argv, ":pcls:o:vh", longopts, &index);
		if (opt == -1)
			break;
		token = argv[optind - 1];
		if (opt == '?' || opt == ':')
			return refuse(token, opt, err);
		if (optarg && optarg == token)
			token = argv[optind - 2];
		if (index >= 0 && check_whole(token, index, err))
			return -1;
		if (parse_one(o, opt, err))
			return -1;
		given |= 1ULL << index_of(opt);
	}
	if (optind < argc && !o->compare)
		return mp_error(err, "'%.60s' is not an option; -h lists them", argv[optind]);
	o->file = argv + optind;
	o->nfiles = argc - optind;
	if (check_together(o, given, err) || check_plot(o, err) ||
	    (o->compare && check_compare(o, err)) || (o->perf && check_perf(o, given, err)))
		return -1;
	if (o->compare)
		return 0;
	if (fill_from_protocol(o, err) ||
	    (o->scenarios && parse_select(o->scenarios, &o->select, err)) ||
	    check_max(o, err))
		return -1;
	return o->choice.ncounts ? check_tasks(o, err) : 0;
}
