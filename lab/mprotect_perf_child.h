/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Run something in a child process that may die or hang, and tell of it.
 */
#ifndef MPROTECT_PERF_CHILD_H
#define MPROTECT_PERF_CHILD_H

#include <stddef.h>

#include "mprotect_perf_err.h"

/**
 * struct mp_note - memory that parent and child share; the first member of
 *	whatever a caller wants to know even of a child that died
 * @now: the phase (enum mp_phase) that is running, or MP_PHASES for set-up
 * @err: filled by a child that failed in good order
 */
struct mp_note {
	volatile int now;
	struct mp_err err;
};

/**
 * mp_note_new() - make shared memory
 * @size: in bytes, a struct mp_note at its beginning included
 * @err: filled on failure
 *
 * Return: zeroed memory for mp_note_free(), or NULL.
 */
void *mp_note_new(size_t size, struct mp_err *err);

/**
 * mp_note_free() - give it back
 * @note: from mp_note_new(), or NULL
 * @size: as given there
 */
void mp_note_free(void *note, size_t size);

/**
 * struct mp_child - what to run
 * @run: runs in the child, with the write end of the pipe; fills the note's
 *	@err and returns -1 on failure
 * @arg: handed to @run
 * @note: shared with the child
 * @seconds: wall-clock limit, after which the child is killed
 */
struct mp_child {
	int (*run)(void *arg, int out, struct mp_note *note);
	void *arg;
	struct mp_note *note;
	unsigned int seconds;
};

/**
 * mp_child_run() - fork, run, collect what the child writes, reap
 * @c: what to run
 * @data: set to all that it wrote, for free(); NULL on failure
 * @len: its length
 * @err: filled on failure: what the child said of itself, or which signal
 *	killed it or that it hung, and in which phase
 *
 * Return: 0 when the child ended well, or -1.
 */
int mp_child_run(const struct mp_child *c, void **data, size_t *len, struct mp_err *err);

/**
 * mp_child_write() - write all of a buffer, in the child
 * @out: the pipe
 * @buf: the data
 * @len: how much
 * @err: filled on failure
 *
 * Return: 0, or -1.
 */
int mp_child_write(int out, const void *buf, size_t len, struct mp_err *err);

#endif /* MPROTECT_PERF_CHILD_H */
