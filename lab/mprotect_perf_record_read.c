// SPDX-License-Identifier: GPL-2.0
/*
 * Reading a record: a line at a time, in memory that does not grow with the
 * file, from whoever may have written, cut, joined or edited it. Anything not
 * understood is refused with its line number; the only thing passed over is a
 * key that a newer writer may have added.
 *
 * What it cannot tell: a digit that was changed. There is no checksum, so that
 * a record can be written by a script and mended with an editor.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mprotect_perf_record_line.h"
#include "mprotect_perf_record_order.h"

struct reader {
	const struct mp_record_ops *ops;
	void *ctx;
	struct mp_err *err;
	bool known;		/* the first line was ours */
	bool ended;		/* the trailer was seen */
	bool have_unit;
	bool have_page_size;
	uint64_t samples;
	unsigned int nenv;
	char env[MP_ENV_MAX][MP_KEY_MAX + 1];
	struct mp_order order;
	struct mp_lines lines;
};

/* The keys of a sample, in the order in which our writer has them. */
enum { K_SCENARIO, K_PROC, K_CYCLE, K_PAGES, K_CALLS, K_TASKS, K_TASK, K_START, K_PHASES };
#define K_NEEDED K_TASKS	/* those before it must be there */
#define PHASE_KEYS (1 + MP_COUNTERS)
#define KEYS (K_PHASES + PHASE_KEYS * MP_PHASES)
#define OF_PHASE(p) p, p "_faults", p "_csw", p "_insn_k", p "_insn_u", p "_cycles_k", \
		    p "_cycles_u", p "_dtlb_misses"

static const char *const sample_key[KEYS] = {
	"scenario", "proc", "cycle", "pages", "calls", "tasks", "task", "start",
	OF_PHASE("populate"), OF_PHASE("protect"), OF_PHASE("restore"), OF_PHASE("touch"),
};

static int parse_env_pair(struct reader *r, const struct mp_pair *p)
{
	uint64_t size;

	for (unsigned int i = 0; i < r->nenv; i++) {
		if (!strcmp(r->env[i], p->key))
			return mp_error(r->err, "env %s is there twice; were two files joined?",
					p->key);
	}
	if (r->nenv == MP_ENV_MAX)
		return mp_error(r->err, "more than %d env keys", MP_ENV_MAX);
	strcpy(r->env[r->nenv++], p->key);
	if (!strcmp(p->key, "unit"))
		r->have_unit = true;
	if (!strcmp(p->key, "page_size")) {
		if (mp_pair_u64(p, 1u << 30, &size, r->err))
			return -1;
		if (!size || (size & (size - 1)))
			return mp_error(r->err, "page_size=%s is not a power of two", p->value);
		r->have_page_size = true;
	}
	return r->ops->env ? r->ops->env(r->ctx, p->key, p->value, r->err) : 0;
}

static int parse_env(struct reader *r, char *rest)
{
	struct mp_pair p;
	int ret;

	if (r->samples)
		return mp_error(r->err, "env after a sample; all env lines come first");
	if (!rest)
		return mp_error(r->err, "env without key=value");
	while ((ret = mp_pair_next(&rest, &p, r->err)) > 0) {
		if (parse_env_pair(r, &p))
			return -1;
	}
	return ret;
}

static int check_env(struct reader *r)
{
	if (!r->nenv)
		return mp_error(r->err, "no env line before this one");
	if (!r->have_unit || !r->have_page_size)
		return mp_error(r->err, "no env %s before this line; figures mean nothing without",
				r->have_unit ? "page_size" : "unit");
	return 0;
}

/*
 * Which of @name[0..n) is @key? Lines are mostly alike: the search starts
 * where the last one succeeded.
 */
static unsigned int find_key(const char *key, const char *const *name, unsigned int n,
			     unsigned int from)
{
	for (unsigned int i = 0; i < n; i++) {
		unsigned int k = from + i < n ? from + i : from + i - n;

		if (!strcmp(key, name[k]))
			return k;
	}
	return n;
}

