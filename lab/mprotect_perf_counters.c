// SPDX-License-Identifier: GPL-2.0
/*
 * Counters. They are read outside of what is timed.
 *
 * What this cannot tell: anything of a machine without a PMU, or where
 * kernel.perf_event_paranoid keeps it from us; such events are left out.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mprotect_perf_counters.h"

#define CALIBRATIONS 32

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
static _Thread_local struct {
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

void mp_counters_read(uint64_t count[MP_COUNTERS])
{
	struct rusage ru;

	getrusage(RUSAGE_THREAD, &ru);
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
		mp_counters_read(before);
		mp_counters_read(after);
		for (i = 0; i < group.n; i++) {
			enum mp_counter c = group.counter[i];

			if (after[c] - before[c] < group.cost[c])
				group.cost[c] = after[c] - before[c];
		}
	}
}

void mp_counters_close(void)
{
	unsigned int i;

	for (i = 0; i < group.n; i++)
		close(group.fd[i]);
	group.n = 0;
	group.leader = -1;
}

int mp_counters_open(struct mp_err *why)
{
	unsigned int i;

	/* those of the process that forked this one count that one */
	mp_counters_close();
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

void mp_counters_between(const uint64_t before[MP_COUNTERS], const uint64_t after[MP_COUNTERS],
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

uint64_t mp_counters_faults(void)
{
	struct rusage ru;

	getrusage(RUSAGE_THREAD, &ru);
	return (uint64_t)(ru.ru_minflt + ru.ru_majflt);
}
