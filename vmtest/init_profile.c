// SPDX-License-Identifier: GPL-2.0
/*
 * init_profile.c - which kernel functions the timer ticks of a run fell into
 *
 * With profile=2 on its command line the kernel counts, for every four bytes of
 * its text, the ticks that interrupted it there. The counters are megabytes of
 * zeros and the addresses are this boot's, so they are resolved here, and what
 * leaves the guest is a few lines: "tick_ns N", then "COUNT SYMBOL" each.
 *
 * What it cannot tell: code that runs with interrupts off is seen where they
 * come on again; modules and user space are not counted; and a function that
 * was inlined counts as the one that it went into.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "init.h"

#define PROFILE "/proc/profile"

struct symbol {
	unsigned long long addr;
	char *name;
};

struct symbols {
	struct symbol *sym;
	size_t n, room;
	unsigned long long stext;
};

void profile_reset(void)
{
	int fd = open(PROFILE, O_WRONLY);

	if (fd < 0)
		return;
	if (write(fd, "0", 1) != 1)
		printf("vmtest: " PROFILE ": %s\n", strerror(errno));
	close(fd);
}

static int by_addr(const void *va, const void *vb)
{
	const struct symbol *a = va, *b = vb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void add_symbol(struct symbols *s, unsigned long long addr, char *name)
{
	if (!strcmp(name, "_stext")) {
		s->stext = addr;
		return;
	}
	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 65536;
		s->sym = realloc(s->sym, s->room * sizeof(*s->sym));
		if (!s->sym)
			die("symbols");
	}
	/*
	 * The compiler's .isra.0, .constprop.0 and .cold differ from one kernel
	 * to the next where the function is the same.
	 */
	name[strcspn(name, ".")] = '\0';
	s->sym[s->n].addr = addr;
	s->sym[s->n++].name = name;
}

/* Lines of "ADDRESS TYPE NAME", and "\t[MODULE]" which has no counters. */
static void read_symbols(struct symbols *s, struct blob *b)
{
	unsigned long long addr;
	char *line, *save, *end;

	memset(s, 0, sizeof(*s));
	if (read_file("/proc/kallsyms", b))
		die("/proc/kallsyms");
	for (line = strtok_r(b->data, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		addr = strtoull(line, &end, 16);
		if (!addr || end[0] != ' ' || !end[1] || !strchr("tTwW", end[1]) ||
		    end[2] != ' ' || !end[3] || strchr(end, '\t'))
			continue;
		add_symbol(s, addr, end + 3);
	}
	qsort(s->sym, s->n, sizeof(*s->sym), by_addr);
}

/* Both are in the order of addresses: one walk through the two. */
static void resolve(FILE *out, const unsigned int *count, size_t n,
		    const struct symbols *s)
{
	unsigned int step = count[0];
	unsigned long long addr, sum = 0;
	size_t i, at = 0;

	for (i = 1; i < n; i++) {
		if (!count[i])
			continue;
		addr = s->stext + (unsigned long long)(i - 1) * step;
		/* A step may hold the end of one function and the next. */
		while (at + 1 < s->n && s->sym[at + 1].addr < addr + step) {
			if (sum)
				fprintf(out, "%llu %s\n", sum, s->sym[at].name);
			sum = 0;
			at++;
		}
		sum += count[i];
	}
	if (sum)
		fprintf(out, "%llu %s\n", sum, s->sym[at].name);
}

void profile_save(const char *path)
{
	struct blob counters, names;
	struct timespec tick;
	struct symbols s;
	FILE *out;

	if (access(PROFILE, F_OK))
		return;
	/* At once, before work of ours is in it. */
	if (read_file(PROFILE, &counters))
		die(PROFILE);
	read_symbols(&s, &names);
	if (!s.n || !s.stext || counters.len < 2 * sizeof(unsigned int)) {
		printf("vmtest: no addresses in /proc/kallsyms, no profile\n");
		return;
	}
	out = fopen(path, "w");
	/* The coarse clock advances with the tick: its step is that of the tick. */
	if (!out || clock_getres(CLOCK_MONOTONIC_COARSE, &tick))
		die(path);
	fprintf(out, "tick_ns %lld\n",
		tick.tv_sec * 1000000000LL + tick.tv_nsec);
	resolve(out, (unsigned int *)counters.data,
		counters.len / sizeof(unsigned int), &s);
	if (fclose(out))
		die(path);
	free(counters.data);
	free(names.data);
	free(s.sym);
}
