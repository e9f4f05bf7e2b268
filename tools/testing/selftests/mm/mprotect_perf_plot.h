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

#endif /* MPROTECT_PERF_PLOT_H */
