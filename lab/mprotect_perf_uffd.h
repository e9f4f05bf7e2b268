/* SPDX-License-Identifier: GPL-2.0 */
/*
 * userfaultfd's write protection: another way into the loop of mprotect().
 */
#ifndef MPROTECT_PERF_UFFD_H
#define MPROTECT_PERF_UFFD_H

#include <stdbool.h>
#include <stddef.h>

#include "mprotect_perf_err.h"

/**
 * mp_uffd_open() - a userfaultfd that may write-protect anonymous memory
 * @err: filled on failure: what this kernel or its settings do not allow
 *
 * It answers faults from user mode only, which needs no privilege, and it
 * answers with SIGBUS.
 *
 * Return: a descriptor for close(), or -1.
 */
int mp_uffd_open(struct mp_err *err);

/**
 * mp_uffd_register() - let it write-protect a range
 * @fd: from mp_uffd_open()
 * @p: the range, mapped
 * @len: its bytes
 * @err: filled on failure
 *
 * Return: 0, or -1.
 */
int mp_uffd_register(int fd, void *p, size_t len, struct mp_err *err);

/**
 * mp_uffd_protect() - write-protect a range, or no longer
 * @fd: from mp_uffd_open()
 * @p: the range, registered
 * @len: its bytes
 * @on: protect
 *
 * Return: 0, or -1 with errno.
 */
int mp_uffd_protect(int fd, void *p, size_t len, bool on);

#endif /* MPROTECT_PERF_UFFD_H */
