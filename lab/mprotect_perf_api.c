// SPDX-License-Identifier: GPL-2.0
/*
 * The API cases, as data. A letter is a page, before and after the call:
 *
 *	w  private, read and write	s  shared, read and write
 *	r  read only			u  private, read and write, never touched
 *	n  PROT_NONE			.  a hole
 *
 * So "ww.w" that becomes "rr.w" says that a call over a hole fails, but only
 * after it has done the part in front of it, and nothing behind.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mprotect_perf_api.h"
#include "mprotect_perf_child.h"
#include "mprotect_perf_probe.h"
#include "mprotect_perf_state.h"

#ifndef F_ADD_SEALS
#define F_ADD_SEALS 1033
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif
/* the same on every architecture, like all numbers since 424 */
#ifndef __NR_mseal
#define __NR_mseal 462
#endif

/* no architecture has given this bit a meaning */
#define PROT_UNKNOWN	0x00800000
#define RW		(PROT_READ | PROT_WRITE)

#define VMA_LIMIT_MAX	100000
/* more than this process has otherwise */
#define VMA_OTHERS	256
#define WORD		0x6d70726f74656374ULL

struct area {
	char *base;
	size_t page;
	struct mp_finding *v;
};

/**
 * struct api_case - one call
 * @name: constant
 * @before: the pages
 * @prepare: changes them further; false when it could not, with a finding
 * @page: the call begins at this page
 * @off: and this many bytes
 * @pages: it is this many pages long; -1 makes the range wrap around
 * @bytes: and this many bytes
 * @prot: asked for
 * @want: errno, 0 for success
 * @after: the pages
 * @judge: looks further; NULL when @after says it all
 */
struct api_case {
	const char *name;
	const char *before;
	bool (*prepare)(struct area *a);
	int page;
	int off;
	int pages;
	int bytes;
	int prot;
	int want;
	const char *after;
	void (*judge)(struct area *a);
};

static bool skip(struct area *a, const char *what)
{
	mp_finding_set(a->v, MP_SKIP, "%s: %s", what, strerror(errno));
	return false;
}

/* Replaces the first two pages; the descriptor's own limits are what is tested. */
static bool map_two(struct area *a, int prot, int flags, int fd)
{
	void *p = mmap(a->base, 2 * a->page, prot, flags | MAP_FIXED, fd, 0);
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return p == MAP_FAILED ? skip(a, "mmap") : true;
}

static int memfd_two(struct area *a)
{
	int fd = memfd_create("mprotect_perf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	const uint64_t word = WORD;

	if (fd < 0) {
		skip(a, "memfd_create");
	} else if (ftruncate(fd, (off_t)(2 * a->page)) ||
		   pwrite(fd, &word, sizeof(word), 0) != sizeof(word) ||
		   pwrite(fd, &word, sizeof(word), (off_t)a->page) != sizeof(word)) {
		skip(a, "filling a memfd");
		close(fd);
		fd = -1;
	}
	return fd;
}

static int readonly_memfd(struct area *a)
{
	char path[64];
	int ro, fd = memfd_two(a);

	if (fd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ro = open(path, O_RDONLY | O_CLOEXEC);
	if (ro < 0)
		skip(a, "opening a memfd read-only through /proc/self/fd");
	close(fd);
	return ro;
}

static bool readonly_shared(struct area *a)
{
	int fd = readonly_memfd(a);

	return fd >= 0 && map_two(a, PROT_READ, MAP_SHARED, fd);
}

static bool readonly_private(struct area *a)
{
	int fd = readonly_memfd(a);

	return fd >= 0 && map_two(a, PROT_READ, MAP_PRIVATE, fd);
}

static bool sealed_memfd(struct area *a)
{
	int fd = memfd_two(a);

	if (fd < 0)
		return false;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE)) {
		skip(a, "F_SEAL_FUTURE_WRITE");
		close(fd);
		return false;
	}
	return map_two(a, PROT_READ, MAP_SHARED, fd);
}

static bool sealed_mapping(struct area *a)
{
	return syscall(__NR_mseal, a->base, 2 * a->page, 0UL) ? skip(a, "mseal") : true;
}

static bool growsdown(struct area *a)
{
	uint64_t *second = (uint64_t *)(a->base + a->page);

	if (!map_two(a, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1))
		return false;
	*(uint64_t *)a->base = WORD;
	*second = WORD;
	return true;
}

