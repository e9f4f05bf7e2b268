// SPDX-License-Identifier: GPL-2.0
/*
 * Sources: mprotect_perf_record_order.c
 * Sources: mprotect_perf_new_file.c
 * Sources: mprotect_perf_record.c mprotect_perf_record_read.c mprotect_perf_record_line.c
 *
 * The record file: what is written is read back the same, and whatever a
 * writer would not have written is refused with the line it is on.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mprotect_perf_record.h"
#include "unit.h"

#define HEAD "mprotect_perf-record 1\n"
#define ENV "env unit=ns page_size=4096\n"
#define S(rest) "sample scenario=a " rest "\n"
#define ONE S("proc=0 cycle=0 pages=4 calls=1 protect=10")

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void copy(char *to, const char *text)
{
	memcpy(to, text, strlen(text) + 1);
}

/* What a reader saw, as text. */
struct seen {
	char env[8192];
	struct mp_sample first, last;
	int samples;
};

static int see_env(void *ctx, const char *key, const char *value, struct mp_err *err)
{
	struct seen *s = ctx;
	size_t n = strlen(s->env);

	(void)err;
	snprintf(s->env + n, sizeof(s->env) - n, "%s=[%s] ", key, value);
	return 0;
}

static int see_sample(void *ctx, const struct mp_sample *sample, struct mp_err *err)
{
	struct seen *s = ctx;

	(void)err;
	if (!s->samples++)
		s->first = *sample;
	s->last = *sample;
	return 0;
}

static const struct mp_record_ops see = { see_env, see_sample };
static struct seen seen;

/* Read @len bytes as a file named F. Return: the error, "" for none. */
static const char *read_bytes(const char *text, size_t len)
{
	static struct mp_err err;
	FILE *f = fmemopen((void *)text, len, "r");
	int ret;

	memset(&seen, 0, sizeof(seen));
	copy(err.text, "unset");
	ret = mp_record_read_stream(f, "F", &see, &seen, &err);
	fclose(f);
	if (!ret)
		return "";
	return err.text[0] ? err.text : "failed without a word";
}

static const char *read_text(const char *text)
{
	return read_bytes(text, strlen(text));
}

