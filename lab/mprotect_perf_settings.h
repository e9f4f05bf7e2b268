/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sysfs settings that rows with large folios need: are they right, make
 * them right, put them back.
 */
#ifndef MPROTECT_PERF_SETTINGS_H
#define MPROTECT_PERF_SETTINGS_H

#include <stdbool.h>

#include "mprotect_perf_err.h"

/* a mask: what a row needs */
enum {
	MP_NEED_THP = 1,	/* huge pages where madvise() asks for them */
	MP_NEED_MTHP = 2,	/* the same, for folios of 64 KiB */
};

/**
 * mp_settings_missing() - is a setting wrong now?
 * @needs: MP_NEED_* bits; 0 is never missing
 * @why: filled where the answer is true: the file, its value and the mend
 *
 * Changes nothing and needs no privilege. A file that cannot be read, or has
 * no value that can be made out, is missing too.
 *
 * Return: true when a need is not met.
 */
bool mp_settings_missing(unsigned int needs, struct mp_err *why);

/**
 * mp_settings_allow() - make settings right where they are not
 * @needs: MP_NEED_* bits
 * @err: filled on failure: one line that says what, where and the mend
 *
 * Starts the guardian process if there is anything to change, so it comes
 * before threads and before other children. What is right already stays as it
 * is, unless another run with --allow-settings will change it: that is an
 * error. A second call is an error until mp_settings_restore() was called,
 * if the first has changed anything.
 *
 * Return: 0, or -1 and nothing is changed.
 */
int mp_settings_allow(unsigned int needs, struct mp_err *err);

/**
 * mp_settings_child() - drop what only the parent may hold
 *
 * For every child that is forked after mp_settings_allow(), first thing: a
 * child that outlives its parent would otherwise keep the settings changed. In
 * the child mp_settings_restore() does nothing then. One that calls exec needs
 * no call.
 */
void mp_settings_child(void);

/**
 * mp_settings_restore() - put back what mp_settings_allow() has changed
 * @err: filled on failure: what was not put back, and why
 *
 * When it returns, the old values are in effect and the guardian is gone. May
 * be called at any time and more than once; does nothing where nothing was
 * changed. A value that somebody else has changed meanwhile is left alone; that
 * is a failure, too, so that it is told.
 *
 * Return: 0, or -1.
 */
int mp_settings_restore(struct mp_err *err);

#endif /* MPROTECT_PERF_SETTINGS_H */
