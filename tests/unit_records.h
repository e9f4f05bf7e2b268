/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Made-up records, for the tests of a comparison.
 */
#ifndef UNIT_RECORDS_H
#define UNIT_RECORDS_H

#include <stdlib.h>

#include "mprotect_perf_compare.h"
#include "unit.h"

/* One scenario of a made-up record; times of a whole phase. */
struct load {
	const char *name;
	unsigned int pages;
	unsigned int procs, cycles;
	double protect, restore, touch;	/* 0: no such phase */
	double noise;			/* 0.001: most cycles within 0.1 % */
};

/*
 * Samples around a cost: processes 0.05 % below, at and above it, cycles in a
 * pattern of -2 -1 0 1 2 parts of the noise. Both sum up to nothing over 15
 * processes of a multiple of 5 cycles, so that the mean is the cost.
 */
static inline unsigned long long around(double cost, double noise, unsigned int p, unsigned int i)
{
	double process = 1 + 0.0005 * ((int)(p % 3) - 1);

	return cost * process * (1 + noise * ((int)(i * 7 % 5) - 2)) + 0.5;
}

/* Tasks begin each cycle one after the other, 2 ms after the last one. */
static inline void put_variant(FILE *f, const struct load *l, unsigned int calls,
			       unsigned int tasks)
{
	for (unsigned int p = 0; p < l->procs; p++) {
		for (unsigned int i = 0; i < l->cycles * tasks; i++) {
			fprintf(f, "sample scenario=%s proc=%u cycle=%u pages=%u calls=%u", l->name,
				p, i / tasks, l->pages, calls);
			if (tasks > 1)
				fprintf(f, " tasks=%u task=%u start=%u", tasks, i % tasks,
					i / tasks * 2000000 + i % tasks);
			if (l->protect)
				fprintf(f, " protect=%llu protect_faults=2 protect_csw=%u",
					around(l->protect, l->noise, p, i), i % 2);
			if (l->restore)
				fprintf(f, " restore=%llu", around(l->restore, l->noise, p, i));
			if (l->touch)
				fprintf(f, " touch=%llu", around(l->touch, l->noise, p, i));
			fputc('\n', f);
		}
	}
}

static inline void put_load(FILE *f, const struct load *l)
{
	put_variant(f, l, 1, 1);
}

static inline struct mp_boot *read_text(const char *text, size_t size, const char *name)
{
	struct mp_boot *b;
	struct mp_err err;
	FILE *f = fmemopen((void *)text, size, "r");

	b = mp_boot_read_stream(f, name, &err);
	fclose(f);
	if (!b)
		ok(0, "record %s: %s", name, err.text);
	return b;
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define FACTS "unit=ns page_size=4096 arch=x86_64 model=EPYC clocksource=tsc"

static inline struct mp_boot *make(const char *name, const char *env, const struct load *l,
				   size_t n)
{
	unsigned long long samples = 0;
	struct mp_boot *b;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	fprintf(f, "mprotect_perf-record 1\nenv %s\n", env);
	for (size_t i = 0; i < n; i++) {
		put_load(f, &l[i]);
		samples += l[i].procs * l[i].cycles;
	}
	fprintf(f, "end samples=%llu\n", samples);
	fclose(f);
	b = read_text(text, size, name);
	free(text);
	return b;
}

#define ENV_A FACTS " release=A build=#1"
#define ENV_B FACTS " release=B build=#1"

static inline void add(struct mp_compare *c, struct mp_boot *b, const char *label)
{
	struct mp_err err = { "" };

	if (mp_compare_add(c, b, label, &err))
		ok(0, "added: %s", err.text);
}

static inline void judge(struct mp_compare *c, double threshold)
{
	struct mp_err err = { "" };

	if (mp_compare_judge(c, threshold, 1, &err))
		ok(0, "judged: %s", err.text);
}

static inline const struct mp_row *row(const struct mp_compare *c, const char *name, int phase)
{
	for (size_t i = 0; i < c->nrows; i++) {
		if (!strcmp(c->row[i].scenario, name) && (int)c->row[i].phase == phase)
			return &c->row[i];
	}
	ok(0, "%s %s is there", name, mp_phase_name[phase]);
	exit(1);
}

static inline void is_verdict(const struct mp_step *s, enum mp_verdict want, const char *what)
{
	if (!is_str(mp_verdict_name[s->verdict], mp_verdict_name[want], what))
		printf("#   floor %+.3f %% (%+.3f to %+.3f), median %+.3f to %+.3f: %s\n",
		       s->delta[MP_FLOOR], s->interval[MP_FLOOR].low, s->interval[MP_FLOOR].high,
		       s->interval[MP_MEDIAN].low, s->interval[MP_MEDIAN].high, s->why.text);
}

#endif /* UNIT_RECORDS_H */
