// SPDX-License-Identifier: GPL-2.0
/*
 * The loop that is timed. Between two readings of the clock there is nothing
 * but the phase; page faults and context switches are counted outside.
 *
 * What this cannot tell: why a figure is what it is. The samples go to the
 * parent raw, and the record keeps them raw.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "mprotect_perf_child.h"
#include "mprotect_perf_measure.h"

#define CLOCK_READINGS 1000
#define CALIBRATIONS 32
#define CLOCK_READINGS_MAX 100000000

/* What parent and child share. */
struct shared {
	struct mp_note note;
	struct mp_report report;
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

#define DTLB_LOAD_MISSES (PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_READ << 8 | \
			  PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

/* perf events, as one group: all of them are counted at the same time, or none */
static const struct {
	enum mp_counter counter;
	uint32_t type;
	uint64_t config;
	bool no_kernel;
	bool no_user;
} events[] = {
	{ MP_INSN_K, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, .no_user = true },
	{ MP_INSN_U, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, .no_kernel = true },
	{ MP_CYCLES_K, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, .no_user = true },
	{ MP_CYCLES_U, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, .no_kernel = true },
	{ MP_DTLB, PERF_TYPE_HW_CACHE, DTLB_LOAD_MISSES, .no_user = false },
};

/* What is open of it; reading costs something, which is taken off again. */
static struct {
	int leader;
	unsigned int n;
	int fd[MP_COUNTERS];
	enum mp_counter counter[MP_COUNTERS];
	uint64_t cost[MP_COUNTERS];
} group = { .leader = -1 };

static int open_event(unsigned int i)
{
	struct perf_event_attr attr = {
		.type = events[i].type, .size = sizeof(attr), .config = events[i].config,
		.exclude_kernel = events[i].no_kernel, .exclude_user = events[i].no_user,
		.exclude_hv = 1, .read_format = PERF_FORMAT_GROUP,
		.pinned = group.leader < 0,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, group.leader,
			    PERF_FLAG_FD_CLOEXEC);
}

/* A pinned group that does not get its counters reads as nothing. */
static void read_events(uint64_t count[MP_COUNTERS])
{
	uint64_t buf[1 + MP_COUNTERS];
	unsigned int i;

	if (group.n && read(group.leader, buf, sizeof(buf)) !=
	    (ssize_t)((1 + group.n) * sizeof(*buf)))
		group.n = 0;
	for (i = 0; i < group.n; i++)
		count[group.counter[i]] = buf[1 + i];
}

static void counts(uint64_t count[MP_COUNTERS])
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	count[MP_FAULTS] = (uint64_t)(ru.ru_minflt + ru.ru_majflt);
	count[MP_CSW] = (uint64_t)(ru.ru_nvcsw + ru.ru_nivcsw);
	read_events(count);
}

/* The least that two readings with nothing between them are apart */
static void calibrate(void)
{
	uint64_t before[MP_COUNTERS], after[MP_COUNTERS];
	unsigned int i, k;

	memset(group.cost, 0xff, sizeof(group.cost));
	for (k = 0; k < CALIBRATIONS; k++) {
		counts(before);
		counts(after);
		for (i = 0; i < group.n; i++) {
			enum mp_counter c = group.counter[i];

			if (after[c] - before[c] < group.cost[c])
				group.cost[c] = after[c] - before[c];
		}
	}
}

int mp_counters_open(struct mp_err *why)
{
	unsigned int i;

	/* those of the process that forked this one count that one */
	for (i = 0; i < group.n; i++)
		close(group.fd[i]);
	group.n = 0;
	group.leader = -1;
	why->text[0] = '\0';
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		int fd = open_event(i);

		if (fd < 0) {
			if (!why->text[0])
				mp_error(why, "%s: %s", mp_counter_name[events[i].counter],
					 strerror(errno));
			continue;
		}
		if (group.leader < 0)
			group.leader = fd;
		group.fd[group.n] = fd;
		group.counter[group.n++] = events[i].counter;
	}
	if (group.n)
		calibrate();
	return (int)group.n;
}

/* What was counted between two readings, without the cost of reading */
static void difference(const uint64_t before[MP_COUNTERS], const uint64_t after[MP_COUNTERS],
		       uint64_t count[MP_COUNTERS])
{
	unsigned int i;

	count[MP_FAULTS] = after[MP_FAULTS] - before[MP_FAULTS];
	count[MP_CSW] = after[MP_CSW] - before[MP_CSW];
	for (i = 0; i < group.n; i++) {
		enum mp_counter c = group.counter[i];
		uint64_t d = after[c] - before[c];

		count[c] = d > group.cost[c] ? d - group.cost[c] : 0;
	}
}

static int run_phase(const struct mp_map *map, int phase)
{
	switch (phase) {
	case MP_PROTECT:
		return mp_map_toggle(map, map->sc->shut);
	case MP_RESTORE:
		return mp_map_toggle(map, PROT_READ | PROT_WRITE);
	default:
		mp_map_touch(map);
		return 0;
	}
}

static int time_phase(const struct mp_map *map, int phase, struct mp_figures *f,
		      struct mp_note *note)
{
	uint64_t before[MP_COUNTERS], after[MP_COUNTERS];
	uint64_t t0, t1;
	int ret;

	note->now = phase;
	counts(before);
	t0 = mp_clock_now();
	ret = run_phase(map, phase);
	t1 = mp_clock_now();
	if (ret)
		return mp_error(&note->err, "mprotect() failed while being timed: %s",
				strerror(errno));
	counts(after);
	f->time = t1 - t0;
	difference(before, after, f->count);
	return 0;
}

