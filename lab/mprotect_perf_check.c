// SPDX-License-Identifier: GPL-2.0
/*
 * The checks of a row. Every page is looked at, not a sample of them: a bug in
 * a batched loop shows in the one page at the end of a batch.
 *
 * What this cannot tell: a page that the kernel moves or reclaims under us
 * takes a fault that is nobody's bug, so the fault count asks for one clean
 * cycle out of three; a fault that comes back every time fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/capability.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mprotect_perf_check.h"
#include "mprotect_perf_counters.h"
#include "mprotect_perf_probe.h"
#include "mprotect_perf_state.h"
#include "mprotect_perf_tasks.h"

#define CYCLES_FOR_FAULTS 3
/* khugepaged may have been quicker, or memory in pieces */
#define TRIES_FOR_FOLIOS 3

const char *const mp_check_name[MP_CHECKS] = {
	[MP_CHECK_RETURN]	= "return",
	[MP_CHECK_ACCESS]	= "access",
	[MP_CHECK_CONTENT]	= "content",
	[MP_CHECK_VMA]		= "vma",
	[MP_CHECK_STATE]	= "state",
	[MP_CHECK_PAGEMAP]	= "pagemap",
	[MP_CHECK_KPAGEFLAGS]	= "kpageflags",
	[MP_CHECK_FAULTS]	= "faults",
};

void mp_finding_set(struct mp_finding *v, enum mp_outcome outcome, const char *fmt, ...)
{
	va_list args;

	if (outcome <= v->outcome)
		return;
	v->outcome = outcome;
	if (!fmt)
		return;
	va_start(args, fmt);
	vsnprintf(v->text.text, sizeof(v->text.text), fmt, args);
	va_end(args);
}

void mp_eyes_open(struct mp_eyes *eyes)
{
	cap_t caps = cap_get_proc();
	cap_flag_value_t admin = CAP_CLEAR;

	eyes->kpageflags = -1;
	eyes->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (eyes->pagemap < 0)
		mp_error(&eyes->no_pagemap, "/proc/self/pagemap: %s", strerror(errno));
	if (caps)
		cap_get_flag(caps, CAP_SYS_ADMIN, CAP_EFFECTIVE, &admin);
	if (admin != CAP_SET) {
		mp_error(&eyes->no_kpageflags, "no CAP_SYS_ADMIN: page frames are hidden");
	} else {
		eyes->kpageflags = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
		if (eyes->kpageflags < 0)
			mp_error(&eyes->no_kpageflags, "/proc/kpageflags: %s",
				 strerror(errno));
	}
	if (caps) {
		cap_clear(caps);
		cap_set_proc(caps);
		cap_free(caps);
	}
}

void mp_eyes_close(struct mp_eyes *eyes)
{
	if (eyes->pagemap >= 0)
		close(eyes->pagemap);
	if (eyes->kpageflags >= 0)
		close(eyes->kpageflags);
	eyes->pagemap = -1;
	eyes->kpageflags = -1;
}

void mp_report_merge(struct mp_report *to, const struct mp_report *from)
{
	bool failed = false;
	unsigned int i;

	for (i = 0; i < MP_CHECKS; i++)
		failed |= from->v[i].outcome == MP_FAIL;
	for (i = 0; i < MP_CHECKS; i++) {
		if (failed && from->v[i].outcome == MP_UNSEEN)
			mp_finding_set(&to->v[i], MP_SKIP, "not reached: an earlier check failed");
		mp_finding_set(&to->v[i], from->v[i].outcome, "%s", from->v[i].text.text);
	}
	for (i = 0; i < MP_PHASES; i++)
		if (from->faults[i] > to->faults[i])
			to->faults[i] = from->faults[i];
	if (!to->missing.text[0])
		to->missing = from->missing;
}

static const char *const access_name[] = {
	[MP_ALLOWED] = "worked", [MP_REFUSED] = "got SIGSEGV (SEGV_ACCERR)",
	[MP_UNMAPPED] = "got SIGSEGV (SEGV_MAPERR)",
	[MP_STOPPED] = "got SIGBUS",
	[MP_ASTRAY] = "got another signal, code or address",
};

/* Returns false at the first surprise: one reason is enough. */
static bool check_page(const struct mp_map *map, char *p, int prot, const char *phase,
		       struct mp_report *rep)
{
	enum mp_access can_read = prot & PROT_READ ? MP_ALLOWED : MP_REFUSED;
	enum mp_access can_write = prot & PROT_WRITE ? MP_ALLOWED :
				   map->sc->uffd ? MP_STOPPED : MP_REFUSED;
	size_t page = (size_t)(p - map->base) / map->page;
	enum mp_access got;