static const struct {
	const char *what, *text, *error;
} table[] = {
	{ "smallest record", HEAD ENV ONE "end samples=1\n", NULL },
	{ "no samples", HEAD ENV "end samples=0\n", NULL },
	{ "env over several lines", HEAD "env unit=ns\nenv page_size=4096 x=y\n" ONE
	  "end samples=1\n", NULL },
	{ "unknown keys", HEAD ENV S("new=1 proc=0 cycle=0 pages=1 other=\"a b\" calls=1")
	  "end later=x samples=1\n", NULL },
	{ "largest figures", HEAD ENV
	  S("proc=65535 cycle=4294967294 pages=18446744073709551614 calls=1")
	  "end samples=1\n", NULL },

	{ "tasks, each with its cycles", HEAD ENV
	  S("proc=0 cycle=3 pages=4 calls=1 tasks=2 task=0 start=5 touch=1")
	  S("proc=0 cycle=3 pages=4 calls=1 tasks=2 task=1 touch=1")
	  S("proc=0 cycle=4 pages=4 calls=1 tasks=2 touch=1") "end samples=3\n", NULL },
	{ "the most tasks", HEAD ENV S("proc=0 cycle=0 pages=4 calls=1 tasks=4096 task=4095")
	  "end samples=1\n", NULL },
	{ "variants that each number their processes", HEAD ENV ONE
	  S("proc=0 cycle=0 pages=8 calls=1") S("proc=0 cycle=0 pages=4 calls=2")
	  S("proc=0 cycle=0 pages=4 calls=1 tasks=2 task=1")
	  S("proc=0 cycle=0 pages=4 calls=1 tasks=3 task=1")
	  S("proc=0 cycle=1 pages=4 calls=1") "end samples=6\n", NULL },

	{ "first line foreign", "ELF\n", "F:1: not a record: it does not begin with" },
	{ "first line alone wrong", "mprotect_perf-records 1\n", "F:1: not a record" },
	{ "no version", "mprotect_perf-record\n", "F:1: not a record: it does not begin" },
	{ "version not a number", "mprotect_perf-record one\n", "F:1: not a record: version=one" },
	{ "version 1.0", "mprotect_perf-record 1.0\n", "version=1.0 is not a plain" },
	{ "version 2", "mprotect_perf-record 2\nwhatever\n",
	  "F:1: version 2: this reader knows 1" },
	{ "version 0", "mprotect_perf-record 0\n", "version 0: this reader knows 1" },
	{ "no newline in line 1", "mprotect_perf-record 1", "F:1: not a record: cut off" },

	{ "header only", HEAD, "F:1: cut off: line 1 is the last, no 'end' line" },
	{ "trailer missing", HEAD ENV ONE, "F:3: cut off: line 3 is the last, no 'end' line" },
	{ "cut in a sample", HEAD ENV "sample scenario=a pro", "F:3: cut off in the middle" },
	{ "cut in the trailer", HEAD ENV ONE "end samples=1", "F:4: cut off in the middle" },
	{ "trailer counts one more", HEAD ENV ONE "end samples=2\n",
	  "F:4: end says 2 samples, 1 are there" },
	{ "trailer counts one less", HEAD ENV ONE "end samples=0\n", "end says 0 samples, 1" },
	{ "trailer without count", HEAD ENV ONE "end\n", "F:4: end without samples=N" },
	{ "trailer with another key", HEAD ENV ONE "end x=1\n", "end without samples=N" },
	{ "trailer twice in line", HEAD ENV ONE "end samples=1 samples=1\n",
	  "samples is there twice" },
	{ "after the trailer", HEAD ENV ONE "end samples=1\n" ONE, "F:5: a line after the end" },
	{ "empty line after the trailer", HEAD ENV "end samples=0\n\n", "F:4: a line after" },
	{ "cut line after the trailer", HEAD ENV "end samples=0\nx", "F:4: cut off in the middle" },
	{ "trailer before env", HEAD "end samples=0\n", "F:2: no env line before" },

	{ "unknown line", HEAD ENV "noise x=1\n", "F:3: a line 'noise' is none of" },
	{ "empty line", HEAD ENV "\n", "F:3: a line '' is none of" },
	{ "comment", HEAD "# x\n", "F:2: a line '#' is none of" },
	{ "CR LF", HEAD "env unit=ns\r\n", "F:2: line ends in CR LF" },
	{ "tab", HEAD "env\tunit=ns\n", "F:2: byte 0x09 in column 4" },
	{ "delete", HEAD "env unit=ns\177\n", "byte 0x7f in column 12" },
	{ "UTF-8", HEAD "env unit=\303\244\n", "byte 0xc3 in column 10" },

	{ "sample before env", HEAD ONE, "F:2: no env line before" },
	{ "no unit", HEAD "env page_size=4096\n" ONE, "F:3: no env unit before" },
	{ "no page_size", HEAD "env unit=ns\n" ONE, "F:3: no env page_size before" },
	{ "env after a sample", HEAD ENV ONE "env x=1\n", "F:4: env after a sample" },
	{ "env of nothing", HEAD "env\n", "F:2: env without key=value" },
	{ "env twice in a line", HEAD "env unit=ns unit=ns\n", "F:2: env unit is there twice" },
	{ "env twice in two lines", HEAD ENV "env a=1\nenv a=2\n", "F:4: env a is there twice" },
	{ "page_size 0", HEAD "env page_size=0\n", "page_size=0 is not a power of two" },
	{ "page_size 4095", HEAD "env page_size=4095\n", "page_size=4095 is not a power" },
	{ "page_size 4k", HEAD "env page_size=4k\n", "page_size=4k is not a plain" },

	{ "two spaces", HEAD "env unit=ns  page_size=4096\n", "key=value expected at ' page_size" },
	{ "space at the end", HEAD "env unit=ns \n", "F:2: key=value expected at ''" },
	{ "no equals sign", HEAD "env unit\n", "key=value expected at 'unit'" },
	{ "no key", HEAD "env =ns\n", "key=value expected at '=ns'" },
	{ "odd key", HEAD "env a-b=ns\n", "key=value expected at 'a-b=ns'" },
	{ "no value", HEAD "env unit=\n", "unit has no value" },
	{ "no value before a space", HEAD "env unit= a=b\n", "unit has no value" },
	{ "quote in a plain value", HEAD "env unit=n\"s\n", "'\"' in the value of unit" },
	{ "backslash in a plain value", HEAD "env unit=n\\s\n", "'\\' in the value of unit" },
	{ "quote without end", HEAD "env unit=\"ns\n", "quote without its end" },
	{ "text behind a quote", HEAD "env unit=\"n\"s\n", "'s' in the value of unit" },
	{ "short escape", HEAD "env unit=\"\\x4\"\n", "backslash without xNN" },
	{ "escape without hex", HEAD "env unit=\"\\xg0\"\n", "backslash without xNN" },
	{ "escape without x", HEAD "env unit=\"\\y41\"\n", "backslash without xNN" },
	{ "escape of C", HEAD "env unit=\"\\n\"\n", "backslash without xNN" },
	{ "escape at the end", HEAD "env unit=\"\\x\n", "backslash without xNN" },
	{ "escaped NUL", HEAD "env unit=\"n\\x00s\"\n", "\\x00 in a value" },

	{ "no scenario", HEAD ENV "sample proc=0 cycle=0 pages=1 calls=1\n",
	  "F:3: sample without scenario" },
	{ "no proc", HEAD ENV S("cycle=0 pages=1 calls=1"), "sample without proc" },
	{ "no cycle", HEAD ENV S("proc=0 pages=1 calls=1"), "sample without cycle" },
	{ "no pages", HEAD ENV S("proc=0 cycle=0 calls=1"), "sample without pages" },
	{ "no calls", HEAD ENV S("proc=0 cycle=0 pages=1"), "sample without calls" },
	{ "bare sample", HEAD ENV "sample\n", "sample without scenario" },
	{ "pages 0", HEAD ENV S("proc=0 cycle=0 pages=0 calls=1"), "F:3: pages=0 of a" },
	{ "calls 0", HEAD ENV S("proc=0 cycle=0 pages=1 calls=0"), "calls=0 of a" },
	{ "key twice", HEAD ENV S("proc=0 cycle=0 proc=0 pages=1 calls=1"), "proc is there twice" },
	{ "unknown key twice", HEAD ENV S("z=1 proc=0 z=2"), "z is there twice" },
	{ "scenario with a slash", HEAD ENV "sample scenario=a/b proc=0 cycle=0 pages=1 calls=1\n",
	  "scenario=a/b is not a name" },
	{ "scenario of 32 letters", HEAD ENV
	  "sample scenario=abcdefghijklmnopqrstuvwxyz012345 proc=0 cycle=0 pages=1 calls=1\n",
	  "is not a name" },
	{ "negative", HEAD ENV S("proc=0 cycle=0 pages=-1 calls=1"), "pages=-1 is not a plain" },
	{ "plus sign", HEAD ENV S("proc=+0 cycle=0 pages=1 calls=1"), "proc=+0 is not a plain" },
	{ "leading zero", HEAD ENV S("proc=00 cycle=0 pages=1 calls=1"), "proc=00 is not a plain" },
	{ "hexadecimal", HEAD ENV S("proc=0x1 cycle=0 pages=1 calls=1"), "proc=0x1 is not" },
	{ "fraction", HEAD ENV S("proc=0 cycle=0 pages=1 calls=1 touch=1.5"), "touch=1.5 is not" },
	{ "value in quotes with a space", HEAD ENV S("proc=\" 0\" cycle=0 pages=1 calls=1"),
	  "proc= 0 is not a plain" },
	{ "2^64", HEAD ENV S("proc=0 cycle=0 pages=1 calls=1 touch=18446744073709551616"),
	  "touch=18446744073709551616 is more than 18446744073709551614" },
	{ "the mark of a figure not taken", HEAD ENV
	  S("proc=0 cycle=0 pages=1 calls=1 touch=18446744073709551615"), "is more than" },
	{ "proc too large", HEAD ENV S("proc=65536 cycle=0 pages=1 calls=1"),
	  "proc=65536 is more than 65535" },
	{ "cycle too large", HEAD ENV S("proc=0 cycle=4294967295 pages=1 calls=1"),
	  "cycle=4294967295 is more than 4294967294" },
	{ "duplicate", HEAD ENV ONE ONE "end samples=2\n",
	  "F:4: a proc=0 cycle=0 after cycle 0: twice" },
	{ "descending", HEAD ENV S("proc=3 cycle=7 pages=1 calls=1")
	  S("proc=3 cycle=6 pages=1 calls=1"), "F:4: a proc=3 cycle=6 after cycle 7" },
	{ "no task", HEAD ENV S("proc=0 cycle=0 pages=1 calls=1 tasks=0"),
	  "F:3: task=0 of tasks=0 of a: they count from 0" },
	{ "a task beyond the last", HEAD ENV S("proc=0 cycle=0 pages=1 calls=1 tasks=2 task=2"),
	  "F:3: task=2 of tasks=2 of a: they count from 0" },
	{ "a second task of one", HEAD ENV S("proc=0 cycle=0 pages=1 calls=1 task=1"),
	  "F:3: task=1 of tasks=1 of a" },
	{ "too many tasks", HEAD ENV S("proc=0 cycle=0 pages=1 calls=1 tasks=4097"),
	  "tasks=4097 is more than 4096" },
	{ "task too large", HEAD ENV S("proc=0 cycle=0 pages=1 calls=1 tasks=2 task=4096"),
	  "task=4096 is more than 4095" },
	{ "start that is the mark of none", HEAD ENV
	  S("proc=0 cycle=0 pages=1 calls=1 tasks=2 start=18446744073709551615"),
	  "start=18446744073709551615 is more than" },
	{ "duplicate of a task", HEAD ENV S("proc=2 cycle=9 pages=1 calls=1 tasks=3 task=2")
	  S("proc=2 cycle=0 pages=1 calls=1 tasks=3 task=1")
	  S("proc=2 cycle=9 pages=1 calls=1 tasks=3 task=2"),
	  "F:5: a proc=2 task=2 cycle=9 after cycle 9: twice, or disorder" },
	{ "the last task is not the first of the next process", HEAD ENV
	  S("proc=0 cycle=7 pages=1 calls=1 tasks=2 task=1")
	  S("proc=1 cycle=0 pages=1 calls=1 tasks=2 task=0")
	  S("proc=0 cycle=7 pages=1 calls=1 tasks=2 task=1"), "F:5: a proc=0 task=1 cycle=7" },
	{ "duplicate behind another variant", HEAD ENV ONE S("proc=0 cycle=0 pages=5 calls=1")
	  ONE, "F:5: a proc=0 cycle=0 after cycle 0" },
	{ "duplicate behind others", HEAD ENV ONE
	  "sample scenario=b proc=0 cycle=0 pages=1 calls=1\n"
	  S("proc=200 cycle=0 pages=1 calls=1") ONE, "F:6: a proc=0 cycle=0 after cycle 0" },
};

