// SPDX-License-Identifier: GPL-2.0
/*
 * Threads and processes, their CPUs and their end. The process that starts
 * them does nothing itself, so that the death of one is seen at once and not
 * when the others have waited for it in vain.
 *
 * What this cannot tell: that n tasks really ran at the same time; where there
 * are fewer CPUs than tasks, they take turns.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mprotect_perf_tasks.h"

static unsigned int look(const unsigned int *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static bool failed(const struct mp_sync *sync)
{
	return __atomic_load_n(&sync->failed, __ATOMIC_ACQUIRE);
}

static void fail(struct mp_sync *sync)
{
	__atomic_store_n(&sync->failed, true, __ATOMIC_RELEASE);
}

bool mp_sync_start(struct mp_sync *sync, unsigned int n)
{
	__atomic_add_fetch(&sync->ready, 1, __ATOMIC_ACQ_REL);
	while (look(&sync->ready) < n && !failed(sync))
		sched_yield();
	return !failed(sync);
}

uint64_t mp_sync_since(struct mp_sync *sync, uint64_t now)
{
	uint64_t first = 0;

	if (__atomic_compare_exchange_n(&sync->start, &first, now, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return now;
	return first;
}

void mp_sync_done(struct mp_sync *sync)
{
	__atomic_add_fetch(&sync->done, 1, __ATOMIC_ACQ_REL);
}

bool mp_sync_all_done(const struct mp_sync *sync, unsigned int n)
{
	return look(&sync->done) >= n || failed(sync);
}

bool mp_sync_turn(struct mp_sync *sync, unsigned int task)
{
	while (look(&sync->turn) != task && !failed(sync))
		sched_yield();
	return !failed(sync);
}

void mp_sync_next(struct mp_sync *sync)
{
	__atomic_add_fetch(&sync->turn, 1, __ATOMIC_ACQ_REL);
}

int mp_tasks_pin(int cpu, struct mp_err *err)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return mp_error(err, "cannot pin to CPU %d: %s", cpu, strerror(errno));
	return 0;
}

static struct mp_note *note_of(const struct mp_tasks *t, unsigned int task)
{
	return (struct mp_note *)((char *)t->note + task * t->note_stride);
}

/* The CPU of a task: from @t->cpu downwards, then from the top again. */
static int cpu_of(const struct mp_tasks *t, unsigned int task)
{
	int cpu = t->cpu;

	task %= (unsigned int)CPU_COUNT(t->allowed);
	while (task--)
		do
			cpu = cpu ? cpu - 1 : CPU_SETSIZE - 1;
		while (!CPU_ISSET(cpu, t->allowed));
	return cpu;
}

static int pin(const struct mp_tasks *t, unsigned int task, struct mp_err *err)
{
	return t->cpu < 0 ? 0 : mp_tasks_pin(cpu_of(t, task), err);
}

struct thread {
	const struct mp_tasks *t;
	unsigned int task;
	pthread_t id;
	int ret;
};

static void *thread_main(void *arg)
{
	struct thread *th = arg;
	const struct mp_tasks *t = th->t;
	struct mp_note *note = note_of(t, th->task);

	th->ret = pin(t, th->task, &note->err);
	if (!th->ret)
		th->ret = t->run(t->ctx, th->task, note);
	if (th->ret)
		fail(t->sync);
	return NULL;
}

static int run_threads(const struct mp_tasks *t)
{
	struct thread *th = calloc(t->n, sizeof(*th));
	unsigned int i, n;
	int ret = 0;

	if (!th)
		return mp_error(&t->note->err, "no memory for %u threads", t->n);
	for (n = 0; n < t->n && !ret; n++) {
		th[n] = (struct thread){ .t = t, .task = n };
		ret = pthread_create(&th[n].id, NULL, thread_main, &th[n]);
	}
	if (ret) {
		n--;
		fail(t->sync);
		mp_error(&note_of(t, n)->err, "no thread: %s", strerror(ret));
	}
	for (i = 0; i < n; i++) {
		pthread_join(th[i].id, NULL);
		ret |= th[i].ret;
	}
	free(th);
	return ret ? -1 : 0;
}

static void process_main(const struct mp_tasks *t, unsigned int task, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	_exit(t->run(t->ctx, task, note_of(t, task)) ? 1 : 0);
}

/* One that has failed says why itself; of one that was killed we do. */
static int reap(const struct mp_tasks *t, const pid_t *pid)
{
	int status;
	pid_t died;
	unsigned int i;

	do
		died = waitpid(-1, &status, 0);
	while (died < 0 && errno == EINTR);
	if (died > 0 && WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	for (i = 0; died > 0 && i + 1 < t->n && pid[i] != died; i++)
		;
	if (died < 0)
		mp_error(&t->note->err, "waitpid: %s", strerror(errno));
	else if (WIFSIGNALED(status) && !failed(t->sync))
		mp_error(&note_of(t, i)->err, "killed by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	fail(t->sync);
	return -1;
}

static int run_processes(const struct mp_tasks *t)
{
	pid_t *pid = calloc(t->n, sizeof(*pid)), self = getpid();
	unsigned int n;
	int ret = 0;

	if (!pid)
		return mp_error(&t->note->err, "no memory for %u processes", t->n);
	for (n = 0; n < t->n && !ret; n++) {
		/* before the fork: see run_pinned() in mprotect_perf_measure.c */
		ret = pin(t, n, &note_of(t, n)->err);
		pid[n] = ret ? -1 : fork();
		if (!pid[n])
			process_main(t, n, self);
		if (!ret && pid[n] < 0)
			ret = mp_error(&note_of(t, n)->err, "fork: %s", strerror(errno));
	}
	if (ret) {
		fail(t->sync);
		n--;
	}
	while (n--)
		ret |= reap(t, pid);
	free(pid);
	return ret ? -1 : 0;
}

/* The note of task 0 is the one that is read. */
static void tell(const struct mp_tasks *t)
{
	struct mp_err why;
	unsigned int i;

	for (i = 0; i < t->n && !note_of(t, i)->err.text[0]; i++)
		;
	if (i == t->n)
		return;
	why = note_of(t, i)->err;
	mp_error(&t->note->err, "task %u of %u: %.200s", i, t->n, why.text);
	t->note->now = note_of(t, i)->now;
}

int mp_tasks_run(const struct mp_tasks *t)
{
	int ret;

	if (t->team == MP_ALONE)
		return t->run(t->ctx, 0, t->note);
	ret = t->team == MP_PROCESSES ? run_processes(t) : run_threads(t);
	if (ret)
		tell(t);
	return ret;
}
