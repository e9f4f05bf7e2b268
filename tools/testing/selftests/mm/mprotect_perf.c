// SPDX-License-Identifier: GPL-2.0
/*
 * Is mprotect(2) right, and what does it cost?
 *
 * A row is a workload: a mapping that is populated, protected, restored and
 * touched. Each test walks through these four phases and looks at something
 * after each of them: what may be read and written, which VMAs there are, what
 * smaps, pagemap and kpageflags say, which faults were taken. With -p, "time"
 * measures the phases: no other test reads a clock.
 *
 * A row is data, three lines of FIXTURE_VARIANT_ADD(mprotect, ...). So is a
 * single call with its errno and the pages that it leaves behind.
 *
 * What this cannot tell: whether a figure is a regression. For that two kernels
 * must be measured, several times; the record (--record) has the raw samples.
 *
 * A failure is the kernel's. What the environment does not allow, a limit, a
 * policy, a missing feature, is a SKIP: it is asked for before the call.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "vm_util.h"
#include "hugepage_settings.h"

#define RW		(PROT_READ | PROT_WRITE)
#define KIB		(1UL << 10)
#define MIB		(1UL << 20)
/* a look is at so many bytes of a row; all of them are timed */
#define LOOK_BYTES	(4 * MIB)
/* beside the pages: page tables, samples, the program itself */
#define REST		(16 * MIB)

enum phase { POPULATE, PROTECT, RESTORE, TOUCH, PHASES };
static const char *const phase_name[PHASES] = { "populate", "protect", "restore", "touch" };

enum touch { NO_TOUCH, READ_TOUCH, WRITE_TOUCH };

/**
 * struct row - one workload
 * @touch: what follows the restore
 * @shared: MAP_SHARED or MAP_PRIVATE
 * @from: protection that populate and restore leave; 0 stands for read, write
 * @to: protection that protect leaves
 * @regions: mappings with a gap before and after; 0 stands for one
 * @bytes: size of one; or else
 * @pages: of one
 */
struct row {
	enum touch touch;
	bool shared;
	int from, to;
	unsigned int regions, pages;
	size_t bytes;
};

/* What the command line asks for. */
static struct {
	bool perf;
} opt;

/*
 * Results. The harness's SKIP() ends a function; these end the test, from
 * whatever function or process of it, and leave the reason behind its name.
 */
static struct __test_metadata *test;

static void __printf(2, 3) __noreturn end_test(int code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(test->results->reason, sizeof(test->results->reason), fmt, args);
	va_end(args);
	fflush(stdout);
	_exit(code);
}

#define fail(...) end_test(KSFT_FAIL, __VA_ARGS__)
#define skip(...) end_test(KSFT_SKIP, __VA_ARGS__)

/* Whoever dies or hangs from here on has left its reason. */
static void begin(enum phase phase)
{
	snprintf(test->results->reason, sizeof(test->results->reason),
		 "died or hung in phase %s", phase_name[phase]);
}

/*
 * The environment: what a row needs, asked for before it is tried.
 */

/* The number behind @key at the beginning of a line; ULONG_MAX for none, and for "max" */
static unsigned long number_in(const char *path, const char *key)
{
	unsigned long n = ULONG_MAX;
	FILE *f = fopen(path, "re");
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, key, strlen(key)))
			continue;
		if (sscanf(line + strlen(key), "%lu", &n) != 1)
			n = ULONG_MAX;
		break;
	}
	if (f)
		fclose(f);
	return n;
}

static void need(const char *limit, unsigned long left, unsigned long want)
{
	if (left < want)
		skip("needs %lu KiB, %s leaves %lu KiB", want >> 10, limit, left >> 10);
}

static void need_limit(int which, const char *name, unsigned long used, unsigned long want)
{
	struct rlimit r;

	if (!getrlimit(which, &r) && r.rlim_cur != RLIM_INFINITY)
		need(name, r.rlim_cur > used ? r.rlim_cur - used : 0, want);
}

