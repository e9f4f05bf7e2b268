/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file that appears under its name whole or not at all, and never in the
 * place of another one.
 */
#ifndef MPROTECT_PERF_NEW_FILE_H
#define MPROTECT_PERF_NEW_FILE_H

#include "mprotect_perf_err.h"

/**
 * struct mp_new_file - a file on its way
 * @fd: to write to; -1 when there is none
 * @path: its final name
 * @tmp: its name until then; NULL once it has the final one
 */
struct mp_new_file {
	int fd;
	char *path;
	char *tmp;
};

/**
 * mp_new_file_open() - start a file
 * @f: filled; mp_new_file_close() gives everything back, also after a failure
 * @path: its final name; what exists there is refused
 * @err: filled on failure
 *
 * Return: 0, or -1.
 */
int mp_new_file_open(struct mp_new_file *f, const char *path, struct mp_err *err);

/**
 * mp_new_file_publish() - give a file its name
 * @f: started, and written
 * @err: filled on failure: a full disk, or a name that was taken meanwhile
 *
 * Return: 0, or -1.
 */
int mp_new_file_publish(struct mp_new_file *f, struct mp_err *err);

/**
 * mp_new_file_close() - let go of a file
 * @f: removed unless it was published; may be called twice
 */
void mp_new_file_close(struct mp_new_file *f);

#endif /* MPROTECT_PERF_NEW_FILE_H */