/*
 * Take a whole sample or end line apart: the values of the @n known keys go to
 * @value, unknown keys are passed over, but no key may be there twice.
 */
static int parse_pairs(struct reader *r, char *rest, const char *const *name, unsigned int n,
		       const char **value)
{
	const char *key[MP_PAIRS_MAX];
	unsigned int nkey = 0, next = 0;
	struct mp_pair p;
	int ret;

	while ((ret = mp_pair_next(&rest, &p, r->err)) > 0) {
		unsigned int k = find_key(p.key, name, n, next);
		bool twice;

		if (k < n) {
			twice = value[k];
			value[k] = p.value;
			next = k + 1;
		} else {
			if (nkey == MP_PAIRS_MAX)
				return mp_error(r->err, "more than %d unknown keys", MP_PAIRS_MAX);
			twice = find_key(p.key, key, nkey, 0) < nkey;
			key[nkey++] = p.key;
		}
		if (twice)
			return mp_error(r->err, "%s is there twice", p.key);
	}
	return ret;
}

/* The largest value of a key. */
static uint64_t most(unsigned int k)
{
	switch (k) {
	case K_PROC:
		return MP_PROC_MAX - 1;
	case K_CYCLE:
		return UINT32_MAX - 1;	/* leaves room for one more in mp_order_check() */
	case K_TASKS:
		return MP_TASK_MAX;
	case K_TASK:
		return MP_TASK_MAX - 1;
	default:
		return MP_NOT_TAKEN - 1;
	}
}

/* Fill @s from the values of sample_key[]; NULL for a key that was not there. */
static int fill_sample(struct reader *r, const char *const *value, struct mp_sample *s)
{
	uint64_t v[KEYS];

	if (!mp_record_is_name(value[K_SCENARIO]))
		return mp_error(r->err, "scenario=%.40s is not a name", value[K_SCENARIO]);
	strcpy(s->scenario, value[K_SCENARIO]);
	for (unsigned int k = K_PROC; k < KEYS; k++) {
		const struct mp_pair p = { sample_key[k], value[k] };

		v[k] = k == K_TASKS ? 1 : k == K_TASK ? 0 : MP_NOT_TAKEN;
		if (p.value && mp_pair_u64(&p, most(k), &v[k], r->err))
			return -1;
	}
	if (!v[K_PAGES] || !v[K_CALLS])
		return mp_error(r->err, "%s=0 of %s: nothing was measured",
				v[K_PAGES] ? "calls" : "pages", s->scenario);
	if (v[K_TASK] >= v[K_TASKS])
		return mp_error(r->err, "task=%llu of tasks=%llu of %s: they count from 0",
				(unsigned long long)v[K_TASK], (unsigned long long)v[K_TASKS],
				s->scenario);
	s->proc = v[K_PROC];
	s->cycle = v[K_CYCLE];
	s->pages = v[K_PAGES];
	s->calls = v[K_CALLS];
	s->tasks = v[K_TASKS];
	s->task = v[K_TASK];
	s->start = v[K_START];
	for (unsigned int i = 0; i < MP_PHASES; i++) {
		const uint64_t *of = v + K_PHASES + PHASE_KEYS * i;

		s->phase[i].time = of[0];
		memcpy(s->phase[i].count, of + 1, sizeof(s->phase[i].count));
	}
	return 0;
}

static int parse_sample(struct reader *r, char *rest)
{
	const char *value[KEYS] = { NULL };
	struct mp_sample s = { .proc = 0 };

	if (check_env(r) || parse_pairs(r, rest, sample_key, KEYS, value))
		return -1;
	for (unsigned int k = 0; k < K_NEEDED; k++) {
		if (!value[k])
			return mp_error(r->err, "sample without %s", sample_key[k]);
	}
	if (fill_sample(r, value, &s) || mp_order_check(&r->order, &s, r->err))
		return -1;
	r->samples++;
	return r->ops->sample ? r->ops->sample(r->ctx, &s, r->err) : 0;
}

