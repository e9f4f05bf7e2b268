// SPDX-License-Identifier: GPL-2.0
/*
 * Sysfs settings that rows with large folios need, and a guardian that puts
 * them back.
 *
 * The guardian is a process of its own, forked before anything is changed. It
 * makes the changes, then waits at a socket whose other end only the main
 * process holds: a byte asks it to put the old values back, and the end of file
 * says that the main process is gone, by whatever signal or exit. It locks each
 * file that it changes, so that two runs cannot put back each other's values.
 *
 * What this cannot do:
 * - put back anything when the guardian and the main process are both killed
 *   with SIGKILL (cgroup.kill, the end of a container or of its PID namespace,
 *   memory running out in it), or the power fails. If the guardian alone is
 *   killed, the main process puts back at its normal end, not at a signal.
 * - put back before a main process that is killed has ended: it comes a moment
 *   later, and nobody is left then to be told of a failure;
 * - keep others from writing to the files: the lock binds only those who ask;
 * - undo what the kernel does by itself when these files are written: it computes
 *   vm.min_free_kbytes anew, and a value that was set by hand may stay raised.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mprotect_perf_settings.h"

#define WORD_LEN 32
#define THP "/sys/kernel/mm/transparent_hugepage/"

/*
 * @right: the words that meet the need
 * @set: the one that is written where another stands
 * @absent: what it means that there is no such file
 * @follows: whose file decides where this one says "inherit"
 */
static const struct need {
	unsigned int bit;
	const char *path;
	const char *right[2];
	const char *set;
	const char *absent;
	const struct need *follows;
} needs_table[] = {
	{ MP_NEED_THP, THP "enabled", { "always", "madvise" }, "madvise",
	  "this kernel has no transparent huge pages", NULL },
	{ MP_NEED_MTHP, THP "hugepages-64kB/enabled", { "always", "madvise" }, "madvise",
	  "Linux 6.8 and base pages under 64 KiB are needed", &needs_table[0] },
};

/* @fd: open, and the lock on the file, or -1 */
struct change {
	const struct need *need;
	int fd;
	char old[WORD_LEN];
};

struct plan {
	size_t n;
	struct change change[ARRAY_SIZE(needs_table)];
};

/* what the guardian answers, in one packet */
struct reply {
	int ret;
	struct mp_err err;
};

/* @fd: the socket to the guardian, or -1 where there is none */
static struct {
	int fd;
	pid_t pid;
	struct plan plan;
} guard = { .fd = -1 };

/* After a failed call: @what could not be done, by errno. */
static int cannot(const struct need *n, const char *what, struct mp_err *err)
{
	return mp_error(err, "%s: cannot %s: %s; %s", n->path, what, strerror(errno),
			errno == ENOENT ? n->absent : "root and a writable /sys are needed");
}

/* "always [madvise] never": the word in brackets is the one in effect. */
static int read_word(int fd, const struct need *n, char *word, struct mp_err *err)
{
	char line[256], *from, *to;
	ssize_t r = pread(fd, line, sizeof(line) - 1, 0);

	if (r < 0)
		return cannot(n, "read", err);
	if (!r || (size_t)r == sizeof(line) - 1)
		return mp_error(err, "%s: unreadable: %s", n->path,
				r ? "its line is too long" : "it is empty");
	line[r] = '\0';
	from = strchr(line, '[');
	to = from ? strchr(from, ']') : NULL;
	if (!to || to == from + 1 || to - from > WORD_LEN)
		return mp_error(err, "%s: unreadable: no word of it is in brackets", n->path);
	*to = '\0';
	strcpy(word, from + 1);
	return 0;
}

/* What was written is read again: the kernel may have taken it for another. */
static int set_word(const struct change *c, const char *word, struct mp_err *err)
{
	char now[WORD_LEN];

	if (pwrite(c->fd, word, strlen(word), 0) < 0)
		return cannot(c->need, "write", err);
	if (read_word(c->fd, c->need, now, err))
		return -1;
	if (strcmp(now, word))
		return mp_error(err, "%s: '%s' was written, but it is '%s'", c->need->path, word,
				now);
	return 0;
}