static void test_table(void)
{
	for (size_t i = 0; i < COUNT(table); i++) {
		const char *got = read_text(table[i].text);
		char what[128];

		if (!table[i].error) {
			snprintf(what, sizeof(what), "taken: %s", table[i].what);
			is_str(got, "", what);
			continue;
		}
		snprintf(what, sizeof(what), "refused: %s", table[i].what);
		has_str(got, table[i].error, what);
	}
	has_str(read_bytes("", 0), "F:0: not a record: empty", "refused: empty file");
	has_str(read_bytes(HEAD "env a=\0b\n", sizeof(HEAD) - 1 + 9), "F:2: byte 0x00 in column 7",
		"refused: NUL byte");
}

static void test_values(void)
{
	const char *text = HEAD
		"env unit=ns page_size=16384 model=\"Xeon \\x22E5\\x22 \\x5c\\xC3\\xa4\" empty=\"\"\n"
		"env cmdline=root=/dev/sda1\n"
		S("proc=2 cycle=7 pages=16384 calls=1 protect=229376 touch=5 touch_faults=0 "
		  "restore_csw=3 populate=0")
		S("protect_csw=9 calls=2 pages=3 cycle=8 proc=2") "end samples=2\n";

	is_str(read_text(text), "", "values: taken");
	is_str(seen.env, "unit=[ns] page_size=[16384] model=[Xeon \"E5\" \\\303\244] empty=[] "
	       "cmdline=[root=/dev/sda1] ", "values: env decoded");
	is_int(seen.samples, 2, "values: samples");
	is_str(seen.first.scenario, "a", "values: scenario");
	is_int(seen.first.proc, 2, "values: proc");
	is_int(seen.first.cycle, 7, "values: cycle");
	is_int(seen.first.pages, 16384, "values: pages");
	is_int(seen.first.calls, 1, "values: calls");
	is_int(seen.first.phase[MP_PROTECT].time, 229376, "values: protect");
	is_int(seen.first.phase[MP_POPULATE].time, 0, "values: populate 0 is taken");
	is_int(seen.first.phase[MP_TOUCH].time, 5, "values: touch");
	is_int(seen.first.phase[MP_TOUCH].count[MP_FAULTS], 0, "values: touch_faults");
	is_int(seen.first.phase[MP_RESTORE].count[MP_CSW], 3, "values: restore_csw");
	ok(seen.first.phase[MP_RESTORE].time == MP_NOT_TAKEN, "values: restore not taken");
	ok(seen.first.phase[MP_PROTECT].count[MP_FAULTS] == MP_NOT_TAKEN, "values: faults not taken");
	is_int(seen.first.tasks, 1, "values: one task, which is not said");
	is_int(seen.first.task, 0, "values: the first");
	ok(seen.first.start == MP_NOT_TAKEN, "values: which has no start");
	is_int(seen.last.phase[MP_PROTECT].count[MP_CSW], 9, "values: keys in any order");
	is_int(seen.last.calls, 2, "values: calls in any order");
}