/* One cycle: the row's phases, in order. A fresh mapping needs no restore. */
static int time_cycle(struct mp_map *map, struct mp_sample *s, struct mp_note *note)
{
	const struct mp_scenario *sc = map->sc;
	int phase;

	if (sc->fresh) {
		note->now = MP_POPULATE;
		if (mp_map_populate(map, &note->err))
			return -1;
	}
	for (phase = MP_PROTECT; phase < MP_PHASES; phase++)
		if (sc->timed & 1U << phase && time_phase(map, phase, &s->phase[phase], note))
			return -1;
	return 0;
}

static void blank(struct mp_sample *s, const struct mp_job *job, const struct mp_map *map)
{
	memset(s, 0, sizeof(*s));
	snprintf(s->scenario, sizeof(s->scenario), "%s", job->sc->name);
	s->proc = job->proc;
	s->pages = map->pages;
	s->calls = job->sc->regions;
	s->tasks = 1;
	s->start = MP_NOT_TAKEN;
	/* all bits set: that is MP_NOT_TAKEN everywhere */
	memset(s->phase, 0xff, sizeof(s->phase));
}

/* Returns how many cycles fit into the array, from how long the warm-up took. */
static int warm_up(const struct mp_job *job, struct mp_map *map, struct mp_sample *scratch,
		   struct mp_note *note, uint32_t *room)
{
	uint32_t warmup = job->warmup ? job->warmup : 1, i;
	uint64_t start = mp_clock_now(), each;

	for (i = 0; i < warmup; i++)
		if (time_cycle(map, scratch, note))
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

static int time_cycles(const struct mp_job *job, struct mp_map *map, int out,
		       struct mp_note *note)
{
	struct mp_sample proto, *s;
	uint32_t room, n;
	uint64_t start;
	int ret;

	blank(&proto, job, map);
	if (warm_up(job, map, &proto, note, &room))
		return -1;
	/* populated: the parent's business is not to fault into the timed loop */
	s = mmap(NULL, room * sizeof(*s), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (s == MAP_FAILED)
		return mp_error(&note->err, "no memory for %u samples: %s", room,
				strerror(errno));
	start = mp_clock_now();
	for (n = 0; n < room && (!n || !job->ns || mp_clock_now() - start < job->ns); n++) {
		blank(&s[n], job, map);
		s[n].cycle = n;
		if (time_cycle(map, &s[n], note))
			return -1;
	}
	note->now = MP_PHASES;
	ret = mp_child_write(out, s, n * sizeof(*s), &note->err);
	munmap(s, room * sizeof(*s));
	return ret;
}

/* Timed, and seen to be what it claims to be, before and after. */
static int look_time_look(const struct mp_job *job, struct mp_map *map, struct shared *sh,
			  const struct mp_eyes *eyes, int out)
{
	const int open = PROT_READ | PROT_WRITE;
	int ret;

	sh->note.now = MP_POPULATE;
	if (mp_map_populate(map, &sh->note.err))
		return -1;
	mp_check_still(map, eyes, open, MP_POPULATE, &sh->report);
	ret = time_cycles(job, map, out, &sh->note);
	if (!ret)
		mp_check_still(map, eyes, job->sc->fresh ? job->sc->shut : open, MP_TOUCH,
			       &sh->report);
	return ret;
}

static int pin(int cpu, struct mp_err *err)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return mp_error(err, "cannot pin to CPU %d: %s", cpu, strerror(errno));
	return 0;
}

static int child(void *arg, int out, struct mp_note *note)
{
	const struct mp_job *job = arg;
	struct shared *sh = (struct shared *)note;
	struct mp_err no_counters;
	struct mp_eyes eyes;
	struct mp_map map;
	int ret;

	/* both need what mp_eyes_open() gives up */
	if (job->cycles)
		mp_counters_open(&no_counters);
	mp_eyes_open(&eyes);
	if (mp_map_open(&map, job->sc, &note->err))
		return -1;
	if (job->cycles)
		ret = look_time_look(job, &map, sh, &eyes, out);
	else
		ret = mp_check_cycle(&map, &eyes, &sh->report, &note->now, &note->err);
	mp_map_close(&map);
	mp_eyes_close(&eyes);
	return ret;
}

/*
 * The parent goes to the CPU before the child is made: a child that has begun
 * elsewhere has two CPUs in its mm's cpumask for as long as it lives, and each
 * TLB flush then looks at both.
 */
static int run_pinned(const struct mp_job *job, const struct mp_child *c, void **data,
		      size_t *len, struct mp_err *err)
{
	cpu_set_t before;
	int ret;

	if (job->cpu < 0 || sched_getaffinity(0, sizeof(before), &before))
		return mp_child_run(c, data, len, err);
	if (pin(job->cpu, err))
		return -1;
	ret = mp_child_run(c, data, len, err);
	sched_setaffinity(0, sizeof(before), &before);
	return ret;
}

int mp_measure_run(const struct mp_job *job, struct mp_result *res, struct mp_err *err)
{
	struct shared *sh = mp_note_new(sizeof(*sh), err);
	struct mp_child c = {
		.run = child, .arg = (void *)job, .note = &sh->note,
		.seconds = job->seconds + (unsigned int)(3 * job->ns / 1000000000),
	};
	void *data = NULL;
	size_t len = 0;
	int ret;

	*res = (struct mp_result){ .n = 0 };
	if (!sh)
		return -1;
	ret = run_pinned(job, &c, &data, &len, err);
	res->report = sh->report;
	mp_note_free(sh, sizeof(*sh));
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
