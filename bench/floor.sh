#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Which estimate of a cost repeats best on a noisy machine? Collects ten runs
# of several rows and sizes, one of each in turn, so that a noisy minute falls
# on all of them, and prints for every candidate and several run lengths how
# far it spread over the runs. bench/FLOOR.md has an outcome and what was
# chosen.
#
#	floor.sh [RUNS [PROCESSES [SECONDS]]]
#
# SECONDS is as for --time: a process gets its part of it. The records stay in
# build/bench/series; such as are there already are not made again.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/lib.sh
. "$here/lib.sh"
: "${build:?}" "${cpu:?}" "${tmp:?}"

runs=${1:-10}
procs=${2:-20}
seconds=${3:-6}
case $runs$procs$seconds in
*[!0-9]*) die "usage: floor.sh [RUNS [PROCESSES [SECONDS]]]" ;;
esac
compile "$here/bare.c"
compile "$here/floor.c"
dir=$build/bench/series
mkdir -p "$dir"

# keep NAME RUN COMMAND...: its record, given as last argument or on stdout.
keep()
{
	_file=$dir/$1.$2.rec
	shift 2
	[ ! -e "$_file" ] || return 0
	rm -f "$tmp/record"
	"$@" || die "failed: $*"
	mv "$tmp/record" "$_file"
}

row()
{
	"$build/mprotect-lab" -p -s "$1" --time "$seconds" --procs "$procs" \
		-o "$tmp/record" >"$tmp/out" || { cat "$tmp/out" >&2; return 1; }
}

# Sizes that no row has; the number of cycles keeps the record small.
size()
{
	"$build/bench/bare" "$cpu" "$1" "$2" "$part" "$procs" 4000 >"$tmp/record"
}

part=$(awk -v s="$seconds" 'BEGIN { s /= 24; print (s < 0.05 ? 0.05 : s > 1 ? 1 : s) }')
rows="shared-dirty private-none devzero-none one-page split-restore"
i=0
load
while [ "$i" -lt "$runs" ]; do
	i=$((i + 1))
	for r in $rows; do
		keep "$r" "$i" row "$r"
	done
	keep bare-4k "$i" size private 4096
	keep bare-400k "$i" size private 409600
	load
done
lengths=$(awk -v n="$procs" 'BEGIN { printf "%d,%d,%d", n / 4, n / 2, n }')
for r in $rows bare-4k bare-400k; do
	echo "== $r"
	"$build/bench/floor" "$lengths" "$dir/$r".*.rec
done
