// SPDX-License-Identifier: GPL-2.0
/*
 * Is mprotect(2) right, and what does it cost?
 *
 * A row is a workload: a mapping that is populated, protected, restored and
 * touched. Each test walks through these four phases and looks at something
 * after each of them: what may be read and written, which VMAs there are, what
 * smaps, pagemap and kpageflags say, which faults were taken. With -p, "time"
 * measures the phases: no other test reads a clock. A row is a line of a table;
 * so is a single call, with its errno and the pages that it leaves behind.
 *
 * What this cannot tell: whether a figure is a regression. For that two kernels
 * must be measured, several times; the record (--record) has the raw samples.
 *
 * A failure is the kernel's. What the environment does not allow, a limit, a
 * policy, a missing feature, is a SKIP: it is asked for before the call.
 */
#include "kselftest_harness.h"
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <linux/mount.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/capability.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>

#include "vm_util.h"
#include "hugepage_settings.h"

#define RW		(PROT_READ | PROT_WRITE)
#define RX		(PROT_READ | PROT_EXEC)
#define KIB		1024UL
#define MIB		(1024 * KIB)
/* a look is at so many bytes of a row, or two large folios; all of them are timed */
#define LOOK_BYTES	(4 * MIB)
/* beside the pages: page tables, samples, the program itself */
#define REST		(16 * MIB)
/* what is timed, unless asked otherwise; a process ends when its time is up, too */
enum { PROCS = 16, CYCLES = 100, CYCLES_MIN = 4, WARM_UP = 3, BUDGET_NS = 50000000 };
enum { TASKS = 2, TASKS_MAX = 64 };
/* a cycle that takes longer hangs */
#define HANG_SECONDS	60
/* of memfd_create(), from 6.3 on */
enum { NOEXEC_SEAL = 0x8, MAY_EXEC = 0x10 };
/* a page that is moved or reclaimed meanwhile takes a fault: nobody's bug */
#define TRIES		3

enum phase { POPULATE, PROTECT, RESTORE, TOUCH, PHASES };
static const char *const phase_name[PHASES] = { "populate", "protect", "restore", "touch" };

enum backing { ANON, DEVZERO, TMPFILE, MEMFD, HUGETLB };
enum fill { WRITTEN, CLEAN, ZERO_PAGE, ABSENT, CODE };
enum folio { BASE, PMD, PMD_BY_PTES, KB64 };
enum team { ALONE, THREADS, THREADS_SHARED, PROCESSES };
enum touch { NO_TOUCH, READ_TOUCH, WRITE_TOUCH, CALL_TOUCH };
enum faults { NO_FAULT, MAY_FAULT, FAULT_PER_PAGE };

/* One workload. */
struct row {
	int from, to;		/* protection that populate and restore leave; and protect */
	enum backing backing;	/* what is mapped */
	enum fill fill;		/* what the pages hold, and how they came to be */
	enum folio folio;	/* what they are parts of */
	enum team team;		/* threads with a mapping, or a part of one, each; processes */
	enum touch touch;	/* what follows the restore, and which faults it takes: */
	enum faults faults;	/* protect and restore must not take any */
	bool shared;		/* MAP_SHARED or MAP_PRIVATE */
	bool fresh;		/* a new mapping for every cycle */
	bool protect_only;	/* no other phase is timed */
	bool uffd;		/* userfaultfd's write protection, by the same loop */
	bool mirror;		/* the pages are written by a second mapping of the file */
	bool alternate;		/* restore opens every other page: protect meets many VMAs */
	unsigned int regions;	/* mappings with a gap around each; 0 stands for one */
	size_t bytes;		/* size of one; or else */
	unsigned int pages;	/* of one */
	unsigned int margin;	/* pages at both ends of one that are left alone */
	size_t segment;		/* bytes of a call; 0 stands for all of a region */
};

/* What the command line asks for. */
static struct {
	bool perf;
	unsigned long procs, cycles, pages, tasks, cpu;
	const char *unit, *record;
	double max[PHASES];
} opt = { .procs = PROCS, .cpu = ULONG_MAX, .unit = "ns" };

/* The harness's SKIP() ends a function; these end the test, with the reason behind its name. */
static struct __test_metadata *test;
#define because(...) snprintf(test->results->reason, sizeof(test->results->reason), __VA_ARGS__)
#define end_test(code, ...) do { because(__VA_ARGS__); fflush(stdout); _exit(code); } while (0)
#define fail(...) end_test(KSFT_FAIL, __VA_ARGS__)
#define skip(...) end_test(KSFT_SKIP, __VA_ARGS__)
#define fail_if(wrong, ...) do { if (wrong) fail(__VA_ARGS__); } while (0)
#define skip_if(missing, ...) do { if (missing) skip(__VA_ARGS__); } while (0)

/* Whoever dies or hangs from here on has left its reason; for many, the one that waits has. */
static bool one_of_many;

static void begin(enum phase phase)
{
	if (!one_of_many)
		because("died or hung in phase %s", phase_name[phase]);
}

#define FORCE_WRITE(p, value) __atomic_store_n((uint64_t *)(p), value, __ATOMIC_RELAXED)

/* An access that may be refused, and how */
enum attempt { READ, WRITE, EXEC };
enum outcome { WORKED, ACCERR, MAPERR, STOPPED, ASTRAY };
static const char *const outcome_name[] = {
	"worked", "got SEGV_ACCERR", "got SEGV_MAPERR", "got SIGBUS", "got another signal",
};

static sigjmp_buf back;
static enum outcome refused;
static void *expected;

static void on_fault(int sig, siginfo_t *info, void *context __maybe_unused)
{
	refused = ASTRAY;
	if (info->si_addr == expected && sig == SIGBUS && info->si_code == BUS_ADRERR)
		refused = STOPPED;
	else if (info->si_addr == expected && sig == SIGSEGV)
		refused = info->si_code == SEGV_ACCERR ? ACCERR :
			  info->si_code == SEGV_MAPERR ? MAPERR : ASTRAY;
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

/* @value: what is read, to be written, or returned by the function that is called */
static enum outcome try(enum attempt what, char *p, uint64_t *value)
{
	expected = p;
	if (sigsetjmp(back, 0))
		return refused;
	if (what == READ)
		*value = FORCE_READ(*(uint64_t *)p);
	else if (what == WRITE)
		FORCE_WRITE(p, *value);
	else
		*value = ((unsigned int (*)(void))p)();
	return WORKED;
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

	if (f && check_for_pattern(f, key, line, sizeof(line)))
		sscanf(line + strlen(key), "%lu", &n);
	if (f)
		fclose(f);
	return n;
}

static void need(const char *limit, unsigned long all, unsigned long used, unsigned long want)
{
	unsigned long left = all > used ? all - used : 0;

	if (left < want && all != ULONG_MAX && used != ULONG_MAX)
		skip("needs %lu KiB, %s leaves %lu KiB", want >> 10, limit, left >> 10);
}

/* The machine's memory, and that of the control groups that we are in, of version 2 or 1 */
static void need_memory(unsigned long want)
{
	static const char *const names[2][4] = {
		{ "", "memory.max", "memory.current", "inactive_file " },
		{ "/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
		  "total_inactive_file " },
	};
	unsigned long left = number_in("/proc/meminfo", "MemAvailable:"), n[4];
	static char line[PATH_MAX], path[2 * PATH_MAX];
	char *group, *end;
	FILE *f = fopen("/proc/self/cgroup", "re");
	int i, v1;

	if (left != ULONG_MAX)
		need("the machine's memory", left << 10, 0, want);
	while (f && fgets(line, sizeof(line), f)) {
		v1 = !!strstr(line, ":memory:/");
		if (!v1 && strncmp(line, "0::/", 4))
			continue;
		group = strchr(line, '/');
		/* the group, and those above it */
		for (end = strchr(group, '\n'); end; end = strrchr(group, '/')) {
			*end = '\0';
			for (i = 1; i < 4; i++) {
				snprintf(path, sizeof(path), "/sys/fs/cgroup%s%s/%s", names[v1][0],
					 group, i < 3 ? names[v1][i] : "memory.stat");
				n[i] = number_in(path, i < 3 ? "" : names[v1][i]);
			}
			/* what is only cached would be given back */
			need("the memory control group", n[1], n[2] - (n[3] < n[2] ? n[3] : 0),
			     want);
		}
	}
	if (f)
		fclose(f);
}

/* Memory, address space, what of it is private, and VMAs: ENOMEM beyond them */
static void need_room(unsigned long bytes, unsigned long space, bool shared, unsigned long vmas)
{
	unsigned long most = number_in("/proc/sys/vm/max_map_count", "");
	unsigned long size = number_in("/proc/self/status", "VmSize:") + 1;
	unsigned long data = number_in("/proc/self/status", "VmData:") + 1;
	struct rlimit limit;

	skip_if(most < vmas + 128, "needs %lu VMAs, vm.max_map_count is %lu", vmas + 128, most);
	if (!getrlimit(RLIMIT_AS, &limit))
		need("RLIMIT_AS", limit.rlim_cur, size << 10, space + REST);
	if (!getrlimit(RLIMIT_DATA, &limit) && !shared)
		need("RLIMIT_DATA", limit.rlim_cur, data << 10, bytes + 64 * psize());
	need_memory(bytes + bytes / 256 + REST);
}

/* A function of the machine that returns a number below it, in eight bytes; 0 if we know none */
#define CODES		0x800
static uint64_t code(unsigned int n)
{
	n %= CODES;
#if defined(__x86_64__) || defined(__i386__)
	return 0xc300000000b8ULL | (uint64_t)n << 8;		/* mov $n, %eax; ret */
#elif defined(__aarch64__)
	return 0xd65f03c052800000ULL | n << 5;			/* mov w0, #n; ret */
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
	return 0x4e80002038600000ULL | n;			/* li r3, n; blr */
#elif defined(__riscv)
	return 0x0000806700000513ULL | n << 20;			/* li a0, n; ret */
#elif defined(__s390x__)
	return 0xa729000007fe0000ULL | (uint64_t)n << 32;	/* lghi %r2, n; br %r14 */
#else
	return 0 * n;
#endif
}

/* Some machines execute whatever can be read. */
static bool exec_is_refused;

/*
 * May memory become executable? Several policies say no, each in its own way,
 * and so they are asked, once, on a page of this test's own. That goes past the
 * name under test: a mprotect() that is wrong must not look like a policy.
 */
static void need_exec(int prot, int fd)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	char *p = mmap(NULL, psize(), RW, flags, fd, 0);
	uint64_t value;

	skip_if(p == MAP_FAILED, "mmap of a page: %m");
	*(uint64_t *)p = code(1);
	__builtin___clear_cache(p, p + sizeof(value));
	catch_faults(true);
	exec_is_refused = try(EXEC, p, &value) != WORKED;
	catch_faults(false);
	skip_if(syscall(__NR_mprotect, p, psize(), prot),
		"a policy refuses executable memory: %m");
	munmap(p, psize());
}

