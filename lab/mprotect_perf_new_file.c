// SPDX-License-Identifier: GPL-2.0
/*
 * Writing a file beside its final name, which it gets in one step that never
 * replaces anything.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mprotect_perf_new_file.h"

#define TMP_TRIES 100

static int exists(const char *path, struct mp_err *err)
{
	return mp_error(err, "%.160s: exists already; remove it or choose another name", path);
}

/* In the directory of the final name, so that it can be renamed. */
static int open_tmp(struct mp_new_file *f, struct mp_err *err)
{
	for (int i = 0; i < TMP_TRIES; i++) {
		if (asprintf(&f->tmp, "%s.%ld-%d.tmp", f->path, (long)getpid(), i) < 0) {
			f->tmp = NULL;
			return mp_error(err, "%.160s: out of memory", f->path);
		}
		f->fd = open(f->tmp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (f->fd >= 0)
			return 0;
		free(f->tmp);
		f->tmp = NULL;
		if (errno != EEXIST)
			break;
	}
	return mp_error(err, "%.160s: cannot create: %s; give a directory that can be written to",
			f->path, strerror(errno));
}

int mp_new_file_open(struct mp_new_file *f, const char *path, struct mp_err *err)
{
	struct stat st;

	*f = (struct mp_new_file){ .fd = -1 };
	/* Known now or after all the work; publishing asks again, without a race. */
	if (!lstat(path, &st))
		return exists(path, err);
	f->path = strdup(path);
	if (!f->path)
		return mp_error(err, "%.160s: out of memory", path);
	return open_tmp(f, err);
}

int mp_new_file_publish(struct mp_new_file *f, struct mp_err *err)
{
	/* Some filesystems have nothing to sync to, and say EINVAL. */
	if (fsync(f->fd) && errno != EINVAL)
		return mp_error(err, "%.160s: cannot write: %s", f->path, strerror(errno));
	if (!renameat2(AT_FDCWD, f->tmp, AT_FDCWD, f->path, RENAME_NOREPLACE)) {
		free(f->tmp);
		f->tmp = NULL;
		return 0;
	}
	/* Where a filesystem cannot rename like that, it can usually link. */
	if (errno == EINVAL && !link(f->tmp, f->path))
		return 0;
	if (errno == EEXIST)
		return exists(f->path, err);
	return mp_error(err, "%.160s: cannot give the file its name: %s", f->path,
			strerror(errno));
}

void mp_new_file_close(struct mp_new_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	if (f->tmp)
		unlink(f->tmp);
	free(f->tmp);
	free(f->path);
	*f = (struct mp_new_file){ .fd = -1 };
}
