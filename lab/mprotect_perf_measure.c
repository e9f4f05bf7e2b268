// SPDX-License-Identifier: GPL-2.0
/*
 * The loop that is timed. Between two readings of the clock there is nothing
 * but the phase; page faults and context switches are counted outside.
 *
 * What this cannot tell: why a figure is what it is. The samples go to the
 * parent raw, and the record keeps them raw.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "mprotect_perf_child.h"
#include "mprotect_perf_counters.h"
#include "mprotect_perf_measure.h"
#include "mprotect_perf_tasks.h"

#define CLOCK_READINGS 1000
#define CLOCK_READINGS_MAX 100000000

/*
 * What parent, child and tasks share: a note and a report for each task. Those
 * of task 0 are the child's.
 */
struct shared {
	struct mp_sync sync;
	struct task {
		struct mp_note note;
		struct mp_report report;
	} task[];
};

/* What is to be done, on what. */
struct work {
	const struct mp_job *job;
	struct shared *sh;
	int out;
	struct mp_map *map;
	cpu_set_t allowed;
};

uint64_t mp_clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct mp_clock mp_clock_probe(void)
{
	struct mp_clock c = { .step = UINT64_MAX };
	uint64_t first = mp_clock_now(), last = first, now;
	unsigned int readings = 0, steps = 0;

	/* a clock of jiffies stands still for long: wait for a few steps at least */
	while (readings < CLOCK_READINGS || (steps < 3 && readings < CLOCK_READINGS_MAX)) {
		now = mp_clock_now();
		readings++;
		if (now == last)
			continue;
		steps++;
		if (now - last < c.step)
			c.step = now - last;
		last = now;
	}
	c.cost = (double)(last - first) / readings;
	return c;
}

static unsigned int tasks_of(const struct mp_scenario *sc)
{
	return sc->team != MP_ALONE && sc->tasks ? sc->tasks : 1;
}

static int run_phase(const struct mp_map *map, unsigned int task, int phase)
{
	switch (phase) {
	case MP_PROTECT:
		return mp_map_toggle(map, task, map->sc->shut);
	case MP_RESTORE:
		return mp_map_toggle(map, task, PROT_READ | PROT_WRITE);
	default:
		mp_map_touch(map, task);
		return 0;
	}
}

static int time_phase(const struct mp_map *map, unsigned int task, int phase,
		      struct mp_figures *f, struct mp_note *note)
{
	uint64_t before[MP_COUNTERS], after[MP_COUNTERS];
	uint64_t t0, t1;
	int ret;

	note->now = phase;
	mp_counters_read(before);
	t0 = mp_clock_now();
	ret = run_phase(map, task, phase);
	t1 = mp_clock_now();
	if (ret)
		return mp_error(&note->err, "%s failed while being timed: %s",
				mp_map_call(map), strerror(errno));
	mp_counters_read(after);
	f->time = t1 - t0;
	mp_counters_between(before, after, f->count);
	return 0;
}

/* One cycle: the row's phases, in order. A fresh mapping needs no restore. */
static int time_cycle(struct mp_map *map, unsigned int task, struct mp_sample *s,
		      struct mp_note *note)
{
	const struct mp_scenario *sc = map->sc;
	int phase;

	if (sc->fresh) {
		note->now = MP_POPULATE;
		if (mp_map_populate(map, &note->err))
			return -1;
	}
	for (phase = MP_PROTECT; phase < MP_PHASES; phase++)
		if (sc->timed & 1U << phase &&
		    time_phase(map, task, phase, &s->phase[phase], note))
			return -1;
	return 0;
}

static void blank(struct mp_sample *s, const struct mp_job *job, const struct mp_map *map,
		  unsigned int task)
{
	memset(s, 0, sizeof(*s));
	snprintf(s->scenario, sizeof(s->scenario), "%s", job->sc->name);
	s->proc = job->proc;
	s->pages = map->pages;
	s->calls = job->sc->regions;
	s->tasks = tasks_of(job->sc);
	s->task = task;
	s->start = MP_NOT_TAKEN;
	/* all bits set: that is MP_NOT_TAKEN everywhere */
	memset(s->phase, 0xff, sizeof(s->phase));
}

