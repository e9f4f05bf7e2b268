// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of sizes and numbers of tasks.
 *
 * Sources: mprotect_perf_variant.c mprotect_perf_scenario.c
 */
#include <sched.h>
#include <unistd.h>

#include "unit.h"
#include "mprotect_perf_variant.h"

static const struct mp_scenario *row(const char *name)
{
	return &mp_scenarios[mp_scenario_find(name)];
}

static void test_sweep(void)
{
	static const struct {
		const char *text;
		unsigned int n;
		size_t first, second, last;
	} good[] = {
		{ "4k..4m", 11, 4096, 8192, 4194304 },
		{ "4k..4000kx10", 4, 4096, 40960, 4096000 },
		{ "1g..1g", 1, 1073741824, 0, 1073741824 },
		{ "100..1000x3", 4, 100, 300, 1000 },
		{ "64K..1Mx1.5", 8, 65536, 98304, 1048576 },
		{ "4k..5kx1000", 2, 4096, 5120, 5120 },
	};
	static const char *const bad[] = {
		"", "4k", "4k..", "..4k", "4k...4m", "4k..4mx", "4k..4mx1", "4k..4mx0.5", "4k..4mx-2",
		"4k..4mx2y", "4m..4k", "0..4k", "-4k..4k", "4q..4m", "4kb..4m",
		"4k..99999999999999999999", "4k..20000000000g", "1..4gx1.01", "4k..4m ", "4k..4mxnan",
	};
	struct mp_choice c = { .nsizes = 0 };
	struct mp_err err;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		is_int(mp_choice_sweep(&c, good[i].text, &err), 0, good[i].text);
		is_int(c.nsizes, good[i].n, "as many sizes");
		is_int((long long)c.size[0], (long long)good[i].first, "the first");
		if (c.nsizes > 1)
			is_int((long long)c.size[1], (long long)good[i].second, "the second");
		is_int((long long)c.size[c.nsizes - 1], (long long)good[i].last, "the last");
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		is_int(mp_choice_sweep(&c, bad[i], &err), -1, bad[i]);
		has_str(err.text, "give ", "and the mend is named");
	}
}

static void test_tasks(void)
{
	static const char *const bad[] = {
		"", "0", "-1", "1,", ",1", "2,1", "1,1", "1x", "4097", "1 2", "99999999999999999999",
		"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17",
	};
	struct mp_choice c = { .ncounts = 0 };
	struct mp_err err;
	size_t i;

	is_int(mp_choice_tasks(&c, "3", &err), 0, "one number");
	ok(c.ncounts == 1 && c.tasks[0] == 3, "is taken");
	is_int(mp_choice_tasks(&c, "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,4096", &err), 0, "sixteen");
	ok(c.ncounts == 16 && c.tasks[15] == 4096, "are taken");
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		is_int(mp_choice_tasks(&c, bad[i], &err), -1, bad[i]);
		has_str(err.text, "--tasks '", "and the option is named");
	}
}

static void test_variants(void)
{
	static struct mp_scenario v[MP_VARIANTS_MAX];
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct mp_choice none = { .nsizes = 0 }, c = { .nsizes = 0 };
	cpu_set_t set;
	char text[64];
	unsigned int n, cpus;

	sched_getaffinity(0, sizeof(set), &set);
	cpus = (unsigned int)CPU_COUNT(&set);

	is_int(mp_variants(row("shared-dirty"), &none, v), 1, "without a choice, the row");
	ok(v[0].tasks == 1 && v[0].bytes == row("shared-dirty")->bytes, "as it is");
	is_str(mp_variant_name(&v[0], text, sizeof(text)), "64 MiB", "its size");

	n = mp_variants(row("threads"), &none, v);
	ok(v[0].tasks == 1 && v[n - 1].tasks == cpus, "tasks go from 1 to the CPUs");
	is_str(mp_variant_name(&v[0], text, sizeof(text)), "1 task", "one");

	c.size[0] = page;
	c.size[1] = 2 * page - 1;
	c.size[2] = 10 * page;
	c.size[3] = 1000 * page;
	c.nsizes = 4;
	n = mp_variants(row("private-none"), &c, v);
	is_int(n, 3, "two sizes that are one page are one");
	ok(v[0].regions == 64 && v[0].bytes == page && !v[0].pages, "a page comes 64 times");
	ok(v[1].regions == 6 && v[1].bytes == 10 * page, "ten pages come six times");
	ok(v[2].regions == 1 && v[2].bytes == 1000 * page, "a thousand once");

	n = mp_variants(row("split-restore"), &c, v);
	ok(n == 3 && v[0].bytes == 3 * page && v[0].margin == 1,
	   "a size is that of what is protected");

	c.tasks[0] = 2;
	c.tasks[1] = 5;
	c.ncounts = 2;
	n = mp_variants(row("processes"), &c, v);
	is_int(n, 6, "each size with each number of tasks");
	ok(v[0].tasks == 2 && v[1].tasks == 5 && v[1].bytes == page && v[5].bytes == 1000 * page,
	   "sizes outside, tasks inside");
	has_str(mp_variant_name(&v[1], text, sizeof(text)), "KiB, 5 tasks", "both are named");
	is_int(mp_variants(row("one-page"), &c, v), 3, "a row without tasks has none");
	is_int(v[0].tasks, 1, "but one");
}

int main(void)
{
	test_sweep();
	test_tasks();
	test_variants();
	return done_testing();
}
