// SPDX-License-Identifier: GPL-2.0
/*
 * Writing a record. mprotect_perf_record_read.c reads it.
 *
 * A measurement may take minutes, so it must not be lost to a name that was
 * taken, and a half-written one must not pass for a whole one: the file grows
 * under a name of its own beside its final one, is synced and read back, and
 * then gets its name in one step that never replaces anything.
 *
 * Lines are put together in a buffer of our own. With stdio, a child of the
 * parent that holds the record could flush the same lines again at its exit.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mprotect_perf_new_file.h"
#include "mprotect_perf_record.h"

const char *const mp_counter_name[MP_COUNTERS] = {
	[MP_FAULTS]	= "faults",
	[MP_CSW]	= "csw",
	[MP_INSN_K]	= "insn_k",
	[MP_INSN_U]	= "insn_u",
	[MP_CYCLES_K]	= "cycles_k",
	[MP_CYCLES_U]	= "cycles_u",
	[MP_DTLB]	= "dtlb_misses",
};

const char *const mp_phase_name[MP_PHASES] = {
	[MP_POPULATE] = "populate",
	[MP_PROTECT] = "protect",
	[MP_RESTORE] = "restore",
	[MP_TOUCH] = "touch",
};

struct mp_record_writer {
	struct mp_new_file file;
	bool failed;
	struct mp_err err;	/* the first thing that went wrong */
	struct mp_err later;	/* what followed from it; nobody asks */
	uint64_t samples;
	size_t used;
	char buf[MP_LINE_MAX + 1];
};

/* Where to put the text of a failure: only the first one is told. */
static struct mp_err *failure(struct mp_record_writer *w)
{
	if (w->failed)
		return &w->later;
	w->failed = true;
	return &w->err;
}

int mp_record_is_name(const char *s)
{
	static const char chars[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	size_t n = strnlen(s, MP_NAME_LEN);

	return n > 0 && n < MP_NAME_LEN && strspn(s, chars) == n;
}

static void flush(struct mp_record_writer *w)
{
	size_t done = 0;

	while (done < w->used && !w->failed) {
		ssize_t n = write(w->file.fd, w->buf + done, w->used - done);

		if (n > 0)
			done += n;
		else if (n < 0 && errno != EINTR)
			mp_error(failure(w), "%s: cannot write: %s", w->file.path, strerror(errno));
	}
	w->used = 0;
}

static void put(struct mp_record_writer *w, const char *line, size_t len)
{
	if (len > sizeof(w->buf) - w->used)
		flush(w);
	memcpy(w->buf + w->used, line, len);
	w->used += len;
}

struct mp_record_writer *mp_record_create(const char *path, struct mp_err *err)
{
	struct mp_record_writer *w = calloc(1, sizeof(*w));
	char head[64];

	if (!w) {
		mp_error(err, "%s: out of memory", path);
		return NULL;
	}
	if (mp_new_file_open(&w->file, path, err)) {
		mp_record_abandon(w);
		return NULL;
	}
	put(w, head, snprintf(head, sizeof(head), "mprotect_perf-record %d\n", MP_RECORD_VERSION));
	return w;
}

/* May this byte stand in a value as it is, without quotes around it? */
static bool is_plain(unsigned char c)
{
	return c > ' ' && c < 0x7f && c != '"' && c != '\\';
}

/* Write @value as the format wants it; @to has room for 4 bytes a byte and 2. */
static size_t quote(char *to, const char *value)
{
	const unsigned char *c = (const unsigned char *)value;
	bool quoted = !*c;
	char *p = to;

	while (*c && is_plain(*c))
		c++;
	quoted |= *c != 0;
	if (quoted)
		*p++ = '"';
	for (c = (const unsigned char *)value; *c; c++) {
		if (is_plain(*c) || *c == ' ')
			*p++ = *c;
		else
			p += sprintf(p, "\\x%02x", *c);
	}
	if (quoted)
		*p++ = '"';
	return p - to;
}

void mp_record_env(struct mp_record_writer *w, const char *key, const char *value)
{
	size_t key_len = strlen(key);
	size_t most = strlen("env =\"\"\n") + key_len + 4 * strlen(value) + 1;

	if (w->samples)
		mp_error(failure(w), "%s: env %.32s comes after a sample", w->file.path, key);
	if (key_len > MP_KEY_MAX || most > sizeof(w->buf))
		mp_error(failure(w), "%s: env %.32s is too long for a line", w->file.path, key);
	if (w->failed)
		return;
	if (most > sizeof(w->buf) - w->used)
		flush(w);
	/* The reading back judges the key: a wrong one makes a wrong line. */
	w->used += sprintf(w->buf + w->used, "env %s=", key);
	w->used += quote(w->buf + w->used, value);
	w->buf[w->used++] = '\n';
}

void mp_record_sample(struct mp_record_writer *w, const struct mp_sample *s)
{
	char line[2048];
	int n;

	if (!mp_record_is_name(s->scenario)) {
		mp_error(failure(w), "%s: a sample without a proper scenario name", w->file.path);
		return;
	}
	n = sprintf(line, "sample scenario=%s proc=%u cycle=%u pages=%llu calls=%llu",
		    s->scenario, s->proc, s->cycle, (unsigned long long)s->pages,
		    (unsigned long long)s->calls);
	if (s->tasks > 1)
		n += sprintf(line + n, " tasks=%u task=%u", s->tasks, s->task);
	if (s->tasks > 1 && s->start != MP_NOT_TAKEN)
		n += sprintf(line + n, " start=%llu", (unsigned long long)s->start);
	for (int p = 0; p < MP_PHASES; p++) {
		const struct mp_figures *f = &s->phase[p];

		if (f->time != MP_NOT_TAKEN)
			n += sprintf(line + n, " %s=%llu", mp_phase_name[p],
				     (unsigned long long)f->time);
		for (int i = 0; i < MP_COUNTERS; i++) {
			if (f->count[i] != MP_NOT_TAKEN)
				n += sprintf(line + n, " %s_%s=%llu", mp_phase_name[p],
					     mp_counter_name[i], (unsigned long long)f->count[i]);
		}
	}
	line[n++] = '\n';
	put(w, line, n);
	w->samples++;
}

/* What we cannot read ourselves nobody shall find under the final name. */
static void read_back(struct mp_record_writer *w)
{
	static const struct mp_record_ops nothing;
	int fd = dup(w->file.fd);	/* the stream closes its own */
	FILE *f = fd < 0 || lseek(fd, 0, SEEK_SET) < 0 ? NULL : fdopen(fd, "r");
	struct mp_err *err;

	if (!f) {
		mp_error(failure(w), "%s: cannot read back: %s", w->file.path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return;
	}
	err = failure(w);
	if (!mp_record_read_stream(f, w->file.path, &nothing, NULL, err))
		w->failed = false;
	fclose(f);
}

int mp_record_finish(struct mp_record_writer *w, struct mp_err *err)
{
	char tail[64];
	int ret;

	ret = sprintf(tail, "end samples=%llu\n", (unsigned long long)w->samples);
	put(w, tail, ret);
	flush(w);
	if (!w->failed)
		read_back(w);
	if (!w->failed && mp_new_file_publish(&w->file, &w->err))
		w->failed = true;
	ret = w->failed ? -1 : 0;
	if (ret)
		*err = w->err;
	mp_record_abandon(w);
	return ret;
}

void mp_record_abandon(struct mp_record_writer *w)
{
	if (!w)
		return;
	mp_new_file_close(&w->file);
	free(w);
}