static void test_tasks(void)
{
	const char *text = HEAD ENV
		S("proc=2 cycle=7 pages=16 calls=1 tasks=4 task=3 start=0 protect=9")
		S("proc=2 cycle=7 pages=16 calls=1 start=18446744073709551614 task=2 tasks=4")
		"end samples=2\n";

	is_str(read_text(text), "", "tasks: taken");
	is_int(seen.first.tasks, 4, "tasks: how many");
	is_int(seen.first.task, 3, "tasks: which");
	is_int(seen.first.start, 0, "tasks: start 0 is taken");
	is_int(seen.last.task, 2, "tasks: in any order");
	ok(seen.last.start == MP_NOT_TAKEN - 1, "tasks: the latest start");
}

static int refuse_env(void *ctx, const char *key, const char *value, struct mp_err *err)
{
	(void)ctx;
	return mp_error(err, "%s is %s", key, value);
}

static int refuse_sample(void *ctx, const struct mp_sample *s, struct mp_err *err)
{
	(void)ctx;
	return mp_error(err, "no %s", s->scenario);
}

static void test_callbacks(void)
{
	static const struct mp_record_ops env = { refuse_env, NULL };
	static const struct mp_record_ops sample = { NULL, refuse_sample };
	static const struct mp_record_ops none;
	const char *text = HEAD ENV ONE "end samples=1\n";
	char name[300];
	struct mp_err err;
	FILE *f;

	f = fmemopen((void *)text, strlen(text), "r");
	is_int(mp_record_read_stream(f, "F", &env, NULL, &err), -1, "callback: env refuses");
	is_str(err.text, "F:2: unit is ns", "callback: env's text is located");
	rewind(f);
	is_int(mp_record_read_stream(f, "F", &sample, NULL, &err), -1, "callback: sample refuses");
	is_str(err.text, "F:3: no a", "callback: sample's text is located");
	memset(name, 'd', sizeof(name));
	copy(name + 290, "/the.rec");
	rewind(f);
	mp_record_read_stream(f, name, &sample, NULL, &err);
	has_str(err.text, "dd/the.rec:3: no a", "callback: a long path does not hide the text");
	rewind(f);
	is_int(mp_record_read_stream(f, "F", &none, NULL, &err), 0, "callback: none are needed");
	fclose(f);
}