static int parse_end(struct reader *r, char *rest)
{
	static const char *const end_key[] = { "samples" };
	struct mp_pair p = { end_key[0], NULL };
	uint64_t samples;

	if (check_env(r) || parse_pairs(r, rest, end_key, 1, &p.value))
		return -1;
	if (!p.value)
		return mp_error(r->err, "end without samples=N");
	if (mp_pair_u64(&p, UINT64_MAX, &samples, r->err))
		return -1;
	if (samples != r->samples)
		return mp_error(r->err, "end says %llu samples, %llu are there; copy it again",
				(unsigned long long)samples, (unsigned long long)r->samples);
	r->ended = true;
	return 0;
}

static int parse_first(struct reader *r, const char *word, char *rest)
{
	struct mp_pair version = { "version", rest };
	uint64_t v;

	if (strcmp(word, "mprotect_perf-record") || !rest)
		return mp_error(r->err, "it does not begin with 'mprotect_perf-record %d'",
				MP_RECORD_VERSION);
	if (mp_pair_u64(&version, UINT64_MAX, &v, r->err))
		return -1;
	r->known = true;
	if (v != MP_RECORD_VERSION)
		return mp_error(r->err, "version %llu: this reader knows %d; use what wrote it",
				(unsigned long long)v, MP_RECORD_VERSION);
	return 0;
}

static int parse_line(struct reader *r, char *line)
{
	char *rest = strchr(line, ' ');

	if (rest)
		*rest++ = '\0';
	if (!r->known)
		return parse_first(r, line, rest);
	if (r->ended)
		return mp_error(r->err, "a line after the end; were two files joined?");
	if (!strcmp(line, "sample"))
		return parse_sample(r, rest);
	if (!strcmp(line, "env"))
		return parse_env(r, rest);
	if (!strcmp(line, "end"))
		return parse_end(r, rest);
	return mp_error(r->err, "a line '%.32s' is none of env, sample, end", line);
}

static int read_lines(struct reader *r)
{
	char *line;
	int ret;

	while ((ret = mp_lines_next(&r->lines, &line, r->err)) > 0) {
		if (parse_line(r, line))
			return -1;
	}
	if (ret)
		return -1;
	if (!r->lines.line)
		return mp_error(r->err, "empty");
	if (!r->ended)
		return mp_error(r->err, "cut off: line %lu is the last, no 'end' line; copy again",
				r->lines.line);
	return 0;
}

/* Put file and line in front. A long path keeps its end, which says more. */
static void locate(struct mp_err *err, const struct reader *r, const char *name)
{
	const size_t most = 100;
	size_t len = strlen(name);
	struct mp_err inner = *err;

	mp_error(err, "%s%s:%lu: %s%s", len > most ? "..." : "",
		 len > most ? name + len - most : name, r->lines.line,
		 r->known ? "" : "not a record: ", inner.text);
}

int mp_record_read_stream(FILE *f, const char *name, const struct mp_record_ops *ops,
			  void *ctx, struct mp_err *err)
{
	struct reader *r = calloc(1, sizeof(*r));
	int ret;

	if (!r)
		return mp_error(err, "%s: out of memory", name);
	r->ops = ops;
	r->ctx = ctx;
	r->err = err;
	r->lines.f = f;
	err->text[0] = '\0';
	ret = read_lines(r) ? -1 : 0;
	if (ret)
		locate(err, r, name);
	mp_order_end(&r->order);
	free(r);
	return ret;
}

int mp_record_read(const char *path, const struct mp_record_ops *ops, void *ctx,
		   struct mp_err *err)
{
	/* Non-blocking, so that a FIFO without a writer does not hold us here. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	FILE *f;
	int ret;

	if (fd < 0)
		return mp_error(err, "%s: cannot open: %s", path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return mp_error(err, "%s: not a regular file; copy the record into one", path);
	}
	f = fdopen(fd, "r");
	if (!f) {
		close(fd);
		return mp_error(err, "%s: cannot open: %s", path, strerror(errno));
	}
	ret = mp_record_read_stream(f, path, ops, ctx, err);
	fclose(f);
	return ret;
}