/* Address space and private writable memory: the kernel answers ENOMEM beyond them. */
static void need_room(unsigned long bytes, unsigned long space, unsigned long vmas)
{
	unsigned long limit = number_in("/proc/sys/vm/max_map_count", "");
	unsigned long size = number_in("/proc/self/status", "VmSize:");
	unsigned long data = number_in("/proc/self/status", "VmData:");

	if (limit < vmas + 128)
		skip("needs %lu VMAs, vm.max_map_count is %lu", vmas + 128, limit);
	need_limit(RLIMIT_AS, "RLIMIT_AS", size == ULONG_MAX ? 0 : size << 10, space + REST);
	need_limit(RLIMIT_DATA, "RLIMIT_DATA", data == ULONG_MAX ? 0 : data << 10, bytes + REST);
}

/*
 * The mapping of a row.
 */

/**
 * struct map - what a row looks like in this process
 * @row: the row
 * @base: first region, aligned to what one page table maps
 * @page: size of a base page
 * @len: bytes of a region
 * @stride: from region to region
 * @regions: how many
 */
struct map {
	const struct row *row;
	char *base;
	size_t page, len, stride;
	unsigned int regions;
};

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

static char *region_of(const struct map *m, unsigned int i)
{
	return m->base + i * m->stride;
}

/* The protection that a phase leaves */
static int prot_after(const struct map *m, enum phase phase)
{
	if (phase == PROTECT)
		return m->row->to;
	return m->row->from ? m->row->from : RW;
}

/* Sizes, without a call that could fail */
static struct map shape(const struct row *row, bool timed)
{
	struct map m = { .row = row, .page = psize() };
	size_t bytes = row->bytes;

	if (!timed && bytes > LOOK_BYTES)
		bytes = LOOK_BYTES;
	m.len = bytes ? bytes & ~(m.page - 1) : row->pages * m.page;
	m.regions = row->regions ? row->regions : 1;
	m.stride = m.len + m.page;
	return m;
}

/* The index is spread over the word, so that shifted content is seen too. */
static uint64_t content(const struct map *m, const char *p)
{
	return ((p - m->base) / m->page + 1) * 0x9e3779b97f4a7c15ULL;
}

static uint64_t *last_word(const struct map *m, char *p)
{
	return (uint64_t *)(p + m->page) - 1;
}

static bool holds(const struct map *m, char *p)
{
	return FORCE_READ(*(uint64_t *)p) == content(m, p) &&
	       FORCE_READ(*last_word(m, p)) == content(m, p);
}

static void write_pages(const struct map *m, char *p, size_t len)
{
	char *end = p + len;

	for (; p < end; p += m->page)
		*(volatile uint64_t *)p = content(m, p);
}