static bool have_admin(void)
{
	cap_flag_value_t value = CAP_CLEAR;
	cap_t caps = cap_get_proc();

	if (caps)
		cap_get_flag(caps, CAP_SYS_ADMIN, CAP_EFFECTIVE, &value);
	cap_free(caps);
	return value == CAP_SET;
}

/*
 * The mapping of a row.
 *
 *	|gap|margin|      part of task 0      |      part of task 1      |margin|gap|
 *
 * Threads that share have parts of each region; others have regions of their own.
 */
struct map {
	const struct row *row;
	char *base;		/* first region, where a page table begins */
	char *mirror;		/* second mapping of the file, or NULL */
	size_t page;		/* a base page */
	size_t folio;		/* the folios asked for; 0 where the kernel has none */
	size_t len, stride;	/* of a region, and to the next one */
	size_t part, segment;	/* of a region that a task changes, and by a call */
	unsigned int regions;	/* of this process, and */
	unsigned int mine;	/* of one task of it */
	unsigned int tasks;
	size_t pages;		/* that one task changes */
	int fd, uffd, pagemap, kpageflags;	/* or -1 */
};

/* An entry of maps or smaps, in bytes. */
struct vma {
	unsigned long start, end;
	int prot;
	bool shared;
	size_t present;		/* in memory or in swap */
	size_t swapped;
	size_t huge;		/* mapped as huge pages */
	size_t page;		/* of kernel or machine, the one that is no base page's */
};

static char *region_of(const struct map *m, unsigned int i)
{
	return m->base + i * m->stride;
}

static char *page_at(const struct map *m, size_t i)
{
	return region_of(m, i / (m->len / m->page)) + i % (m->len / m->page) * m->page;
}

#define for_each_page(m, i, p) \
	for (i = 0; (p = page_at(m, i)) < region_of(m, (m)->regions); i++)

static size_t page_of(const struct map *m, const char *p)
{
	return (p - m->base) / m->page;
}

/* The protection that a page has after a phase */
static int prot_of(const struct map *m, const char *p, enum phase phase)
{
	size_t i = (p - m->base) % m->stride / m->page, margin = m->row->margin;

	if (i < margin || i >= m->len / m->page - margin)
		return m->row->from;
	return phase == PROTECT || (m->row->alternate && i % 2 == 0) ? m->row->to : m->row->from;
}

/* Sizes, without a call that could fail */
static struct map shape(const struct row *row, bool timed)
{
	struct map m = {
		.row = row, .page = psize(), .folio = row->backing == HUGETLB ?
		default_huge_page_size() : row->folio == BASE ? psize() : read_pmd_pagesize(),
		.fd = -1, .uffd = -1, .pagemap = -1, .kpageflags = -1,
		.mine = row->regions ? row->regions : 1,
		.tasks = row->team == ALONE ? 1 : opt.tasks ? opt.tasks : TASKS,
	};
	size_t bytes = row->bytes ? row->bytes : row->pages * m.page, unit;

	if (row->folio == KB64 && m.folio)
		m.folio = 64 * KIB;
	if (timed && opt.pages)
		bytes = (opt.pages + 2 * row->margin) * m.page;
	else if (!timed && bytes > LOOK_BYTES)
		bytes = m.folio > LOOK_BYTES / 2 ? 2 * m.folio : LOOK_BYTES;
	unit = row->segment && row->segment < bytes ? row->segment : m.folio ? m.folio : m.page;
	m.len = (bytes + unit - 1) & -unit;
	m.part = m.len - 2 * row->margin * m.page;
	m.segment = row->segment && row->segment < m.part ? row->segment : m.part;
	if (row->team == THREADS_SHARED)
		m.len += m.part * (m.tasks - 1);
	if (!timed && m.mine > 2 && m.mine * m.len > LOOK_BYTES)
		m.mine = LOOK_BYTES / m.len > 2 ? LOOK_BYTES / m.len : 2;
	m.regions = m.mine * (row->team == THREADS ? m.tasks : 1);
	m.stride = m.len + unit;
	m.pages = m.part / m.page * m.mine;
	return m;
}

/* First byte of what a task changes of its region @i */
static char *first_of(const struct map *m, unsigned int task, unsigned int i)
{
	char *p = region_of(m, m->row->team == THREADS ? task * m->mine + i : i);

	return p + m->row->margin * m->page + (m->row->team == THREADS_SHARED ? task * m->part : 0);
}

/* The index is spread over the word, so that shifted content is seen too. */
static uint64_t content(const struct map *m, const char *p)
{
	if (m->row->fill == CODE)
		return code(page_of(m, p));
	if (m->row->fill == ZERO_PAGE || m->row->fill == ABSENT)
		return 0;
	return (page_of(m, p) + 1) * 0x9e3779b97f4a7c15ULL;
}

static uint64_t *last_word(const struct map *m, char *p)
{
	return (uint64_t *)(p + m->page) - 1;
}

static void write_pages(const struct map *m, char *p, size_t len)
{
	char *end = p + len;

	for (; p < end; p += m->page)
		FORCE_WRITE(p, content(m, p));
}

static unsigned long faults_so_far(void)
{
	struct rusage ru;

	getrusage(RUSAGE_THREAD, &ru);
	return ru.ru_minflt + ru.ru_majflt;
}

#define advise(p, len, advice) skip_if(madvise(p, len, advice), "madvise(" #advice "): %m")

static void map_region(const struct map *m, unsigned int i)
{
	const struct row *row = m->row;
	char *region = region_of(m, i);
	int flags = MAP_FIXED | (row->shared ? MAP_SHARED : MAP_PRIVATE) |
		    (m->fd < 0 ? MAP_ANONYMOUS : 0) | (row->backing == HUGETLB ? MAP_HUGETLB : 0);

	skip_if(mmap(region, m->len, RW, flags, m->fd, row->backing == DEVZERO ? 0 : m->len * i) !=
		region, "mmap of region %u: %m", i);
	if (row->backing == HUGETLB)
		return;
	/* before the first touch; a kernel without huge pages does not know it */
	if (row->folio == PMD || row->folio == PMD_BY_PTES)
		advise(region, m->len, MADV_HUGEPAGE);
	else if (thp_available())
		advise(region, m->len, MADV_NOHUGEPAGE);
	/* read-ahead would bring large folios into the page cache */
	if (row->backing == TMPFILE)
		advise(region, m->len, MADV_RANDOM);
	skip_if(m->uffd >= 0 && uffd_register(m->uffd, region, m->len, false, true, false),
		"userfaultfd cannot write-protect this memory");
}

/*
 * 64 KiB folios: no huge page fits into VMAs of half its size, and the number of
 * faults tells what came instead. The first page makes what lets them merge again.
 */
static void fill_in_64k(const struct map *m)
{
	size_t half = read_pmd_pagesize() / 2, due = m->len / m->folio, off;
	unsigned long faults;

	FORCE_WRITE(m->base, 1);
	advise(m->base, m->page, MADV_DONTNEED);
	advise(m->base, m->len, MADV_HUGEPAGE);
	for (off = half; half && off < m->len; off += 2 * half)
		advise(m->base + off, m->len - off < half ? m->len - off : half, MADV_DONTFORK);
	faults = faults_so_far();
	write_pages(m, m->base, m->len);
	faults = faults_so_far() - faults;
	skip_if(faults < due || faults > due + due / 2, "no 64 KiB folios: %lu faults, not %zu",
		faults, due);
	advise(m->base, m->len, MADV_DOFORK);
}

static bool sum_smaps(const struct map *m, struct vma *sum);

/*
 * Large folios are there, or were not to be had. A VMA that ends inside one
 * makes the kernel map it by PTEs: an advice that means nothing here makes such
 * a VMA, and takes it back. From here on khugepaged is to stay away.
 */
static void settle_folios(const struct map *m)
{
	struct vma sum;
	size_t off;

	if (m->row->folio != KB64 && sum_smaps(m, &sum) && sum.huge != m->len)
		skip("no huge pages to be had: %zu of %zu KiB", sum.huge >> 10, m->len >> 10);
	for (off = 0; m->row->folio == PMD_BY_PTES && off < m->len; off += m->folio) {
		advise(m->base + off, m->page, MADV_DONTFORK);
		advise(m->base + off, m->page, MADV_DOFORK);
	}
	advise(m->base, m->len, MADV_NOHUGEPAGE);
}

static void fill(const struct map *m)
{
	char *p, *to;
	size_t i;

	if (m->row->folio == KB64)
		fill_in_64k(m);
	for_each_page(m, i, p) {
		to = m->mirror ? m->mirror + i * m->page : p;
		if (m->row->fill == ABSENT)
			return;
		if (m->row->fill != ZERO_PAGE) {
			FORCE_WRITE(to, content(m, p));
			*last_word(m, to) = content(m, p);
		}
		FORCE_READ(*p);
	}
	if (m->row->fill == CODE)
		__builtin___clear_cache(m->base, m->base + m->len);
	if (m->row->folio != BASE && m->row->backing != HUGETLB)
		settle_folios(m);
	if (m->row->fill != CLEAN)
		return;
	/* written back, and mapped anew: neither page nor entry is dirty */
	skip_if(fsync(m->fd), "fsync of the temporary file: %m");
	for (i = 0; i < m->regions; i++)
		map_region(m, i);
	for_each_page(m, i, p)
		FORCE_READ(*p);
}

