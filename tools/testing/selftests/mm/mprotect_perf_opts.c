// SPDX-License-Identifier: GPL-2.0
/*
 * Options. getopt_long() takes them apart; what it lets pass and we do not:
 * shortened long options (a script that uses one breaks when another option
 * with that beginning arrives), numbers with something behind them, an option
 * that has no effect with the others.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mprotect_perf_opts.h"
#include "mprotect_perf_scenario.h"

enum {
	OPT_TIMEOUT = 256, OPT_TIME, OPT_PROCS, OPT_WARMUP_PROCS, OPT_CYCLES,
	OPT_WARMUP, OPT_SEED, OPT_CPU, OPT_UNIT,
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

static int parse_time(const char *text, double *value, struct mp_err *err)
{
	char *end;

	errno = 0;
	*value = strtod(text, &end);
	if (errno || *end || text[strspn(text, "0123456789.")] || !isfinite(*value) ||
	    *value < 0.1 || *value > 86400)
		return mp_error(err, "--time '%.40s': give seconds from 0.1 to 86400", text);
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

static int parse_unit(const char *text, bool *insn, struct mp_err *err)
{
	*insn = !strcmp(text, "insn");
	if (*insn || !strcmp(text, "ns"))
		return 0;
	return mp_error(err, "--unit '%.40s': give ns or insn", text);
}

static int parse_one(struct mp_opts *o, int opt, struct mp_err *err)
{
	unsigned long n = 0;
	int ret = 0;

	switch (opt) {
	case 'p':
		o->perf = true;
		break;
	case 'l':
		o->list = true;
		break;
	case 'v':
		o->verbose = true;
		break;
	case 'h':
		o->help = true;
		break;
	case 's':
		return parse_select(optarg, &o->select, err);
	case 'o':
		o->output = optarg;
		break;
	case OPT_TIMEOUT:
		ret = parse_count("timeout", optarg, 1, 86400, &n, err);
		o->timeout = (unsigned int)n;
		break;
	case OPT_TIME:
		return parse_time(optarg, &o->time, err);
	case OPT_PROCS:
		ret = parse_count("procs", optarg, 1, 100000, &n, err);
		o->procs = (uint32_t)n;
		break;
	case OPT_WARMUP_PROCS:
		ret = parse_count("warmup-procs", optarg, 0, 100000, &n, err);
		o->warmup_procs = (uint32_t)n;
		break;
	case OPT_SEED:
		ret = parse_count("seed", optarg, 0, ULONG_MAX, &n, err);
		o->seed = n;
		break;
	case OPT_CYCLES:
		ret = parse_count("cycles", optarg, 1, 100000000, &n, err);
		o->cycles = (uint32_t)n;
		break;
	case OPT_WARMUP:
		ret = parse_count("warmup", optarg, 0, 100000000, &n, err);
		o->warmup = (uint32_t)n;
		break;
	case OPT_CPU:
		ret = parse_count("cpu", optarg, 0, 1023, &n, err);
		o->cpu = (int)n;
		break;
	case OPT_UNIT:
		return parse_unit(optarg, &o->insn, err);
	}
	return ret;
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

static int check_together(const struct mp_opts *o, int given, struct mp_err *err)
{
	if (given && !o->perf)
		return mp_error(err, "--%s has no effect without -p", longopts[given].name);
	if (o->list && o->perf)
		return mp_error(err, "-l and -p: give one of them");
	return 0;
}

int mp_opts_parse(struct mp_opts *o, int argc, char **argv, struct mp_err *err)
{
	int opt, index, only_perf = 0;

	*o = (struct mp_opts){ .select = ~0ULL, .time = 5, .seed = 1,
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
		else if (opt >= OPT_TIME)
			only_perf = index;
	}
	if (optind < argc)
		return mp_error(err, "'%.60s' is not an option; -h lists them", argv[optind]);
	return check_together(o, only_perf, err);
}
