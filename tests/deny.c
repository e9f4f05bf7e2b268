// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a command under a policy that answers one system call with an errno, as
 * containers and service managers have them:
 *
 *	deny NUMBER[/ARGUMENT/MASK] ERRNO COMMAND...
 *
 * With an argument, calls are answered that have a bit of the mask in it.
 */
#include <err.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned int number, argument = 0, mask = 0;
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = 6, .filter = filter };
	int given;

	if (argc < 4)
		errx(2, "deny NUMBER[/ARGUMENT/MASK] ERRNO COMMAND...");
	given = sscanf(argv[1], "%u/%u/%u", &number, &argument, &mask);
	filter[1].k = number;
	/* the lower half, where that comes first */
	filter[2].k = offsetof(struct seccomp_data, args) + 8 * argument;
	filter[3].k = mask;
	/* without an argument there is nothing to look at */
	if (given == 1) {
		filter[2] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_IMM, 1);
		filter[3].k = 1;
	}
	filter[4].k = SECCOMP_RET_ERRNO | (strtoul(argv[2], NULL, 10) & SECCOMP_RET_DATA);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		err(2, "seccomp");
	execvp(argv[3], argv + 3);
	err(2, "%s", argv[3]);
}