/* Build texts that are too long to be written down. */
static void test_bounds(void)
{
	static char text[8 << 20];
	size_t n, i;

	n = sprintf(text, HEAD "env unit=ns page_size=4096 a=");
	memset(text + n, 'x', MP_LINE_MAX);
	n = strlen(HEAD) + MP_LINE_MAX;
	copy(text + n, "\nend samples=0\n");
	is_str(read_text(text), "", "bounds: a line of the full length");
	copy(text + n, "x\nend samples=0\n");
	has_str(read_text(text), "F:2: longer than 65536 bytes", "bounds: a longer line");
	memset(text, 'y', sizeof(text) - 1);
	has_str(read_text(text), "F:1: not a record: longer than", "bounds: endless line");

	n = sprintf(text, HEAD ENV);
	for (i = 2; i < MP_ENV_MAX; i++)
		n += sprintf(text + n, "env k%zu=1\n", i);
	copy(text + n, "end samples=0\n");
	is_str(read_text(text), "", "bounds: the most env keys");
	copy(text + n, "env one_more=1\nend samples=0\n");
	has_str(read_text(text), "F:257: more than 256 env keys", "bounds: one env key more");

	n = sprintf(text, HEAD ENV);
	for (i = 0; i < MP_VARIANT_MAX; i++)
		n += sprintf(text + n, "sample scenario=s%zu proc=0 cycle=0 pages=1 calls=1\n", i);
	sprintf(text + n, "end samples=%zu\n", i);
	is_str(read_text(text), "", "bounds: the most variants");
	copy(text + n, ONE "end samples=0\n");
	has_str(read_text(text), "F:1027: more than 1024 variants of scenarios",
		"bounds: one variant more");

	n = sprintf(text, HEAD ENV "sample scenario=a proc=0 cycle=0 pages=1 calls=1");
	for (i = 0; i < MP_PAIRS_MAX; i++)
		n += sprintf(text + n, " z%zu=1", i);
	copy(text + n, "\nend samples=1\n");
	is_str(read_text(text), "", "bounds: the most unknown keys");
	copy(text + n, " one_more=1\n");
	has_str(read_text(text), "F:3: more than 64 unknown keys", "bounds: one unknown key more");

	n = sprintf(text, HEAD "env ");
	memset(text + n, 'k', MP_KEY_MAX + 1);
	copy(text + n + MP_KEY_MAX + 1, "=1\n");
	has_str(read_text(text), "kk...' is longer than 48", "bounds: long key");

	n = sprintf(text, HEAD ENV);
	for (i = 0; i < 17; i++)
		n += sprintf(text + n, "sample scenario=s%zu proc=65535 cycle=0 pages=1 calls=1\n",
			     i);
	has_str(read_text(text), "F:19: more than 1048576 processes in all",
		"bounds: process table");
	n = sprintf(text, HEAD ENV);
	for (i = 0; i < 257; i++)
		n += sprintf(text + n, "sample scenario=a proc=%zu cycle=0 pages=1 calls=1 "
			     "tasks=4096 task=4095\n", i);
	has_str(read_text(text), "F:259: more than 1048576 processes in all, tasks counted",
		"bounds: task table");
}