/* Returns how many cycles fit into the array, from how long the warm-up took. */
static int warm_up(const struct mp_job *job, struct mp_map *map, struct mp_sample *scratch,
		   struct mp_note *note, uint32_t *room)
{
	/* a time says nothing of cycles before there has been one */
	uint32_t warmup = job->warmup || !job->ns ? job->warmup : 1, i;
	uint64_t start = mp_clock_now(), each;

	for (i = 0; i < warmup; i++)
		if (time_cycle(map, scratch->task, scratch, note))
			return -1;
	*room = job->cycles;
	if (job->ns) {
		/* twice as many: the first cycles are the slow ones */
		each = (mp_clock_now() - start) / warmup + 1;
		if (job->ns / each * 2 + 16 < *room)
			*room = (uint32_t)(job->ns / each * 2 + 16);
	}
	return 0;
}

/* The cycles that count. Returns how many, or -1. */
static long measured_cycles(const struct work *w, unsigned int task, struct mp_sample *s,
			    uint32_t room, struct mp_note *note)
{
	const struct mp_job *job = w->job;
	bool alone = tasks_of(job->sc) == 1;
	uint64_t start = mp_sync_since(&w->sh->sync, mp_clock_now());
	uint32_t n;

	for (n = 0; n < room && (!n || !job->ns || mp_clock_now() - start < job->ns); n++) {
		blank(&s[n], job, w->map, task);
		s[n].cycle = n;
		if (!alone)
			s[n].start = mp_clock_now() - start;
		if (time_cycle(w->map, task, &s[n], note))
			return -1;
	}
	return n;
}

/*
 * One that has its cycles goes on until all have theirs, so that none of them
 * was measured with fewer beside it.
 */
static long cycles_together(const struct work *w, unsigned int task, struct mp_sample *s,
			    uint32_t room, struct mp_note *note)
{
	unsigned int tasks = tasks_of(w->job->sc);
	struct mp_sample spare;
	long n;

	if (!mp_sync_start(&w->sh->sync, tasks))
		return -1;
	n = measured_cycles(w, task, s, room, note);
	mp_sync_done(&w->sh->sync);
	while (n >= 0 && !mp_sync_all_done(&w->sh->sync, tasks))
		if (time_cycle(w->map, task, &spare, note))
			return -1;
	return n;
}

