// SPDX-License-Identifier: GPL-2.0
/*
 * What a comparison does not say by itself: how it corrects for many verdicts,
 * what one boot cannot show, and in what the machines differed.
 */
#include <string.h>

#include "mprotect_perf_gate.h"
#include "mprotect_perf_summary.h"
#include "mprotect_perf_table.h"

/* Facts that may differ, but change what mprotect() costs. */
static const char *const facts[] = {
	"governor", "turbo", "smt", "mitigations", "thp", "mthp_64k", "shmem_thp", "numa_balancing",
	"debug", "preempt", "cpu", "tool",
};

static const char *fact(const struct mp_boot *b, const char *key)
{
	const char *value = mp_boot_fact(b, key);

	return value ? value : "absent";
}

static bool same_build(const struct mp_boot *a, const struct mp_boot *b)
{
	return !strcmp(fact(a, "release"), fact(b, "release")) &&
	       !strcmp(fact(a, "build"), fact(b, "build"));
}

static const struct mp_boot *first_boot(const struct mp_compare *c, size_t kernel)
{
	size_t i = 0;

	while (c->of[i] != kernel)
		i++;
	return c->boot[i];
}

/* A label may have been given to the wrong file. */
static void put_builds(FILE *f, const struct mp_compare *c)
{
	for (size_t i = 0; i < c->nboots; i++) {
		const struct mp_boot *b = first_boot(c, c->of[i]);

		if (same_build(b, c->boot[i]))
			continue;
		fprintf(f, "%s: its boots are of different kernels: %.60s and %.60s\n",
			c->kernel[c->of[i]].name, fact(b, "release"),
			fact(c->boot[i], "release"));
		break;
	}
	if (mp_boot_fact(c->boot[0], "release") &&
	    same_build(c->boot[0], first_boot(c, c->nkernels - 1)))
		fprintf(f, "base and head are the same build of %.60s: the kernel is not what differs\n",
			fact(c->boot[0], "release"));
}

static void put_boots(FILE *f, const struct mp_compare *c)
{
	size_t least = c->nboots, most = 0;

	if (!strcmp(mp_table_unit(c), "insn")) {
		fprintf(f, "instructions, not time: what caches, TLB and atomics cost is not covered\n");
		return;
	}
	for (size_t k = 0; k < c->nkernels; k++) {
		least = c->kernel[k].boots < least ? c->kernel[k].boots : least;
		most = c->kernel[k].boots > most ? c->kernel[k].boots : most;
	}
	if (most == 1)
		fprintf(f, "one boot of each kernel: how much its boots differ is not covered; boot A B A\n");
	else if (least == 1)
		fprintf(f, "some kernels have one boot: the drift of the others stands for theirs\n");
}

/* A word that says which kernel it is, and differs with that. */
static bool names_image(const char *word)
{
	return !strncmp(word, "BOOT_IMAGE=", 11) || !strncmp(word, "initrd=", 7);
}

static bool has_word(const char *line, const char *word, size_t n)
{
	for (; *line; line += strspn(line, " ")) {
		size_t len = strcspn(line, " ");

		if (len == n && !strncmp(line, word, n))
			return true;
		line += len;
	}
	return false;
}

/* The words of one command line that the other has not. */
static size_t put_words_of(FILE *f, const char *line, const char *other, const char *before)
{
	size_t told = 0;

	for (; *line; line += strspn(line, " ")) {
		size_t n = strcspn(line, " ");

		if (n && !names_image(line) && !has_word(other, line, n)) {
			if (f)
				fprintf(f, "%s%.*s", told ? " " : before, (int)n, line);
			told++;
		}
		line += n;
	}
	return told;
}

static void put_cmdline(FILE *f, const struct mp_compare *c)
{
	for (size_t i = 1; i < c->nboots; i++) {
		const char *a = fact(c->boot[0], "cmdline"), *b = fact(c->boot[i], "cmdline");

		if (!put_words_of(NULL, a, b, "") && !put_words_of(NULL, b, a, ""))
			continue;
		fprintf(f, "differs: cmdline:");
		put_words_of(f, a, b, " only in base: ");
		put_words_of(f, b, a, " only later: ");
		fprintf(f, "\n");
		return;
	}
}

/* Long values are alike at first. */
static const char *where_differ(const char *a, const char *b)
{
	const char *word = a;

	for (; *a && *a == *b; a++, b++) {
		if (*a == ' ')
			word = a + 1;
	}
	return word;
}

static void put_facts(FILE *f, const struct mp_compare *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		const char *a, *b;
		size_t n = mp_compare_fact(c, facts[i], &a, &b);

		if (n)
			fprintf(f, "differs: %s: %.60s in %s, %.60s in %s\n", facts[i],
				where_differ(a, b), c->boot[0]->name, where_differ(b, a),
				c->boot[n]->name);
	}
	put_cmdline(f, c);
}

void mp_summary_caveats(FILE *f, const struct mp_compare *c)
{
	uint64_t stride = 1;

	fprintf(f, "%zu verdicts, each at %.2f%% (Bonferroni): of comparisons of equal kernels,\n",
		c->judged, 100 * c->level);
	fprintf(f, "at most one in twenty has a false verdict\n");
	put_boots(f, c);
	put_builds(f, c);
	put_facts(f, c);
	for (size_t i = 0; i < c->nboots; i++) {
		const char *why = mp_gate_only_warns(c->boot[i]);

		stride = c->boot[i]->stride > stride ? c->boot[i]->stride : stride;
		if (!why)
			continue;
		fprintf(f, "%s: the times say little of another machine\n", why);
		break;
	}
	if (stride > 1)
		fprintf(f, "a long record: one time in %llu was looked at for floor and median\n",
			(unsigned long long)stride);
}
