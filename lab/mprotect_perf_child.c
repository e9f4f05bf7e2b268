// SPDX-License-Identifier: GPL-2.0
/*
 * A child process, its pipe and its end. The parent holds no write end of the
 * pipe, so that the death of the child is an end of file and not a hang; the
 * time limit is a timerfd in the same poll().
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mprotect_perf_child.h"
#include "mprotect_perf_record.h"
#include "mprotect_perf_settings.h"

#define CHUNK 65536

void *mp_note_new(size_t size, struct mp_err *err)
{
	void *note = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			  -1, 0);

	if (note == MAP_FAILED) {
		mp_error(err, "mmap of memory to share with a child: %s", strerror(errno));
		return NULL;
	}
	return note;
}

void mp_note_free(void *note, size_t size)
{
	if (note)
		munmap(note, size);
}

int mp_child_write(int out, const void *buf, size_t len, struct mp_err *err)
{
	const char *p = buf;

	while (len) {
		ssize_t r = write(out, p, len);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return mp_error(err, "writing to the parent: %s", strerror(errno));
		p += r;
		len -= (size_t)r;
	}
	return 0;
}

/* A child says nothing on stdout: that is the parent's KTAP. */
static void in_child(const struct mp_child *c, int out, pid_t parent)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null >= 0)
		dup2(null, STDOUT_FILENO);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	mp_settings_child();
	/* _exit: what the parent's stdio had buffered is not ours to write */
	_exit(c->run(c->arg, out, c->note) ? 1 : 0);
}

struct inbox {
	char *data;
	size_t len;
	size_t size;
};

/* 1: more may come, 0: end of file, -1: failed */
static int receive(struct inbox *in, int fd, struct mp_err *err)
{
	ssize_t r;

	if (in->size - in->len < CHUNK) {
		size_t size = 2 * in->size + CHUNK;
		char *data = realloc(in->data, size);

		if (!data)
			return mp_error(err, "no memory for %zu bytes from the child", size);
		in->data = data;
		in->size = size;
	}
	r = read(fd, in->data + in->len, in->size - in->len);
	if (r < 0 && errno == EINTR)
		return 1;
	if (r < 0)
		return mp_error(err, "reading from the child: %s", strerror(errno));
	in->len += (size_t)r;
	return r > 0;
}

static int start_timer(unsigned int seconds, struct mp_err *err)
{
	struct itimerspec when = { .it_value.tv_sec = seconds };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	if (fd < 0 || timerfd_settime(fd, 0, &when, NULL)) {
		mp_error(err, "timerfd: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

/* Collect until end of file; a negative result means that the child is to be killed. */
static int collect(struct inbox *in, int fd, int timer, unsigned int seconds, struct mp_err *err)
{
	int more = 1;

	while (more > 0) {
		struct pollfd p[2] = {
			{ .fd = fd, .events = POLLIN }, { .fd = timer, .events = POLLIN },
		};

		if (poll(p, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			return mp_error(err, "poll: %s", strerror(errno));
		}
		if (p[0].revents)
			more = receive(in, fd, err);
		else if (p[1].revents)
			return mp_error(err, "no answer within %u s", seconds);
	}
	return more;
}

/* The child has closed its pipe; give it until the timer to end, too. */
static int reap(pid_t pid, int timer, unsigned int seconds, int *status, struct mp_err *err)
{
	struct pollfd p = { .fd = timer, .events = POLLIN };

	for (;;) {
		pid_t r = waitpid(pid, status, WNOHANG);

		if (r == pid)
			return 0;
		if (r < 0 && errno != EINTR)
			return mp_error(err, "waitpid: %s", strerror(errno));
		if (poll(&p, 1, 1) == 1)
			return mp_error(err, "did not end within %u s", seconds);
	}
}

static const char *phase_of(const struct mp_note *note)
{
	int now = note->now;

	return now >= 0 && now < MP_PHASES ? mp_phase_name[now] : "set-up";
}

static int end_of(const struct mp_child *c, int status, struct mp_err *err)
{
	if (WIFSIGNALED(status))
		return mp_error(err, "the child was killed by signal %d (%s) in phase %s",
				WTERMSIG(status), strsignal(WTERMSIG(status)),
				phase_of(c->note));
	if (WEXITSTATUS(status))
		return mp_error(err, "in phase %s: %s", phase_of(c->note),
				c->note->err.text[0] ? c->note->err.text :
				"the child gave no reason");
	return 0;
}

static int parent(const struct mp_child *c, pid_t pid, int fd, struct inbox *in,
		  struct mp_err *err)
{
	struct mp_err why;
	int status = 0, ret = -1;
	int timer = start_timer(c->seconds, &why);

	if (timer >= 0)
		ret = collect(in, fd, timer, c->seconds, &why);
	if (!ret)
		ret = reap(pid, timer, c->seconds, &status, &why);
	if (timer >= 0)
		close(timer);
	if (!ret)
		return end_of(c, status, err);
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return mp_error(err, "%.120s; the child was killed in phase %s", why.text,
			phase_of(c->note));
}

int mp_child_run(const struct mp_child *c, void **data, size_t *len, struct mp_err *err)
{
	struct inbox in = { NULL, 0, 0 };
	pid_t self = getpid(), pid;
	int fd[2], ret;

	*data = NULL;
	*len = 0;
	c->note->now = MP_PHASES;
	if (pipe2(fd, O_CLOEXEC))
		return mp_error(err, "pipe: %s", strerror(errno));
	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		mp_error(err, "fork: %s", strerror(errno));
		close(fd[0]);
		close(fd[1]);
		return -1;
	}
	if (!pid) {
		close(fd[0]);
		in_child(c, fd[1], self);
	}
	close(fd[1]);
	ret = parent(c, pid, fd[0], &in, err);
	close(fd[0]);
	if (ret) {
		free(in.data);
		return -1;
	}
	*data = in.data;
	*len = in.len;
	return 0;
}
