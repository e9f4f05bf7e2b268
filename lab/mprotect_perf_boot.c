// SPDX-License-Identifier: GPL-2.0
/*
 * A record in memory.
 *
 * Means, deviations and counts are of every sample. Floor, median and
 * bootstrap need the times themselves, and those are bounded: when a boot has
 * more than MP_BOOT_KEEP of them, one of every two neighbours is forgotten,
 * drawn by lot, and from then on only one of two (four, eight...) is kept. What
 * remains is spread evenly over the run and still in order, no value is more
 * likely to stay than another, and a pattern with a period (every second cycle
 * slow) cannot fall in step with it. Quantiles of the rest estimate the same
 * quantiles; their uncertainty grows as that of fewer samples does, and the
 * bootstrap, which sees only the rest, says so: a 1 GB record of 5 million
 * cycles keeps 2^17 and more a phase, whose median is then known to 0.3 % of
 * the spread of the samples.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mprotect_perf_boot.h"

/* Always the same, so that the same record gives the same figures. */
#define BOOT_SEED 1

int mp_boot_add_fact(struct mp_boot *b, const char *key, const char *value, struct mp_err *err)
{
	struct mp_fact *f;

	if (b->nfact == MP_ENV_MAX)
		return mp_error(err, "more than %d facts of the environment", MP_ENV_MAX);
	f = &b->fact[b->nfact++];
	snprintf(f->key, sizeof(f->key), "%s", key);
	snprintf(f->value, sizeof(f->value), "%s", value);
	return 0;
}

static int is_variant(const struct mp_workload *w, const char *name, uint64_t pages,
		      uint64_t calls, uint32_t tasks)
{
	return w->pages == pages && w->calls == calls && w->tasks == tasks &&
	       !strcmp(w->name, name);
}

static size_t index_of(const struct mp_boot *b, const char *name, uint64_t pages,
		       uint64_t calls, uint32_t tasks)
{
	size_t i = 0;

	while (i < b->nworkload && !is_variant(&b->workload[i], name, pages, calls, tasks))
		i++;
	return i;
}

static struct mp_workload *find_workload(struct mp_boot *b, const struct mp_sample *s,
					 struct mp_err *err)
{
	size_t i = b->current;
	struct mp_workload *w;

	if (i < b->nworkload &&
	    is_variant(&b->workload[i], s->scenario, s->pages, s->calls, s->tasks))
		return &b->workload[i];
	i = index_of(b, s->scenario, s->pages, s->calls, s->tasks);
	if (i == MP_VARIANT_MAX) {
		mp_error(err, "more than %d variants of scenarios", MP_VARIANT_MAX);
		return NULL;
	}
	w = &b->workload[i];
	if (i == b->nworkload) {
		b->nworkload++;
		strcpy(w->name, s->scenario);
		w->pages = s->pages;
		w->calls = s->calls;
		w->tasks = s->tasks;
	}
	b->current = i;
	return w;
}

/*
 * Grow an array to hold more than @n, what is new being 0.
 * Return: the array, or NULL without memory; the old one is good then.
 */
static void *grow(void *array, uint32_t *room, uint32_t n, size_t size)
{
	uint32_t more = *room ? *room : 16;
	void *p;

	while (more <= n)
		more *= 2;
	if (more == *room)
		return array;
	p = realloc(array, more * size);
	if (!p)
		return NULL;
	memset((char *)p + *room * size, 0, (more - *room) * size);
	*room = more;
	return p;
}

static struct mp_process *find_process(struct mp_boot *b, struct mp_workload *w, uint32_t proc,
				       struct mp_err *err)
{
	struct mp_process *p;
	uint32_t *index = grow(w->index, &w->nindex, proc, sizeof(*index));

	if (!index)
		goto no_memory;
	w->index = index;
	if (index[proc])
		return &w->process[index[proc] - 1];
	if (b->nprocess == MP_BOOT_PROCESSES) {
		mp_error(err, "more than %u processes", MP_BOOT_PROCESSES);
		return NULL;
	}
	if (w->tasks > MP_BOOT_TASKS - b->ntask) {
		mp_error(err, "more than %u tasks of all processes", MP_BOOT_TASKS);
		return NULL;
	}
	p = grow(w->process, &w->room, w->nprocess, sizeof(*p));
	if (!p)
		goto no_memory;
	w->process = p;
	p += w->nprocess;
	p->span = calloc(w->tasks, sizeof(*p->span));
	if (!p->span)
		goto no_memory;
	index[proc] = ++w->nprocess;
	b->nprocess++;
	b->ntask += w->tasks;
	p->proc = proc;
	return p;
no_memory:
	mp_error(err, "out of memory");
	return NULL;
}