/* The pages are touched for the first time: what has no room left is told by SIGBUS. */
static void no_page(int sig __maybe_unused)
{
	skip("no room for a page: SIGBUS while populating; TMPDIR says where files are");
}

static int phase_calls(const struct map *m, unsigned int task, enum phase phase);

/* Maps every region anew and fills its pages; a SKIP where they cannot be had. */
static void populate(const struct map *m)
{
	struct vma sum;
	unsigned int i;

	begin(POPULATE);
	signal(SIGBUS, no_page);
	for (i = 0; i < m->regions; i++)
		map_region(m, i);
	fill(m);
	skip_if(m->row->fill == ZERO_PAGE && (!sum_smaps(m, &sum) || sum.present),
		"no zero page is shared here, or none can be seen");
	signal(SIGBUS, SIG_DFL);
	if (m->row->alternate || m->row->from != RW)
		if (phase_calls(m, 0, PROTECT) || phase_calls(m, 0, RESTORE))
			fail("mprotect() of a new mapping: %m");
}

/* O_TMPFILE leaves no name behind on any exit; not all file systems have it. */
static int open_tmpfile(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char path[PATH_MAX];

	if (fd < 0) {
		snprintf(path, sizeof(path), "%s/mprotect_perf.XXXXXX", dir);
		fd = mkostemp(path, O_CLOEXEC);
		skip_if(fd < 0, "needs a temporary file: %s: %m; set TMPDIR", dir);
		unlink(path);
	}
	return fd;
}

/* Kernels from 6.3 on want to be told whether it may be executed; others do not know how. */
static int open_memfd(unsigned int exec)
{
	int fd = memfd_create("mprotect_perf", MFD_CLOEXEC | MFD_ALLOW_SEALING | exec);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("mprotect_perf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	skip_if(fd < 0, "needs a memfd: memfd_create: %m");
	return fd;
}

static void open_backing(struct map *m)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_SIGBUS,
	};
	size_t bytes = m->len * m->regions;

	if (m->row->backing == TMPFILE || m->row->backing == MEMFD) {
		m->fd = m->row->backing == TMPFILE ? open_tmpfile(getenv("TMPDIR") ?: "/tmp") :
			open_memfd(MAY_EXEC);
		skip_if(ftruncate(m->fd, bytes), "making a file of %zu bytes: %m", bytes);
	} else if (m->row->backing == DEVZERO) {
		m->fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
		skip_if(m->fd < 0, "needs /dev/zero: %m");
	}
	if (m->row->mirror)
		m->mirror = mmap(NULL, bytes, RW, MAP_SHARED, m->fd, 0);
	skip_if(m->mirror == MAP_FAILED, "mmap of the second mapping: %m");
	if (m->row->uffd) {
		m->uffd = syscall(__NR_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
		skip_if(m->uffd < 0 || ioctl(m->uffd, UFFDIO_API, &api),
			"needs userfaultfd with write protection and SIGBUS: %m");
	}
}

/* What a large folio needs; main() has made the settings that give it, as root. */
static void need_folios(const struct map *m)
{
	unsigned long pmd = read_pmd_pagesize();

	skip_if(!m->folio, "needs a kernel with huge pages of this kind");
	skip_if(m->row->folio != BASE && m->folio <= m->page, "a base page is as large");
	if (m->row->backing != HUGETLB)
		return;
	skip_if(pmd && m->folio != pmd, "the default huge page is not one of a PMD");
	need("the pool of huge pages", number_in("/proc/meminfo", "HugePages_Free:") * m->folio, 0,
	     m->len);
}

static void map_open(struct map *m)
{
	/* a page table has entries of 8 bytes on every machine we know */
	size_t table = m->page * (m->page / 8), unit = table > m->folio ? table : m->folio;
	size_t space = 2 * unit + m->page + m->stride * m->regions;
	uint64_t entry;
	char *area;

	skip_if(m->row->fill == CODE && !code(1), "no code for this machine");
	need_folios(m);
	need_room(m->len * m->regions * m->tasks, space, m->row->shared,
		  3 * m->regions + (m->row->alternate ? m->len / m->page : 0));
	area = mmap(NULL, space, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	skip_if(area == MAP_FAILED, "mmap of %zu bytes of address space: %m", space);
	m->base = (char *)(((uintptr_t)area + m->page + unit - 1) & -unit);
	/* the kernel's reader ends the program where it may not read */
	m->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (pread(m->pagemap, &entry, 8, (uintptr_t)area / m->page * 8) != 8)
		m->pagemap = -1;
	if (have_admin())
		m->kpageflags = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	open_backing(m);
	if ((m->row->from | m->row->to) & PROT_EXEC)
		need_exec(RX, m->fd);
}

/*
 * The phases.
 */
static int change(const struct map *m, void *p, size_t len, int prot)
{
	struct uffdio_writeprotect wp = {
		.range = { .start = (uintptr_t)p, .len = len },
		.mode = prot & PROT_WRITE ? 0 : UFFDIO_WRITEPROTECT_MODE_WP,
	};

	return m->uffd >= 0 ? ioctl(m->uffd, UFFDIO_WRITEPROTECT, &wp) : mprotect(p, len, prot);
}

/* Everything that a task calls for protect or restore: this is what is timed. */
static int phase_calls(const struct map *m, unsigned int task, enum phase phase)
{
	bool every_other = m->row->alternate && phase == RESTORE;
	size_t len = every_other ? m->page : m->segment, step = every_other ? 2 * len : len;
	unsigned int i;

	for (i = 0; i < m->mine; i++) {
		char *p = first_of(m, task, i), *end = p + m->part;

		for (p += step - len; p < end; p += step)
			if (change(m, p, len, phase == PROTECT ? m->row->to : m->row->from))
				return -1;
	}
	return 0;
}

/* Returns -1 when a stored function does not return its number. */
static int touch_pages(const struct map *m, unsigned int task)
{
	unsigned int i;

	for (i = 0; i < m->mine; i++) {
		char *p = first_of(m, task, i), *end = p + m->part;

		if (m->row->touch == WRITE_TOUCH)
			write_pages(m, p, m->part);
		else if (m->row->touch == READ_TOUCH)
			force_read_pages(p, m->part / m->page, m->page);
		for (; m->row->touch == CALL_TOUCH && p < end; p += m->page)
			if (((unsigned int (*)(void))p)() != page_of(m, p) % CODES)
				return -1;
	}
	return 0;
}

static int run_phase(const struct map *m, unsigned int task, enum phase phase)
{
	return phase == TOUCH ? touch_pages(m, task) : phase_calls(m, task, phase);
}

/* Judges the answer of a phase, as every test does. */
static void judge_answer(const struct map *m, int ret, int error, enum phase phase)
{
	fail_if(ret && phase == TOUCH, "touch: a stored function did not return its number");
	fail_if(ret || error, "%s: %s returned %d, errno %d (%s)", phase_name[phase],
		m->uffd >= 0 ? "UFFDIO_WRITEPROTECT" : "mprotect()", ret, error, strerror(error));
}

/*
 * Tasks go to a CPU each, from the first one downwards; processes before they
 * begin, as every CPU that an mm was on is looked at by its flushes.
 */
static cpu_set_t allowed;
static int first_cpu = -1;

static void pin(unsigned int task)
{
	int cpu = first_cpu;
	cpu_set_t set;

	if (cpu < 0)
		return;
	while (task--)
		do
			cpu = cpu ? cpu - 1 : CPU_SETSIZE - 1;
		while (!CPU_ISSET(cpu, &allowed));
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

typedef void (*task_fn)(const struct map *m, unsigned int task, void *arg);

struct thread {
	pthread_t id;
	const struct map *m;
	unsigned int task;
	task_fn run;
	void *arg;
};

static void *thread_main(void *arg)
{
	struct thread *t = arg;

	pin(t->task);
	t->run(t->m, t->task, t->arg);
	return NULL;
}

/* Every task of this mm calls @run; returns when all have. */
static void in_threads(const struct map *m, task_fn run, void *arg)
{
	struct thread t[TASKS_MAX];
	pthread_attr_t attr;
	unsigned int i;

	if (m->row->team == ALONE || m->row->team == PROCESSES) {
		run(m, 0, arg);
		return;
	}
	/* the default is RLIMIT_STACK, which may be anything */
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 * KIB);
	for (i = 0; i < m->tasks; i++) {
		t[i] = (struct thread){ .m = m, .task = i, .run = run, .arg = arg };
		errno = pthread_create(&t[i].id, &attr, thread_main, &t[i]);
		skip_if(errno, "no thread %u: %m", i);
	}
	for (i = 0; i < m->tasks; i++)
		pthread_join(t[i].id, NULL);
}

/* One process, or as many as the row has tasks, call @run; returns when all have. */
static void in_processes(const struct map *m, task_fn run, void *arg)
{
	unsigned int n = m->row->team == PROCESSES ? m->tasks : 1, i;
	pid_t pid[TASKS_MAX], died = 0;
	int status = 0;

	fflush(stdout);
	if (n > 1)
		because("one of %u processes died or hung", n);
	for (i = 0; i < n; i++) {
		pin(i);
		pid[i] = fork();
		skip_if(pid[i] < 0, "no process %u: fork: %m", i);
		if (pid[i])
			continue;
		one_of_many = n > 1;
		run(m, i, arg);
		_exit(KSFT_PASS);
	}
	pin(0);
	for (i = 0; i < n && !status; i++)
		died = waitpid(-1, &status, 0);
	if (!status)
		return;
	/* the first that fails has said why; of one that was killed we do; the others end */
	for (i = 0; i < n; i++)
		if (pid[i] != died)
			kill(pid[i], SIGKILL);
	if (WIFSIGNALED(status))
		ksft_print_msg("a process was killed by signal %d\n", WTERMSIG(status));
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : KSFT_FAIL);
}

