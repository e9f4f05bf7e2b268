// SPDX-License-Identifier: GPL-2.0
/*
 * Four kinds of panel: what every phase costs on every kernel; where a scenario
 * has several sizes or numbers of tasks, a curve over these; and for the rows
 * that changed most (of few rows all) how each process of each boot came out.
 *
 * What this cannot tell: anything about a row that is not drawn. The TSV has
 * them all.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mprotect_perf_plot.h"
#include "mprotect_perf_table.h"

#define WIDTH 1200
#define HEIGHT 340	/* of a row of panels */
#define DEADLINE 60	/* seconds */
#define COLOURS 8	/* that gnuplot has; then they begin anew */
/* Costs that differ by more need a logarithmic scale. */
#define LINEAR 30

/* Within quotes of gnuplot's: nothing that it would take for its own, as @name is. */
void mp_plot_text(FILE *f, const char *s)
{
	for (; *s; s++) {
		bool plain = isalnum((unsigned char)*s) || strchr("-_.+~:/()%* ", *s);

		fputc(plain || (*s == '@' && isdigit((unsigned char)s[1])) ? *s : '?', f);
	}
}

void mp_plot_number(FILE *f, double v)
{
	if (isfinite(v))
		fprintf(f, " %.10g", v);
	else
		fprintf(f, " NaN");
}

/* A panel's place: column 0 or 1 of 2, or 0 of 1; line 0 is at the top. */
static void put_place(FILE *f, size_t line, size_t lines, size_t column, size_t columns)
{
	fprintf(f, "set origin %g,%g\nset size %g,%g\n", (double)column / columns,
		(double)(lines - 1 - line) / lines, 1.0 / columns, 1.0 / lines);
}

static void put_unit(FILE *f, const struct mp_compare *c)
{
	fprintf(f, "set ylabel '%s/page'\n", strcmp(mp_table_unit(c), "insn") ? "ns" : "insn");
}

/* One line a row: its name and the floor of every kernel. */
static void put_phases(FILE *f, const struct mp_compare *c)
{
	double low = INFINITY, high = 0;
	char name[MP_ROW_NAME_LEN];

	fprintf(f, "$phases << EOD\n");
	for (size_t i = 0; i < c->nrows; i++) {
		fputc('"', f);
		mp_plot_text(f, mp_table_row_name(&c->row[i], name));
		fputc('"', f);
		for (size_t k = 0; k < c->nkernels; k++) {
			double v = mp_metric_value(&mp_metrics[0], &c->row[i], k);

			mp_plot_number(f, v);
			low = v > 0 ? fmin(low, v) : low;
			high = fmax(high, v);
		}
		fputc('\n', f);
	}
	fprintf(f, "EOD\n");
	fprintf(f, "set title 'cost of each phase (floor)'\n");
	put_unit(f, c);
	fprintf(f, "set xtics rotate by -25 scale 0\nset xrange [-0.6:%g]\n", c->nrows - 0.4);
	if (high > LINEAR * low)
		fprintf(f, "set logscale y\nset yrange [*:*]\n");
	else
		fprintf(f, "set yrange [0:*]\n");
	fprintf(f, "set key outside right top vertical\nplot");
	for (size_t k = 0; k < c->nkernels; k++) {
		double width = 0.8 / c->nkernels;

		fprintf(f, "%s $phases using ($0+(%g)):%zu%s with %s lc %zu title '",
			k ? "," : "", (k + 0.5) * width - 0.4, k + 2, k ? "" : ":xtic(1)",
			high <= LINEAR * low ? "boxes" : k < COLOURS ? "points pt 7 ps 1.2" :
			"points pt 4 ps 1.2", k + 1);
		mp_plot_text(f, c->kernel[k].name);
		fputc('\'', f);
	}
	fprintf(f, "\nunset logscale y\nset xtics norotate autofreq scale 1\n");
}

