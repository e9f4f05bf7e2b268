#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The history of what mprotect() costs: boot a row of releases, and print per
# scenario and phase the instructions per page in each, the step at each release,
# and where the steps were. "make scan" calls this; what it takes is in the
# environment:
#
#	KERNELS		releases in their order: 6.12 6.16-16k ...
#	ARCH		amd64, arm64, ppc64el; default: this machine
#	FLAVOUR		appended to each of KERNELS that has none: 16k, 64k
#	SCENARIOS	as for mprotect_perf -s; default: all
#	NOBOOT		set: make the table anew from the records of last time
#	STEP		from how many per cent on a change is listed; default 2
#
# Everything goes to build/scan/ARCH[-FLAVOUR]/: records and consoles, table.txt,
# table.tsv with all figures, and history.svg where there is gnuplot.
#
# Instructions are not time. What they hide: atomics and other expensive
# instructions, cache and TLB misses, and inter-processor interrupts.

set -eu
LC_ALL=C
export LC_ALL

die()
{
	echo "scan: $*" >&2
	exit 1
}

root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$root/build}
: "${KERNELS:=6.12 6.16 6.17 6.18 6.19 7.0 7.1 7.2 7.3}"
: "${ARCH:=$(dpkg --print-architecture 2>/dev/null || echo amd64)}"
: "${FLAVOUR:=}" "${SCENARIOS:=}" "${STEP:=2}"
out=$build/scan/$ARCH${FLAVOUR:+-$FLAVOUR}
judge=$build/mprotect_perf
[ -x "$judge" ] || die "no $judge: run make first"

# find_program: PROGRAM, or ours for that machine, which "make" has not built.
find_program()
{
	program=${PROGRAM:-$judge}
	if [ -z "${PROGRAM-}" ] &&
	   [ "$ARCH" != "$(dpkg --print-architecture 2>/dev/null)" ]; then
		program=$judge-$ARCH
		"$root/scripts/build.sh" "$ARCH"
	fi
}

# boot: every kernel once; one that fails is told, and the others go on.
boot()
{
	set --
	for _kernel in $KERNELS; do
		case $_kernel in
		*-*) _spec=$_kernel ;;
		*) _spec=$_kernel${FLAVOUR:+-$FLAVOUR} ;;
		esac
		set -- "$@" "$_kernel=debian:$_spec"
	done
	mkdir -p "$out"
	find_program
	"$root/vmtest/vmtest.sh" --arch "$ARCH" --program "$program" \
		--no-compare --settle 5 --out "$out" "$@" -- \
		-p ${SCENARIOS:+-s "$SCENARIOS"} --procs 1 --cycles 12 --warmup 3 ||
		failed=1
}

# figures: the table of all figures, and the plot, by the program.
figures()
{
	set --
	for _kernel in $KERNELS; do
		if [ -s "$out/$_kernel.1.rec" ]; then
			set -- "$@" "$_kernel=$out/$_kernel.1.rec"
		else
			echo "scan: $_kernel: no record, see $out/$_kernel.1.console" >&2
		fi
	done
	[ $# -gt 1 ] || die "there are not two records to compare"
	rm -f "$out/table.tsv" "$out/history.svg"
	if command -v gnuplot >/dev/null 2>&1; then
		set -- "$@" --plot "$out/history.svg"
	fi
	"$judge" -c --severity warn --tsv "$out/table.tsv" "$@" \
		>"$out/compare.ktap" 2>&1 || :
	[ -s "$out/table.tsv" ] || die "$(tail -n 1 "$out/compare.ktap")"
}

# compiler RECORD: "gcc-14 14.2.0", from the kernel's own /proc/version.
compiler()
{
	_ver='[0-9]+\.[0-9]+\.[0-9]+'
	sed -nE '/^env kernel=/{
		s/.*[( ]([a-z0-9_]+-)*((gcc|clang)(-[0-9]+)?) \(?.*[ )]('"$_ver"')[,) ].*/\2 \5/p
	}' "$1" | head -n 1
}

# What the table is of. Another compiler makes other instructions of the same
# source: such a step is not the kernel's alone, and the table says so.
head_lines()
{
	echo "# mprotect() on $ARCH, instructions per page (floor), $(date -u +%F)"
	echo "# mprotect_perf $(sed -n 's/^env options="*\([^"]*\).*/\1/p' \
		"$out"/*.1.rec | head -n 1)"
	_before=
	for _kernel in $KERNELS; do
		[ -s "$out/$_kernel.1.rec" ] || continue
		_cc=$(compiler "$out/$_kernel.1.rec")
		_other=
		[ -z "$_before" ] || [ "$_cc" = "$_before" ] ||
			_other="  <- another compiler than before"
		echo "# $_kernel: $(sed -n 's/^package=//p' \
			"$out/$_kernel.1.status"), $_cc$_other"
		_before=$_cc
	done
}

# table: columns by name, since table.tsv may come to have more of them.
table()
{
	awk -F '\t' -v least="$STEP" '
	NR == 1 {
		for (i = 1; i <= NF; i++)
			col[$i] = i
		next
	}
	{
		row = $col["scenario"] "." $col["phase"]; k = $col["kernel"]
		if (!(row in seen)) { seen[row] = 1; rows[++nrows] = row }
		if (!(k in known)) { known[k] = 1; kernels[++nk] = k }
		floor[row, k] = $col["floor"]
		# floor_sd is in per cent.
		variance[row, k] = ($col["floor"] * $col["floor_sd"] / 100) ^ 2
	}
	function step(row, i,	a, b) {
		a = floor[row, kernels[i - 1]]; b = floor[row, kernels[i]]
		return a == "" || b == "" || a == 0 ? "" : 100 * (b - a) / a
	}
	function show(row,	i, s, line) {
		line = sprintf("%-24s", row)
		for (i = 1; i <= nk; i++)
			line = line sprintf(" %9.1f", floor[row, kernels[i]])
		print line
		line = sprintf("%-24s %9s", "", "")
		for (i = 2; i <= nk; i++) {
			s = step(row, i)
			line = line sprintf(" %9s", s == "" ? "?" : \
				s < 0.05 && s > -0.05 ? "=" : sprintf("%+.1f%%", s))
		}
		print line
	}
	# A row may vary from cycle to cycle on one kernel, and repeat exactly.
	function list(i,	r, s, row, a, b, sure) {
		a = kernels[i - 1]; b = kernels[i]
		for (r = 1; r <= nrows; r++) {
			row = rows[r]; s = step(row, i)
			if (s == "" || s < least && s > -least)
				continue
			sure = (floor[row, b] - floor[row, a]) ^ 2 > \
				9 * (variance[row, a] + variance[row, b])
			printf "%-7s %-24s %9.1f -> %9.1f  %+7.1f%%%s\n", b,
				row, floor[row, a], floor[row, b], s,
				sure ? "" : "  (its cycles differ as much)"
		}
	}
	END {
		line = sprintf("%-24s", "")
		for (i = 1; i <= nk; i++)
			line = line sprintf(" %9s", kernels[i])
		print line
		for (r = 1; r <= nrows; r++)
			show(rows[r])
		print ""
		print "Steps of " least " % and more, at the release that has them:"
		for (i = 2; i <= nk; i++)
			list(i)
	}' "$out/table.tsv"
}

failed=
[ -n "${NOBOOT-}" ] || boot
figures
{
	head_lines
	echo
	table
} >"$out/table.txt"
cat "$out/table.txt"
echo "scan: $out/table.txt, table.tsv$([ ! -s "$out/history.svg" ] || echo ", history.svg")" >&2
[ -z "$failed" ]
