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
#	SMP		processors of a guest; default 1
#	SCENARIOS	as for mprotect_perf -s; default: all
#	OPTIONS		more words for mprotect_perf: --tasks 1,2
#	NOBOOT		set: make the table anew from the records of last time
#	STEP		from how many per cent on a change is listed; default 2
#
# Everything goes to build/scan/ARCH[-FLAVOUR][-smpN]/: records and consoles,
# table.txt, table.tsv with all figures, and history.svg where there is gnuplot.
# What is there from last time stays until the new table is made, and for good
# where a release that has a record from then does not boot now: the table says
# so. Of a boot without a record there are KERNEL.failed.console and .status.
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
build=$(cd "${BUILD:-$root/build}" && pwd) || die "run make first"
: "${KERNELS:=6.12 6.16 6.17 6.18 6.19 7.0 7.1 7.2 7.3}"
: "${ARCH:=$(dpkg --print-architecture 2>/dev/null || echo amd64)}"
: "${FLAVOUR:=}" "${SMP:=1}" "${SCENARIOS:=}" "${OPTIONS:=}" "${STEP:=2}"
out=$build/scan/$ARCH${FLAVOUR:+-$FLAVOUR}
[ "$SMP" = 1 ] || out=$out-smp$SMP
judge=$build/mprotect-lab
[ -x "$judge" ] || die "no $judge: run make first"
failed='' booting='' tmp=''

clean_up()
{
	trap '' HUP INT TERM
	[ -z "$booting" ] || kill "$booting" 2>/dev/null || :
	wait
	[ -z "$tmp" ] || rm -rf "$tmp"
}

# stage: a copy of the last results, in which all is made anew.
stage()
{
	mkdir -p "$build/scan"
	# left behind by SIGKILL: a copy, or the results between two names
	find "$build/scan" -maxdepth 1 -name '.new.*' -mtime +0 -exec rm -rf {} +
	[ -e "$out" ] || [ ! -d "$out.old" ] || mv "$out.old" "$out"
	tmp=$(mktemp -d "$build/scan/.new.XXXXXX")
	new=$tmp/new
	mkdir "$new" "$tmp/boot"
	[ ! -d "$out" ] || cp -a "$out/." "$new/"
	rm -f "$new"/table.* "$new/history.svg" "$new/compare.ktap"
}

# keep: what is staged takes the place of the last results.
keep()
{
	trap '' HUP INT TERM
	rm -rf "$out.old"
	[ ! -e "$out" ] || mv "$out" "$out.old"
	mv "$new" "$out"
	rm -rf "$out.old"
}

# give_up WHY: the last results stay, and the consoles are to be seen.
give_up()
{
	rm -rf "$out.failed"
	mv "$new" "$out.failed"
	die "$*; $out is as it was, what was tried is in $out.failed"
}

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

# has_option WORD: the program may be one of another machine, or an older one.
has_option()
{
	grep -qa -e "$1" "$program"
}

# boot: every kernel once; one that fails is told, and the others go on.
boot()
{
	find_program
	set --
	for _kernel in $KERNELS; do
		case $_kernel in
		*-*) _spec=$_kernel ;;
		*) _spec=$_kernel${FLAVOUR:+-$FLAVOUR} ;;
		esac
		if _image=$("$root/vmtest/fetch-kernel.sh" --arch "$ARCH" "$_spec")
		then
			set -- "$@" "$_kernel=$_image"
		else
			failed=1
		fi
	done
	[ $# -gt 0 ] || give_up "no kernel to boot"
	set -- "$@" -- -p ${SCENARIOS:+-s "$SCENARIOS"}
	! has_option allow-settings || set -- "$@" --allow-settings
	# In the background, so that a signal to us does not wait for its end.
	# shellcheck disable=SC2086 # words
	"$root/vmtest/vmtest.sh" --arch "$ARCH" --program "$program" \
		--smp "$SMP" --no-compare --settle 5 --out "$tmp/boot" "$@" \
		$OPTIONS --procs 1 --cycles 12 --warmup 3 &
	booting=$!
	wait "$booting" || failed=1
	booting=
}