/* mprotect() must not bring in pages that nobody has asked for */
static void still_untouched(struct area *a)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry[2];
	struct mp_err err;

	if (fd < 0) {
		skip(a, "/proc/self/pagemap");
		return;
	}
	if (mp_state_pagemap(fd, (uintptr_t)a->base, 2, a->page, entry, &err))
		mp_finding_set(a->v, MP_SKIP, "%s", err.text);
	else if (entry[0] >> 62 || entry[1] >> 62)
		mp_finding_set(a->v, MP_FAIL, "an untouched page has become present");
	close(fd);
}

static long vma_limit(void)
{
	FILE *f = fopen("/proc/sys/vm/max_map_count", "re");
	long limit = -1;

	if (f && fscanf(f, "%ld", &limit) != 1)
		limit = -1;
	if (f)
		fclose(f);
	return limit;
}

/*
 * Every other page read-only, until the kernel has no more VMAs to give: the
 * call that fails must leave its page as it was.
 */
static void reach_vma_limit(struct area *a)
{
	long limit = vma_limit(), i;
	size_t len = (size_t)(limit + 2) * a->page;
	char *p, *last = NULL;

	if (limit < 0 || limit > VMA_LIMIT_MAX) {
		mp_finding_set(a->v, MP_SKIP, limit < 0 ? "vm.max_map_count cannot be read" :
			       "vm.max_map_count is %ld: reaching it takes too long", limit);
		return;
	}
	p = mmap(NULL, len, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED) {
		skip(a, "mmap of one page for each VMA");
		return;
	}
	errno = 0;
	for (i = 0; 2 * i < limit + 2; i++) {
		last = p + (size_t)(2 * i) * a->page;
		if (mprotect(last, a->page, PROT_READ))
			break;
	}
	if (errno != ENOMEM || 2 * i < limit - VMA_OTHERS)
		mp_finding_set(a->v, MP_FAIL, "refused at %ld VMAs, the limit is %ld, errno %d (%s)",
			       2 * i, limit, errno, strerror(errno));
	mp_probe_arm(1);
	if (last && mp_probe_write(last, WORD) != MP_ALLOWED)
		mp_finding_set(a->v, MP_FAIL, "the call that failed took write access away");
	mp_probe_arm(0);
	munmap(p, len);
}

static const struct api_case cases[] = {
	{ "same-protection", "ww", .pages = 2, .prot = RW, .after = "ww" },
	{ "zero-length", "ww", .prot = PROT_READ, .after = "ww" },
	{ "unaligned-address", "ww", .off = 1, .pages = 1, .prot = PROT_READ,
	  .want = EINVAL, .after = "ww" },
	{ "length-is-rounded-up", "www", .pages = 1, .bytes = 1, .prot = PROT_READ,
	  .after = "rrw" },
	{ "unknown-bits", "ww", .pages = 2, .prot = PROT_READ | PROT_UNKNOWN,
	  .want = EINVAL, .after = "ww" },
	{ "growsdown-and-growsup", "ww", .pages = 2,
	  .prot = PROT_READ | PROT_GROWSDOWN | PROT_GROWSUP, .want = EINVAL, .after = "ww" },
	{ "growsdown-on-other-mapping", "ww", .page = 1, .pages = 1,
	  .prot = PROT_READ | PROT_GROWSDOWN, .want = EINVAL, .after = "ww" },
	{ "growsdown", "ww", growsdown, .page = 1, .pages = 1,
	  .prot = PROT_READ | PROT_GROWSDOWN, .after = "rr" },
	{ "spans-two-mappings", "ws", .pages = 2, .prot = PROT_NONE, .after = "nn" },
	{ "hole-at-start", ".ww", .pages = 3, .prot = PROT_READ, .want = ENOMEM, .after = ".ww" },
	{ "hole-inside", "ww.w", .pages = 4, .prot = PROT_READ, .want = ENOMEM, .after = "rr.w" },
	{ "hole-at-end", "ww.", .pages = 3, .prot = PROT_READ, .want = ENOMEM, .after = "rr." },
	{ "range-wraps-around", "ww", .pages = -1, .prot = PROT_READ,
	  .want = ENOMEM, .after = "ww" },
	{ "length-overflows", "ww", .bytes = -1, .prot = PROT_READ,
	  .want = ENOMEM, .after = "ww" },
	{ "untouched-pages", "uu", .pages = 2, .prot = PROT_READ, .after = "uu",
	  .judge = still_untouched },
	{ "read-only-descriptor-shared", "ww", readonly_shared, .pages = 2, .prot = RW,
	  .want = EACCES, .after = "rr" },
	{ "read-only-descriptor-private", "ww", readonly_private, .pages = 2, .prot = RW,
	  .after = "ww" },
	{ "write-sealed-memfd", "ww", sealed_memfd, .pages = 2, .prot = RW,
	  .want = EACCES, .after = "rr" },
	{ "sealed-mapping", "ww", sealed_mapping, .pages = 2, .prot = PROT_READ,
	  .want = EPERM, .after = "ww" },
	{ "vma-limit", "w", .pages = 1, .prot = RW, .after = "w", .judge = reach_vma_limit },
};

