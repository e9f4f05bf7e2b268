/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A comparison as a picture, drawn by gnuplot.
 */
#ifndef MPROTECT_PERF_PLOT_H
#define MPROTECT_PERF_PLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "mprotect_perf_compare.h"

/**
 * mp_plot_script() - what gnuplot is told, data included
 * @f: to write to
 * @c: judged
 * @svg: an SVG, not a PNG
 *
 * Return: 0, or -1 without memory.
 */
int mp_plot_script(FILE *f, const struct mp_compare *c, bool svg);

/**
 * mp_plot_draw() - let gnuplot draw
 * @c: judged
 * @name: of the picture: ends in .svg or .png
 * @fd: the file that the picture goes to
 * @err: filled on failure: there is no gnuplot, or what it complains of
 *
 * Return: 0, or -1.
 */
int mp_plot_draw(const struct mp_compare *c, const char *name, int fd, struct mp_err *err);

/* Between the files of a picture. */
#define MP_PLOT_PANELS 6	/* of each kind */

void mp_plot_text(FILE *f, const char *s);
void mp_plot_number(FILE *f, double v);

/**
 * struct mp_plot_curves - which curves are drawn: those that changed most
 * @size: first rows of curves over sizes
 * @nsize: how many
 * @task: first rows of curves over numbers of tasks
 * @ntask: how many
 */
struct mp_plot_curves {
	const struct mp_row *size[MP_PLOT_PANELS];
	size_t nsize;
	const struct mp_row *task[MP_PLOT_PANELS];
	size_t ntask;
};

void mp_plot_choose(const struct mp_compare *c, struct mp_plot_curves *curves);
void mp_plot_size(FILE *f, const struct mp_compare *c, const struct mp_row *first);
void mp_plot_task(FILE *f, const struct mp_compare *c, const struct mp_row *first);

#endif /* MPROTECT_PERF_PLOT_H */