# take: what the boots have left. A record that came is whole, even if not all
# rows in it passed: then .status says so. Without one, that of last time stays.
take()
{
	for _kernel in $KERNELS; do
		rm -f "$new/$_kernel.failed".*
		if [ -s "$tmp/boot/$_kernel.1.rec" ]; then
			rm -f "$new/$_kernel".1.*
			mv "$tmp/boot/$_kernel".1.* "$new/"
			continue
		fi
		echo "fault=not booted" >"$new/$_kernel.failed.status"
		for _what in console status; do
			[ ! -f "$tmp/boot/$_kernel.1.$_what" ] ||
				mv "$tmp/boot/$_kernel.1.$_what" \
					"$new/$_kernel.failed.$_what"
		done
	done
}

# figures: the table of all figures, and the plot, by the program.
figures()
{
	set --
	for _kernel in $KERNELS; do
		if [ -s "$new/$_kernel.1.rec" ]; then
			set -- "$@" "$_kernel=$_kernel.1.rec"
		else
			echo "scan: $_kernel: no record" >&2
		fi
	done
	[ $# -gt 1 ] || give_up "there are not two records to compare"
	if command -v gnuplot >/dev/null 2>&1; then
		set -- "$@" --plot history.svg
	fi
	(cd "$new" && "$judge" -c --severity warn --tsv table.tsv "$@") \
		>"$new/compare.ktap" 2>&1 || :
	[ -s "$new/table.tsv" ] || give_up "$(tail -n 1 "$new/compare.ktap")"
}

# compiler RECORD: "gcc-14 14.2.0", from the kernel's own /proc/version.
compiler()
{
	_ver='[0-9]+\.[0-9]+\.[0-9]+'
	sed -nE '/^env kernel=/{
		s/.*[( ]([a-z0-9_]+-)*((gcc|clang)(-[0-9]+)?) \(?.*[ )]('"$_ver"')[,) ].*/\2 \5/p
	}' "$1" | head -n 1
}

# fault NAME: what .status says went wrong.
fault()
{
	sed -n 's/^fault=//p' "$new/$1.status" 2>/dev/null
}

# What the table is of. Another compiler makes other instructions of the same
# source: such a step is not the kernel's alone, and the table says so.
head_lines()
{
	echo "# mprotect() on $ARCH, instructions per page (floor), $(date -u +%F)"
	_before=
	for _kernel in $KERNELS; do
		_rec=$new/$_kernel.1.rec
		if [ ! -s "$_rec" ]; then
			[ ! -f "$new/$_kernel.failed.status" ] ||
				echo "# $_kernel: not here: $(fault "$_kernel.failed")"
			continue
		fi
		_cc=$(compiler "$_rec")
		_line="# $_kernel: $(sed -n 's/^package=//p' \
			"$new/$_kernel.1.status"), $_cc"
		[ -n "$_before" ] || echo "# mprotect_perf $(
			sed -n 's/^env options="*\([^"]*\).*/\1/p' "$_rec")"
		[ "$_cc" = "${_before:-$_cc}" ] ||
			_line="$_line  <- another compiler than before"
		_fault=$(fault "$_kernel.1")
		[ -z "$_fault" ] || _line="$_line  <- $_fault"
		[ ! -f "$new/$_kernel.failed.status" ] || _line="$_line
#	<- as of $(date -u -r "$_rec" '+%F %H:%M'); now: $(fault "$_kernel.failed")"
		echo "$_line"
		_before=$_cc
	done
}

