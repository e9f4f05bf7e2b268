# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Records whose figures are known. Sourced after lib.sh.
: "${tmp:?}"

# What a record is made with, unless a test says otherwise.
procs=15
cycles=100
noise=0.001
# shellcheck disable=SC2034 # the tests use it
facts='unit=ns page_size=4096 arch=x86_64 model=EPYC clocksource=tsc hypervisor=no'

# record FILE FACTS LOAD...: a LOAD is SCENARIO:PAGES:PROTECT:TOUCH[:FAULTS], the
# times of a page, "-" for a phase that there is not. Processes lie 0.05 % below,
# at and above that, cycles in a pattern of -2 -1 0 1 2 parts of the noise: the
# mean of 15 processes is what was asked for. Written as $tmp/FILE.
record()
{
	_file=$tmp/$1
	_facts=$2
	shift 2
	awk -v facts="$_facts" -v loads="$*" -v procs="$procs" -v cycles="$cycles" \
		-v noise="$noise" '
	function around(cost, p, i) {
		return cost * (1 + 0.0005 * (p % 3 - 1)) * (1 + noise * (i * 7 % 5 - 2)) + 0.5
	}
	BEGIN {
		print "mprotect_perf-record 1"
		# a backslash has been taken by -v
		print "env " facts
		n = split(loads, load, " ")
		for (l = 1; l <= n; l++) {
			split(load[l], f, ":")
			for (p = 0; p < procs; p++)
				for (i = 0; i < cycles; i++) {
					printf "sample scenario=%s proc=%d cycle=%d", f[1], p, i
					printf " pages=%d calls=1", f[2]
					if (f[3] != "-")
						printf " protect=%d protect_csw=0",
							around(f[3] * f[2], p, i)
					if (f[4] != "-")
						printf " touch=%d touch_faults=%d",
							around(f[4] * f[2], p, i), f[5]
					print ""
				}
		}
		print "end samples=" n * procs * cycles
	}' >"$_file"
}