/*
 * The looks. Each follows a phase, and ends the test if something is not as it should be.
 */
static void expect(const struct map *m, enum attempt what, char *p, uint64_t value,
		   enum outcome due, enum phase phase)
{
	static const char *const name[] = { "read", "write", "call" };
	uint64_t given = value;
	enum outcome got = try(what, p, &given);

	fail_if(got != due, "after %s: %s of page %zu %s", phase_name[phase], name[what],
		page_of(m, p), outcome_name[got]);
	fail_if(got == WORKED && given != value, "after %s: %s of page %zu gave %jx, should be %jx",
		phase_name[phase], name[what], page_of(m, p), (uintmax_t)given, (uintmax_t)value);
}

/* What is allowed works, what is not gets its signal, and content stays. */
static void look_access(const struct map *m, enum phase phase)
{
	size_t i;
	char *p;

	catch_faults(true);
	for_each_page(m, i, p) {
		int prot = prot_of(m, p, phase);
		uint64_t word = content(m, p);

		expect(m, READ, p, word, prot & PROT_READ ? WORKED : ACCERR, phase);
		if (prot & PROT_READ)
			expect(m, READ, (char *)last_word(m, p), word, WORKED, phase);
		if (!(prot & PROT_WRITE))
			expect(m, WRITE, p, word, m->uffd >= 0 ? STOPPED : ACCERR, phase);
		/* what is to stay clean, or the zero page, must not be written to */
		else if (m->row->fill != CLEAN && m->row->fill != ZERO_PAGE)
			expect(m, WRITE, p, word, WORKED, phase);
		if (m->row->fill == CODE && (prot & PROT_EXEC || exec_is_refused))
			expect(m, EXEC, p, page_of(m, p) % CODES,
			       prot & PROT_EXEC ? WORKED : ACCERR, phase);
	}
	catch_faults(false);
}

/* A line of maps or smaps: 1 is a VMA that begins in a region, 0 another, -1 none but its facts. */
static int read_vma(const struct map *m, const char *line, struct vma *v)
{
	char p[5];

	if (sscanf(line, "%lx-%lx %4s ", &v->start, &v->end, p) != 3)
		return -1;
	v->prot = (p[0] == 'r' ? PROT_READ : 0) | (p[1] == 'w' ? PROT_WRITE : 0) |
		  (p[2] == 'x' ? PROT_EXEC : 0);
	v->shared = p[3] == 's';
	return v->start >= (uintptr_t)m->base && v->start < (uintptr_t)region_of(m, m->regions) &&
	       (v->start - (uintptr_t)m->base) % m->stride < m->len;
}

/* One VMA where one is due, not two that would not merge, with the right permissions. */
static void look_vma(const struct map *m, enum phase phase)
{
	/* userfaultfd changes entries, not VMAs */
	enum phase seen = m->uffd >= 0 ? POPULATE : phase;
	FILE *f = fopen("/proc/self/maps", "re");
	char *p = m->base, *end, line[512];
	struct vma v = { 0 };
	int prot;

	skip_if(!f, "needs /proc/self/maps: %m");
	while (fgets(line, sizeof(line), f)) {
		if (read_vma(m, line, &v) != 1)
			continue;
		prot = prot_of(m, p, seen);
		for (end = p + m->page; (end - m->base) % m->stride < m->len; end += m->page)
			if (prot_of(m, end, seen) != prot)
				break;
		if (v.start != (uintptr_t)p || v.end != (uintptr_t)end || v.prot != prot ||
		    v.shared != m->row->shared)
			fail("after %s: VMA %lx-%lx, protection %x, should be %p-%p, %x",
			     phase_name[phase], v.start, v.end, v.prot, p, end, prot);
		p = (end - m->base) % m->stride < m->len ? end :
		    region_of(m, (p - m->base) / m->stride + 1);
	}
	fclose(f);
	fail_if(p != region_of(m, m->regions), "after %s: no VMA at %p", phase_name[phase], p);
}

/* What smaps says of the regions. Older kernels, and such without THP, lack some of it. */
static bool sum_smaps(const struct map *m, struct vma *sum)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	char line[512], name[32];
	unsigned long kb;
	int ours = 0, r;
	struct vma v;

	*sum = (struct vma){ .page = psize() };
	while (f && fgets(line, sizeof(line), f)) {
		r = read_vma(m, line, &v);
		if (r >= 0)
			ours = r;
		if (r >= 0 || !ours || sscanf(line, "%31[A-Za-z_]: %lu kB", name, &kb) != 2)
			continue;
		if (!strcmp(name, "Rss") || !strcmp(name, "Swap"))
			sum->present += kb << 10;
		if (!strcmp(name, "Swap"))
			sum->swapped += kb << 10;
		if (!strcmp(name, "AnonHugePages") || !strcmp(name, "ShmemPmdMapped") ||
		    !strcmp(name, "FilePmdMapped"))
			sum->huge += kb << 10;
		if ((!strcmp(name, "KernelPageSize") || !strcmp(name, "MMUPageSize")) &&
		    kb << 10 != psize())
			sum->page = kb << 10;
	}
	if (f)
		fclose(f);
	return f;
}

/* @pages: of memory are there, neither nothing nor the zero page */
static void check_smaps(const struct map *m, const struct vma *sum, bool pages, enum phase phase)
{
	bool hugetlb = m->row->backing == HUGETLB;
	size_t present = pages && !hugetlb ? m->len * m->regions : 0;
	size_t huge = m->row->folio == PMD ? present : 0, page = hugetlb ? m->folio : m->page;
	const char *after = phase_name[phase];

	skip_if(sum->swapped, "after %s: %zu KiB are swapped out", after, sum->swapped >> 10);
	if (sum->huge != huge && m->row->folio != BASE)
		skip("after %s: %zu of %zu KiB are huge pages; no kernel has promised that they stay",
		     after, sum->huge >> 10, huge >> 10);
	if (sum->present != present || sum->huge != huge || sum->page != page)
		fail("after %s: smaps has %zu KiB, %zu huge, pages of %zu KiB, should be %zu, %zu, %zu",
		     after, sum->present >> 10, sum->huge >> 10, sum->page >> 10, present >> 10,
		     huge >> 10, page >> 10);
}

static void check_pagemap(const struct map *m, bool pages, enum phase phase)
{
	uint64_t all = PM_PRESENT | PM_FILE | PM_MMAP_EXCLUSIVE | PM_UFFD_WP;
	uint64_t due = m->row->fill == ABSENT ? 0 : PM_PRESENT, entry;
	size_t i;
	char *p;

	if (due && m->row->shared)
		due |= PM_FILE;
	if (pages && !m->mirror)
		due |= PM_MMAP_EXCLUSIVE;
	if (m->uffd >= 0 && phase == PROTECT)
		due |= PM_UFFD_WP;
	for_each_page(m, i, p) {
		entry = pagemap_get_entry(m->pagemap, p);
		/* on its way to another frame: nobody's fault */
		if ((entry & all) != due && !(entry & PM_SWAP))
			fail("after %s: pagemap has %jx for page %zu, should be %jx",
			     phase_name[phase], (uintmax_t)entry & all, page_of(m, p),
			     (uintmax_t)due);
	}
}

/* Every page is there, mapped once, and of the size it was; false: not all could be seen. */
static bool check_state(const struct map *m, enum phase phase)
{
	bool pages = m->row->fill == ZERO_PAGE ? phase == TOUCH : m->row->fill != ABSENT;
	struct vma sum;
	bool smaps = sum_smaps(m, &sum);

	if (smaps)
		check_smaps(m, &sum, pages, phase);
	if (m->pagemap >= 0)
		check_pagemap(m, pages, phase);
	return smaps && m->pagemap >= 0;
}

static void look_state(const struct map *m, enum phase phase)
{
	skip_if(!check_state(m, phase) && phase == TOUCH, "needs /proc/self/smaps and pagemap");
}

/* Base pages are base pages, large folios are whole, whatever the entries look like. */
static void look_folios(const struct map *m, enum phase phase)
{
	size_t due = m->row->fill == ABSENT ? 0 : m->len / m->folio, n, off;
	unsigned int i;
	uint64_t flags;

	skip_if(m->pagemap < 0 || m->kpageflags < 0, "needs /proc/kpageflags and CAP_SYS_ADMIN");
	skip_if(due && !pagemap_get_pfn(m->pagemap, m->base), "page frames are hidden");
	for (i = 0; i < m->regions; i++) {
		int orders[NR_ORDERS] = { 0 };
		char *p = region_of(m, i);

		if (gather_folio_orders(p, m->len, m->pagemap, m->kpageflags, orders, NR_ORDERS))
			skip("/proc/kpageflags cannot be read");
		n = orders[sz2ord(m->folio, m->page)];
		/* it counts none of hugetlb's, which have bit 17 */
		for (off = 0; m->row->backing == HUGETLB && off < m->len; off += m->folio)
			n += !pageflags_get(pagemap_get_pfn(m->pagemap, p + off), m->kpageflags,
					    &flags) && flags & KPF_COMPOUND_HEAD && flags >> 17 & 1;
		skip_if(n != due && m->row->folio != BASE,
			"after %s: %zu of %zu folios; no kernel has promised that they stay whole",
			phase_name[phase], n, due);
		skip_if(n != due && m->row->backing == TMPFILE && phase == POPULATE,
			"the page cache has chosen larger folios");
		fail_if(n != due, "after %s: %zu of %zu pages are base pages", phase_name[phase], n,
			due);
	}
}

/*
 * The rows.
 */
FIXTURE(mprotect)
{
	struct map map;
};

FIXTURE_VARIANT(mprotect)
{
	struct row row;
};

#define ROW(name) FIXTURE_VARIANT_ADD(mprotect, name)

