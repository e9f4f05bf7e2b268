/* SPDX-License-Identifier: GPL-2.0 */
/* init.h - what the parts of the guest's init share */
#ifndef VMTEST_INIT_H
#define VMTEST_INIT_H

#include <stddef.h>

struct blob {
	char *data;
	size_t len;
};

/* Returns 0 or -1; a NUL byte follows the data. */
int read_file(const char *path, struct blob *b);
void die(const char *what);

/* No-ops unless the kernel was booted with profile=. */
void profile_reset(void);
void profile_save(const char *path);

#endif