/* Forget one of every two times that are kept. */
static void thin(struct mp_boot *b)
{
	b->nkept = 0;
	b->stride *= 2;
	for (size_t i = 0; i < b->nworkload; i++) {
		for (uint32_t j = 0; j < b->workload[i].nprocess; j++) {
			struct mp_process *p = &b->workload[i].process[j];

			p->pick = UINT64_MAX;	/* none until the next stride begins */
			for (int k = 0; k < MP_PHASES; k++) {
				struct mp_series *s = &p->phase[k];
				uint32_t n = s->nkept / 2;

				for (uint32_t m = 0; m < n; m++)
					s->kept[m] = s->kept[2 * m + mp_rng_below(&b->rng, 2)];
				if (s->nkept & 1)
					s->kept[n++] = s->kept[s->nkept - 1];
				s->nkept = n;
				b->nkept += n;
			}
		}
	}
}

static int add_time(struct mp_boot *b, struct mp_series *s, const struct mp_figures *f, int keep)
{
	double time = f->time;
	double off = time - s->mean;
	double *kept;

	/* Welford, "Note on a method for calculating corrected sums", 1962. */
	s->n++;
	s->mean += off / s->n;
	s->squares += off * (time - s->mean);
	for (int k = 0; k < MP_COUNTERS; k++) {
		if (f->count[k] == MP_NOT_TAKEN)
			continue;
		s->count[k] += f->count[k];
		s->ncount[k]++;
	}
	if (!keep)
		return 0;
	kept = grow(s->kept, &s->room, s->nkept, sizeof(*kept));
	if (!kept)
		return -1;
	s->kept = kept;
	kept[s->nkept++] = time;
	b->nkept++;
	return 0;
}

int mp_boot_add_sample(struct mp_boot *b, const struct mp_sample *s, struct mp_err *err)
{
	struct mp_workload *w = find_workload(b, s, err);
	struct mp_process *p = w ? find_process(b, w, s->proc, err) : NULL;
	int keep;

	if (!p)
		return -1;
	mp_rate_add(&p->span[s->task], s);
	if (p->cycles % b->stride == 0)
		p->pick = mp_rng_below(&b->rng, b->stride);
	keep = p->cycles++ % b->stride == p->pick;
	for (int k = 0; k < MP_PHASES; k++) {
		if (s->phase[k].time != MP_NOT_TAKEN &&
		    add_time(b, &p->phase[k], &s->phase[k], keep))
			return mp_error(err, "out of memory");
	}
	if (b->nkept > MP_BOOT_KEEP)
		thin(b);
	return 0;
}

static int on_fact(void *ctx, const char *key, const char *value, struct mp_err *err)
{
	return mp_boot_add_fact(ctx, key, value, err);
}

static int on_sample(void *ctx, const struct mp_sample *s, struct mp_err *err)
{
	return mp_boot_add_sample(ctx, s, err);
}

static const struct mp_record_ops ops = { on_fact, on_sample };

struct mp_boot *mp_boot_new(const char *name, struct mp_err *err)
{
	struct mp_boot *b = calloc(1, sizeof(*b));

	if (b)
		b->name = strdup(name);
	if (!b || !b->name) {
		free(b);
		mp_error(err, "%s: out of memory", name);
		return NULL;
	}
	b->stride = 1;
	b->rng.state = BOOT_SEED;
	return b;
}

struct mp_boot *mp_boot_read_stream(FILE *f, const char *name, struct mp_err *err)
{
	struct mp_boot *b = mp_boot_new(name, err);

	if (b && mp_record_read_stream(f, name, &ops, b, err)) {
		mp_boot_free(b);
		return NULL;
	}
	return b;
}

struct mp_boot *mp_boot_read(const char *path, struct mp_err *err)
{
	struct mp_boot *b = mp_boot_new(path, err);

	if (b && mp_record_read(path, &ops, b, err)) {
		mp_boot_free(b);
		return NULL;
	}
	return b;
}

void mp_boot_free(struct mp_boot *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->nworkload; i++) {
		struct mp_workload *w = &b->workload[i];

		for (uint32_t j = 0; j < w->nprocess; j++) {
			for (int k = 0; k < MP_PHASES; k++)
				free(w->process[j].phase[k].kept);
			free(w->process[j].span);
		}
		free(w->process);
		free(w->index);
	}
	free(b->name);
	free(b);
}

const char *mp_boot_fact(const struct mp_boot *b, const char *key)
{
	for (size_t i = 0; i < b->nfact; i++) {
		if (!strcmp(b->fact[i].key, key))
			return b->fact[i].value;
	}
	return NULL;
}

const struct mp_workload *mp_boot_workload(const struct mp_boot *b, const char *name,
					   uint64_t pages, uint64_t calls, uint32_t tasks)
{
	size_t i = index_of(b, name, pages, calls, tasks);

	return i < b->nworkload ? &b->workload[i] : NULL;
}

int mp_boot_same(const struct mp_workload *a, const struct mp_workload *b)
{
	return is_variant(a, b->name, b->pages, b->calls, b->tasks);
}