/* the v6.17 regression report: read <-> read, write; and its control */
ROW(shared_dirty) {{ RW, PROT_READ, .shared = true, .bytes = 64 * MIB, .touch = WRITE_TOUCH }};
ROW(private_dirty) {{ RW, PROT_READ, .bytes = 64 * MIB, .touch = WRITE_TOUCH }};
/* a garbage collector's; the size sweep of a v6.17 follow-up */
ROW(private_none) {{ RW, PROT_NONE, .bytes = 64 * MIB }};
/* libMicro's mprot_tw4m */
ROW(devzero_none) {{ RW, PROT_NONE, .backing = DEVZERO, .bytes = 4 * MIB, .touch = READ_TOUCH }};
/* a mapping that is protected once: the single-protect follow-up to the report */
ROW(single_protect) {{ RW, PROT_READ, .shared = true, .fresh = true, .protect_only = true,
	.bytes = 64 * MIB }};
/* JIT engines, page by page: the floor of system call, VMA and flush */
ROW(one_page) {{ RW, PROT_READ, .regions = 512, .pages = 1, .touch = WRITE_TOUCH }};
/* the inner one of three pages: two splits, two merges */
ROW(split_restore) {{ RW, PROT_READ, .regions = 512, .pages = 3, .margin = 1,
	.touch = WRITE_TOUCH }};
/* folios of the page cache, written back and then read; dirty: writeback may clean one */
ROW(file_clean) {{ RW, PROT_READ, .backing = TMPFILE, .fill = CLEAN, .shared = true,
	.bytes = 4 * MIB, .touch = READ_TOUCH }};
ROW(file_dirty) {{ RW, PROT_READ, .backing = TMPFILE, .shared = true, .bytes = 4 * MIB,
	.touch = WRITE_TOUCH, .faults = MAY_FAULT }};
/* what the batching of v6.17 was made for, and huge pages that stay whole */
ROW(thp_pte) {{ RW, PROT_READ, .folio = PMD_BY_PTES, .bytes = 64 * MIB, .touch = WRITE_TOUCH }};
ROW(thp_pmd) {{ RW, PROT_READ, .folio = PMD, .bytes = 64 * MIB, .touch = WRITE_TOUCH,
	.faults = MAY_FAULT }};
ROW(mthp_64k) {{ RW, PROT_READ, .folio = KB64, .bytes = 64 * MIB, .touch = WRITE_TOUCH }};
/* another loop in the kernel; after a restore the pages are not writable at once */
ROW(hugetlb) {{ RW, PROT_READ, .backing = HUGETLB, .folio = PMD, .bytes = 64 * MIB,
	.touch = WRITE_TOUCH, .faults = MAY_FAULT }};
/* the same loop for another caller */
ROW(uffd_wp) {{ RW, PROT_READ, .uffd = true, .bytes = 64 * MIB, .touch = WRITE_TOUCH,
	.faults = MAY_FAULT }};
/* read, but never written: each write after the restore brings a page */
ROW(zero_page) {{ RW, PROT_READ, .fill = ZERO_PAGE, .fresh = true, .bytes = 4 * MIB,
	.touch = WRITE_TOUCH, .faults = FAULT_PER_PAGE }};
/* JIT engines: code is writable or executable, never both; or written by another mapping */
ROW(exec) {{ RX, RW, .fill = CODE, .bytes = 4 * MIB, .touch = CALL_TOUCH }};
ROW(exec_shared) {{ RX, RW, .backing = MEMFD, .fill = CODE, .shared = true, .mirror = true,
	.bytes = 4 * MIB, .touch = CALL_TOUCH }};
/* one call over 512 VMAs, which become one */
ROW(many_vmas) {{ RW, PROT_READ, .alternate = true, .pages = 512, .touch = READ_TOUCH }};
/* one mapping piece by piece, so that VMAs split and merge: libMicro's way */
ROW(walk) {{ RW, PROT_NONE, .bytes = 4 * MIB, .segment = 64 * KIB, .touch = WRITE_TOUCH }};
/* will-it-scale's ways, for mprotect(): in one mm, in one mapping, apart */
ROW(threads) {{ RW, PROT_READ, .team = THREADS, .bytes = 4 * MIB, .touch = WRITE_TOUCH }};
ROW(threads_shared) {{ RW, PROT_READ, .team = THREADS_SHARED, .shared = true, .bytes = 4 * MIB,
	.touch = WRITE_TOUCH }};
ROW(processes) {{ RW, PROT_READ, .team = PROCESSES, .bytes = 4 * MIB, .touch = WRITE_TOUCH }};
/* libMicro's others, named as there; z: no page is there, w: written, t: touched */
ROW(libmicro_z8k) {{ RW, PROT_NONE, .backing = DEVZERO, .fill = ABSENT, .regions = 256,
	.bytes = 8 * KIB }};
ROW(libmicro_z128k) {{ RW, PROT_NONE, .backing = DEVZERO, .fill = ABSENT, .regions = 256,
	.bytes = 128 * KIB }};
ROW(libmicro_wz8k) {{ RW, PROT_NONE, .backing = DEVZERO, .regions = 256, .bytes = 8 * KIB }};
ROW(libmicro_wz128k) {{ RW, PROT_NONE, .backing = DEVZERO, .regions = 32, .bytes = 128 * KIB }};
ROW(libmicro_twz8k) {{ RW, PROT_NONE, .backing = DEVZERO, .regions = 256, .bytes = 8 * KIB,
	.touch = READ_TOUCH }};
ROW(libmicro_tw128k) {{ RW, PROT_NONE, .backing = DEVZERO, .regions = 32, .bytes = 128 * KIB,
	.touch = READ_TOUCH }};

/*
 * The tests of a row.
 */
FIXTURE_SETUP(mprotect)
{
	test = _metadata;
	begin(POPULATE);
	self->map = shape(&variant->row, false);
}

/* Who has come to here has neither died nor hung. */
FIXTURE_TEARDOWN(mprotect)
{
	because("%s", "");
}

/* By all tasks, in the last phase; and whether a cycle must be tried once more */
static unsigned long faults_taken;
static bool again;

/* It looks at no page, as that would take the faults that the next phase must not take. */
static void look_faults(const struct map *m, enum phase phase)
{
	enum faults allowed = phase == TOUCH ? m->row->faults : NO_FAULT;
	size_t due = allowed == FAULT_PER_PAGE ? m->pages : 0;
	static int tries;

	if (phase == POPULATE || (faults_taken >= due && (allowed || !faults_taken)))
		return;
	again = ++tries < TRIES;
	fail_if(!again, "%s took %lu faults, %zu are due", phase_name[phase], faults_taken, due);
}

static void judged_task(const struct map *m, unsigned int task, void *arg)
{
	unsigned long before = faults_so_far();
	enum phase phase = *(enum phase *)arg;
	int ret, error;

	errno = 0;
	ret = run_phase(m, task, phase);
	error = errno;
	__atomic_add_fetch(&faults_taken, faults_so_far() - before, __ATOMIC_RELAXED);
	judge_answer(m, ret, error, phase);
}

typedef void (*look_fn)(const struct map *m, enum phase phase);

/* One whole cycle, with a look after every phase */
static void look_at_cycle(const struct map *shape, unsigned int i __maybe_unused, void *look)
{
	struct map m = *shape;
	enum phase phase;

	map_open(&m);
	do {
		again = false;
		populate(&m);
		(*(look_fn *)look)(&m, POPULATE);
		for (phase = PROTECT; phase < PHASES && !again; phase++) {
			begin(phase);
			faults_taken = 0;
			in_threads(&m, judged_task, &phase);
			(*(look_fn *)look)(&m, phase);
		}
	} while (again);
}

/* In this process, or in each of several at the same time */
static void look_at(const struct map *m, look_fn look)
{
	if (m->row->team == PROCESSES)
		in_processes(m, look_at_cycle, &look);
	else
		look_at_cycle(m, 0, &look);
}

TEST_F(mprotect, access) { look_at(&self->map, look_access); }
TEST_F(mprotect, vma) { look_at(&self->map, look_vma); }
TEST_F(mprotect, state) { look_at(&self->map, look_state); }
TEST_F(mprotect, folios) { look_at(&self->map, look_folios); }
TEST_F(mprotect, faults) { look_at(&self->map, look_faults); }

/*
 * Timing. Each process has a mapping of its own: where its pages lie differs
 * from one to the next, and a noisy moment spoils one of them.
 *
 * What one cycle of one task cost, in ns:
 */
struct sample {
	bool taken;
	const char *name;
	const struct row *row;
	unsigned int proc, task, cycle, faults[PHASES];
	uint64_t start, ns[PHASES];
};

/* In memory that all processes share; the first one writes the record. */
static struct shared {
	size_t used;			/* samples that are, or will be, taken */
	unsigned int ready, done;	/* tasks of the present process */
	struct sample sample[];
} *shared;

/* What a process is to fill, and says of itself */
static struct sample *samples, like;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static bool is_timed(const struct row *row, enum phase phase)
{
	return phase == PROTECT || (!row->protect_only && (phase != TOUCH || row->touch));
}

#define MOST_CYCLES ((size_t)(opt.cycles ? opt.cycles : CYCLES))

/* The clock is read around a phase and nothing else. */
static void time_cycle(const struct map *m, unsigned int task, struct sample *s)
{
	unsigned long faults;
	enum phase phase;
	uint64_t start;
	int ret;

	alarm(HANG_SECONDS);
	if (m->row->fresh)
		populate(m);
	for (phase = PROTECT; phase < PHASES; phase++) {
		if (!is_timed(m->row, phase))
			continue;
		begin(phase);
		faults = faults_so_far();
		start = now_ns();
		ret = run_phase(m, task, phase);
		s->ns[phase] = now_ns() - start;
		judge_answer(m, ret, ret ? errno : 0, phase);
		s->faults[phase] = faults_so_far() - faults;
	}
}