/* A line a process: where it is drawn, median, floor, upper quartile. */
static int put_processes(FILE *f, const struct mp_workload *w, const struct mp_row *row,
			 unsigned int *x)
{
	for (uint32_t i = 0; i < w->nprocess; i++) {
		const struct mp_series *s = &w->process[i].phase[row->phase];
		struct mp_stats st;
		double *v;

		if (!s->nkept)
			continue;
		v = malloc(s->nkept * sizeof(*v));
		if (!v)
			return -1;
		memcpy(v, s->kept, s->nkept * sizeof(*v));
		st = mp_stats_of(v, s->nkept);
		fprintf(f, "%u", ++*x);
		mp_plot_number(f, st.median / w->pages);
		mp_plot_number(f, st.floor / w->pages);
		mp_plot_number(f, mp_stats_quantile(v, s->nkept, 0.75) / w->pages);
		fputc('\n', f);
		free(v);
	}
	return 0;
}

/* The processes of all boots of a kernel, a gap between boots. */
static int put_kernel(FILE *f, const struct mp_compare *c, const struct mp_row *row, size_t k,
		      unsigned int *x)
{
	fprintf(f, "$k%zu << EOD\n", k);
	for (size_t i = 0; i < c->nboots; i++) {
		const struct mp_workload *w = mp_compare_workload(c, i, row);

		if (c->of[i] != k || !w)
			continue;
		if (put_processes(f, w, row, x))
			return -1;
		++*x;
	}
	/* gnuplot will not have a block without a number in it */
	fprintf(f, "NaN NaN NaN NaN\nEOD\n");
	return 0;
}

static int put_row(FILE *f, const struct mp_compare *c, const struct mp_row *row)
{
	char name[MP_ROW_NAME_LEN];
	unsigned int x = 0;

	for (size_t k = 0; k < c->nkernels; k++) {
		if (put_kernel(f, c, row, k, &x))
			return -1;
	}
	fprintf(f, "set title '");
	mp_plot_text(f, mp_table_row_name(row, name));
	fprintf(f, "'\nset xlabel 'process: median, and from floor to upper quartile'\n");
	fprintf(f, "set xrange [0:%u]\nset yrange [*:*]\nset key off\nplot", x + 1);
	for (size_t k = 0; k < c->nkernels; k++) {
		fprintf(f, "%s $k%zu using 1:2:3:4 with yerrorbars pt 7 ps 0.5 lc %zu",
			k ? "," : "", k, k + 1);
	}
	fprintf(f, "\n");
	return 0;
}

/* What cannot be told comes after all that can. */
static double change_of(const struct mp_row *row)
{
	double change = fabs(row->whole.delta[MP_FLOOR]);

	return isnan(change) ? -1 : change;
}

/* Is this row among those that changed most? */
static bool drawn(const struct mp_compare *c, size_t row)
{
	double change = change_of(&c->row[row]);
	size_t before = 0;

	for (size_t i = 0; i < c->nrows; i++) {
		double other = change_of(&c->row[i]);

		before += other > change || (other == change && i < row);
	}
	return before < MP_PLOT_PANELS;
}

int mp_plot_script(FILE *f, const struct mp_compare *c, bool svg)
{
	size_t panels, lines, at = 0;
	struct mp_plot_curves curves;

	mp_plot_choose(c, &curves);
	panels = curves.nsize + curves.ntask;
	for (size_t i = 0; i < c->nrows; i++)
		panels += drawn(c, i);
	lines = 1 + (panels + 1) / 2;
	if (svg)
		fprintf(f, "set terminal svg noenhanced size %d,%zu background 'white'\n", WIDTH,
			lines * HEIGHT);
	else
		fprintf(f, "set terminal pngcairo noenhanced size %d,%zu\n", WIDTH, lines * HEIGHT);
	fprintf(f, "set multiplot\nset style fill solid 0.7\nset boxwidth %g\nset grid y\n",
		0.8 / c->nkernels);
	put_place(f, 0, lines, 0, 1);
	put_phases(f, c);
	for (size_t i = 0; i < curves.nsize; i++, at++) {
		put_place(f, 1 + at / 2, lines, at % 2, 2);
		mp_plot_size(f, c, curves.size[i]);
	}
	for (size_t i = 0; i < curves.ntask; i++, at++) {
		put_place(f, 1 + at / 2, lines, at % 2, 2);
		mp_plot_task(f, c, curves.task[i]);
	}
	put_unit(f, c);
	for (size_t i = 0; i < c->nrows; i++) {
		if (!drawn(c, i))
			continue;
		put_place(f, 1 + at / 2, lines, at % 2, 2);
		if (put_row(f, c, &c->row[i]))
			return -1;
		at++;
	}
	fprintf(f, "unset multiplot\n");
	return 0;
}