# rows: lines "ROW KERNEL FLOOR SD" of table.tsv, fields between tabs; a row is
# named as the program names it, by what several of a scenario differ in. Columns
# are found by their names, since there may come to be more of them.
rows()
{
	_page=$(sed -n 's/^env page_size=//p' "$new"/*.1.rec | head -n 1)
	awk -F '\t' -v page="$_page" '
	function field(name) { return name in col ? $col[name] : "" }
	function size(i,	kib) {
		kib = pages[i] / calls[i] * page / 1024
		return kib >= 1024 && kib % 1024 == 0 ? kib / 1024 "MiB" : kib "KiB"
	}
	# count KIND SCENARIO VALUE: how many different values there are
	function count(kind, sc, value) {
		if (!((kind, sc, value) in seen))
			many[kind, sc]++
		seen[kind, sc, value] = 1
	}
	NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
	{
		n++
		sc[n] = field("scenario"); phase[n] = field("phase")
		pages[n] = field("pages"); calls[n] = field("calls")
		tasks[n] = field("tasks"); kernel[n] = field("kernel")
		value[n] = field("floor"); sd[n] = field("floor_sd")
		count("size", sc[n], pages[n] " " calls[n])
		count("tasks", sc[n], tasks[n])
		count("calls", sc[n] " " size(n), calls[n])
	}
	END {
		for (i = 1; i <= n; i++) {
			row = sc[i]
			if (many["size", sc[i]] > 1)
				row = row "@" size(i)
			if (many["calls", sc[i] " " size(i)] > 1)
				row = row "x" calls[i]
			if (many["tasks", sc[i]] > 1)
				row = row "*" tasks[i]
			print row "." phase[i] "\t" kernel[i] "\t" value[i] "\t" sd[i]
		}
	}' "$new/table.tsv"
}

# table: of what rows says. A kernel without a row has "-"; the next step of this
# row is that from the last kernel which has it.
table()
{
	awk -F '\t' -v wide=24 '
	{
		row = $1; k = $2
		if (!(row in seen)) { seen[row] = 1; name[++nrows] = row }
		if (!(k in known)) { known[k] = 1; kernels[++nk] = k }
		if (length(row) > wide) wide = length(row)
		floor[row, k] = $3
	}
	function step(row, i,	b, s) {
		b = floor[row, kernels[i]]
		while (--i && floor[row, kernels[i]] == "")
			;
		if (b == "" || !i || floor[row, kernels[i]] == 0)
			return ""
		s = 100 * (b / floor[row, kernels[i]] - 1)
		return s < 0.05 && s > -0.05 ? "=" : sprintf("%+.1f%%", s)
	}
	function show(row,	i, s, line) {
		line = sprintf(left, row)
		for (i = 1; i <= nk; i++) {
			s = floor[row, kernels[i]]
			if (s != "")
				s = sprintf(s > 0 && s < 1 ? "%.3f" : "%.1f", s)
			line = line sprintf(" %9s", s == "" ? "-" : s)
		}
		print line
		line = sprintf(left " %9s", "", "")
		for (i = 2; i <= nk; i++)
			line = line sprintf(" %9s", step(row, i))
		sub(/ +$/, "", line)
		print line
	}
	END {
		left = "%-" wide "s"
		line = sprintf(left, "")
		for (i = 1; i <= nk; i++)
			line = line sprintf(" %9s", kernels[i])
		print line
		for (i = 1; i <= nrows; i++)
			show(name[i])
	}'
}

# steps: those in what rows says that are no less than $STEP, in the order of the
# releases. A row may vary from cycle to cycle on one kernel, and repeat exactly.
steps()
{
	echo "Steps of $STEP % and more, at the release that has them:"
	awk -F '\t' -v least="$STEP" -v wide=24 '
	!($2 in known) { known[$2] = 1; kernels[++nk] = $2 }
	length($1) > wide { wide = length($1) }
	$3 == "" { next }
	{
		# The last field is in per cent.
		variance = ($3 * $4 / 100) ^ 2
		s = last[$1] > 0 ? 100 * ($3 / last[$1] - 1) : 0
		if (s && (s >= least || s <= -least)) {
			n = ++found[$2]
			line[$2, n] = $1 "\t" last[$1] "\t" $3 "\t" s "\t" kernel[$1]
			if (($3 - last[$1]) ^ 2 <= 9 * (variance + was[$1]))
				line[$2, n] = line[$2, n] "\t  (its cycles differ as much)"
		}
		last[$1] = $3; was[$1] = variance; kernel[$1] = $2
	}
	function figure(v) { return sprintf(v < 1 ? "%.3f" : "%.1f", v) }
	END {
		form = "%-7s %-" wide "s %9s -> %9s  %+7.1f%%%s%s\n"
		for (i = 2; i <= nk; i++)
			for (j = 1; j <= found[kernels[i]]; j++) {
				split(line[kernels[i], j], f, "\t")
				printf form, kernels[i], f[1], figure(f[2]),
					figure(f[3]), f[4], f[5] == kernels[i - 1] ? "" : \
					"  (since " f[5] ")", f[6]
			}
	}'
}

trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
stage
if [ -z "${NOBOOT-}" ]; then
	boot
	take
fi
figures
{
	head_lines
	echo
	rows >"$tmp/rows"
	table <"$tmp/rows"
	echo
	steps <"$tmp/rows"
} >"$new/table.txt"
keep
cat "$out/table.txt"
echo "scan: $out/table.txt, table.tsv$([ ! -s "$out/history.svg" ] || echo ", history.svg")" >&2
[ -z "$failed" ]
