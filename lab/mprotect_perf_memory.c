// SPDX-License-Identifier: GPL-2.0
/*
 * Memory: the machine's, and that of the control groups we are in, of either
 * version (Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst).
 *
 * What this cannot tell: what others take in the meantime, and a limit above
 * the root of our own cgroup namespace, which is hidden.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mprotect_perf_memory.h"

/* What the two versions call the same things. */
static const struct version {
	const char *mount;
	const char *max;
	const char *current;
	const char *cache;	/* in memory.stat, of the group and all below */
} versions[] = {
	{ "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file " },
	{ "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
	  "total_inactive_file " },
};

/* The number behind @key at the beginning of a line; SIZE_MAX for none, and for "max" */
static size_t read_number(const char *path, const char *key)
{
	FILE *f = fopen(path, "re");
	char line[256];
	size_t n = SIZE_MAX;

	if (!f)
		return n;
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, key, strlen(key)))
			continue;
		if (sscanf(line + strlen(key), "%zu", &n) != 1)
			n = SIZE_MAX;
		break;
	}
	fclose(f);
	return n;
}

static size_t group_number(const struct version *v, const char *group, const char *file,
			   const char *key)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s%s/%s", v->mount, group, file) >=
	    sizeof(path))
		return SIZE_MAX;
	return read_number(path, key);
}

/* What one group leaves */
static size_t left_in(const struct version *v, const char *group)
{
	size_t max = group_number(v, group, v->max, "");
	size_t now = group_number(v, group, v->current, "");
	size_t cache = group_number(v, group, "memory.stat", v->cache);

	if (max == SIZE_MAX || now == SIZE_MAX)
		return SIZE_MAX;
	if (cache != SIZE_MAX)
		now -= cache < now ? cache : now;
	return max > now ? max - now : 0;
}

/* The least of a group and all above it; @group is shortened on the way. */
static size_t left_above(const struct version *v, char *group)
{
	size_t least = left_in(v, group), left;
	char *slash;

	while ((slash = strrchr(group, '/'))) {
		*slash = '\0';
		left = left_in(v, group);
		if (left < least)
			least = left;
	}
	return least;
}

/* "0::/a/b" of version 2, "9:memory:/a/b" of version 1 */
static size_t left_in_groups(void)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	size_t least = SIZE_MAX, left;
	char line[PATH_MAX];

	if (!f)
		return least;
	while (fgets(line, sizeof(line), f)) {
		char *names = strchr(line, ':');
		char *group = names ? strchr(names + 1, ':') : NULL;
		bool first;

		if (!group)
			continue;
		*group++ = '\0';
		group[strcspn(group, "\n")] = '\0';
		first = !names[1];
		if (!first && !strstr(names, "memory"))
			continue;
		left = left_above(&versions[first ? 0 : 1], group);
		if (left < least)
			least = left;
	}
	fclose(f);
	return least;
}

size_t mp_memory_available(const char **limit)
{
	size_t machine = read_number("/proc/meminfo", "MemAvailable:");
	size_t groups = left_in_groups();

	if (machine != SIZE_MAX)
		machine = machine > SIZE_MAX >> 10 ? SIZE_MAX - 1 : machine << 10;
	*limit = groups < machine ? "its control group" : "MemAvailable";
	return groups < machine ? groups : machine;
}