	got = mp_probe_read(p);
	if (got != can_read) {
		mp_finding_set(&rep->v[MP_CHECK_ACCESS], MP_FAIL, "after %s: read of page %zu %s",
			       phase, page, access_name[got]);
		return false;
	}
	if (got == MP_ALLOWED && !mp_map_holds(map, p)) {
		mp_finding_set(&rep->v[MP_CHECK_CONTENT], MP_FAIL,
			       "after %s: page %zu does not hold what was written to it",
			       phase, page);
		return false;
	}
	/* a row that is to stay clean must not be written to */
	if (can_write == MP_ALLOWED && map->sc->fill == MP_FILL_READ)
		return true;
	got = mp_probe_write(p, mp_map_content(map, p));
	if (got != can_write) {
		mp_finding_set(&rep->v[MP_CHECK_ACCESS], MP_FAIL,
			       "after %s: write to page %zu %s", phase, page, access_name[got]);
		return false;
	}
	return true;
}

void mp_check_access(const struct mp_map *map, int prot, enum mp_phase phase,
		     struct mp_report *rep)
{
	unsigned int i;
	size_t off;
	bool go = true;

	mp_probe_arm(1);
	for (i = 0; i < map->regions && go; i++) {
		char *first = mp_map_first(map, i);

		for (off = 0; off < map->len && go; off += map->page) {
			char *p = mp_map_region(map, i) + off;
			bool inner = p >= first && p < first + map->toggled;

			go = check_page(map, p, inner ? prot : PROT_READ | PROT_WRITE,
					mp_phase_name[phase], rep);
		}
	}
	mp_probe_arm(0);
	mp_finding_set(&rep->v[MP_CHECK_ACCESS], MP_PASS, NULL);
	mp_finding_set(&rep->v[MP_CHECK_CONTENT], MP_PASS, NULL);
}

void mp_check_still(const struct mp_map *map, const struct mp_eyes *eyes, int prot,
		    enum mp_phase phase, struct mp_report *rep)
{
	unsigned int i;
	size_t off;

	mp_check_state(map, eyes, prot, phase, rep);
	if (map->sc->fill == MP_FILL_NONE)
		return;
	for (i = 0; prot & PROT_READ && i < map->regions; i++) {
		for (off = 0; off < map->len; off += map->page) {
			char *p = mp_map_region(map, i) + off;

			if (mp_map_holds(map, p))
				continue;
			mp_finding_set(&rep->v[MP_CHECK_CONTENT], MP_FAIL,
				       "while timing: page %zu does not hold what was written to it",
				       (size_t)(p - map->base) / map->page);
			return;
		}
	}
}

/* What the tasks of a row do at the same time, and what came of it. */
struct toggle {
	const struct mp_map *map;
	struct mp_sync sync;
	unsigned int n;
	int prot;
	struct outcome {
		struct mp_note note;
		int ret;
		int error;
		uint64_t faults;
	} of[];
};

static int toggle_one(void *ctx, unsigned int task, struct mp_note *note)
{
	struct toggle *t = ctx;
	struct outcome *o = (struct outcome *)note;
	uint64_t before;

	if (!mp_sync_start(&t->sync, t->n))
		return -1;
	before = mp_counters_faults();
	errno = 0;
	o->ret = mp_map_toggle(t->map, task, t->prot);
	o->error = errno;
	o->faults = mp_counters_faults() - before;
	return 0;
}

/* Tasks of one mm that are to go on at once; of processes, each is its own. */
static unsigned int threads_of(const struct mp_scenario *sc)
{
	return sc->team == MP_THREADS || sc->team == MP_THREADS_SHARED ? sc->tasks : 1;
}

/* One phase: result, faults. */
static int toggle(const struct mp_map *map, int prot, enum mp_phase phase,
		  struct mp_report *rep, volatile int *now)
{
	unsigned int n = threads_of(map->sc), i;
	struct toggle *t = calloc(1, sizeof(*t) + n * sizeof(t->of[0]));
	struct mp_tasks tasks;
	int ret = 0;

	*now = phase;
	if (!t) {
		mp_finding_set(&rep->v[MP_CHECK_RETURN], MP_SKIP, "no memory for %u tasks", n);
		return -1;
	}
	t->map = map;
	t->n = n;
	t->prot = prot;
	tasks = (struct mp_tasks){
		.team = n > 1 ? MP_THREADS : MP_ALONE, .n = n, .cpu = -1, .sync = &t->sync,
		.note = &t->of[0].note, .note_stride = sizeof(t->of[0]), .run = toggle_one,
		.ctx = t,
	};
	ret = mp_tasks_run(&tasks);
	if (ret)
		mp_finding_set(&rep->v[MP_CHECK_RETURN], MP_FAIL, "%s: %s",
			       mp_phase_name[phase], t->of[0].note.err.text);
	rep->faults[phase] = 0;
	for (i = 0; i < n; i++) {
		const struct outcome *o = &t->of[i];

		if (o->ret || o->error)
			mp_finding_set(&rep->v[MP_CHECK_RETURN], MP_FAIL,
				       "%s: %s returned %d, errno %d (%s)",
				       mp_phase_name[phase], mp_map_call(map), o->ret, o->error,
				       strerror(o->error));
		ret |= o->ret;
		rep->faults[phase] += o->faults;
	}
	free(t);
	return ret;
}

