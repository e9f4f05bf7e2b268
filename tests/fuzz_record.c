// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: any bytes as a record. Beside what the sanitizers see, a
 * record that is taken must hold only samples that the header promises, and
 * one that is refused must say why, in one printable line.
 */
#include <stdlib.h>
#include <string.h>

#include "mprotect_perf_record.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void must(int good)
{
	if (!good)
		abort();
}

static int see_env(void *ctx, const char *key, const char *value, struct mp_err *err)
{
	(void)ctx;
	(void)err;
	must(strlen(key) <= MP_KEY_MAX && strlen(value) <= MP_LINE_MAX);
	return 0;
}

static int see_sample(void *ctx, const struct mp_sample *s, struct mp_err *err)
{
	int *samples = ctx;

	(void)err;
	must(mp_record_is_name(s->scenario));
	must(s->pages > 0 && s->calls > 0 && s->proc < MP_PROC_MAX);
	must(s->task < s->tasks && s->tasks <= MP_TASK_MAX);
	++*samples;
	return 0;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static const struct mp_record_ops ops = { see_env, see_sample };
	struct mp_err err;
	int samples = 0;
	FILE *f;

	if (!size)
		return 0;	/* glibc's fmemopen() has no empty stream to read */
	f = fmemopen((void *)data, size, "r");
	must(!!f);
	memset(&err, 0xff, sizeof(err));
	if (mp_record_read_stream(f, "F", &ops, &samples, &err)) {
		must(strnlen(err.text, sizeof(err.text)) < sizeof(err.text));
		must(!strncmp(err.text, "F:", 2));
		for (const char *c = err.text; *c; c++)
			must(*c >= ' ' && *c <= '~');
	}
	fclose(f);
	return 0;
}
