/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the headers of 7.3 have, and those of an older tree lack. There,
 * integrate.sh makes mprotect_perf.c include this instead of
 * hugepage_settings.h; it is not part of what is sent.
 */
#ifndef MPROTECT_PERF_COMPAT_H
#define MPROTECT_PERF_COMPAT_H

#if !__has_include("thp_settings.h")
#include "hugepage_settings.h"
#else /* 6.12 */
#include "thp_settings.h"

#define KPF_COMPOUND_HEAD	BIT_ULL(15)
#define KPF_COMPOUND_TAIL	BIT_ULL(16)
#define KPF_THP			BIT_ULL(22)
#define __maybe_unused		__attribute__((__unused__))
#define FORCE_READ(x)		(*(const volatile typeof(x) *)&(x))

static inline void force_read_pages(char *addr, unsigned int nr_pages, size_t pagesize)
{
	unsigned int i;

	for (i = 0; i < nr_pages; i++)
		FORCE_READ(addr[i * pagesize]);
}

static inline int sz2ord(size_t size, size_t pagesize)
{
	return __builtin_ctzll(size / pagesize);
}

static inline bool thp_available(void)
{
	return !access("/sys/kernel/mm/transparent_hugepage", F_OK);
}
#endif

#endif /* MPROTECT_PERF_COMPAT_H */