const unsigned int mp_nr_api_cases = ARRAY_SIZE(cases);

const char *mp_api_name(unsigned int i)
{
	return cases[i].name;
}

/* The pages lie between PROT_NONE ones, so that nothing merges with them. */
static bool lay_out(struct area *a, const char *pages)
{
	size_t n = strlen(pages), i;

	a->base = mmap(NULL, (n + 2) * a->page, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (a->base == MAP_FAILED)
		return skip(a, "mmap");
	a->base += a->page;
	for (i = 0; i < n; i++) {
		char *p = a->base + i * a->page;
		int flags = pages[i] == 's' ? MAP_SHARED : MAP_PRIVATE;

		if (pages[i] == '.') {
			munmap(p, a->page);
			continue;
		}
		if (mmap(p, a->page, RW, flags | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			return skip(a, "mmap");
		if (pages[i] != 'u')
			*(uint64_t *)p = WORD;
	}
	return true;
}

/* What a page turned out to be, in the letters of the table. */
static char letter(char *p)
{
	enum mp_access read = mp_probe_read(p), write;

	if (read == MP_UNMAPPED)
		return '.';
	write = mp_probe_write(p, WORD);
	if (read == MP_REFUSED)
		return write == MP_REFUSED ? 'n' : '?';
	if (read != MP_ALLOWED || *(volatile uint64_t *)p != WORD)
		return '?';
	return write == MP_ALLOWED ? 'w' : write == MP_REFUSED ? 'r' : '?';
}

static void judge(struct area *a, const struct api_case *c, int ret, int error)
{
	char got[8] = "";
	size_t i;

	if (ret != (c->want ? -1 : 0) || error != c->want) {
		mp_finding_set(a->v, MP_FAIL, "returned %d, errno %d (%s), should be %d (%s)",
			       ret, error, strerror(error), c->want, strerror(c->want));
		return;
	}
	mp_probe_arm(1);
	for (i = 0; c->after[i] && i < sizeof(got) - 1; i++)
		got[i] = c->after[i] == 'u' ? 'u' : letter(a->base + i * a->page);
	mp_probe_arm(0);
	if (strcmp(got, c->after))
		mp_finding_set(a->v, MP_FAIL, "left pages '%s', should be '%s'", got, c->after);
	if (c->judge)
		c->judge(a);
	mp_finding_set(a->v, MP_PASS, NULL);
}

struct shared {
	struct mp_note note;
	struct mp_finding v;
	unsigned int i;
};

static int child(void *arg, int out, struct mp_note *note)
{
	struct shared *sh = arg;
	const struct api_case *c = &cases[sh->i];
	struct area a = { .page = (size_t)sysconf(_SC_PAGESIZE), .v = &sh->v };
	int ret;

	(void)out;
	if (!lay_out(&a, c->before) || (c->prepare && !c->prepare(&a)))
		return 0;
	note->now = MP_PROTECT;
	errno = 0;
	ret = mprotect(a.base + c->page * (long)a.page + c->off,
		       (size_t)(c->pages * (long)a.page + c->bytes), c->prot);
	judge(&a, c, ret, errno);
	return 0;
}

struct mp_finding mp_api_run(unsigned int i, unsigned int seconds)
{
	struct mp_finding v = { .outcome = MP_UNSEEN };
	struct mp_err err;
	struct shared *sh = mp_note_new(sizeof(*sh), &err);
	struct mp_child c = { child, sh, &sh->note, seconds };
	void *data;
	size_t len;

	if (!sh) {
		mp_finding_set(&v, MP_FAIL, "%s", err.text);
		return v;
	}
	sh->i = i;
	if (mp_child_run(&c, &data, &len, &err))
		mp_finding_set(&sh->v, MP_FAIL, "%s", err.text);
	v = sh->v;
	free(data);
	mp_note_free(sh, sizeof(*sh));
	return v;
}