static int lock(int fd, int how, const struct need *n, struct mp_err *err)
{
	if (!flock(fd, how | LOCK_NB))
		return 0;
	if (errno != EWOULDBLOCK)
		return cannot(n, "lock", err);
	return mp_error(err, "%s: another run with --allow-settings holds it; wait for its end",
			n->path);
}

/* With @probe, a file that another run will change back is no good. */
static int look(const struct need *n, bool probe, char *word, struct mp_err *err)
{
	int fd = open(n->path, O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return cannot(n, "read", err);
	ret = probe ? lock(fd, LOCK_SH, n, err) : 0;
	if (!ret)
		ret = read_word(fd, n, word, err);
	close(fd);
	return ret;
}

static bool is_right(const struct need *n, const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(n->right); i++) {
		if (!strcmp(word, n->right[i]))
			return true;
	}
	return false;
}

/* 1: met, 0: not met for the sake of @word, -1: cannot tell. */
static int is_met(const struct need *n, unsigned int needs, bool probe, char *word,
		  struct mp_err *err)
{
	char followed[WORD_LEN];

	if (look(n, probe, word, err))
		return -1;
	if (!n->follows || strcmp(word, "inherit"))
		return is_right(n, word);
	/* What it follows may be a need of its own, and is seen to as such. */
	if (needs & n->follows->bit)
		return 1;
	if (look(n->follows, probe, followed, err))
		return -1;
	return is_right(n->follows, followed);
}

bool mp_settings_missing(unsigned int needs, struct mp_err *why)
{
	for (const struct need *n = needs_table; n < needs_table + ARRAY_SIZE(needs_table); n++) {
		char word[WORD_LEN];
		int met = needs & n->bit ? is_met(n, needs, false, word, why) : 1;

		if (!met)
			mp_error(why, "%s is '%s': give --allow-settings as root, or: echo %s > %s",
				 n->path, word, n->set, n->path);
		if (met != 1)
			return true;
	}
	return false;
}

static int make_plan(struct plan *p, unsigned int needs, struct mp_err *err)
{
	p->n = 0;
	for (const struct need *n = needs_table; n < needs_table + ARRAY_SIZE(needs_table); n++) {
		struct change *c = &p->change[p->n];
		bool due = needs & n->bit && !access(n->path, F_OK); /* else its rows tell */
		int met = due ? is_met(n, needs, true, c->old, err) : 1;

		if (met < 0)
			return -1;
		c->need = n;
		c->fd = -1;
		p->n += !met;
	}
	return 0;
}

static int open_locked(struct change *c, struct mp_err *err)
{
	c->fd = open(c->need->path, O_RDWR | O_CLOEXEC);
	if (c->fd < 0)
		return cannot(c->need, "change it", err);
	return lock(c->fd, LOCK_EX, c->need, err);
}

static int put_back_one(struct change *c, struct mp_err *err)
{
	char now[WORD_LEN];

	if ((c->fd < 0 && open_locked(c, err)) || read_word(c->fd, c->need, now, err))
		return -1;
	if (!strcmp(now, c->old))
		return 0;
	if (strcmp(now, c->need->set))
		return mp_error(err, "%s: somebody else made it '%s': left alone; it was '%s'",
				c->need->path, now, c->old);
	return set_word(c, c->old, err);
}

/* All of it, whatever fails; each failure is added to what @err has. */
static int put_back(struct plan *p, struct mp_err *err)
{
	int ret = 0;

	for (size_t i = p->n; i-- > 0;) {
		size_t len = strlen(err->text);
		struct change *c = &p->change[i];
		struct mp_err now;

		if (put_back_one(c, &now)) {
			snprintf(err->text + len, sizeof(err->text) - len, "%s%s",
				 len ? "; " : "", now.text);
			ret = -1;
		}
		if (c->fd >= 0)
			close(c->fd);
		c->fd = -1;
	}
	return ret;
}