/* Lines that straddle the reader's buffer, and a table that has to grow. */
static void test_many(void)
{
	static char text[8 << 20];
	size_t n = sprintf(text, HEAD ENV);
	int i;

	for (i = 0; i < 60000; i++)
		n += sprintf(text + n, "sample scenario=s%d proc=%d cycle=%d pages=1 calls=1 "
			     "touch=%d\n", i % 3, i % 999, i / 999, i);
	sprintf(text + n, "end samples=%d\n", i);
	is_str(read_text(text), "", "many: taken");
	is_int(seen.samples, 60000, "many: all were seen");
	is_int(seen.last.phase[MP_TOUCH].time, 59999, "many: the last one is right");
}

static void test_paths(void)
{
	static const struct mp_record_ops none;
	struct mp_err err;

	is_int(mp_record_read("absent", &none, NULL, &err), -1, "path: absent");
	is_str(err.text, "absent: cannot open: No such file or directory", "path: absent, text");
	is_int(mp_record_read(".", &none, NULL, &err), -1, "path: directory");
	has_str(err.text, ".: not a regular file", "path: directory, text");
	is_int(mp_record_read("/dev/zero", &none, NULL, &err), -1, "path: endless device");
	has_str(err.text, "/dev/zero: not a regular file", "path: endless device, text");
	mkfifo("fifo", 0600);
	alarm(10);	/* a hang must not last */
	is_int(mp_record_read("fifo", &none, NULL, &err), -1, "path: FIFO does not hang");
	alarm(0);
	has_str(err.text, "fifo: not a regular file", "path: FIFO, text");
	unlink("fifo");
}

static struct mp_sample some(unsigned int proc, unsigned int cycle)
{
	struct mp_sample s = { "a", proc, cycle, 16384, 1, 1, 0, MP_NOT_TAKEN, { } };

	for (int p = 0; p < MP_PHASES; p++)
		memset(&s.phase[p], 0xff, sizeof(s.phase[p]));
	s.phase[MP_PROTECT].time = 229376;
	s.phase[MP_PROTECT].count[MP_FAULTS] = 0;
	s.phase[MP_TOUCH].time = 131072;
	s.phase[MP_TOUCH].count[MP_FAULTS] = 16384;
	s.phase[MP_TOUCH].count[MP_CSW] = 2;
	return s;
}

static struct mp_record_writer *start(const char *path)
{
	struct mp_err err;
	struct mp_record_writer *w = mp_record_create(path, &err);

	if (!w) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	mp_record_env(w, "unit", "ns");
	mp_record_env(w, "page_size", "4096");
	return w;
}

static const char *slurp(const char *path)
{
	static char text[65536];
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = '\0';
	return text;
}

/* How many files there are in our directory; nothing may be left behind. */
static int files(void)
{
	FILE *p = popen("ls -A | wc -l", "r");
	int n = -1;

	if (fscanf(p, "%d", &n) != 1)
		n = -1;
	pclose(p);
	return n;
}