/* Tasks begin together, and one that has its cycles goes on until all have theirs. */
static void time_task(const struct map *m, unsigned int task, void *arg __maybe_unused)
{
	struct sample *s = samples + task * MOST_CYCLES, spare;
	uint64_t start;
	unsigned int n;

	/* now, so that none of this faults into what is timed */
	for (n = 0; n < MOST_CYCLES; n++) {
		s[n] = like;
		s[n].task = task;
		s[n].cycle = n;
	}
	for (n = 0; n < WARM_UP; n++)
		time_cycle(m, task, &spare);
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE) < m->tasks)
		sched_yield();
	start = now_ns();
	for (n = 0; n < MOST_CYCLES; n++) {
		s[n].start = now_ns();
		if (!opt.cycles && n >= CYCLES_MIN && s[n].start - start > BUDGET_NS)
			break;
		time_cycle(m, task, &s[n]);
		__atomic_store_n(&s[n].taken, true, __ATOMIC_RELEASE);
	}
	__atomic_add_fetch(&shared->done, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&shared->done, __ATOMIC_ACQUIRE) < m->tasks)
		time_cycle(m, task, &spare);
}

/* Of the size that is timed, before and after it is timed; a look at what is absent brings it */
static void look_while_timing(const struct map *m, enum phase phase)
{
	if (!access("/proc/self/maps", R_OK))
		look_vma(m, phase);
	check_state(m, phase);
	if (m->row->fill != ABSENT)
		look_access(m, phase);
}

static void time_process(const struct map *shape, unsigned int i, void *arg __maybe_unused)
{
	struct map m = *shape;

	map_open(&m);
	populate(&m);
	look_while_timing(&m, POPULATE);
	if (m.row->team == PROCESSES)
		time_task(&m, i, NULL);
	else
		in_threads(&m, time_task, NULL);
	look_while_timing(&m, m.row->protect_only ? PROTECT : TOUCH);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * What is judged is the floor, below which a quarter of the processes have their
 * median, if it is not above that of all. Noise only ever adds: this repeats.
 */
static double report(const struct sample *s, const struct map *m, enum phase phase)
{
	unsigned int n = opt.procs * m->tasks, total = 0, i, j;
	double *medians = malloc(n * (1 + MOST_CYCLES) * sizeof(double)), *v = medians + n;
	double floor, median;

	skip_if(!medians, "no memory for %lu figures", n * MOST_CYCLES);
	for (i = 0; i < n; i++) {
		for (j = 0; j < MOST_CYCLES && s[i * MOST_CYCLES + j].taken; j++)
			v[total + j] = s[i * MOST_CYCLES + j].ns[phase] / (double)m->pages;
		qsort(&v[total], j, sizeof(*v), by_value);
		medians[i] = v[total + j / 2];
		total += j;
	}
	qsort(v, total, sizeof(*v), by_value);
	qsort(medians, n, sizeof(*v), by_value);
	median = v[total / 2];
	floor = medians[n / 4] < median ? medians[n / 4] : median;
	ksft_print_msg("perf mprotect.%s.%s floor=%.3f median=%.3f p99=%.3f unit=%s/page cycles=%u procs=%lu\n",
		       s->name, phase_name[phase], floor, median, v[total * 99 / 100], opt.unit,
		       total, opt.procs);
	free(medians);
	return floor;
}

/* Processes one after another; then what they cost, and whether that is too much */
TEST_F_TIMEOUT(mprotect, time, 86400)
{
	const struct __fixture_variant_metadata *v = _metadata->fixture->variant;
	struct map m = shape(&variant->row, true);
	struct sample *first = shared->sample + shared->used;
	double floor[PHASES] = { 0 };
	enum phase phase;

	while (v->data != variant)
		v = v->next;
	like = (struct sample){ .name = v->name, .row = m.row };
	for (; like.proc < opt.procs; like.proc++) {
		samples = shared->sample + shared->used;
		*shared = (struct shared){ .used = shared->used + m.tasks * MOST_CYCLES };
		in_processes(&m, time_process, NULL);
	}
	for (phase = PROTECT; phase < PHASES; phase++)
		if (is_timed(m.row, phase))
			floor[phase] = report(first, &m, phase);
	for (phase = PROTECT; phase < PHASES; phase++)
		fail_if(opt.max[phase] && floor[phase] > opt.max[phase],
			"%s: floor %.3f %s/page, --max is %.3f", phase_name[phase], floor[phase],
			opt.unit, opt.max[phase]);
}

/* The record. The first process writes it when it ends, also when a signal ends it. */
static FILE *record;
static bool cut_short;

static void record_end(void)
{
	unsigned long samples = 0;
	const struct sample *s;
	enum phase phase;
	struct map m;

	if (!record)
		return;
	for (s = shared->sample; s < shared->sample + shared->used; s++) {
		if (!s->taken)
			continue;
		samples++;
		m = shape(s->row, true);
		fprintf(record, "sample scenario=%s proc=%u cycle=%u pages=%zu calls=%zu", s->name,
			s->proc, s->cycle, m.pages, m.part / m.segment * m.mine);
		if (m.tasks > 1)
			fprintf(record, " tasks=%u task=%u start=%ju", m.tasks, s->task,
				(uintmax_t)s->start);
		for (phase = PROTECT; phase < PHASES; phase++)
			if (is_timed(m.row, phase))
				fprintf(record, " %s=%ju %s_faults=%u", phase_name[phase],
					(uintmax_t)s->ns[phase], phase_name[phase],
					s->faults[phase]);
		fputc('\n', record);
	}
	fprintf(record, "%send samples=%lu\n", cut_short ? "env cut_short=yes\n" : "", samples);
	if (fclose(record)) {
		warn("--record %s", opt.record);
		_exit(KSFT_FAIL);
	}
}

/* "-" is standard output: what else is said then goes to standard error. */
static void record_begin(const char *path)
{
	char boot_id[64] = "unknown", date[32];
	time_t t = time(NULL);
	struct utsname u;

	record = strcmp(path, "-") ? fopen(path, "wxe") : fdopen(dup(STDOUT_FILENO), "we");
	if (!strcmp(path, "-"))
		dup2(STDERR_FILENO, STDOUT_FILENO);
	read_file("/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
	boot_id[strcspn(boot_id, "\n")] = '\0';
	uname(&u);
	strftime(date, sizeof(date), "%FT%TZ", gmtime(&t));
	if (!record || fprintf(record, "mprotect_perf-record 2\n"
			       "env release=%s boot_id=%s date=%s page_size=%u unit=%s cpu=%d arch=%s\n",
			       u.release, boot_id, date, psize(), opt.unit, first_cpu,
			       u.machine) < 0 || fflush(record))
		err(KSFT_FAIL, "--record %s", path);
	atexit(record_end);
}

/*
 * Single calls. A letter is a page, before and after the call:
 *
 *	w  read and write		s  the same, shared
 *	r  read only			u  read and write, never touched
 *	n  PROT_NONE			.  a hole
 *
 * So "ww.w" that becomes "rr.w" says that a call over a hole fails, but only
 * after it has done the part in front of it, and nothing behind.
 */
struct call {
	char *base;		/* the first page */
	size_t len;
};

FIXTURE(mprotect_call)
{
	struct call call;
};

FIXTURE_VARIANT(mprotect_call)
{
	const char *before, *after;
	int want, prot;		/* errno, and what the call asks for */
	int page, off;		/* it begins at this page, and byte of it */
	long pages, bytes;	/* and is so many of them long */
	void (*prepare)(struct call *call);
	bool pkey;		/* pkey_mprotect() without a key */
};

#define CALL(name) FIXTURE_VARIANT_ADD(mprotect_call, name)
#define WORD 0x6d70726f74656374ULL
/* no architecture has given this bit of a protection a meaning */
#define PROT_UNKNOWN 0x00800000

/* Two pages of another kind in the place of the first two */
static void map_two(struct call *call, int prot, int flags, int fd)
{
	skip_if(mmap(call->base, 2 * psize(), prot, flags | MAP_FIXED, fd, 0) != call->base,
		"mmap of two pages: %m");
}

static int fill_two(int fd)
{
	const uint64_t word = WORD;

	skip_if(ftruncate(fd, 2 * psize()) || pwrite(fd, &word, 8, 0) != 8 ||
		pwrite(fd, &word, 8, psize()) != 8, "filling a file of two pages: %m");
	return fd;
}

static void map_readonly(struct call *call, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fill_two(open_memfd(NOEXEC_SEAL)));
	map_two(call, PROT_READ, flags, open(path, O_RDONLY | O_CLOEXEC));
}

static void readonly_shared(struct call *call)
{
	map_readonly(call, MAP_SHARED);
}

static void readonly_private(struct call *call)
{
	map_readonly(call, MAP_PRIVATE);
}

static void write_sealed(struct call *call)
{
	int fd = fill_two(open_memfd(NOEXEC_SEAL));

	skip_if(fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), "needs F_SEAL_FUTURE_WRITE: %m");
	map_two(call, PROT_READ, MAP_SHARED, fd);
}

static void growsdown(struct call *call)
{
	map_two(call, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1);
	*(uint64_t *)call->base = WORD;
	*(uint64_t *)(call->base + psize()) = WORD;
}

static void sealed(struct call *call)
{
	/* newer than most C libraries; the number is the same on every architecture */
	skip_if(syscall(462, call->base, 2 * psize(), 0UL), "needs mseal(): %m");
}