static void touch(const struct mp_map *map, struct mp_report *rep, volatile int *now)
{
	unsigned int n = threads_of(map->sc), i;
	uint64_t before = mp_counters_faults();

	*now = MP_TOUCH;
	for (i = 0; i < n; i++)
		mp_map_touch(map, i);
	rep->faults[MP_TOUCH] = mp_counters_faults() - before;
}

/* All that happens after populate, without a look at the state. */
static int bare_cycle(const struct mp_map *map, struct mp_report *rep, volatile int *now)
{
	if (toggle(map, map->sc->shut, MP_PROTECT, rep, now) ||
	    toggle(map, PROT_READ | PROT_WRITE, MP_RESTORE, rep, now))
		return -1;
	touch(map, rep, now);
	return 0;
}

static bool undue_faults(const struct mp_map *map, const struct mp_report *rep)
{
	return rep->faults[MP_PROTECT] || rep->faults[MP_RESTORE] ||
	       (map->sc->in_place && rep->faults[MP_TOUCH]);
}

/*
 * A cycle of its own: a look at the pages between restore and touch would take
 * the faults that the touch must not have.
 */
static void check_faults(const struct mp_map *map, struct mp_report *rep, volatile int *now)
{
	int left = CYCLES_FOR_FAULTS;

	do {
		if (bare_cycle(map, rep, now))
			return;
		if (!undue_faults(map, rep)) {
			mp_finding_set(&rep->v[MP_CHECK_FAULTS], MP_PASS, NULL);
			return;
		}
	} while (--left);
	mp_finding_set(&rep->v[MP_CHECK_FAULTS], MP_FAIL,
		       "protect took %llu faults, restore %llu, touch %llu",
		       (unsigned long long)rep->faults[MP_PROTECT],
		       (unsigned long long)rep->faults[MP_RESTORE],
		       (unsigned long long)rep->faults[MP_TOUCH]);
}

int mp_check_populate(struct mp_map *map, const struct mp_eyes *eyes, struct mp_report *rep,
		      struct mp_err *err)
{
	int left = TRIES_FOR_FOLIOS;

	do {
		uint64_t before = mp_counters_faults();
		size_t given = map->sc->folio == MP_64K ? mp_state_mthp_given() : SIZE_MAX;

		if (mp_map_populate(map, err))
			return -1;
		rep->faults[MP_POPULATE] = mp_counters_faults() - before;
		if (map->sc->folio == MP_BASE)
			return 0;
		if (given != SIZE_MAX)
			given = mp_state_mthp_given() - given;
		rep->missing.text[0] = '\0';
		if (mp_check_folios(map, eyes, given, rep->faults[MP_POPULATE], &rep->missing))
			return mp_map_settle(map, err);
	} while (--left);
	return 0;
}

/*
 * One look at everything. What may be read or written is told by doing it,
 * which brings pages where none are meant to be: of those that wait for it.
 */
static void look(const struct mp_map *map, const struct mp_eyes *eyes, int prot,
		 enum mp_phase phase, struct mp_report *rep)
{
	mp_check_state(map, eyes, prot, phase, rep);
	if (map->sc->fill != MP_FILL_NONE || !(prot & PROT_READ))
		mp_check_access(map, prot, phase, rep);
}

int mp_check_cycle(struct mp_map *map, const struct mp_eyes *eyes, struct mp_report *rep,
		   volatile int *now, struct mp_err *err)
{
	const int open = PROT_READ | PROT_WRITE, shut = map->sc->shut;

	*now = MP_POPULATE;
	if (mp_check_populate(map, eyes, rep, err))
		return -1;
	if (rep->missing.text[0])
		return 0;
	look(map, eyes, open, MP_POPULATE, rep);

	if (toggle(map, shut, MP_PROTECT, rep, now))
		return 0;
	look(map, eyes, shut, MP_PROTECT, rep);

	if (toggle(map, open, MP_RESTORE, rep, now))
		return 0;
	look(map, eyes, open, MP_RESTORE, rep);

	touch(map, rep, now);
	look(map, eyes, open, MP_TOUCH, rep);

	check_faults(map, rep, now);
	if (map->sc->fill == MP_FILL_NONE)
		mp_check_access(map, open, MP_RESTORE, rep);
	mp_finding_set(&rep->v[MP_CHECK_RETURN], MP_PASS, NULL);
	return 0;
}
