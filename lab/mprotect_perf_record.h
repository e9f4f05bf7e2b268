/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The record file: what one boot measured, as raw integers, so that any
 * statistic can be taken later and by others.
 *
 *	mprotect_perf-record 1
 *	env release=7.3.4 page_size=4096 unit=ns cpu=2 model="..." ...
 *	sample scenario=shared-dirty proc=0 cycle=17 pages=16384 calls=1 protect=229376 ...
 *	end samples=1800
 *
 * ASCII, one fact a line. A file without its trailer was cut off and is
 * refused; so are an unknown version and a repeated sample. Unknown keys are
 * ignored: a newer writer may add some. An unknown kind of line is refused:
 * a reader cannot know whether what it skips changes the meaning of the
 * samples, so a new kind of line takes a new version.
 *
 * A line is a word and key=value pairs, one space between each. A value that
 * is empty or holds a space, quote, backslash, control or non-ASCII byte is
 * written in double quotes, every such byte but the space as \xNN. All env
 * lines come before the first sample; "unit" and "page_size" must be among
 * them.
 *
 * A scenario may be there in several variants, of other sizes or other numbers
 * of tasks; each numbers its processes from 0. Where several tasks ran at once,
 * a sample also has tasks=, task= and start=, else it is of the only one. The
 * cycles of a task of a process of a variant ascend.
 */
#ifndef MPROTECT_PERF_RECORD_H
#define MPROTECT_PERF_RECORD_H

#include <stdint.h>
#include <stdio.h>

#include "mprotect_perf_err.h"

#define MP_RECORD_VERSION 1
#define MP_NAME_LEN 32

/* The bounds of a record; a reader refuses what goes beyond them. */
#define MP_LINE_MAX 65536	/* bytes of a line, without its newline */
#define MP_ENV_MAX 256		/* facts of the environment */
#define MP_KEY_MAX 48		/* bytes of a key */
#define MP_PAIRS_MAX 64		/* key=value pairs of a sample or end line */
#define MP_VARIANT_MAX 1024	/* variants of all scenarios of a record */
#define MP_PROC_MAX 65536	/* processes of a variant */
#define MP_TASK_MAX (1u << 12)	/* tasks that run at once */
#define MP_DUE_MAX 1048576	/* tasks of all processes of a record */

/* What a cycle consists of, in the order in which it happens. */
enum mp_phase {
	MP_POPULATE,
	MP_PROTECT,
	MP_RESTORE,
	MP_TOUCH,
	MP_PHASES
};

extern const char *const mp_phase_name[MP_PHASES];

/* A figure that was not taken: the key is left out of the line. */
#define MP_NOT_TAKEN UINT64_MAX

/* What is counted beside the time; a key is the phase's with one of these behind it. */
enum mp_counter {
	MP_FAULTS,	/* page faults, minor and major */
	MP_CSW,		/* context switches, voluntary and not */
	MP_INSN_K,	/* instructions in the kernel, from here on by perf events */
	MP_INSN_U,	/* instructions in the process */
	MP_CYCLES_K,
	MP_CYCLES_U,
	MP_DTLB,	/* loads that missed the data TLB */
	MP_COUNTERS
};

extern const char *const mp_counter_name[MP_COUNTERS];

/**
 * struct mp_figures - what one phase of one cycle cost
 * @time: in the record's unit (ns or insn), over all pages and calls of the phase
 * @count: likewise, of each counter
 *
 * Each is MP_NOT_TAKEN where the phase does not exist or was not counted.
 */
struct mp_figures {
	uint64_t time;
	uint64_t count[MP_COUNTERS];
};

/**
 * struct mp_sample - the raw figures of one cycle
 * @scenario: name of the row in the scenario table
 * @proc: which process of the run, from 0
 * @cycle: which cycle of the process, from 0
 * @pages: base pages that one phase covers; never 0
 * @calls: system calls that one phase makes; never 0
 * @tasks: how many tasks ran at once, threads or processes; never 0
 * @task: which of them, from 0
 * @start: when the cycle began, in the record's unit, since the tasks were let
 *	go; MP_NOT_TAKEN when there is only one
 * @phase: the figures
 */