static void test_write(void)
{
	struct mp_record_writer *w = start("w.rec");
	struct mp_sample s = some(0, 17);
	char odd[600] = "";
	struct mp_err err;
	char want[1200];

	for (int i = 1; i < 256; i++)
		odd[i - 1] = i;
	mp_record_env(w, "model", "Xeon \"E5\" \\ 1\n");
	mp_record_env(w, "empty", "");
	mp_record_env(w, "odd", odd);
	ok(access("w.rec", F_OK) != 0, "write: no file of that name before the end");
	mp_record_sample(w, &s);
	is_int(mp_record_finish(w, &err), 0, "write: finished");
	has_str(slurp("w.rec"), HEAD "env unit=ns\nenv page_size=4096\n"
		"env model=\"Xeon \\x22E5\\x22 \\x5c 1\\x0a\"\nenv empty=\"\"\nenv odd=\"\\x01",
		"write: env as the format has it");
	has_str(slurp("w.rec"), "\nsample scenario=a proc=0 cycle=17 pages=16384 calls=1 "
		"protect=229376 protect_faults=0 touch=131072 touch_faults=16384 touch_csw=2\n"
		"end samples=1\n", "write: sample and trailer as the format has them");
	memset(&seen, 0, sizeof(seen));
	is_int(mp_record_read("w.rec", &see, &seen, &err), 0, "write: read again");
	snprintf(want, sizeof(want), "unit=[ns] page_size=[4096] "
		 "model=[Xeon \"E5\" \\ 1\n] empty=[] odd=[%s] ", odd);
	is_str(seen.env, want, "write: env comes back, all 255 bytes");
	ok(!memcmp(&seen.last, &s, sizeof(s)), "write: sample comes back");
	ok(!strstr(slurp("w.rec"), "task"), "write: no word of tasks when there is one");
	is_int(files(), 1, "write: nothing else is left");
	ok(!mp_record_create("w.rec", &err), "write: existing file refused");
	is_str(err.text, "w.rec: exists already; remove it or choose another name",
	       "write: existing file, text");
	unlink("w.rec");
}

static void test_write_tasks(void)
{
	struct mp_record_writer *w = start("w.rec");
	struct mp_sample s = some(1, 17), untimed = some(1, 18);
	struct mp_err err;

	s.tasks = 3;
	s.task = 2;
	s.start = 123;
	untimed.tasks = 3;
	mp_record_sample(w, &s);
	mp_record_sample(w, &untimed);
	is_int(mp_record_finish(w, &err), 0, "write tasks: finished");
	has_str(slurp("w.rec"), "proc=1 cycle=17 pages=16384 calls=1 tasks=3 task=2 start=123 "
		"protect=229376", "write tasks: as the format has them");
	has_str(slurp("w.rec"), "cycle=18 pages=16384 calls=1 tasks=3 task=0 protect=229376",
		"write tasks: without a start");
	memset(&seen, 0, sizeof(seen));
	is_int(mp_record_read("w.rec", &see, &seen, &err), 0, "write tasks: read again");
	ok(!memcmp(&seen.first, &s, sizeof(s)) && !memcmp(&seen.last, &untimed, sizeof(s)),
	   "write tasks: the samples come back");
	unlink("w.rec");
}

static void test_write_many(void)
{
	struct mp_record_writer *w = start("w.rec");
	struct mp_err err;

	for (int i = 0; i < 5000; i++) {
		struct mp_sample s = some(i / 1000, i % 1000);

		mp_record_sample(w, &s);
	}
	is_int(mp_record_finish(w, &err), 0, "write many: finished");
	memset(&seen, 0, sizeof(seen));
	is_int(mp_record_read("w.rec", &see, &seen, &err), 0, "write many: read again");
	is_int(seen.samples, 5000, "write many: all there");
	unlink("w.rec");
}

static int finish(struct mp_record_writer *w, const char *text, const char *what)
{
	struct mp_err err = { "no error" };
	char name[128];

	snprintf(name, sizeof(name), "write refuses: %s", what);
	is_int(mp_record_finish(w, &err), -1, name);
	snprintf(name, sizeof(name), "write refuses: %s, text", what);
	has_str(err.text, text, name);
	snprintf(name, sizeof(name), "write refuses: %s, nothing left", what);
	return is_int(files(), 0, name);
}

static void test_write_refuses(void)
{
	struct mp_record_writer *w;
	struct mp_sample s = some(0, 0);
	struct mp_err err;
	static char huge[20000];

	w = mp_record_create("w.rec", &err);
	mp_record_sample(w, &s);
	finish(w, "w.rec:2: no env line before", "no env");
	w = start("w.rec");
	mp_record_sample(w, &s);
	mp_record_sample(w, &s);
	finish(w, "a proc=0 cycle=0 after cycle 0", "a sample twice");
	w = start("w.rec");
	mp_record_sample(w, &s);
	mp_record_env(w, "late", "1");
	mp_record_env(w, "later", "1");
	finish(w, "w.rec: env late comes after a sample", "env after a sample");
	w = start("w.rec");
	mp_record_env(w, "bad-key", "1");
	finish(w, "key=value expected at 'bad-key", "a key that is none");
	w = start("w.rec");
	memset(huge, '\n', sizeof(huge) - 1);
	mp_record_env(w, "huge", huge);
	finish(w, "env huge is too long", "a value too long");
	w = start("w.rec");
	copy(s.scenario, "a b=1");
	mp_record_sample(w, &s);
	finish(w, "without a proper scenario name", "a scenario with a space");
	w = start("w.rec");
	memset(s.scenario, 'x', sizeof(s.scenario));
	mp_record_sample(w, &s);
	finish(w, "without a proper scenario name", "a scenario without end");
	w = start("w.rec");
	s = some(0, 0);
	s.pages = 0;
	mp_record_sample(w, &s);
	finish(w, "pages=0", "no pages");

	ok(!mp_record_create("absent/w.rec", &err), "write refuses: no such directory");
	has_str(err.text, "absent/w.rec: cannot create: No such file", "write refuses: its text");
	w = start("w.rec");
	mp_record_abandon(w);
	mp_record_abandon(NULL);
	is_int(files(), 0, "abandon: nothing left");
}

