// SPDX-License-Identifier: GPL-2.0
/*
 * A sample that comes twice would count twice: two files were joined, or a line
 * was copied.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mprotect_perf_record_order.h"

#define STEP 64u

static bool is_of(const struct mp_sample *s, const struct mp_due *d)
{
	return s->pages == d->pages && s->calls == d->calls && s->tasks == d->tasks &&
	       !strcmp(s->scenario, d->name);
}

/* The variant of this sample, made if it is new; NULL when there are too many. */
static struct mp_due *find(struct mp_order *o, const struct mp_sample *s)
{
	unsigned int i = o->current;
	struct mp_due *d;

	if (i < o->nvariant && is_of(s, &o->variant[i]))
		return &o->variant[i];
	for (i = 0; i < o->nvariant && !is_of(s, &o->variant[i]); i++)
		;
	if (i == MP_VARIANT_MAX)
		return NULL;
	d = &o->variant[i];
	if (i == o->nvariant) {
		o->nvariant++;
		strcpy(d->name, s->scenario);
		d->pages = s->pages;
		d->calls = s->calls;
		d->tasks = s->tasks;
	}
	o->current = i;
	return d;
}

/* Make room for entry @at; processes and tasks are numbered from 0, so it is dense. */
static int grow(struct mp_order *o, struct mp_due *d, uint32_t at, struct mp_err *err)
{
	uint32_t n = 2 * d->n;
	uint32_t *cycle;

	if (n <= at)
		n = (at / STEP + 1) * STEP;
	if (n - d->n > MP_DUE_MAX - o->ndue)
		return mp_error(err, "more than %d processes in all, tasks counted", MP_DUE_MAX);
	cycle = realloc(d->cycle, n * sizeof(*cycle));
	if (!cycle)
		return mp_error(err, "out of memory");
	memset(cycle + d->n, 0, (n - d->n) * sizeof(*cycle));
	o->ndue += n - d->n;
	d->cycle = cycle;
	d->n = n;
	return 0;
}

int mp_order_check(struct mp_order *o, const struct mp_sample *s, struct mp_err *err)
{
	struct mp_due *d = find(o, s);
	uint32_t at = s->proc * s->tasks + s->task;	/* below 2^16 * 2^12 */
	char task[24] = "";

	if (!d)
		return mp_error(err, "more than %d variants of scenarios", MP_VARIANT_MAX);
	if (at >= d->n && grow(o, d, at, err))
		return -1;
	if (s->cycle >= d->cycle[at]) {
		d->cycle[at] = s->cycle + 1;
		return 0;
	}
	if (s->tasks > 1)
		snprintf(task, sizeof(task), " task=%u", s->task);
	return mp_error(err, "%s proc=%u%s cycle=%u after cycle %u: twice, or disorder",
			s->scenario, s->proc, task, s->cycle, d->cycle[at] - 1);
}

void mp_order_end(struct mp_order *o)
{
	for (unsigned int i = 0; i < o->nvariant; i++)
		free(o->variant[i].cycle);
}
