// SPDX-License-Identifier: GPL-2.0
/*
 * A kernel with a bug, for the test to find: the real program is linked with
 * --wrap=mprotect (and userfaultfd's write protection with --wrap=ioctl), and
 * every call goes through here, to the real one and to one bug more, chosen
 * with BROKEN=name.
 */
#include <errno.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define RW (PROT_READ | PROT_WRITE)

int __real_mprotect(void *addr, size_t len, int prot);
int __wrap_mprotect(void *addr, size_t len, int prot);
int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);

struct call {
	char *addr;
	size_t len;
	int prot;
	int ret;
	int error;
	size_t page;
	int uffd;
};

static int set(const struct call *c, char *addr, size_t len, int prot)
{
	struct uffdio_writeprotect wp = {
		.range = { .start = (uintptr_t)addr, .len = len },
		.mode = prot & PROT_WRITE ? 0 : UFFDIO_WRITEPROTECT_MODE_WP,
	};

	if (c->uffd >= 0)
		return __real_ioctl(c->uffd, UFFDIO_WRITEPROTECT, &wp);
	return __real_mprotect(addr, len, prot);
}

static void real(struct call *c)
{
	errno = 0;
	c->ret = set(c, c->addr, c->len, c->prot);
	c->error = errno;
}

static void answer(struct call *c, int error)
{
	c->ret = error ? -1 : 0;
	c->error = error;
}

static char *last_page(const struct call *c)
{
	return c->addr + (c->len ? (c->len - 1) / c->page * c->page : 0);
}

static char *middle_page(const struct call *c)
{
	return c->addr + c->len / c->page / 2 * c->page;
}

static char *page_of(const struct call *c)
{
	return c->addr - (size_t)c->addr % c->page;
}

/* What is returned is wrong. */
static void fail_protect(struct call *c)
{
	if (c->prot != RW)
		answer(c, ENOMEM);
	else
		real(c);
}

static void fail_restore(struct call *c)
{
	if (c->prot == RW)
		answer(c, ENOMEM);
	else
		real(c);
}

static void stray_errno(struct call *c)
{
	real(c);
	c->error = EAGAIN;
}

static void always_0(struct call *c)
{
	real(c);
	answer(c, 0);
}

static void always_eio(struct call *c)
{
	real(c);
	answer(c, EIO);
}

/* What is left behind is wrong. */
static void last_page_writable(struct call *c)
{
	real(c);
	if (!c->ret && c->prot != RW)
		set(c, last_page(c), c->page, RW);
}

static void last_page_shut(struct call *c)
{
	real(c);
	if (!c->ret && c->prot == RW)
		set(c, last_page(c), c->page, PROT_READ);
}

static void read_too(struct call *c)
{
	c->prot |= c->prot == PROT_NONE ? PROT_READ : 0;
	real(c);
}

static void flip_first(struct call *c)
{
	real(c);
	set(c, page_of(c), c->page, c->prot == RW ? PROT_NONE : RW);
}

static void unmap_page(struct call *c)
{
	real(c);
	if (c->prot != RW)
		munmap(middle_page(c), c->page);
}

static void swap_content(struct call *c)
{
	char *a = c->addr, *b = last_page(c);
	char word[8];

	real(c);
	if (c->prot != RW || a == b)
		return;
	memcpy(word, a, 8);
	memcpy(a, b, 8);
	memcpy(b, word, 8);
	c->error = 0;
}

/* The code of one page is that of another one when it may be executed again. */
static void stale_code(struct call *c)
{
	if (c->prot & PROT_EXEC)
		memcpy(last_page(c), c->addr, 8);
	real(c);
}

/* Execution: not given, given too much, or where it must not be */
static void no_exec(struct call *c)
{
	c->prot &= ~PROT_EXEC;
	real(c);
}

static void always_exec(struct call *c)
{
	if (c->prot & PROT_READ)
		c->prot |= PROT_EXEC;
	real(c);
}

static void exec_means_write(struct call *c)
{
	if (c->prot & PROT_EXEC)
		c->prot |= PROT_WRITE;
	real(c);
}

static void exec_anywhere(struct call *c)
{
	real(c);
	if (c->ret && c->prot & PROT_EXEC)
		answer(c, 0);
}

static void lose_content(struct call *c)
{
	real(c);
	if (c->prot == RW)
		*(last_page(c) + c->page - 1) ^= 1;
}

static void split_vma(struct call *c)
{
	real(c);
	madvise(middle_page(c), c->page, MADV_DONTFORK);
}

static void zap_page(struct call *c)
{
	char *p = middle_page(c);
	size_t huge = 512 * c->page;
	unsigned char there;

	real(c);
	madvise(p, c->page, MADV_DONTNEED);
	/* a hugetlb page goes as a whole, or not at all */
	if (!c->ret && c->len > huge && !mincore(p, c->page, &there) && there)
		madvise(p - (uintptr_t)p % huge, huge, MADV_DONTNEED);
}

/* The call takes a fault that is none of its business. */
static void faulting(struct call *c)
{
	zap_page(c);
	if (c->prot & PROT_READ && !c->ret && c->len)
		(void)*(volatile char *)middle_page(c);
}

/* An old size of 0 maps a shared page a second time. */
static void map_twice(struct call *c)
{
	char *p;

	real(c);
	p = mremap(middle_page(c), 0, c->page, MREMAP_MAYMOVE);
	if (p != MAP_FAILED && c->prot & PROT_READ)
		(void)*(volatile char *)p;
}

