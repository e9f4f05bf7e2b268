/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Several tasks that do one thing at the same time: threads or processes.
 */
#ifndef MPROTECT_PERF_TASKS_H
#define MPROTECT_PERF_TASKS_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "mprotect_perf_child.h"
#include "mprotect_perf_scenario.h"

/**
 * struct mp_sync - how they keep in step; in memory that they share
 * @ready: how many wait for the start
 * @done: how many have done what counts
 * @turn: whose turn it is to write
 * @start: when the first of them went on, in a clock of theirs; 0 before
 * @failed: one of them has failed: nobody waits any more
 */
struct mp_sync {
	unsigned int ready;
	unsigned int done;
	unsigned int turn;
	uint64_t start;
	bool failed;
};

/**
 * struct mp_tasks - what they do
 * @team: threads, processes, or one alone in the calling thread
 * @n: how many
 * @cpu: to pin to: the first one there, the others on the next lower ones that
 *	are allowed; -1: where the scheduler wants
 * @allowed: the CPUs that are; not looked at with a @cpu of -1
 * @sync: zeroed; shared when they are processes
 * @note: of task 0; shared when they are processes
 * @note_stride: bytes from one task's note to the next one's
 * @run: what a task does; -1 on failure, with its note filled
 * @ctx: handed to @run
 */
struct mp_tasks {
	enum mp_team team;
	unsigned int n;
	int cpu;
	const cpu_set_t *allowed;
	struct mp_sync *sync;
	struct mp_note *note;
	size_t note_stride;
	int (*run)(void *ctx, unsigned int task, struct mp_note *note);
	void *ctx;
};

/**
 * mp_tasks_run() - run all tasks to their end
 * @t: the tasks
 *
 * What went wrong first is in the note of task 0.
 *
 * Return: 0, or -1 when one of them failed.
 */
int mp_tasks_run(const struct mp_tasks *t);

/**
 * mp_sync_start() - wait until all tasks are here
 * @sync: of the tasks
 * @n: how many
 *
 * Return: false when one has failed, so that they never will be.
 */
bool mp_sync_start(struct mp_sync *sync, unsigned int n);

/**
 * mp_sync_since() - the same moment for all of them
 * @sync: of the tasks
 * @now: the time, not 0
 *
 * Return: the @now of the task that asked first.
 */
uint64_t mp_sync_since(struct mp_sync *sync, uint64_t now);

/**
 * mp_sync_done() - say that this task has done its part
 * @sync: of the tasks
 */
void mp_sync_done(struct mp_sync *sync);

/**
 * mp_sync_all_done() - has every task done its part, or one failed?
 * @sync: of the tasks
 * @n: how many
 *
 * Return: true then.
 */
bool mp_sync_all_done(const struct mp_sync *sync, unsigned int n);

/**
 * mp_sync_turn() - wait for one's turn
 * @sync: of the tasks
 * @task: whose
 *
 * Return: false when one has failed, so that it never comes.
 */
bool mp_sync_turn(struct mp_sync *sync, unsigned int task);

/**
 * mp_sync_next() - give the turn to the next task
 * @sync: of the tasks
 */
void mp_sync_next(struct mp_sync *sync);

/**
 * mp_tasks_pin() - pin the calling thread
 * @cpu: to this CPU
 * @err: filled on failure
 *
 * Return: 0, or -1.
 */
int mp_tasks_pin(int cpu, struct mp_err *err);

#endif /* MPROTECT_PERF_TASKS_H */
