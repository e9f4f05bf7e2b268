// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: any bytes as two records, cut at the first NUL byte, or as
 * one that is compared with itself. What is told of them is text that no record
 * can break out of: printable, whole in its columns, nothing that gnuplot runs.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mprotect_perf_plot.h"
#include "mprotect_perf_summary.h"
#include "mprotect_perf_tsv.h"
#include "mprotect_perf_versus.h"
#include "no_measure.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void must(int good)
{
	if (!good)
		abort();
}

static int file(char *path, const unsigned char *data, size_t size)
{
	int fd = memfd_create("fuzz", 0);

	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	sprintf(path, "/proc/self/fd/%d", fd);
	return fd;
}

/* The sign in "38.3 +- 0.1%" is the only one that is not ASCII. */
static void must_be_text(const char *text)
{
	for (const char *p = text; *p; p++) {
		if (!strncmp(p, "±", strlen("±")))
			p += strlen("±") - 1;
		else
			must((*p >= ' ' && *p <= '~') || *p == '\n' || *p == '\t');
	}
}

static void check_tsv(const struct mp_compare *c)
{
	size_t size, tabs = 0, first = 0;
	char *text;
	FILE *f = open_memstream(&text, &size);

	mp_tsv_write(f, c);
	fclose(f);
	must_be_text(text);
	for (char *p = text; *p; p++) {
		tabs += *p == '\t';
		if (*p != '\n')
			continue;
		if (!first)
			first = tabs;
		must(tabs == first);
		tabs = 0;
	}
	free(text);
}

static void check(const struct mp_versus *v)
{
	char *text = mp_versus_tables(v);
	char line[768];
	size_t size;
	FILE *f;

	must_be_text(text);
	free(text);
	text = mp_versus_summary(v);
	must_be_text(text);
	free(text);
	check_tsv(&v->c);
	f = open_memstream(&text, &size);
	must(!mp_plot_script(f, &v->c, true));
	fclose(f);
	must_be_text(text);
	must(!strchr(text, '`'));
	free(text);
	for (size_t i = 0; i < v->c.nrows; i++) {
		mp_summary_ruling(&v->c, &v->c.row[i], 5, line, sizeof(line));
		must_be_text(line);
		must(!strchr(line, '\n'));
	}
	must(v->c.ntests > 0 && v->c.ntests <= v->c.nrows);
	must(mp_versus_bisect(v) >= 0);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	const unsigned char *cut = memchr(data, 0, size);
	size_t n = cut ? (size_t)(cut - data) : size;
	char path[2][32];
	char *names[2];
	const struct mp_opts opts = { .threshold = 5, .seed = 1, .file = names, .nfiles = 2 };
	struct mp_versus v;
	struct mp_err err;
	int a = file(path[0], data, n);
	int b = cut ? file(path[1], cut + 1, size - n - 1) : file(path[1], data, n);

	names[0] = path[0];
	names[1] = path[1];
	memset(&err, 0xff, sizeof(err));
	if (!mp_versus_begin(&v, &opts, &err)) {
		check(&v);
		mp_versus_end(&v);
	} else {
		must(strnlen(err.text, sizeof(err.text)) < sizeof(err.text));
		must_be_text(err.text);
		must(!strchr(err.text, '\n'));
	}
	close(a);
	close(b);
	return 0;
}
