// SPDX-License-Identifier: GPL-2.0
/*
 * vmtest_guest.c - a program that ends in all the ways a guest can go wrong
 *
 * Run by vmtest.t in the place of mprotect_perf; the first argument says how.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void press_sysrq(const char *key)
{
	int fd = open("/proc/sysrq-trigger", O_WRONLY);

	if (fd < 0 || write(fd, key, 1) != 1)
		perror("sysrq");
}

static void use_all_memory(void)
{
	size_t len = 16 << 20;
	char *p;

	for (;;) {
		p = malloc(len);
		if (p)
			memset(p, 1, len);
	}
}

/* Every byte there is, and more than any buffer on the way holds. */
static void write_record(void)
{
	FILE *f = fopen("/tmp/record", "w");
	int i;

	if (!f)
		exit(1);
	for (i = 0; i < 1 << 20; i++)
		putc(i, f);
	fclose(f);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int i;

	for (i = 0; i < argc; i++)
		printf("argument [%s]\n", argv[i]);
	fflush(stdout);
	if (!strcmp(how, "signal"))
		raise(SIGSEGV);
	else if (!strcmp(how, "hang"))
		pause();
	else if (!strcmp(how, "memory"))
		use_all_memory();
	else if (!strcmp(how, "panic"))
		press_sysrq("c");
	else if (!strcmp(how, "reboot"))
		press_sysrq("b");
	else if (!strcmp(how, "fail"))
		return 1;
	else if (!strcmp(how, "skip"))
		return 4;
	else if (!strcmp(how, "bytes"))
		write_record();
	return 0;
}
