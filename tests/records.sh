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

# record FILE FACTS LOAD...: a LOAD is
# SCENARIO:PAGES:PROTECT:TOUCH[:FAULTS[:TASKS]], the times of a page, "-" for a
# phase that there is not. Processes lie 0.05 % below, at and above that, cycles
# in a pattern of -2 -1 0 1 2 parts of the noise: the mean of 15 processes is what
# was asked for. Of several tasks each does that, one cycle after the other, but
# the last one needs twice as long to begin the next. Written as $tmp/FILE.
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
	function cycle(	protect, touch) {
		protect = f[3] == "-" ? 0 : int(around(f[3] * f[2], p, i))
		touch = f[4] == "-" ? 0 : int(around(f[4] * f[2], p, i))
		printf "sample scenario=%s proc=%d cycle=%d pages=%d calls=1", f[1], p, i, f[2]
		if (tasks > 1)
			printf " tasks=%d task=%d start=%d", tasks, t, start
		if (f[3] != "-")
			printf " protect=%d protect_csw=0", protect
		if (f[4] != "-")
			printf " touch=%d touch_faults=%d", touch, f[5]
		print ""
		start += (protect + touch) * (tasks > 1 && t == tasks - 1 ? 2 : 1)
	}
	BEGIN {
		print "mprotect_perf-record 1"
		# a backslash has been taken by -v
		print "env " facts
		n = split(loads, load, " ")
		for (l = 1; l <= n; l++) {
			split(load[l], f, ":")
			tasks = f[6] ? f[6] : 1
			for (p = 0; p < procs; p++)
				for (t = 0; t < tasks; t++) {
					start = 0
					for (i = 0; i < cycles; i++)
						cycle()
				}
			samples += procs * tasks * cycles
		}
		print "end samples=" samples
	}' >"$_file"
}