struct mp_sample {
	char scenario[MP_NAME_LEN];
	uint32_t proc;
	uint32_t cycle;
	uint64_t pages;
	uint64_t calls;
	uint32_t tasks;
	uint32_t task;
	uint64_t start;
	struct mp_figures phase[MP_PHASES];
};

/**
 * mp_record_is_name() - can this be the name of a scenario
 * @s: letters, digits, '-', '_' and '.', shorter than MP_NAME_LEN
 *
 * Return: 1 or 0.
 */
int mp_record_is_name(const char *s);

/* Writing. The file appears under its name only when it is whole. */
struct mp_record_writer;

/**
 * mp_record_create() - start a record
 * @path: the file to make; an existing one is refused, never overwritten
 * @err: filled on failure
 *
 * What goes wrong between here and mp_record_finish() is kept and told there.
 * The writer does not use stdio: a child that inherits one and leaves through
 * exit() writes nothing twice.
 *
 * Return: a writer that mp_record_finish() or mp_record_abandon() frees, or
 * NULL.
 */
struct mp_record_writer *mp_record_create(const char *path, struct mp_err *err);

/**
 * mp_record_env() - add one fact of the environment
 * @w: the writer
 * @key: letters, digits and underscores
 * @value: any text; quoted and escaped as the format needs it
 *
 * Only before the first sample.
 */
void mp_record_env(struct mp_record_writer *w, const char *key, const char *value);

/**
 * mp_record_sample() - add one sample
 * @w: the writer
 * @s: copied; time figures must be integers of the record's unit
 */
void mp_record_sample(struct mp_record_writer *w, const struct mp_sample *s);

/**
 * mp_record_finish() - write the trailer and give the file its name
 * @w: freed, whatever the outcome
 * @err: filled on failure (a full disk shows here); no file is left then
 *
 * The file is read back before it gets its name: a record that exists is one
 * that mp_record_read() takes.
 *
 * Return: 0, or -1.
 */
int mp_record_finish(struct mp_record_writer *w, struct mp_err *err);

/**
 * mp_record_abandon() - forget a record that was not finished
 * @w: freed; may be NULL
 */
void mp_record_abandon(struct mp_record_writer *w);

/**
 * struct mp_record_ops - what a reader wants to be told
 * @env: one fact of the environment; the strings live only during the call
 * @sample: one sample, in file order
 *
 * Either may be NULL. A callback that returns non-zero has filled @err and
 * ends the reading; the reader adds file and line in front of the text.
 */
struct mp_record_ops {
	int (*env)(void *ctx, const char *key, const char *value, struct mp_err *err);
	int (*sample)(void *ctx, const struct mp_sample *s, struct mp_err *err);
};

/**
 * mp_record_read() - read a record, a line at a time
 * @path: the file
 * @ops: called on the way; what they saw is void if this returns -1
 * @ctx: handed to @ops
 * @err: filled on failure: "FILE:LINE: what is wrong, and the mend"
 *
 * Memory does not grow with the length of the file, but for the 4 bytes a task
 * of each process that finding duplicates takes: at most 4 MiB, MP_DUE_MAX.
 *
 * Return: 0 when the file was whole and right, or -1.
 */
int mp_record_read(const char *path, const struct mp_record_ops *ops, void *ctx,
		   struct mp_err *err);

/**
 * mp_record_read_stream() - the same from an open stream
 * @f: not closed
 * @name: what to call it in an error
 * @ops: as above
 * @ctx: as above
 * @err: as above
 *
 * Return: as above.
 */
int mp_record_read_stream(FILE *f, const char *name, const struct mp_record_ops *ops,
			  void *ctx, struct mp_err *err);

#endif /* MPROTECT_PERF_RECORD_H */
