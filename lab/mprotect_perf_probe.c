// SPDX-License-Identifier: GPL-2.0
/*
 * An access that may be refused, and what the signal said of it.
 */
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

#include "mprotect_perf_probe.h"

static sigjmp_buf back;
static volatile sig_atomic_t caught_signal, caught_code;
static void *volatile caught_addr;

static void caught(int sig, siginfo_t *info, void *context)
{
	(void)context;
	caught_signal = sig;
	caught_code = info->si_code;
	caught_addr = info->si_addr;
	siglongjmp(back, 1);
}

void mp_probe_arm(int on)
{
	/* SA_NODEFER: the jump leaves the handler without unblocking the signal */
	struct sigaction sa = { .sa_flags = SA_SIGINFO | SA_NODEFER };

	if (on)
		sa.sa_sigaction = caught;
	else
		sa.sa_handler = SIG_DFL;
	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
}

static enum mp_access verdict(const void *p)
{
	if (caught_addr != p)
		return MP_ASTRAY;
	if (caught_signal == SIGBUS && caught_code == BUS_ADRERR)
		return MP_STOPPED;
	if (caught_signal != SIGSEGV)
		return MP_ASTRAY;
	if (caught_code == SEGV_ACCERR)
		return MP_REFUSED;
	return caught_code == SEGV_MAPERR ? MP_UNMAPPED : MP_ASTRAY;
}

enum mp_access mp_probe_read(const void *p)
{
	if (sigsetjmp(back, 0))
		return verdict(p);
	(void)*(const volatile uint64_t *)p;
	return MP_ALLOWED;
}

enum mp_access mp_probe_write(void *p, uint64_t value)
{
	if (sigsetjmp(back, 0))
		return verdict(p);
	*(volatile uint64_t *)p = value;
	return MP_ALLOWED;
}
