// SPDX-License-Identifier: GPL-2.0
/*
 * The loop of mprotect_perf with nothing around it: map, fill, then protect,
 * restore and touch between readings of the clock, in processes of their own.
 * No checks, no counters, no pipe. Two uses: bench/cost.sh asks whether the
 * harness changes the figures; bench/floor.sh collects sizes that no row has.
 *
 *	bare CPU shared|private BYTES SECONDS PROCESSES CYCLES_MAX
 *
 * writes a record to stdout; the clock starts after 10 cycles.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WARM_UP 10

struct cycle {
	uint64_t protect, restore, touch;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Where a page table begins, as the program has it. */
static char *map(size_t bytes, size_t page, int shared)
{
	size_t table = page * (page / 8);
	char *area = mmap(NULL, bytes + 2 * table, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *p = (char *)(((uintptr_t)area + table - 1) & ~(table - 1));

	if (area == MAP_FAILED ||
	    mmap(p, bytes, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_ANONYMOUS |
		 (shared ? MAP_SHARED : MAP_PRIVATE), -1, 0) == MAP_FAILED)
		die("mmap");
	madvise(p, bytes, MADV_NOHUGEPAGE);
	return p;
}

static void write_pages(char *p, size_t bytes, size_t page)
{
	for (size_t off = 0; off < bytes; off += page)
		*(volatile uint64_t *)(p + off) = off;
}

static void one_cycle(char *p, size_t bytes, size_t page, struct cycle *c)
{
	uint64_t t0 = now(), t1, t2;

	if (mprotect(p, bytes, PROT_READ))
		die("mprotect");
	t1 = now();
	c->protect = t1 - t0;
	t1 = now();
	if (mprotect(p, bytes, PROT_READ | PROT_WRITE))
		die("mprotect");
	t2 = now();
	c->restore = t2 - t1;
	t2 = now();
	write_pages(p, bytes, page);
	c->touch = now() - t2;
}

static void process(size_t bytes, int shared, double seconds, unsigned int proc,
		    unsigned int max, uint64_t *total)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct cycle *c = mmap(NULL, max * sizeof(*c), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	char *p = map(bytes, page, shared);
	unsigned int n;
	uint64_t end;

	if (c == MAP_FAILED)
		die("mmap");
	write_pages(p, bytes, page);
	for (n = 0; n < WARM_UP; n++)
		one_cycle(p, bytes, page, c);
	end = now() + (uint64_t)(seconds * 1e9);
	for (n = 0; n < max && now() < end; n++)
		one_cycle(p, bytes, page, &c[n]);
	for (unsigned int i = 0; i < n; i++)
		printf("sample scenario=bare proc=%u cycle=%u pages=%zu calls=1 protect=%llu restore=%llu touch=%llu\n",
		       proc, i, bytes / page, (unsigned long long)c[i].protect,
		       (unsigned long long)c[i].restore, (unsigned long long)c[i].touch);
	fflush(stdout);
	*total += n;
	_exit(0);
}

int main(int argc, char **argv)
{
	cpu_set_t set;
	uint64_t *total;

	if (argc != 7) {
		fprintf(stderr, "usage: bare CPU shared|private BYTES SECONDS PROCESSES CYCLES_MAX\n");
		return 1;
	}
	CPU_ZERO(&set);
	CPU_SET(strtoul(argv[1], NULL, 10), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
	total = mmap(NULL, sizeof(*total), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (total == MAP_FAILED)
		die("mmap");
	printf("mprotect_perf-record 1\nenv unit=ns\nenv page_size=%ld\n", sysconf(_SC_PAGESIZE));
	for (unsigned int i = 0; i < strtoul(argv[5], NULL, 10); i++) {
		int status;

		fflush(stdout);
		if (!fork())
			process(strtoul(argv[3], NULL, 10), !strcmp(argv[2], "shared"),
				strtod(argv[4], NULL), i, strtoul(argv[6], NULL, 10), total);
		if (wait(&status) < 0 || status)
			die("a process");
	}
	printf("end samples=%llu\n", (unsigned long long)*total);
	return 0;
}
