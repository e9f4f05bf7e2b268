// SPDX-License-Identifier: GPL-2.0
/*
 * A program for tests/settings.t: it makes settings right, says "ready", waits
 * for SIGUSR1, and ends in the way that it was told to.
 *
 *	settings_prog END NEEDS
 *
 * NEEDS is a number, the sum of MP_NEED_* bits. END is one of
 *	missing	changes nothing, says what is missing: exit status 1 then
 *	restore	puts back, twice, and says on stdout what it failed to do
 *	twice	allows once more before that
 *	again	puts back, and allows and puts back once more
 *	leave	exit(1), and nothing is put back by it
 *	child	as leave, with a child that lives on; its number follows "ready"
 *
 * It does not tell whether anything is in effect: the test looks for itself.
 *
 * Sources: mprotect_perf_settings.c
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mprotect_perf_settings.h"

static int restore(void)
{
	struct mp_err err;

	if (!mp_settings_restore(&err))
		return 0;
	printf("%s\n", err.text);
	return 1;
}

static int allow(unsigned int needs)
{
	struct mp_err err;

	if (!mp_settings_allow(needs, &err))
		return 0;
	printf("%s\n", err.text);
	return 1;
}

static pid_t live_on(void)
{
	pid_t pid = fork();

	if (!pid) {
		mp_settings_child();
		/* What it calls by mistake must not end what the parent needs. */
		if (restore())
			_exit(1);
		pause();
		_exit(0);
	}
	return pid;
}

static int end(const char *how, unsigned int needs)
{
	int bad = 0;

	if (!strcmp(how, "leave") || !strcmp(how, "child"))
		exit(1);
	if (!strcmp(how, "twice"))
		bad |= allow(needs);
	bad |= restore();
	if (!strcmp(how, "again"))
		bad |= allow(needs) | restore();
	/* Nothing is left to be done. */
	return bad | restore();
}

int main(int argc, char **argv)
{
	unsigned int needs = argc == 3 ? (unsigned int)strtoul(argv[2], NULL, 0) : 0;
	struct mp_err why;
	sigset_t go;
	int sig;

	if (argc != 3)
		return 2;
	if (!strcmp(argv[1], "missing")) {
		int missing = mp_settings_missing(needs, &why);

		if (missing)
			printf("%s\n", why.text);
		return missing;
	}
	/* Ignored by what a shell puts in the background, and under nohup. */
	signal(SIGINT, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	sigemptyset(&go);
	sigaddset(&go, SIGUSR1);
	sigprocmask(SIG_BLOCK, &go, NULL);
	if (allow(needs))
		return 1;
	printf("ready %ld\n", strcmp(argv[1], "child") ? 0 : (long)live_on());
	fflush(stdout);
	sigwait(&go, &sig);
	return end(argv[1], needs);
}