static int time_cycles(void *ctx, unsigned int task, struct mp_note *note)
{
	const struct work *w = ctx;
	struct mp_sample first, *s;
	uint32_t room;
	int ret = -1;
	long n;

	blank(&first, w->job, w->map, task);
	if (warm_up(w->job, w->map, &first, note, &room))
		return -1;
	/* populated: the parent's business is not to fault into the timed loop */
	s = mmap(NULL, room * sizeof(*s), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (s == MAP_FAILED)
		return mp_error(&note->err, "no memory for %u samples: %s", room,
				strerror(errno));
	n = cycles_together(w, task, s, room, note);
	note->now = MP_PHASES;
	/* one after the other: what they write must not mix */
	if (n >= 0 && mp_sync_turn(&w->sh->sync, task)) {
		ret = mp_child_write(w->out, s, (size_t)n * sizeof(*s), &note->err);
		mp_sync_next(&w->sh->sync);
	}
	munmap(s, room * sizeof(*s));
	return ret;
}

static struct mp_tasks tasks_for(struct work *w,
				 int (*run)(void *ctx, unsigned int task, struct mp_note *note))
{
	return (struct mp_tasks){
		.team = w->job->sc->team, .n = tasks_of(w->job->sc), .cpu = w->job->cpu,
		.allowed = &w->allowed, .sync = &w->sh->sync, .note = &w->sh->task[0].note,
		.note_stride = sizeof(w->sh->task[0]), .run = run, .ctx = w,
	};
}

/* Timed, and seen to be what it claims to be, before and after. */
static int look_time_look(struct work *w, const struct mp_eyes *eyes, unsigned int task,
			  struct mp_note *note, struct mp_report *rep)
{
	const struct mp_scenario *sc = w->job->sc;
	const int open = PROT_READ | PROT_WRITE;
	struct mp_tasks threads = tasks_for(w, time_cycles);
	int ret;

	note->now = MP_POPULATE;
	if (mp_check_populate(w->map, eyes, rep, &note->err))
		return -1;
	if (rep->missing.text[0])
		return 0;
	mp_check_still(w->map, eyes, open, MP_POPULATE, rep);
	ret = sc->team == MP_PROCESSES ? time_cycles(w, task, note) : mp_tasks_run(&threads);
	if (!ret)
		mp_check_still(w->map, eyes, sc->fresh ? sc->shut : open, MP_TOUCH, rep);
	return ret;
}

/* All that happens in one mm. */
static int own_mm(void *ctx, unsigned int task, struct mp_note *note)
{
	struct work w = *(struct work *)ctx;
	struct mp_report *rep = &w.sh->task[task].report;
	struct mp_err no_counters;
	struct mp_eyes eyes;
	struct mp_map map;
	int ret;

	/* both need what mp_eyes_open() gives up */
	if (w.job->cycles && w.job->sc->team == MP_ALONE)
		mp_counters_open(&no_counters);
	mp_eyes_open(&eyes);
	w.map = &map;
	if (mp_map_open(&map, w.job->sc, &note->err))
		return -1;
	if (w.job->cycles)
		ret = look_time_look(&w, &eyes, task, note, rep);
	else
		ret = mp_check_cycle(&map, &eyes, rep, &note->now, &note->err);
	mp_map_close(&map);
	mp_eyes_close(&eyes);
	return ret;
}

static int child(void *arg, int out, struct mp_note *note)
{
	struct work *w = arg;
	struct mp_tasks processes = tasks_for(w, own_mm);
	unsigned int i;
	int ret;

	w->out = out;
	if (w->job->sc->team != MP_PROCESSES)
		return own_mm(w, 0, note);
	ret = mp_tasks_run(&processes);
	for (i = 1; i < processes.n; i++)
		mp_report_merge(&w->sh->task[0].report, &w->sh->task[i].report);
	return ret;
}

/*
 * The parent goes to the CPU before the child is made: a child that has begun
 * elsewhere has two CPUs in its mm's cpumask for as long as it lives, and each
 * TLB flush then looks at both. Tasks of its go from there to their own.
 */
static int run_pinned(struct work *w, const struct mp_child *c, void **data, size_t *len,
		      struct mp_err *err)
{
	int ret;

	if (w->job->cpu < 0)
		return mp_child_run(c, data, len, err);
	if (sched_getaffinity(0, sizeof(w->allowed), &w->allowed))
		return mp_error(err, "sched_getaffinity: %s", strerror(errno));
	if (mp_tasks_pin(w->job->cpu, err))
		return -1;
	ret = mp_child_run(c, data, len, err);
	sched_setaffinity(0, sizeof(w->allowed), &w->allowed);
	return ret;
}

int mp_measure_run(const struct mp_job *job, struct mp_result *res, struct mp_err *err)
{
	size_t size = sizeof(struct shared) + tasks_of(job->sc) * sizeof(struct task);
	struct work w = { .job = job, .sh = mp_note_new(size, err) };
	struct mp_child c = {
		.run = child, .arg = &w,
		/* a look at every page takes longer where there are many */
		.seconds = job->seconds + (unsigned int)(3 * job->ns / 1000000000) +
			   (unsigned int)(job->sc->bytes >> 27) * tasks_of(job->sc),
	};
	void *data = NULL;
	size_t len = 0;
	int ret;

	*res = (struct mp_result){ .n = 0 };
	if (!w.sh)
		return -1;
	c.note = &w.sh->task[0].note;
	ret = run_pinned(&w, &c, &data, &len, err);
	res->report = w.sh->task[0].report;
	mp_note_free(w.sh, size);
	if (!ret && len % sizeof(*res->sample))
		ret = mp_error(err, "the child answered with half a sample (%zu bytes)", len);
	if (ret) {
		free(data);
		return ret;
	}
	res->sample = data;
	res->n = len / sizeof(*res->sample);
	return 0;
}