/* A child that shares the pages for a moment leaves them write-protected. */
static void lose_writable(struct call *c)
{
	pid_t pid;

	real(c);
	if (c->prot != RW)
		return;
	pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

static void collapse(struct call *c)
{
	real(c);
	if (c->len < 512 * c->page)
		return;
	madvise(c->addr, 512 * c->page, MADV_HUGEPAGE);
	if (madvise(c->addr, 512 * c->page, MADV_COLLAPSE))
		abort();
	madvise(c->addr, 512 * c->page, MADV_NOHUGEPAGE);
}

/* ... and mapped by base pages again: only the page frames tell */
static void collapse_and_split(struct call *c)
{
	collapse(c);
	if (c->len < 512 * c->page)
		return;
	set(c, c->addr, c->page, c->prot == PROT_READ ? RW : PROT_READ);
	set(c, c->addr, c->page, c->prot);
}

/* Arguments are misunderstood. */
static void truncate_len(struct call *c)
{
	c->len -= c->len % c->page;
	real(c);
}

static void accept_any(struct call *c)
{
	c->addr = page_of(c);
	c->prot &= PROT_READ | PROT_WRITE | PROT_EXEC;
	real(c);
}

static void zero_is_one(struct call *c)
{
	c->len += !c->len;
	real(c);
}

static void first_only(struct call *c)
{
	if (c->len > c->page && c->len % c->page == 0 && c->len < 64 * c->page)
		c->len = c->page;
	real(c);
}

/* A call that fails has changed something. */
static void lose_on_failure(struct call *c)
{
	real(c);
	if (c->ret)
		madvise(page_of(c), c->page, MADV_DONTNEED);
}

/* Limits: seen where there are none, or not where there are */
static void merge_needs_vma(struct call *c)
{
	static bool split;

	real(c);
	if (split && c->prot == RW)
		answer(c, ENOMEM);
	split = c->prot == PROT_READ;
}

static void memory_for_all(struct call *c)
{
	if (c->len >> 40 && c->prot == RW)
		c->len = c->page;
	real(c);
}

static void beyond_hole(struct call *c)
{
	size_t off;

	real(c);
	if (c->error == ENOMEM && c->len < 64 * c->page)
		for (off = 0; off < c->len; off += c->page)
			set(c, c->addr + off, c->page, c->prot);
}

static void populate(struct call *c)
{
	real(c);
	if (!c->ret && c->prot & PROT_READ)
		(void)*(volatile char *)c->addr;
}

static void take_on_failure(struct call *c)
{
	real(c);
	if (c->ret)
		mmap(page_of(c), c->page, PROT_READ,
		     MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* The caller does not come back. */
static void die(struct call *c)
{
	(void)c;
	raise(SIGKILL);
}

/* One of several tasks, in the middle of its work: the first to make this directory */
static void die_once(struct call *c)
{
	static int calls;

	if (++calls == 9 && !mkdir(getenv("BROKEN_ONCE"), 0700))
		raise(SIGKILL);
	real(c);
}

static void hang(struct call *c)
{
	(void)c;
	pause();
}

static const struct {
	const char *name;
	void (*bug)(struct call *c);
} bugs[] = {
#define BUG(f) { #f, f }
	BUG(fail_protect), BUG(fail_restore), BUG(stray_errno), BUG(always_0),
	BUG(always_eio),
	BUG(last_page_writable), BUG(last_page_shut), BUG(read_too), BUG(flip_first),
	BUG(unmap_page), BUG(swap_content), BUG(lose_content), BUG(split_vma), BUG(zap_page),
	BUG(stale_code), BUG(no_exec), BUG(always_exec), BUG(exec_means_write),
	BUG(exec_anywhere), BUG(faulting), BUG(lose_on_failure), BUG(merge_needs_vma),
	BUG(memory_for_all),
	BUG(map_twice), BUG(lose_writable), BUG(collapse), BUG(collapse_and_split),
	BUG(truncate_len), BUG(accept_any), BUG(zero_is_one), BUG(first_only),
	BUG(beyond_hole), BUG(populate), BUG(take_on_failure), BUG(die), BUG(die_once), BUG(hang),
	{ "none", real },
};

static int buggy(struct call *c)
{
	const char *name = getenv("BROKEN");
	size_t i;

	c->page = (size_t)sysconf(_SC_PAGESIZE);
	for (i = 0; i < sizeof(bugs) / sizeof(bugs[0]); i++) {
		if (name && !strcmp(name, bugs[i].name)) {
			bugs[i].bug(c);
			errno = c->error;
			return c->ret;
		}
	}
	fprintf(stderr, "BROKEN=%s: no such bug\n", name ? name : "");
	abort();
}

int __wrap_mprotect(void *addr, size_t len, int prot)
{
	struct call c = { .addr = addr, .len = len, .prot = prot, .uffd = -1 };

	return buggy(&c);
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct uffdio_writeprotect *wp;
	struct call c = { .uffd = fd };
	va_list args;

	va_start(args, request);
	wp = va_arg(args, void *);
	va_end(args);
	if (request != UFFDIO_WRITEPROTECT)
		return __real_ioctl(fd, request, wp);
	c.addr = (char *)(uintptr_t)wp->range.start;
	c.len = wp->range.len;
	c.prot = wp->mode & UFFDIO_WRITEPROTECT_MODE_WP ? PROT_READ : RW;
	return buggy(&c);
}