static void map_open(struct map *m)
{
	/* a page table has entries of 8 bytes on every machine we know */
	size_t table = m->page * (m->page / 8);
	size_t space = 2 * table + m->stride * m->regions;
	char *area;

	need_room(m->len * m->regions, space, 2 * m->regions);
	area = mmap(NULL, space, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (area == MAP_FAILED)
		skip("mmap of %zu bytes of address space: %s", space, strerror(errno));
	m->base = (char *)round_up((uintptr_t)area + m->page, table);
}

static void populate(const struct map *m)
{
	unsigned int i;
	size_t off;

	begin(POPULATE);
	for (i = 0; i < m->regions; i++) {
		char *region = region_of(m, i);
		int flags = MAP_FIXED | MAP_ANONYMOUS | (m->row->shared ? MAP_SHARED : MAP_PRIVATE);

		if (mmap(region, m->len, RW, flags, -1, 0) == MAP_FAILED)
			skip("mmap of region %u: %s", i, strerror(errno));
		/* before the first touch */
		if (thp_available() && madvise(region, m->len, MADV_NOHUGEPAGE))
			skip("madvise(MADV_NOHUGEPAGE): %s", strerror(errno));
		write_pages(m, region, m->len);
		for (off = 0; off < m->len; off += m->page)
			*last_word(m, region + off) = content(m, region + off);
	}
}

/*
 * The phases.
 */

/* Everything that is called for one phase: this is what is timed. */
static int phase_calls(const struct map *m, enum phase phase)
{
	unsigned int i;

	for (i = 0; i < m->regions; i++)
		if (mprotect(region_of(m, i), m->len, prot_after(m, phase)))
			return -1;
	return 0;
}

static void touch_pages(const struct map *m)
{
	unsigned int i;

	for (i = 0; i < m->regions; i++) {
		if (m->row->touch == WRITE_TOUCH)
			write_pages(m, region_of(m, i), m->len);
		else if (m->row->touch == READ_TOUCH)
			force_read_pages(region_of(m, i), m->len / m->page, m->page);
	}
}

/* One phase and its answer, which every test judges. */
static void judged_phase(const struct map *m, enum phase phase)
{
	int ret = 0;

	begin(phase);
	errno = 0;
	if (phase == TOUCH)
		touch_pages(m);
	else
		ret = phase_calls(m, phase);
	if (ret || errno)
		fail("%s: mprotect() returned %d, errno %d (%s)", phase_name[phase], ret, errno,
		     strerror(errno));
}

/*
 * The looks.
 */

/* An access that may be refused, and how. */
enum access { WORKED, ACCERR, MAPERR, SIGBUS_GOT, ASTRAY };
static const char *const access_name[] = {
	"worked", "got SEGV_ACCERR", "got SEGV_MAPERR", "got SIGBUS", "got another signal",
};

static sigjmp_buf back;
static volatile enum access refused;
static void *volatile expected;

static void on_fault(int sig, siginfo_t *info, void *context __maybe_unused)
{
	if (info->si_addr != expected)
		refused = ASTRAY;
	else if (sig == SIGBUS)
		refused = info->si_code == BUS_ADRERR ? SIGBUS_GOT : ASTRAY;
	else if (info->si_code == SEGV_ACCERR)
		refused = ACCERR;
	else
		refused = info->si_code == SEGV_MAPERR ? MAPERR : ASTRAY;
	siglongjmp(back, 1);
}

static void catch_faults(bool on)
{
	/* the jump leaves the handler without unblocking the signal */
	struct sigaction sa = { .sa_flags = SA_SIGINFO | SA_NODEFER };

	if (on)
		sa.sa_sigaction = on_fault;
	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
}

static enum access try_read(char *p)
{
	expected = p;
	if (sigsetjmp(back, 0))
		return refused;
	FORCE_READ(*(uint64_t *)p);
	return WORKED;
}

static enum access try_write(char *p, uint64_t value)
{
	expected = p;
	if (sigsetjmp(back, 0))
		return refused;
	*(volatile uint64_t *)p = value;
	return WORKED;
}

static void check_page(const struct map *m, char *p, enum phase phase)
{
	int prot = prot_after(m, phase);
	size_t page = (p - m->base) / m->page;
	enum access got = try_read(p);

	if (got != (prot & PROT_READ ? WORKED : ACCERR))
		fail("after %s: read of page %zu %s", phase_name[phase], page, access_name[got]);
	if (got == WORKED && !holds(m, p))
		fail("after %s: page %zu has lost its content", phase_name[phase], page);
	got = try_write(p, content(m, p));
	if (got != (prot & PROT_WRITE ? WORKED : ACCERR))
		fail("after %s: write to page %zu %s", phase_name[phase], page, access_name[got]);
}

static void look_access(const struct map *m, enum phase phase)
{
	unsigned int i;
	size_t off;

	catch_faults(true);
	for (i = 0; i < m->regions; i++)
		for (off = 0; off < m->len; off += m->page)
			check_page(m, region_of(m, i) + off, phase);
	catch_faults(false);
}

/*
 * The rows, and the tests of a row.
 */
FIXTURE(mprotect)
{
	struct map map;
};

FIXTURE_VARIANT(mprotect)
{
	struct row row;
};

FIXTURE_SETUP(mprotect)
{
	test = _metadata;
	begin(POPULATE);
	self->map = shape(&variant->row, false);
	map_open(&self->map);
}

/* Who has come to here has neither died nor hung. */
FIXTURE_TEARDOWN(mprotect)
{
	if (!_metadata->exit_code)
		_metadata->results->reason[0] = '\0';
}

/* The v6.17 regression report. */
FIXTURE_VARIANT_ADD(mprotect, shared_dirty)
{
	.row = { .shared = true, .bytes = 64 * MIB, .to = PROT_READ, .touch = WRITE_TOUCH },
};

/* Its control. */
FIXTURE_VARIANT_ADD(mprotect, private_dirty)
{
	.row = { .bytes = 64 * MIB, .to = PROT_READ, .touch = WRITE_TOUCH },
};

/* A garbage collector's: nothing may be read either. */
FIXTURE_VARIANT_ADD(mprotect, private_none)
{
	.row = { .bytes = 64 * MIB, .to = PROT_NONE },
};

/* One whole cycle, with a look after each phase. */
static void cycle(const struct map *m, void (*look)(const struct map *m, enum phase phase))
{
	enum phase phase;

	populate(m);
	look(m, POPULATE);
	for (phase = PROTECT; phase < PHASES; phase++) {
		judged_phase(m, phase);
		look(m, phase);
	}
}

/* What is allowed works, what is not gets its signal, and content stays. */
TEST_F(mprotect, access)
{
	cycle(&self->map, look_access);
}

/*
 * The command line. What is wrong with it is told in one line.
 */
#define usage(fmt, ...) do {						\
	fprintf(stderr, "mprotect_perf: " fmt "\n", ##__VA_ARGS__);	\
	exit(KSFT_FAIL);						\
} while (0)

static void help(const char *program)
{
	printf("usage: %s [-p] [-l] [-d] [-t|-T|-v|-V|-f|-F|-r NAME]...\n"
	       "\t-p       time the rows as well\n"
	       "\t-l       list all tests\n"
	       "\t-d       print what the harness prints for debugging\n"
	       "\t-v ROW   only this row, -V all but this one\n"
	       "\t-t TEST  only this test of each row, -T all but this one\n"
	       "\t-f NAME  only this fixture, -F all but this one\n"
	       "\t-r NAME  only this one test: mprotect.ROW.TEST\n"
	       "The first of several filters that matches decides.\n"
	       "Exit status: 0 passed or skipped, 1 failed, 4 nothing could be tried.\n", program);
	exit(KSFT_PASS);
}

static const struct option long_options[] = {
	{ "perf", no_argument, NULL, 'p' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

/*
 * Ours are taken out, the harness's own are left in @harness. That one lets the
 * first filter that matches decide: ours stands before the user's.
 */
static int read_options(int argc, char **argv, char **harness)
{
	int c, n = 2;

	harness[0] = argv[0];
	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:pdhlf:F:t:T:v:V:r:", long_options, NULL)) != -1) {
		switch (c) {
		case 'p':
			opt.perf = true;
			break;
		case 'h':
			help(argv[0]);
			break;
		case '?':
			usage("%s: no such option; -h helps", argv[optind - 1]);
		case ':':
			usage("%s needs a value; -h helps", argv[optind - 1]);
		default:
			if (asprintf(&harness[n++], "-%c%s", c, optarg ? optarg : "") < 0)
				usage("no memory");
		}
	}
	if (argv[optind])
		usage("%s: not an option; -h helps", argv[optind]);
	harness[1] = "-Ttime";
	if (opt.perf)
		memmove(&harness[1], &harness[2], --n * sizeof(*harness));
	optind = 1;
	return n;
}

int main(int argc, char **argv)
{
	char **harness = calloc(argc + 2, sizeof(*harness));

	if (!harness)
		usage("no memory");
	argc = read_options(argc, argv, harness);
	return test_harness_run(argc, harness);
}
