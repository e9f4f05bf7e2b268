// SPDX-License-Identifier: GPL-2.0
/*
 * Records that the command line names, into a comparison. What a record says
 * is printed later: whatever is not printable goes out here, so that no record
 * can write lines of its own into a table.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mprotect_perf_curve.h"
#include "mprotect_perf_plot.h"
#include "mprotect_perf_summary.h"
#include "mprotect_perf_table.h"
#include "mprotect_perf_tsv.h"
#include "mprotect_perf_versus.h"

#define LABEL_MAX 40

/* What the reader fills: a boot, of the rows that -s names. */
struct selection {
	struct mp_boot *boot;
	const char *names;	/* with commas; NULL: every row */
	uint64_t seen;		/* which of them a record had */
};

static int on_fact(void *ctx, const char *key, const char *value, struct mp_err *err)
{
	struct selection *sel = ctx;
	char text[MP_FACT_LEN];

	snprintf(text, sizeof(text), "%s", value);
	return mp_boot_add_fact(sel->boot, key, mp_table_clean(text), err);
}

static bool selected(struct selection *sel, const char *scenario)
{
	const char *p = sel->names;
	unsigned int i = 0;

	while (p) {
		size_t len = strcspn(p, ",");

		if (len == strlen(scenario) && !strncmp(p, scenario, len)) {
			sel->seen |= 1ULL << i;
			return true;
		}
		p = p[len] ? p + len + 1 : NULL;
		i++;
	}
	return !sel->names;
}

static int on_sample(void *ctx, const struct mp_sample *s, struct mp_err *err)
{
	struct selection *sel = ctx;

	return selected(sel, s->scenario) ? mp_boot_add_sample(sel->boot, s, err) : 0;
}

/* A name that no record knows is a mistake, not an empty selection. */
static int check_selection(const struct selection *sel, struct mp_err *err)
{
	const char *p = sel->names;
	unsigned int i = 0;

	while (p) {
		size_t len = strcspn(p, ",");

		if (!(sel->seen & 1ULL << i++))
			return mp_error(err, "-s: no scenario '%.*s' in the records",
					(int)(len < 60 ? len : 60), p);
		p = p[len] ? p + len + 1 : NULL;
	}
	return 0;
}

static int count_names(const char *names, struct mp_err *err)
{
	unsigned int n = 1;

	for (; names && *names; names++)
		n += *names == ',';
	return n > 64 ? mp_error(err, "-s: more than 64 scenarios; leave it out for all") : 0;
}

/*
 * "base=FILE": what stands before the first '=' is a label, unless it has a
 * slash in it; ./a=b.rec is a file.
 *
 * Return: the file, or NULL.
 */
static const char *take_label(const char *arg, char label[LABEL_MAX + 1], struct mp_err *err)
{
	size_t n = strcspn(arg, "=/"), good = 0;

	label[0] = '\0';
	if (arg[n] != '=')
		return arg;
	while (isalnum((unsigned char)arg[good]) || (arg[good] && strchr("-_.+~:", arg[good])))
		good++;
	if (!n || n > LABEL_MAX || good < n) {
		mp_error(err, "'%.80s': a label is 1 to %d letters, digits or -_.+~:; write ./ before a file",
			 arg, LABEL_MAX);
		return NULL;
	}
	snprintf(label, LABEL_MAX + 1, "%.*s", (int)n, arg);
	return arg + n + 1;
}

static int add_record(struct mp_versus *v, struct selection *sel, const char *arg,
		      struct mp_err *err)
{
	static const struct mp_record_ops ops = { on_fact, on_sample };
	char label[LABEL_MAX + 1];
	const char *path = take_label(arg, label, err);

	if (!path)
		return -1;
	sel->boot = mp_boot_new(path, err);
	if (!sel->boot)
		return -1;
	if (mp_record_read(path, &ops, sel, err)) {
		mp_boot_free(sel->boot);
		return -1;
	}
	mp_table_clean(sel->boot->name);
	return mp_compare_add(&v->c, sel->boot, label[0] ? label : NULL, err);
}

static int compare(struct mp_versus *v, struct mp_err *err)
{
	struct selection sel = { .names = v->opts->scenarios };

	if (count_names(sel.names, err))
		return -1;
	for (int i = 0; i < v->opts->nfiles; i++) {
		if (add_record(v, &sel, v->opts->file[i], err))
			return -1;
	}
	if (check_selection(&sel, err))
		return -1;
	return mp_compare_judge(&v->c, v->opts->threshold, v->opts->seed, err);
}

int mp_versus_begin(struct mp_versus *v, const struct mp_opts *o, struct mp_err *err)
{
	*v = (struct mp_versus){ .opts = o, .tsv.fd = -1, .plot.fd = -1 };
	if ((!o->tsv || !mp_new_file_open(&v->tsv, o->tsv, err)) &&
	    (!o->plot || !mp_new_file_open(&v->plot, o->plot, err)) &&
	    !compare(v, err))
		return 0;
	mp_versus_end(v);
	return -1;
}

static void put_facts(FILE *f, const struct mp_boot *b)
{
	fprintf(f, "record %s\n", b->name);
	for (size_t i = 0; i < b->nfact; i++)
		fprintf(f, "env %s=%s\n", b->fact[i].key, b->fact[i].value);
}

char *mp_versus_tables(const struct mp_versus *v)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (size_t i = 0; v->opts->verbose && i < v->c.nboots; i++)
		put_facts(f, v->c.boot[i]);
	mp_table_kernels(f, &v->c);
	mp_table_figures(f, &v->c, v->opts->verbose);
	mp_table_changes(f, &v->c);
	mp_curve_fits(f, &v->c);
	mp_curve_scaling(f, &v->c);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

char *mp_versus_summary(const struct mp_versus *v)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	mp_summary_caveats(f, &v->c);
	fprintf(f, "\n");
	mp_summary_paragraph(f, &v->c, v->opts->threshold);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

static int write_tsv(struct mp_versus *v, struct mp_err *err)
{
	int fd = dup(v->tsv.fd);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	int bad;

	if (!f) {
		if (fd >= 0)
			close(fd);
		return mp_error(err, "%.160s: cannot write", v->tsv.path);
	}
	mp_tsv_write(f, &v->c);
	bad = ferror(f);
	bad |= fclose(f);
	if (bad)
		return mp_error(err, "%.160s: cannot write; is the disk full?", v->tsv.path);
	return mp_new_file_publish(&v->tsv, err);
}

int mp_versus_write(struct mp_versus *v, struct mp_err *plot, struct mp_err *err)
{
	plot->text[0] = '\0';
	if (v->opts->plot && !mp_plot_draw(&v->c, v->opts->plot, v->plot.fd, plot) &&
	    mp_new_file_publish(&v->plot, err))
		return -1;
	return v->opts->tsv ? write_tsv(v, err) : 0;
}

int mp_versus_bisect(const struct mp_versus *v)
{
	int ret = 0;

	for (size_t i = 0; i < v->c.nrows; i++) {
		const struct mp_row *row = &v->c.row[i];

		if (row->whole.verdict == MP_REGRESSED)
			return 1;
		/* A control that is open does not close the question. */
		if (row->whole.verdict == MP_INCONCLUSIVE && row->phase != MP_TOUCH)
			ret = MP_BISECT_SKIP;
	}
	return ret;
}

void mp_versus_end(struct mp_versus *v)
{
	mp_compare_free(&v->c);
	mp_new_file_close(&v->tsv);
	mp_new_file_close(&v->plot);
}
