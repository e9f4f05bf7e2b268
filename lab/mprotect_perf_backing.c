// SPDX-License-Identifier: GPL-2.0
/*
 * What a row maps that is not anonymous memory: /dev/zero, or a file.
 *
 * What this cannot tell: that the room which a file system has is ours alone;
 * who touches a page for which there is none any more is killed by SIGBUS.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "mprotect_perf_backing.h"

static const char *tmpdir(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}

/* O_TMPFILE leaves no name behind on any exit; not all file systems have it. */
static int open_tmpfile(void)
{
	char path[PATH_MAX];
	int fd = open(tmpdir(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	if ((size_t)snprintf(path, sizeof(path), "%s/mprotect_perf.XXXXXX", tmpdir()) >=
	    sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static int no_room(int fd, size_t bytes, struct mp_err *err)
{
	struct statvfs fs;

	/* one without a limit has no blocks at all */
	if (fstatvfs(fd, &fs) || !fs.f_blocks || bytes / fs.f_frsize < fs.f_bavail)
		return 0;
	return mp_error(err, "needs %zu KiB for a temporary file, %s has %llu KiB left; set TMPDIR",
			bytes >> 10, tmpdir(),
			(unsigned long long)fs.f_bavail * fs.f_frsize >> 10);
}

static int open_file(size_t bytes, struct mp_err *err)
{
	int fd = open_tmpfile();

	if (fd < 0)
		return mp_error(err, "needs a temporary file: %s: %s; set TMPDIR", tmpdir(),
				strerror(errno));
	if (!no_room(fd, bytes, err))
		return fd;
	close(fd);
	return -1;
}

int mp_backing_open(const struct mp_scenario *sc, size_t bytes, struct mp_err *err)
{
	int fd;

	switch (sc->backing) {
	case MP_DEVZERO:
		fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
		return fd < 0 ? mp_error(err, "needs /dev/zero: %s", strerror(errno)) : fd;
	case MP_FILE:
		return open_file(bytes, err);
	default:
		return -2;
	}
}
