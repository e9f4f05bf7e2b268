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

#include "mprotect_perf_opts.h"
#include "mprotect_perf_protocol.h"
#include "mprotect_perf_scenario.h"

enum {
	OPT_TIMEOUT = 256, OPT_TIME, OPT_PROCS, OPT_WARMUP_PROCS, OPT_CYCLES,
	OPT_WARMUP, OPT_SEED, OPT_CPU, OPT_UNIT, OPT_MAX, OPT_BASELINE,
	OPT_THRESHOLD, OPT_SEVERITY, OPT_PROTOCOL, OPT_TSV, OPT_PLOT, OPT_BISECT,
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
	{ NULL, 0, NULL, 0 },
};

static int parse_count(const char *name, const char *text, unsigned long min,
		       unsigned long max, unsigned long *value, struct mp_err *err)
{
	char *end;

	errno = 0;
	*value = strtoul(text, &end, 10);
	if (errno || *end || text[0] < '0' || text[0] > '9' || *value < min || *value > max)
		return mp_error(err, "--%s '%.40s': give a whole number from %lu to %lu",
				name, text, min, max);
	return 0;
}

/* A decimal number, nothing else that strtod() takes; ends at @end. */
static bool decimal(const char *text, double min, double max, double *value, char **end)
{
	errno = 0;
	*value = strtod(text, end);
	return !errno && *end != text && strspn(text, "0123456789.") >= (size_t)(*end - text) &&
	       *value >= min && *value <= max;
}

static int parse_time(const char *text, double *value, struct mp_err *err)
{
	char *end;

	if (!decimal(text, 0.1, 86400, value, &end) || *end)
		return mp_error(err, "--time '%.40s': give seconds from 0.1 to 86400", text);
	return 0;
}

static int parse_threshold(const char *text, double *value, struct mp_err *err)
{
	char *end;

	if (!decimal(text, 0, 1000, value, &end) || *end)
		return mp_error(err, "--threshold '%.40s': give percent from 0 to 1000", text);
	return 0;
}

/* "protect=40,restore=40.5" */
static int parse_max(const char *text, double max[MP_PHASES], struct mp_err *err)
{
	const char *p = text;
	char *end;
	int phase;

	for (;;) {
		size_t len = strcspn(p, "=");

		for (phase = 0; phase < MP_PHASES; phase++)
			if (strlen(mp_phase_name[phase]) == len &&
			    !strncmp(mp_phase_name[phase], p, len))
				break;
		if (phase == MP_PHASES || phase == MP_POPULATE || !p[len] ||
		    !decimal(p + len + 1, 0.000001, 1e12, &max[phase], &end) ||
		    (*end && *end != ','))
			return mp_error(err, "--max '%.80s': give PHASE=NUMBER,... with PHASE one of protect, restore, touch",
					text);
		if (!*end)
			return 0;
		p = end + 1;
	}
}

static int parse_protocol(const char *text, struct mp_opts *o, struct mp_err *err)
{
	const struct mp_protocol *p = mp_protocol_find(text);

	if (!p)
		return mp_error(err, "--protocol '%.40s': give lin", text);
	o->protocol = p->name;
	o->procs = p->procs;
	o->warmup_procs = p->warmup_procs;
	o->cycles = p->cycles;
	o->warmup = p->warmup;
	return 0;
}

static int parse_severity(const char *text, enum mp_severity *severity, struct mp_err *err)
{
	static const char *const names[] = { "auto", "warn", "fail" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(text, names[i])) {
			*severity = (enum mp_severity)i;
			return 0;
		}
	}
	return mp_error(err, "--severity '%.40s': give auto, warn or fail", text);
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

static int parse_unit(const char *text, bool *insn, struct mp_err *err)
{
	*insn = !strcmp(text, "insn");
	if (*insn || !strcmp(text, "ns"))
		return 0;
	return mp_error(err, "--unit '%.40s': give ns or insn", text);
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
		{ OPT_PROCS, "procs", 1, 100000, &o->procs },
		{ OPT_WARMUP_PROCS, "warmup-procs", 0, 100000, &o->warmup_procs },
		{ OPT_CYCLES, "cycles", 1, 100000000, &o->cycles },
		{ OPT_WARMUP, "warmup", 0, 100000000, &o->warmup },
		{ OPT_SEED, "seed", 0, UINT32_MAX, &o->seed },
		{ OPT_CPU, "cpu", 0, 1023, (uint32_t *)&o->cpu },
	};
	unsigned long n;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(number); i++) {
		if (number[i].opt != opt)
			continue;
		if (parse_count(number[i].name, optarg, number[i].min, number[i].max, &n, err))
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
		return parse_time(optarg, &o->time, err);
	case OPT_UNIT:
		return parse_unit(optarg, &o->insn, err);
	case OPT_MAX:
		return parse_max(optarg, o->max, err);
	case OPT_BASELINE:
		o->baseline = optarg;
		return 0;
	case OPT_THRESHOLD:
		return parse_threshold(optarg, &o->threshold, err);
	case OPT_SEVERITY:
		return parse_severity(optarg, &o->severity, err);
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

enum { CHECK = 1, PERF = 2, LIST = 4, COMPARE = 8, ALL = 15 };

/* The modes in which an option has an effect. */
static unsigned int modes(int opt)
{
	switch (opt) {
	case OPT_SEED:
	case OPT_THRESHOLD:
	case OPT_SEVERITY:
		return PERF | COMPARE;
	case OPT_TSV:
	case OPT_PLOT:
	case OPT_BISECT:
		return COMPARE;
	case OPT_TIMEOUT:
		return ALL & ~COMPARE;
	case 'o':
		return PERF;
	default:
		return opt > OPT_TIMEOUT ? PERF : ALL;
	}
}

/* @given is a mask of longopts[] */
static int check_together(const struct mp_opts *o, uint64_t given, struct mp_err *err)
{
	static const int by_protocol[] = { OPT_PROCS, OPT_WARMUP_PROCS, OPT_CYCLES, OPT_WARMUP,
					   OPT_TIME };
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
				can == COMPARE ? "without -c" : "without -p or -c");
	}
	for (i = 0; o->protocol && i < ARRAY_SIZE(by_protocol); i++)
		if (given & 1ULL << index_of(by_protocol[i]))
			return mp_error(err, "--protocol sets --%s: give one of them",
					longopts[index_of(by_protocol[i])].name);
	return 0;
}

static int check_compare(const struct mp_opts *o, struct mp_err *err)
{
	const char *end = o->plot ? strrchr(o->plot, '.') : NULL;

	if (o->nfiles < 2)
		return mp_error(err, "-c needs two records or more: -c BASE HEAD");
	if (o->plot && (!end || (strcmp(end, ".svg") && strcmp(end, ".png"))))
		return mp_error(err, "--plot '%.150s': give a name that ends in .svg or .png",
				o->plot);
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
	if (check_together(o, given, err) || (o->compare && check_compare(o, err)))
		return -1;
	return o->scenarios && !o->compare ? parse_select(o->scenarios, &o->select, err) : 0;
}
