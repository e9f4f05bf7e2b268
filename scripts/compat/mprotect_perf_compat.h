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
#define NR_HUGEPAGES		"/proc/sys/vm/nr_hugepages"

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

static inline int pageflags_get(unsigned long pfn, int kpageflags_fd, uint64_t *flags)
{
	return pread(kpageflags_fd, flags, sizeof(*flags), pfn * sizeof(*flags)) ==
	       sizeof(*flags) ? 0 : -1;
}

static inline bool thp_available(void)
{
	return !access("/sys/kernel/mm/transparent_hugepage", F_OK);
}

/* Those of 7.3 put back at the end what they have saved. */
static inline void save_thp_settings(void)
{
	thp_save_settings();
	atexit(thp_restore_settings);
}

#define thp_save_settings save_thp_settings

static unsigned long saved_hugepages;

static inline void hugetlb_restore(void)
{
	write_num(NR_HUGEPAGES, saved_hugepages);
}

static inline bool hugetlb_setup_default(unsigned long nr)
{
	unsigned long left = get_free_hugepages();

	saved_hugepages = read_num(NR_HUGEPAGES);
	atexit(hugetlb_restore);
	if (left < nr)
		write_num(NR_HUGEPAGES, saved_hugepages + nr - left);
	return get_free_hugepages() >= nr;
}
#endif

/* As in 7.3: folios that are no transparent huge pages are passed over, but for base pages. */
static inline int gather_folio_orders(char *p, size_t len, int pagemap_fd, int kpageflags_fd,
				      int orders[], int nr_orders)
{
	unsigned long pages = 0, pfn;
	char *end = p + len;
	uint64_t flags;

	for (; p <= end; p += psize()) {
		pfn = p < end ? pagemap_get_pfn(pagemap_fd, p) : -1UL;
		flags = 0;
		if (pfn != -1UL && pageflags_get(pfn, kpageflags_fd, &flags))
			return -1;
		if (pages && flags & KPF_COMPOUND_TAIL) {
			pages++;
			continue;
		}
		if (pages && __builtin_ctzl(pages) < nr_orders)
			orders[__builtin_ctzl(pages)]++;
		pages = pfn != -1UL && (!(flags & (KPF_COMPOUND_HEAD | KPF_COMPOUND_TAIL)) ||
					(flags & KPF_COMPOUND_HEAD && flags & KPF_THP));
	}
	return 0;
}

#endif /* MPROTECT_PERF_COMPAT_H */