/* A limit on the size of files stands in for a full disk. */
static void test_full_disk(void)
{
	struct rlimit old, small;
	struct mp_record_writer *w;
	struct mp_err err = { "" };

	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = 100000;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	w = start("w.rec");
	for (int i = 0; i < 3000; i++) {
		struct mp_sample s = some(0, i);

		mp_record_sample(w, &s);
	}
	is_int(mp_record_finish(w, &err), -1, "full disk: finish fails");
	is_str(err.text, "w.rec: cannot write: File too large", "full disk: text");
	setrlimit(RLIMIT_FSIZE, &old);
	is_int(files(), 0, "full disk: nothing left");
}

static void test_race(void)
{
	struct mp_record_writer *w = start("w.rec");
	struct mp_err err = { "" };
	FILE *f = fopen("w.rec", "w");

	fputs("somebody else's\n", f);
	fclose(f);
	is_int(mp_record_finish(w, &err), -1, "race: a file that appeared meanwhile stays");
	has_str(err.text, "w.rec: exists already", "race: text");
	is_str(slurp("w.rec"), "somebody else's\n", "race: its content");
	is_int(files(), 1, "race: nothing else left");
	unlink("w.rec");
}

/* A temporary file of a process that died, or one that somebody laid out for us. */
static void test_temporary(void)
{
	struct mp_record_writer *w;
	struct mp_err err = { "" };
	char name[64];
	FILE *f;

	snprintf(name, sizeof(name), "w.rec.%ld-0.tmp", (long)getpid());
	f = fopen(name, "w");
	fputs("stale\n", f);
	fclose(f);
	w = start("w.rec");
	is_int(mp_record_finish(w, &err), 0, "temporary: another name is found");
	is_str(slurp(name), "stale\n", "temporary: what was there is left alone");
	is_int(files(), 2, "temporary: nothing else left");
	unlink(name);
	unlink("w.rec");
}

/* A child that leaves through exit() must not write the parent's lines. */
static void test_fork(void)
{
	struct mp_record_writer *w = start("w.rec");
	struct mp_sample s = some(0, 0);
	struct mp_err err = { "" };
	pid_t pid;

	mp_record_sample(w, &s);
	fflush(stdout);
	pid = fork();
	if (!pid)
		exit(0);
	waitpid(pid, NULL, 0);
	is_int(mp_record_finish(w, &err), 0, "fork: the record is whole");
	is_str(err.text, "", "fork: no error");
	unlink("w.rec");
}

static void test_names(void)
{
	ok(mp_record_is_name("shared-dirty"), "name: shared-dirty");
	ok(mp_record_is_name("mthp_64k.v2"), "name: underscore, dot, digit");
	ok(mp_record_is_name("abcdefghijklmnopqrstuvwxyz01234"), "name: 31 letters");
	ok(!mp_record_is_name("abcdefghijklmnopqrstuvwxyz012345"), "name: not 32 letters");
	ok(!mp_record_is_name(""), "name: not empty");
	ok(!mp_record_is_name("a b"), "name: no space");
	ok(!mp_record_is_name("a#b"), "name: no hash");
	is_str(mp_phase_name[MP_POPULATE], "populate", "phase: populate");
	is_str(mp_phase_name[MP_PROTECT], "protect", "phase: protect");
	is_str(mp_phase_name[MP_RESTORE], "restore", "phase: restore");
	is_str(mp_phase_name[MP_TOUCH], "touch", "phase: touch");
}

int main(void)
{
	char dir[] = "/tmp/unit_record.XXXXXX";

	if (!mkdtemp(dir) || chdir(dir)) {
		printf("Bail out! no directory to write to\n");
		return 1;
	}
	test_table();
	test_values();
	test_tasks();
	test_callbacks();
	test_bounds();
	test_many();
	test_paths();
	test_write();
	test_write_tasks();
	test_write_many();
	test_write_refuses();
	test_full_disk();
	test_race();
	test_temporary();
	test_fork();
	test_names();
	if (chdir("/") || rmdir(dir))
		ok(0, "the tests cleaned up behind them");
	return done_testing();
}