/* On a file system that no program may be run from, which ends with this process */
static void noexec_file(struct call *call)
{
	skip_if(unshare(geteuid() ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS) ||
		syscall(__NR_mount, "none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		syscall(__NR_mount, "tmpfs", "/tmp", "tmpfs", MS_NOEXEC, NULL),
		"needs a file system that is mounted noexec: %m");
	map_two(call, RW, MAP_SHARED, fill_two(open_tmpfile("/tmp")));
}

/* Every other page becomes a VMA, by an advice that means nothing here, while there can be more. */
static void exhaust_vmas(struct call *call __maybe_unused)
{
	unsigned long limit = number_in("/proc/sys/vm/max_map_count", "");
	size_t page = psize(), len = (limit + 8) * page, off;
	char *p;

	skip_if(limit > 100000, "vm.max_map_count is unknown, or too large to be reached");
	need_room(0, len, true, 0);
	p = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	skip_if(p == MAP_FAILED, "mmap of %zu bytes of address space: %m", len);
	for (off = page; off < len - 2 * page; off += 2 * page)
		if (madvise(p + off, page, MADV_DONTFORK))
			break;
	skip_if(off / page < limit - 256 || off >= len - 2 * page, "the limit is not reached");
	/* each took two; if there is one left, this takes it */
	madvise(p + len - page, page, MADV_DONTFORK);
}

/* More than any machine has, whatever it says that it has, and never touched */
static void beyond_commit_limit(struct call *call)
{
	unsigned long policy = number_in("/proc/sys/vm/overcommit_memory", "");
	unsigned long total = number_in("/proc/meminfo", "MemTotal:");
	struct rlimit limit;

	skip_if(policy != 0 && policy != 2, "vm.overcommit_memory is 1, or unknown");
	skip_if(getrlimit(RLIMIT_DATA, &limit) || limit.rlim_cur != RLIM_INFINITY,
		"RLIMIT_DATA allows less than all memory");
	call->len = 1UL << (sizeof(long) == 8 ? 45 : 31);
	call->base = mmap(NULL, call->len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	skip_if(call->base == MAP_FAILED || call->len >> 11 < total,
		"no address space for twice as much as all memory");
}

CALL(same_protection) { "ww", "ww", 0, RW, .pages = 2 };
CALL(zero_length) { "ww", "ww", 0, PROT_READ, .pages = 0 };
CALL(unaligned_address) { "ww", "ww", EINVAL, PROT_READ, .off = 1, .pages = 1 };
CALL(length_is_rounded_up) { "www", "rrw", 0, PROT_READ, .pages = 1, .bytes = 1 };
CALL(unknown_bits) { "ww", "ww", EINVAL, PROT_READ | PROT_UNKNOWN, .pages = 2 };
CALL(growsdown_and_growsup) { "ww", "ww", EINVAL, PROT_GROWSDOWN | PROT_GROWSUP, .pages = 2 };
CALL(growsdown_on_other_mapping) { "ww", "ww", EINVAL, PROT_GROWSDOWN, .page = 1, .pages = 1 };
CALL(growsdown) { "ww", "rr", 0, PROT_READ | PROT_GROWSDOWN, .page = 1, .pages = 1,
	.prepare = growsdown };
CALL(spans_two_mappings) { "ws", "nn", 0, PROT_NONE, .pages = 2 };
CALL(hole_at_start) { ".ww", ".ww", ENOMEM, PROT_READ, .pages = 3 };
CALL(hole_inside) { "ww.w", "rr.w", ENOMEM, PROT_READ, .pages = 4 };
CALL(hole_at_end) { "ww.", "rr.", ENOMEM, PROT_READ, .pages = 3 };
CALL(range_wraps_around) { "ww", "ww", ENOMEM, PROT_READ, .pages = -1 };
CALL(length_overflows) { "ww", "ww", ENOMEM, PROT_READ, .bytes = -1 };
CALL(untouched_pages) { "uu", "uu", 0, PROT_READ, .pages = 2 };
CALL(read_only_descriptor_shared) { "ww", "rr", EACCES, RW, .pages = 2,
	.prepare = readonly_shared };
CALL(read_only_descriptor_private) { "ww", "ww", 0, RW, .pages = 2, .prepare = readonly_private };
CALL(write_sealed_memfd) { "ww", "rr", EACCES, RW, .pages = 2, .prepare = write_sealed };
CALL(sealed_mapping) { "ww", "ww", EPERM, PROT_READ, .pages = 2, .prepare = sealed };
CALL(exec_of_noexec_file) { "ww", "ww", EACCES, RX, .pages = 2, .prepare = noexec_file };
CALL(write_and_exec) { "ww", "ww", 0, RW | PROT_EXEC, .pages = 2 };
CALL(no_protection_key) { "ww", "rr", 0, PROT_READ, .pages = 2, .pkey = true };
CALL(vma_limit_no_split) { "ww", "rr", 0, PROT_READ, .pages = 2, .prepare = exhaust_vmas };
CALL(vma_limit_split_in_two) { "ww", "ww", ENOMEM, PROT_READ, .pages = 1, .prepare = exhaust_vmas };
CALL(vma_limit_split_in_three) { "www", "www", ENOMEM, PROT_READ, .page = 1, .pages = 1,
	.prepare = exhaust_vmas };
CALL(vma_limit_merge) { "wrw", "www", 0, RW, .page = 1, .pages = 1, .prepare = exhaust_vmas };
CALL(commit_limit) { "n", "n", ENOMEM, RW, .prepare = beyond_commit_limit };

/* The pages lie between PROT_NONE ones, so that nothing merges with them. */
FIXTURE_SETUP(mprotect_call)
{
	size_t n = strlen(variant->before), i;

	test = _metadata;
	begin(POPULATE);
	self->call.base = mmap(NULL, (n + 2) * psize(), PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	skip_if(self->call.base == MAP_FAILED, "mmap of %zu pages: %m", n + 2);
	need_room(n * psize(), n * psize(), false, n);
	self->call.base += psize();
	self->call.len = variant->pages * (long)psize() + variant->bytes;
	for (i = 0; i < n; i++) {
		char *p = self->call.base + i * psize(), c = variant->before[i];
		int flags = c == 's' ? MAP_SHARED : MAP_PRIVATE;

		skip_if(c == '.' ? munmap(p, psize()) : c != 'n' &&
			mmap(p, psize(), RW, flags | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != p,
			"mmap or munmap of a page: %m");
		if (strchr("wrs", c))
			*(uint64_t *)p = WORD;
		fail_if(c == 'r' && mprotect(p, psize(), PROT_READ), "before: %m");
	}
	if (variant->prot & PROT_EXEC)
		need_exec(variant->prot, -1);
	skip_if(variant->pkey && syscall(__NR_pkey_mprotect, self->call.base, 0UL, RW, -1),
		"needs pkey_mprotect(): %m");
	if (variant->prepare)
		variant->prepare(&self->call);
}

FIXTURE_TEARDOWN(mprotect_call)
{
	because("%s", "");
}

/* What a page turned out to be, in the letters of the table; "s" is a "w" to whoever tries */
static char letter(char *p, char want)
{
	uint64_t value = 0, word = WORD;
	unsigned char touched = 1;
	enum outcome got[2];

	skip_if(want == 'u' && mincore(p, psize(), &touched), "needs mincore(): %m");
	if (want == 'u')
		return touched ? '?' : 'u';
	got[READ] = try(READ, p, &value);
	if (got[READ] == MAPERR)
		return '.';
	got[WRITE] = try(WRITE, p, &word);
	if (got[READ] == ACCERR)
		return got[WRITE] == ACCERR ? 'n' : '?';
	if (got[READ] != WORKED || value != WORD || got[WRITE] > ACCERR)
		return '?';
	return got[WRITE] == WORKED ? 'w' : 'r';
}

TEST_F(mprotect_call, result)
{
	char *p = self->call.base + variant->page * (long)psize() + variant->off, got[8] = "";
	int ret, error;
	size_t i;

	begin(PROTECT);
	errno = 0;
	ret = variant->pkey ? syscall(__NR_pkey_mprotect, p, self->call.len, variant->prot, -1) :
	      mprotect(p, self->call.len, variant->prot);
	error = errno;
	fail_if(ret != (variant->want ? -1 : 0) || error != variant->want,
		"returned %d, errno %d (%s), should be %d (%s)", ret, error, strerror(error),
		variant->want, strerror(variant->want));
	catch_faults(true);
	for (i = 0; variant->after[i]; i++)
		got[i] = letter(self->call.base + i * psize(), variant->after[i]);
	catch_faults(false);
	fail_if(strcmp(got, variant->after), "left '%s', should be '%s'", got, variant->after);
}

/*
 * The command line. An option or a filter that names nothing is wrong, and told
 * in one line: what it means would never be run.
 */
static const char help[] =
	"usage: mprotect_perf [options] [filters]\n"
	"  -p             time the chosen rows as well\n"
	"  --procs N      processes, one after another; default 16\n"
	"  --cycles N     in each of them; default 100, or what fits into 50 ms\n"
	"  --pages N      base pages of a row, instead of its own size\n"
	"  --tasks N      of rows that have several; default 2\n"
	"  --cpu N        where to run; default: the last one that is allowed\n"
	"  --unit NAME    what the clock counts: ns, or insn in some virtual machines\n"
	"  --max PHASE=NS,...  a floor above this is a failure; per page\n"
	"  --record FILE  raw samples; - is standard output\n"
	"  -l, -d         list the chosen tests; what the harness says for debugging\n"
	"Filters: -v ROW, -t TEST, -f FIXTURE choose, -V, -T, -F leave out, -r NAME\n"
	"chooses one test by its whole name. The first that matches decides.\n"
	"Exit status: 0 passed or skipped, 1 failed, 4 nothing could be tried.\n";

#define usage_if(wrong, ...) do { if (wrong) errx(KSFT_FAIL, __VA_ARGS__); } while (0)

/* PHASE=NS,... */
static void read_limits(char *text)
{
	char *const names[] = { "protect", "restore", "touch", NULL };
	char *value, *end;
	double ns;
	int i;

	while (*text) {
		i = getsubopt(&text, names, &value);
		ns = i < 0 || !value ? 0 : strtod(value, &end);
		usage_if(!(ns > 0 && ns < 1e18) || *end,
			 "--max: give protect=NS, restore=NS or touch=NS, not %s", value ?: "that");
		opt.max[PROTECT + i] = ns;
	}
}

static const struct { const char *name; unsigned long *to, min, max; } numbers[] = {
	{ "procs", &opt.procs, 1, 1000 }, { "cycles", &opt.cycles, 1, 100000 },
	{ "pages", &opt.pages, 1, 1UL << 28 }, { "cpu", &opt.cpu, 0, CPU_SETSIZE - 1 },
	{ "tasks", &opt.tasks, 1, TASKS_MAX },
};

static const struct option long_options[] = {
	{ "procs", required_argument, NULL, 0 }, { "cycles", required_argument, NULL, 1 },
	{ "pages", required_argument, NULL, 2 }, { "cpu", required_argument, NULL, 3 },
	{ "tasks", required_argument, NULL, 4 }, { "max", required_argument, NULL, 5 },
	{ "record", required_argument, NULL, 6 }, { "unit", required_argument, NULL, 7 },
	{ "perf", no_argument, NULL, 'p' }, { "help", no_argument, NULL, 'h' }, { }
};

static void read_option(int i)
{
	char *end;

	if (i == 5) {
		read_limits(optarg);
	} else if (i == 6) {
		opt.record = optarg;
	} else if (i == 7) {
		opt.unit = optarg;
		usage_if(strcmp(optarg, "ns") && strcmp(optarg, "insn"), "--unit: give ns or insn");
	} else {
		errno = 0;
		*numbers[i].to = strtoul(optarg, &end, 10);
		usage_if(errno || !isdigit(*optarg) || *end || *numbers[i].to < numbers[i].min ||
			 *numbers[i].to > numbers[i].max, "--%s %s: give a number from %lu to %lu",
			 numbers[i].name, optarg, numbers[i].min, numbers[i].max);
	}
}

/* The harness is asked what this filter alone would choose. */
static void check_filter(const char *filter)
{
	const char *nearest = "shared_dirty", *name = filter + 2;
	struct __fixture_variant_metadata *v;
	struct __fixture_metadata *f;
	struct __test_metadata *t;
	size_t same, most = 0;
	char *argv[3] = { "", strdup(filter) };

	argv[1][1] = tolower(filter[1]);
	if (filter[1] == 'r' && strchr(name, '.'))
		name = strchr(name, '.') + 1;
	for (f = __fixture_list; f; f = f->next) {
		for (v = f->variant; v; v = v->next) {
			for (t = f->tests; t; t = t->next)
				if (test_enabled(2, argv, f, v, t))
					return;
			for (same = 0; name[same] && name[same] == v->name[same]; same++)
				;
			nearest = same > most ? v->name : nearest;
			most = same > most ? same : most;
		}
	}
	errx(KSFT_FAIL, "%.2s %s: no such; the nearest row is %s", filter, filter + 2, nearest);
}

/* What the tests that the filters have left need, and have */
static struct {
	bool any, thp, tasks, timed[PHASES];
	size_t hugetlb, samples;
} chosen;

static void choose_row(const struct row *row, bool timed)
{
	struct map m = shape(row, timed);
	enum phase phase;

	chosen.thp |= row->folio != BASE && row->backing != HUGETLB;
	chosen.tasks |= row->team != ALONE;
	if (row->backing == HUGETLB && m.len > chosen.hugetlb)
		chosen.hugetlb = m.len;
	chosen.samples += timed ? opt.procs * m.tasks * MOST_CYCLES : 0;
	for (phase = PROTECT; timed && phase < PHASES; phase++)
		chosen.timed[phase] |= is_timed(row, phase);
}

static void choose(int argc, char **argv, bool list)
{
	struct __fixture_variant_metadata *v;
	struct __fixture_metadata *f;
	struct __test_metadata *t;
	enum phase phase;

	for (f = __fixture_list; f; f = f->next)
		for (v = f->variant; v; v = v->next)
			for (t = f->tests; t; t = t->next) {
				if (!test_enabled(argc, argv, f, v, t))
					continue;
				chosen.any = true;
				if (!strcmp(f->name, "mprotect"))
					choose_row(v->data, !strcmp(t->name, "time"));
				if (list)
					printf("%s.%s.%s\n", f->name, v->name, t->name);
			}
	usage_if(!chosen.any, "these filters leave no test%s", opt.perf ? "" : "; time needs -p");
	if (list)
		exit(KSFT_PASS);
	usage_if(opt.tasks && !chosen.tasks, "--tasks: no chosen row has several");
	usage_if(opt.record && !chosen.samples, "--record %s: nothing is timed", opt.record);
	for (phase = PROTECT; phase < PHASES; phase++)
		usage_if(opt.max[phase] && !chosen.timed[phase],
			 "--max: no chosen row has %s timed", phase_name[phase]);
	if (!opt.perf || sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	usage_if(opt.cpu != ULONG_MAX && !CPU_ISSET(opt.cpu, &allowed),
		 "--cpu %lu: not a CPU that this program may run on", opt.cpu);
	first_cpu = opt.cpu == ULONG_MAX ? CPU_SETSIZE - 1 : opt.cpu;
	while (!CPU_ISSET(first_cpu, &allowed))
		first_cpu--;
	pin(0);
}

/*
 * Ours are taken out, the harness's own are left in @harness. That one lets the
 * first filter that matches decide: ours stands before the user's.
 */
static int read_options(int argc, char **argv, char **harness)
{
	bool list = false, needs_perf = false;
	int c, n = 2;

	harness[0] = argv[0];
	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:pdhlf:F:t:T:v:V:r:", long_options, NULL)) != -1) {
		usage_if(c == '?', "%s: no such option; -h helps", argv[optind - 1]);
		usage_if(c == ':', "%s needs a value; -h helps", argv[optind - 1]);
		needs_perf |= c < 8 && c != 4;
		if (c < 8)
			read_option(c);
		else if (c == 'h')
			exit(fputs(help, stdout) < 0);
		else if (c == 'l')
			list = true;
		else if (c == 'p')
			opt.perf = true;
		else if (asprintf(&harness[n++], "-%c%s", c, optarg ? optarg : "") < 0)
			errx(KSFT_FAIL, "no memory");
	}
	usage_if(argv[optind], "%s: not an option; -h helps", argv[optind]);
	usage_if(needs_perf && !opt.perf, "an option of timing has no effect without -p");
	for (c = 2; c < n; c++)
		if (harness[c][2])
			check_filter(harness[c]);
	harness[1] = "-Ttime";
	if (opt.perf)
		memmove(&harness[1], &harness[2], --n * sizeof(*harness));
	choose(n, harness, list);
	optind = 1;
	return n;
}

/*
 * Settings: what the chosen rows need, which the kernel's helpers put back at the
 * end. What the pool of hugetlb lacks; or the folios that are asked for by
 * madvise(), and none of other sizes instead.
 */
static void set(size_t hugetlb)
{
	int pmd = sz2ord(read_pmd_pagesize(), psize()), i;
	struct thp_settings settings;

	if (hugetlb) {
		hugetlb_setup_default(hugetlb / default_huge_page_size());
		return;
	}
	thp_save_settings();
	thp_read_settings(&settings);
	if (settings.thp_enabled == THP_NEVER)
		settings.thp_enabled = THP_MADVISE;
	for (i = 0; i < NR_ORDERS; i++)
		settings.hugepages[i].enabled = i == pmd ? THP_INHERIT :
			psize() << i == 64 * KIB ? THP_MADVISE : THP_NEVER;
	thp_push_settings(&settings);
}

/* The helpers end the program where a file of /sys is not as they want it: a child goes first. */
static bool can_be_set(size_t hugetlb)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (!freopen("/dev/null", "w", stdout) || dup2(fileno(stdout), STDERR_FILENO) < 0)
			_exit(KSFT_SKIP);
		set(hugetlb);
		exit(KSFT_PASS);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

/* Of two programs at once the second would save what the first has set: it leaves that alone. */
static void change_settings(void)
{
	int fd = open("/sys/kernel/mm", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool any = chosen.thp || chosen.hugetlb, alone = any && !flock(fd, LOCK_EX | LOCK_NB);
	bool thp = alone && chosen.thp && read_pmd_pagesize() && can_be_set(0);

	/* with nothing set yet, as a child puts back whatever it knows of */
	if (alone && chosen.hugetlb && can_be_set(chosen.hugetlb))
		set(chosen.hugetlb);
	if (thp)
		set(0);
}

/* Signals, and what is done at the end, are the first process's. A child dies with its parent. */
static const int endings[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE };

static void in_child(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(endings); i++)
		signal(endings[i], SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	record = NULL;
}

static void on_ending(int sig __maybe_unused)
{
	cut_short = true;
	exit(KSFT_FAIL);
}

static void no_time_left(int sig __maybe_unused)
{
	if (test)
		skip("RLIMIT_CPU leaves no time");
	_exit(KSFT_SKIP);
}

static void set_signals(void)
{
	sigset_t none;
	unsigned int i;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (i = 0; i < ARRAY_SIZE(endings); i++)
		signal(endings[i], on_ending);
	signal(SIGALRM, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGXCPU, no_time_left);
}

/* The harness calls every test failed where it cannot fork twice, or open one more file. */
static void check_harness(void)
{
	pid_t pid = fork();
	int status = 0, fd;

	if (!pid) {
		pid = fork();
		waitpid(pid, &status, 0);
		_exit(pid < 0);
	}
	fd = pid < 0 ? -1 : syscall(__NR_pidfd_open, pid, 0);
	waitpid(pid, &status, 0);
	if (fd < 0 || status)
		ksft_exit_skip("cannot fork twice, or watch a process\n");
	close(fd);
}

static void output_is_out(void)
{
	if (fflush(stdout) || ferror(stdout))
		_exit(KSFT_FAIL);
}

int main(int argc, char **argv)
{
	char **harness = calloc(argc + 2, sizeof(*harness));

	usage_if(!harness, "no memory");
	/* memory is not to become executable without being asked for */
	personality(personality(0xffffffff) & ~READ_IMPLIES_EXEC);
	argc = read_options(argc, argv, harness);
	shared = mmap(NULL, sizeof(*shared) + chosen.samples * sizeof(struct sample), RW,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	usage_if(shared == MAP_FAILED, "no memory for %zu samples", chosen.samples);
	if (opt.record)
		record_begin(opt.record);
	atexit(output_is_out);
	pthread_atfork(NULL, NULL, in_child);
	set_signals();
	/* now, as the helpers have something to say; the harness then leaves it alone */
	ksft_print_header();
	setenv("KSFT_TAP_LEVEL", "1", true);
	change_settings();
	/* the helpers' own know nothing of the record */
	set_signals();
	check_harness();
	return test_harness_run(argc, harness);
}
