/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The picture of a run that is still in memory.
 */
#ifndef MPROTECT_PERF_PICTURE_H
#define MPROTECT_PERF_PICTURE_H

#include "mprotect_perf_session.h"

/**
 * mp_picture_draw() - draw what a run has measured, to --plot's file
 * @ses: the session, its rows timed
 * @err: filled on failure: no gnuplot, no samples, a file that cannot be written
 *
 * Return: 0, or -1 and there is no file.
 */
int mp_picture_draw(struct mp_session *ses, struct mp_err *err);

#endif /* MPROTECT_PERF_PICTURE_H */
