// SPDX-License-Identifier: GPL-2.0
/*
 * Rows of a run, and what the variants of a scenario have in common.
 */
#include <stdlib.h>
#include <string.h>

#include "mprotect_perf_boot.h"
#include "mprotect_perf_group.h"

static int add(struct mp_run_row **row, unsigned int *n, const struct mp_scenario *v,
	       unsigned int more)
{
	struct mp_run_row *all = realloc(*row, (*n + more) * sizeof(*all));
	unsigned int i;

	if (!all)
		return -1;
	*row = all;
	for (i = 0; i < more; i++) {
		all[*n] = (struct mp_run_row){ .own = v[i] };
		++*n;
	}
	return 0;
}

int mp_group_rows(const struct mp_opts *o, struct mp_run_row **row, unsigned int *n,
		  struct mp_err *err)
{
	struct mp_scenario *v = calloc(MP_VARIANTS_MAX, sizeof(*v));
	unsigned int i;
	int ret = v ? 0 : -1;

	*row = NULL;
	*n = 0;
	for (i = 0; !ret && i < mp_nr_scenarios; i++)
		if (o->select & 1ULL << i)
			ret = add(row, n, v, mp_variants(&mp_scenarios[i], &o->choice, v));
	free(v);
	/* only now: an array that grows does not stay where it is */
	for (i = 0; i < *n; i++)
		(*row)[i].sc = &(*row)[i].own;
	if (ret) {
		mp_group_free(*row, *n);
		*row = NULL;
		*n = 0;
		return mp_error(err, "no memory for the rows");
	}
	return 0;
}

void mp_group_free(struct mp_run_row *row, unsigned int n)
{
	while (n--)
		mp_run_free(&row[n]);
	free(row);
}

unsigned int mp_group_procs_max(const struct mp_run_row *row, unsigned int n)
{
	unsigned int i, tasks = 0, procs = MP_BOOT_PROCESSES / n;

	for (i = 0; i < n; i++)
		tasks += row[i].sc->tasks;
	if (MP_BOOT_TASKS / tasks < procs)
		procs = MP_BOOT_TASKS / tasks;
	return procs ? procs : 1;
}

unsigned int mp_group_size(const struct mp_run_row *row, unsigned int n)
{
	unsigned int i;

	for (i = 1; i < n && row[i].sc->name == row[0].sc->name; i++)
		;
	return i;
}

const char *mp_group_prefix(const struct mp_run_row *row, unsigned int n, char *text,
			    size_t size)
{
	text[0] = '\0';
	if (n > 1) {
		mp_variant_name(row->sc, text, size - 2);
		strcat(text, ": ");
	}
	return text;
}

/* A reason that says which variant it is of */
static void put(struct mp_err *to, const char *prefix, const struct mp_err *from)
{
	if (from->text[0] && !to->text[0])
		mp_error(to, "%s%.200s", prefix, from->text);
}

void mp_group_checks(const struct mp_run_row *row, unsigned int n, struct mp_run_row *whole)
{
	unsigned int i, k, missing = 0;

	*whole = (struct mp_run_row){ .sc = row->sc };
	for (i = 0; i < n; i++) {
		struct mp_report rep = row[i].report;
		char prefix[64];

		missing += row[i].missing.text[0] != '\0';
		if (row[i].missing.text[0])
			continue;
		mp_group_prefix(&row[i], n, prefix, sizeof(prefix));
		put(&whole->died, prefix, &row[i].died);
		for (k = 0; k < MP_CHECKS; k++) {
			rep.v[k].text.text[0] = '\0';
			put(&rep.v[k].text, prefix, &row[i].report.v[k].text);
		}
		mp_report_merge(&whole->report, &rep);
	}
	if (missing == n)
		whole->missing = row->missing;
}
