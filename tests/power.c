// SPDX-License-Identifier: GPL-2.0
/*
 * Sources: mprotect_perf_record_order.c mprotect_perf_rate.c mprotect_perf_column.c
 * Sources: mprotect_perf_rows.c
 * Sources: mprotect_perf_new_file.c
 * Sources: mprotect_perf_compare.c mprotect_perf_judge.c mprotect_perf_boot.c
 * Sources: mprotect_perf_stats.c mprotect_perf_record_read.c mprotect_perf_record_line.c
 * Sources: mprotect_perf_record.c
 *
 * Many verdicts with the program's own code: bench/power.sh hands in pairs of
 * records, "BASE HEAD" a line, and gets a line for each phase:
 *
 *	BASE HEAD PHASE VERDICT CHANGE LOW HIGH WHY
 *
 * with the change of the floor and its interval in percent.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mprotect_perf_compare.h"

#define PATH "%1023s"

static int judge(const char *base, const char *head, double threshold)
{
	struct mp_compare c = { 0 };
	struct mp_err err;
	int ret = -1;

	if (mp_compare_add(&c, mp_boot_read(base, &err), "base", &err) ||
	    mp_compare_add(&c, mp_boot_read(head, &err), "head", &err) ||
	    mp_compare_judge(&c, threshold, 1, &err)) {
		fprintf(stderr, "power: %s %s: %s\n", base, head, err.text);
		goto out;
	}
	for (size_t i = 0; i < c.nrows; i++) {
		const struct mp_step *s = &c.row[i].whole;

		printf("%s %s %s %s %.3f %.3f %.3f %s\n", base, head,
		       mp_phase_name[c.row[i].phase], mp_verdict_name[s->verdict],
		       s->delta[MP_FLOOR], s->interval[MP_FLOOR].low,
		       s->interval[MP_FLOOR].high, s->why.text);
	}
	ret = 0;
out:
	mp_compare_free(&c);
	return ret;
}

int main(int argc, char **argv)
{
	char base[1024], head[1024];

	if (argc != 2) {
		fprintf(stderr, "usage: power THRESHOLD <PAIRS\n");
		return 1;
	}
	while (scanf(PATH PATH, base, head) == 2) {
		if (judge(base, head, strtod(argv[1], NULL)))
			return 1;
		fflush(stdout);
	}
	return 0;
}