/* No file is changed before all can be, and no other run can change them. */
static int apply(struct plan *p, struct mp_err *err)
{
	char now[WORD_LEN];

	for (size_t i = 0; i < p->n; i++) {
		struct change *c = &p->change[i];

		if (open_locked(c, err) || read_word(c->fd, c->need, now, err))
			return -1;
		if (strcmp(now, c->old))
			return mp_error(err, "%s: somebody else changes it just now; try again",
					c->need->path);
	}
	for (size_t i = 0; i < p->n; i++) {
		if (set_word(&p->change[i], p->change[i].need->set, err)) {
			put_back(p, err);
			return -1;
		}
	}
	return 0;
}

/*
 * Close all but @sock. A pipe of the caller's would never end for its reader, and
 * the end of the main process would not be seen past a copy of the other socket.
 */
static int let_go(int sock)
{
	int null;

	sock = dup2(sock, STDERR_FILENO + 1);
	syscall(SYS_close_range, sock + 1, ~0U, 0);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		if (null < 0)
			close(fd);
		else
			dup2(null, fd);
	}
	return sock;
}

/* With all signals blocked: only a byte, or the end of the main process, ends the wait. */
static void guardian(struct plan *p, int sock)
{
	struct reply reply = { 0 };
	char byte;

	setsid();
	sock = let_go(sock);
	reply.ret = apply(p, &reply.err);
	send(sock, &reply, sizeof(reply), MSG_NOSIGNAL);
	if (reply.ret)
		_exit(1);
	recv(sock, &byte, 1, 0);
	reply.ret = put_back(p, &reply.err);
	send(sock, &reply, sizeof(reply), MSG_NOSIGNAL);
	_exit(reply.ret ? 1 : 0);
}

static int start_guardian(struct mp_err *err)
{
	sigset_t all, old;
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd))
		return mp_error(err, "socketpair: %s", strerror(errno));
	/* Before the fork: no signal finds a guardian that is not deaf yet. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	guard.pid = fork();
	if (!guard.pid) {
		close(fd[0]);
		guardian(&guard.plan, fd[1]);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(fd[1]);
	guard.fd = fd[0];
	if (guard.pid > 0)
		return 0;
	mp_settings_child();
	return mp_error(err, "fork: %s", strerror(errno));
}

/* 1: it has answered, 0: it is dead */
static int hear(struct reply *reply)
{
	ssize_t r;

	do {
		r = recv(guard.fd, reply, sizeof(*reply), 0);
	} while (r < 0 && errno == EINTR);
	return r == sizeof(*reply);
}

/* Its lock ends with it, so that another run may begin when this returns. */
static void reap(void)
{
	mp_settings_child();
	while (waitpid(guard.pid, NULL, 0) < 0 && errno == EINTR)
		;
}

int mp_settings_allow(unsigned int needs, struct mp_err *err)
{
	struct reply reply;
	int ret, heard;

	if (guard.fd >= 0)
		return mp_error(err, "settings are changed already, and not put back yet");
	ret = make_plan(&guard.plan, needs, err);
	if (!ret && guard.plan.n)
		ret = start_guardian(err);
	if (ret || !guard.plan.n)
		return ret;
	heard = hear(&reply);
	if (heard && !reply.ret)
		return 0;
	reap();
	if (heard)
		return mp_error(err, "%s", reply.err.text);
	mp_error(err, "the guardian of the settings was killed");
	put_back(&guard.plan, err);
	return -1;
}

void mp_settings_child(void)
{
	if (guard.fd >= 0)
		close(guard.fd);
	guard.fd = -1;
}

int mp_settings_restore(struct mp_err *err)
{
	struct reply reply;
	int heard;

	if (guard.fd < 0)
		return 0;
	send(guard.fd, "", 1, MSG_NOSIGNAL);
	heard = hear(&reply);
	reap();
	*err = heard ? reply.err : (struct mp_err){ "" };
	/* One that was killed is stood in for: what it changed is known here, too. */
	return heard ? reply.ret : put_back(&guard.plan, err);
}
