/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel says of a mapping: /proc/self/maps, smaps and pagemap, and
 * /proc/kpageflags. Text and bits in, facts out; what they ought to be is for
 * mprotect_perf_check.c.
 */
#ifndef MPROTECT_PERF_STATE_H
#define MPROTECT_PERF_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "mprotect_perf_err.h"

/* The figures of smaps that we look at, all in kB. */
enum mp_smaps_key {
	MP_KERNEL_PAGE_SIZE,
	MP_MMU_PAGE_SIZE,
	MP_RSS,
	MP_ANON_HUGE,
	MP_SHMEM_PMD,
	MP_FILE_PMD,
	MP_SWAP,
	MP_SMAPS_KEYS
};

extern const char *const mp_smaps_name[MP_SMAPS_KEYS];

/**
 * struct mp_vma - one VMA
 * @start: first byte
 * @end: first byte behind it
 * @perms: as in maps, "rw-s"
 * @given: mask of the keys that the text had; 0 when it was maps
 * @kb: their values
 */
struct mp_vma {
	uintptr_t start;
	uintptr_t end;
	char perms[5];
	unsigned int given;
	unsigned long kb[MP_SMAPS_KEYS];
};

/**
 * mp_state_next_vma() - read the next VMA of maps or smaps
 * @f: the text, at the start of a VMA's first line
 * @vma: filled
 * @err: filled when the text is not what the kernel writes
 *
 * Return: 1 for a VMA, 0 at the end, -1 on failure.
 */
int mp_state_next_vma(FILE *f, struct mp_vma *vma, struct mp_err *err);

/**
 * mp_state_pagemap() - read pagemap entries
 * @fd: /proc/self/pagemap
 * @addr: first page
 * @n: how many pages
 * @page: base page size in bytes
 * @entry: filled with @n entries
 * @err: filled on failure, short reads included
 *
 * Return: 0, or -1.
 */
int mp_state_pagemap(int fd, uintptr_t addr, size_t n, size_t page, uint64_t *entry,
		     struct mp_err *err);

/**
 * mp_pagemap_odd() - is an entry not that of a page present in memory, mapped
 *	by this process alone?
 * @entry: from pagemap
 * @file: the page belongs to a file or to shared memory
 * @uffd_wp: userfaultfd write-protects it
 *
 * Return: NULL when all is as it should be, or what is odd.
 */
const char *mp_pagemap_odd(uint64_t entry, bool file, bool uffd_wp);

/**
 * mp_pagemap_absent() - is an entry that of a page that is nowhere?
 * @entry: from pagemap
 *
 * Return: true when it is.
 */
bool mp_pagemap_absent(uint64_t entry);

/**
 * mp_pagemap_pfn() - page frame of a present page
 * @entry: from pagemap
 *
 * Return: the number; 0 means that the kernel hides it from this process.
 */
uint64_t mp_pagemap_pfn(uint64_t entry);

/**
 * mp_state_kpageflags() - read the flags of one page frame
 * @fd: /proc/kpageflags
 * @pfn: the page frame
 * @flags: filled
 * @err: filled on failure
 *
 * Return: 0, or -1.
 */
int mp_state_kpageflags(int fd, uint64_t pfn, uint64_t *flags, struct mp_err *err);

/**
 * mp_kpageflags_odd() - do the flags tell of anything but a base page?
 * @flags: from kpageflags
 *
 * Return: NULL for a base page, or the name of the flag that it must not have.
 */
const char *mp_kpageflags_odd(uint64_t flags);

/**
 * mp_kpageflags_in_folio() - are the flags those of a page of a large folio?
 * @flags: from kpageflags
 * @index: which page of the folio, from 0
 *
 * Return: true when they are.
 */
bool mp_kpageflags_in_folio(uint64_t flags, size_t index);

/**
 * mp_state_mthp_given() - how many 64 KiB folios page faults have been given
 *
 * Of all processes since boot.
 *
 * Return: the number, or SIZE_MAX when this kernel does not count them.
 */
size_t mp_state_mthp_given(void);

#endif /* MPROTECT_PERF_STATE_H */
