// SPDX-License-Identifier: GPL-2.0
/*
 * A run as a comparison of one kernel with nothing: the panels are the same.
 */
#include <string.h>

#include "mprotect_perf_picture.h"
#include "mprotect_perf_plot.h"

static int take_samples(struct mp_boot *b, const struct mp_session *ses, struct mp_err *err)
{
	unsigned int i;
	size_t k;

	for (k = 0; k < ses->facts->nfact; k++)
		if (mp_boot_add_fact(b, ses->facts->fact[k].key, ses->facts->fact[k].value, err))
			return -1;
	for (i = 0; i < ses->nrows; i++)
		for (k = 0; k < ses->row[i].n; k++)
			if (mp_boot_add_sample(b, &ses->row[i].sample[k], err))
				return -1;
	return 0;
}

/* The comparison has the boot from then on, also on failure. */
static int fill(struct mp_compare *c, const struct mp_session *ses, struct mp_err *err)
{
	struct mp_boot *b = mp_boot_new("this run", err);

	if (!b)
		return -1;
	if (take_samples(b, ses, err)) {
		mp_boot_free(b);
		return -1;
	}
	if (mp_compare_add(c, b, NULL, err))
		return -1;
	return mp_compare_look(c, ses->opts.seed, err);
}

int mp_picture_draw(struct mp_session *ses, struct mp_err *err)
{
	struct mp_compare c;
	int ret;

	memset(&c, 0, sizeof(c));
	ret = fill(&c, ses, err);
	if (!ret)
		ret = mp_plot_draw(&c, ses->opts.plot, ses->plot.fd, err);
	if (!ret)
		ret = mp_new_file_publish(&ses->plot, err);
	mp_compare_free(&c);
	return ret;
}
