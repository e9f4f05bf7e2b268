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
#include "mprotect_perf_scenario.h"

enum {
	OPT_TIMEOUT = 256, OPT_TIME, OPT_PROCS, OPT_WARMUP_PROCS, OPT_CYCLES,
	OPT_WARMUP, OPT_SEED, OPT_CPU, OPT_UNIT, OPT_MAX, OPT_BASELINE,
	OPT_THRESHOLD, OPT_SEVERITY,
};

static const struct option longopts[] = {
	{ "perf", no_argument, NULL, 'p' },
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
	{ "severity", required_argument, NULL, OPT_SEVERITY },
	{ NULL, 0, NULL, 0 },
};

const char *mp_opts_help(void)
{
	return
	"usage: mprotect_perf [options]\n"
	"Without options: validate mprotect() on every scenario, in KTAP.\n"
	"\n"
	"  -l, --list              list the scenarios\n"
	"  -s, --scenario NAME,... only these scenarios ('api': the API cases)\n"
	"  -p, --perf              time the scenarios as well\n"
	"  -v, --verbose           say more in '#' lines\n"
	"      --timeout SECONDS   after which a child hangs (default 60)\n"
	"  -h, --help              this text\n"
	"\n"
	"with -p:\n"
	"      --time SECONDS      at most for all timing (default 5); less when settled\n"
	"      --procs N           N processes of each scenario, however long it takes\n"
	"      --warmup-procs N    processes before them (default 0)\n"
	"      --cycles N          cycles of a process (default: a part of the time)\n"
	"      --warmup N          cycles before them (default 10)\n"
	"      --seed N            of the order of the scenarios (default 1)\n"
	"      --cpu N             pin to this CPU (default: the last one allowed)\n"
	"      --unit ns|insn      insn: under QEMU -icount the clock counts instructions\n"
	"  -o, --output FILE       write the raw samples to a new record file\n"
	"      --max PHASE=N,...   limits per page: protect=40,restore=40\n"
	"      --baseline FILE     judge against a record of the same machine\n"
	"      --threshold PCT     what is no change (default 5)\n"
	"      --severity HOW      of REGRESSED: fail, warn, or auto: warn in a virtual machine,\n"
	"                          on a debug kernel, with a coarse clock (default auto)\n"
	"\n"
	"Exit status: 0 all that ran passed, 1 a failure or a usage error, 4 all skipped.\n";
}

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
		    !decimal(p + len + 1, 1e-9, 1e12, &max[phase], &end) || (*end && *end != ','))
			return mp_error(err, "--max '%.80s': give PHASE=NUMBER,... with PHASE one of protect, restore, touch",
					text);
		if (!*end)
			return 0;
		p = end + 1;
	}
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
	case 's':
		return parse_select(optarg, &o->select, err);
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

static int check_together(const struct mp_opts *o, int only_perf, struct mp_err *err)
{
	if (only_perf >= 0 && !o->perf)
		return mp_error(err, "--%s has no effect without -p", longopts[only_perf].name);
	if (o->list && o->perf)
		return mp_error(err, "-l and -p: give one of them");
	return 0;
}

int mp_opts_parse(struct mp_opts *o, int argc, char **argv, struct mp_err *err)
{
	int opt, index, only_perf = -1;

	*o = (struct mp_opts){ .select = ~0ULL, .time = 5, .threshold = 5, .seed = 1,
			       .warmup = 10, .timeout = 60, .cpu = -1 };
	opterr = 0;
	optind = 0;
	for (;;) {
		const char *token;

		index = -1;
		opt = getopt_long(argc, argv, ":pls:o:vh", longopts, &index);
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
		if (opt == 'o')
			only_perf = 3;
		else if (opt > OPT_TIMEOUT)
			only_perf = index;
	}
	if (optind < argc)
		return mp_error(err, "'%.60s' is not an option; -h lists them", argv[optind]);
	return check_together(o, only_perf, err);
}