/* Files without a name, for what gnuplot reads and what it says. */
static int script_file(const struct mp_compare *c, bool svg, struct mp_err *err)
{
	int fd = memfd_create("gnuplot", MFD_CLOEXEC);
	int other = fd < 0 ? -1 : dup(fd);
	FILE *f = other < 0 ? NULL : fdopen(other, "w");
	int bad;

	if (f) {
		bad = mp_plot_script(f, c, svg);
		bad |= ferror(f);
		bad |= fclose(f);
		if (!bad && !lseek(fd, 0, SEEK_SET))
			return fd;
	}
	if (fd >= 0)
		close(fd);
	return mp_error(err, "no memory for the script of the picture");
}

static int start(int in, int out, int complaints, pid_t *pid)
{
	static const char *const argv[] = { "gnuplot", "-d", NULL };
	posix_spawn_file_actions_t files;
	int ret;

	ret = posix_spawn_file_actions_init(&files);
	if (ret)
		return ret;
	ret = posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
	if (!ret)
		ret = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	if (!ret)
		ret = posix_spawn_file_actions_adddup2(&files, complaints, STDERR_FILENO);
	if (!ret)
		ret = posix_spawnp(pid, argv[0], &files, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&files);
	return ret;
}

/* Return: what waitpid() says; a program that hangs is killed. */
static int wait_for(pid_t pid)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	int status = -1;

	for (int i = 0; i < DEADLINE * 100; i++) {
		pid_t done = waitpid(pid, &status, WNOHANG);

		if (done == pid)
			return status;
		if (done < 0 && errno != EINTR)
			return -1;
		nanosleep(&pause, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return status;
}

/* The first line with words in it. */
static void complain(int fd, int status, struct mp_err *err)
{
	char text[512], *p = text;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	p += strspn(p, " \t\n^");
	p[strcspn(p, "\n")] = '\0';
	mp_error(err, "gnuplot failed (%s %d): %.180s",
		 WIFSIGNALED(status) ? "signal" : "exit status",
		 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
		 *p ? mp_table_clean(p) : "it does not say why");
}

static int draw(int script, int complaints, int fd, struct mp_err *err)
{
	pid_t pid;
	int ret = start(script, fd, complaints, &pid);

	if (ret == ENOENT)
		return mp_error(err, "no gnuplot here; install it (gnuplot-nox) or take --tsv");
	if (ret)
		return mp_error(err, "cannot run gnuplot: %s", strerror(ret));
	ret = wait_for(pid);
	/* It may fail to draw and still leave with 0. */
	if (!ret && lseek(fd, 0, SEEK_END) > 0)
		return 0;
	complain(complaints, ret, err);
	return -1;
}

int mp_plot_draw(const struct mp_compare *c, const char *name, int fd, struct mp_err *err)
{
	bool svg = !strcmp(name + strlen(name) - 4, ".svg");
	int script = script_file(c, svg, err);
	int complaints, ret;

	if (script < 0)
		return -1;
	complaints = memfd_create("gnuplot-says", MFD_CLOEXEC);
	if (complaints < 0)
		ret = mp_error(err, "no memory for what gnuplot says");
	else
		ret = draw(script, complaints, fd, err);
	if (complaints >= 0)
		close(complaints);
	close(script);
	return ret;
}
