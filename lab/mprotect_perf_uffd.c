// SPDX-License-Identifier: GPL-2.0
/*
 * userfaultfd, as far as write protection needs it: nobody waits for its
 * events, a write to a protected page is told to the writer as SIGBUS.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mprotect_perf_uffd.h"

int mp_uffd_open(struct mp_err *err)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_SIGBUS,
	};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	if (fd < 0)
		return mp_error(err, "needs userfaultfd: %s", strerror(errno));
	if (!ioctl(fd, UFFDIO_API, &api))
		return fd;
	mp_error(err, "needs userfaultfd with write protection and SIGBUS: %s",
		 strerror(errno));
	close(fd);
	return -1;
}

int mp_uffd_register(int fd, void *p, size_t len, struct mp_err *err)
{
	struct uffdio_register reg = {
		.range = { .start = (uintptr_t)p, .len = len },
		.mode = UFFDIO_REGISTER_MODE_WP,
	};

	if (ioctl(fd, UFFDIO_REGISTER, &reg))
		return mp_error(err, "UFFDIO_REGISTER for write protection: %s",
				strerror(errno));
	if (!(reg.ioctls & 1ULL << _UFFDIO_WRITEPROTECT))
		return mp_error(err, "userfaultfd cannot write-protect this memory");
	return 0;
}

int mp_uffd_protect(int fd, void *p, size_t len, bool on)
{
	struct uffdio_writeprotect wp = {
		.range = { .start = (uintptr_t)p, .len = len },
		.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0,
	};

	return ioctl(fd, UFFDIO_WRITEPROTECT, &wp);
}
