// SPDX-License-Identifier: GPL-2.0
/*
 * What -h says. mprotect_perf_opts.c takes apart what is named here.
 */
#include "mprotect_perf_opts.h"

const char *mp_opts_help(void)
{
	return
	"usage: mprotect_perf [options]\n"
	"       mprotect_perf -c [options] [LABEL=]FILE [LABEL=]FILE...\n"
	"Without options: validate mprotect() on every scenario, in KTAP.\n"
	"\n"
	"  -l, --list              list the scenarios\n"
	"  -s, --scenario NAME,... only these scenarios ('api': the API cases)\n"
	"  -p, --perf              time the scenarios as well\n"
	"  -v, --verbose           say more in '#' lines\n"
	"      --timeout SECONDS   after which a child hangs (default 60)\n"
	"  -h, --help              this text\n"
	"\n"
	"with -p:\n"
	"      --time SECONDS      at most for all timing (default 5); less when settled\n"
	"      --procs N           N processes of each scenario, however long it takes\n"
	"      --warmup-procs N    processes before them (default 0)\n"
	"      --cycles N          cycles of a process (default: a part of the time)\n"
	"      --warmup N          cycles before them (default 3)\n"
	"      --protocol lin      the v6.17 report's: 3 warm-up and 15 measured processes of\n"
	"                          1000 cycles; the mean of each process, its cv, without the first\n"
	"      --seed N            of the order of the scenarios (default 1)\n"
	"      --cpu N             pin to this CPU (default: the last one allowed)\n"
	"      --unit ns|insn      insn: under QEMU -icount the clock counts instructions\n"
	"  -o, --output FILE       write the raw samples to a new record file\n"
	"      --max PHASE=N,...   limits per page: protect=40,restore=40\n"
	"      --baseline FILE     judge against a record of the same machine\n"
	"      --threshold PCT     what is no change (default 5)\n"
	"      --severity HOW      of REGRESSED: fail, warn, or auto: warn in a virtual machine,\n"
	"                          on a debug kernel, with a coarse clock (default auto)\n"
	"\n"
	"with -c, --compare: records of two or more kernels, base first; a label names a\n"
	"kernel, without one its release and build do; several records are several boots\n"
	"      --threshold PCT, --seed N, -s, -v: as above\n"
	"      --severity warn     REGRESSED is told and no failure\n"
	"      --tsv FILE          write the figures to a new file, a line per row and kernel\n"
	"      --plot FILE         draw them with gnuplot to a new file: .svg or .png\n"
	"      --bisect            exit status for git bisect run: 0 good, 1 regressed,\n"
	"                          125 cannot tell\n"
	"\n"
	"Exit status: 0 all that ran passed, 1 a failure or a usage error, 4 all skipped.\n";
}
