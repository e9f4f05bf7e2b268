// SPDX-License-Identifier: GPL-2.0
/*
 * Taking a record file apart: lines, pairs, numbers. Strict, because what is
 * let through here as "probably meant so" becomes a figure in an argument.
 *
 * Only printable ASCII leaves mp_lines_next(), so any part of a line may be
 * quoted in an error.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "mprotect_perf_record_line.h"

static int check_bytes(const char *line, size_t len, struct mp_err *err)
{
	unsigned int bad = 0;
	size_t i;

	/* Without a way out the compiler makes vectors of this. */
	for (i = 0; i < len; i++)
		bad |= (unsigned char)(line[i] - ' ') > '~' - ' ';
	if (!bad)
		return 0;
	for (i = 0; line[i] >= ' ' && line[i] <= '~'; i++)
		;
	if (line[i] == '\r' && i == len - 1)
		return mp_error(err, "line ends in CR LF; copy it as binary, or take the CRs out");
	return mp_error(err, "byte 0x%02x in column %zu; a record is printable ASCII",
			(unsigned char)line[i], i + 1);
}

int mp_lines_next(struct mp_lines *l, char **line, struct mp_err *err)
{
	for (;;) {
		char *from = l->buf + l->start;
		size_t have = l->end - l->start;
		char *nl = memchr(from, '\n', have);
		size_t got;

		if ((nl ? (size_t)(nl - from) : have) > MP_LINE_MAX) {
			l->line++;
			return mp_error(err, "longer than %d bytes; is this a record?",
					MP_LINE_MAX);
		}
		if (nl) {
			*nl = '\0';
			*line = from;
			l->start += nl - from + 1;
			l->line++;
			return check_bytes(from, nl - from, err) ? -1 : 1;
		}
		memmove(l->buf, from, have);
		l->start = 0;
		l->end = have;
		got = fread(l->buf + have, 1, sizeof(l->buf) - have, l->f);
		if (got) {
			l->end += got;
			continue;
		}
		if (ferror(l->f))
			return mp_error(err, "cannot read: %s", strerror(errno));
		if (!have)
			return 0;
		l->line++;
		return mp_error(err, "cut off in the middle of a line; copy or measure it again");
	}
}

static bool is_key_char(char c)
{
	return (c >= 'a' && c <= 'z') || c == '_' || (c >= '0' && c <= '9') ||
	       (c >= 'A' && c <= 'Z');
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Decode a quoted value in place; @s is behind its opening quote.
 * Return: what follows the closing quote, or NULL.
 */
static char *unquote(char *s, struct mp_err *err)
{
	char *to = s;
	int byte;

	while (*s && *s != '"') {
		if (*s != '\\') {
			*to++ = *s++;
			continue;
		}
		if (s[1] != 'x' || hex(s[2]) < 0 || hex(s[3]) < 0) {
			mp_error(err, "backslash without xNN; write it as \\x5c");
			return NULL;
		}
		byte = hex(s[2]) << 4 | hex(s[3]);
		if (!byte) {
			mp_error(err, "\\x00 in a value; take it out");
			return NULL;
		}
		*to++ = byte;
		s += 4;
	}
	if (!*s) {
		mp_error(err, "quote without its end; add it");
		return NULL;
	}
	s++;
	*to = '\0';
	return s;
}

int mp_pair_next(char **rest, struct mp_pair *p, struct mp_err *err)
{
	char *s = *rest;

	if (!s)
		return 0;
	p->key = s;
	while (is_key_char(*s))
		s++;
	if (s == p->key || *s != '=')
		return mp_error(err, "key=value expected at '%.32s', one space before each",
				p->key);
	if (s - p->key > MP_KEY_MAX)
		return mp_error(err, "key '%.32s...' is longer than %d", p->key, MP_KEY_MAX);
	*s++ = '\0';
	if (*s == '"') {
		p->value = ++s;
		s = unquote(s, err);
		if (!s)
			return -1;
	} else {
		p->value = s;
		while (*s > ' ' && *s != '"' && *s != '\\')
			s++;
		if (s == p->value)
			return mp_error(err, "%s has no value", p->key);
	}
	if (*s && *s != ' ')
		return mp_error(err, "'%c' in the value of %s; quote or escape it", *s, p->key);
	*rest = *s ? s + 1 : NULL;
	*s = '\0';
	return 1;
}

int mp_pair_u64(const struct mp_pair *p, uint64_t max, uint64_t *out, struct mp_err *err)
{
	const char *s = p->value;
	uint64_t v = 0;

	if (*s < '0' || *s > '9' || (*s == '0' && s[1]))
		return mp_error(err, "%s=%.32s is not a plain decimal number", p->key, s);
	for (; *s >= '0' && *s <= '9'; s++) {
		uint64_t d = *s - '0';

		if (v > (max - d) / 10)
			return mp_error(err, "%s=%.32s is more than %llu", p->key, p->value,
					(unsigned long long)max);
		v = v * 10 + d;
	}
	if (*s)
		return mp_error(err, "%s=%.32s is not a plain decimal number", p->key, p->value);
	*out = v;
	return 0;
}
