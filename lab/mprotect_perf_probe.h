/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Try an access that may be refused.
 */
#ifndef MPROTECT_PERF_PROBE_H
#define MPROTECT_PERF_PROBE_H

#include <stdint.h>

enum mp_access {
	MP_ALLOWED,
	MP_REFUSED,	/* SIGSEGV with SEGV_ACCERR at the very address */
	MP_UNMAPPED,	/* SIGSEGV with SEGV_MAPERR at the very address */
	MP_STOPPED,	/* SIGBUS at the very address: how userfaultfd refuses */
	MP_ASTRAY,	/* any other signal, code or address */
};

/**
 * mp_probe_arm() - catch SIGSEGV and SIGBUS while probing
 * @on: catch them, or let them kill again, as a fault anywhere else must
 */
void mp_probe_arm(int on);

/**
 * mp_probe_read() - read a word
 * @p: the word, aligned
 *
 * Only while armed.
 *
 * Return: what came of it.
 */
enum mp_access mp_probe_read(const void *p);

/**
 * mp_probe_write() - write a word, without reading it first
 * @p: the word, aligned
 * @value: should be what the word holds, so that nothing is lost
 *
 * Only while armed.
 *
 * Return: what came of it.
 */
enum mp_access mp_probe_write(void *p, uint64_t value);

#endif /* MPROTECT_PERF_PROBE_H */
