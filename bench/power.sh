#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# How often is a verdict wrong? Real runs of shared-dirty, of the program as
# it is and of one that maps 2, 5 and 10 % more pages than it divides by (see
# tests/power_pages.c), one of each in turn; then
#
#   - false alarms: random ordered pairs of equal runs, at threshold 5;
#   - power: random pairs of a run as it is and a slower one;
#   - the same as live runs with --baseline, where a run that is not sure goes
#     on until its time is used up.
#
# Pairs share runs and are not independent of each other; runs are.
#
#	power.sh [RUNS [SECONDS [VERDICTS [LIVE]]]]
#
# The records stay in build/power; such as are there already are not made
# again. 25 runs of each kind and 20 live ones of ten seconds take 30 minutes.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/lib.sh
. "$here/lib.sh"
: "${build:?}" "${tmp:?}"

top=$here/..
runs=${1:-25}
seconds=${2:-10}
verdicts=${3:-200}
live=${4:-20}
case $runs$seconds$verdicts$live in
*[!0-9]*) die "usage: power.sh [RUNS [SECONDS [VERDICTS [LIVE]]]]" ;;
esac
dir=$build/power
mkdir -p "$dir"

# The program itself, with one function wrapped.
slower()
{
	gcc -O2 -Wall -Wextra -I"$top/lab" -c -o "$dir/pages.o" \
		"$top/tests/power_pages.c" || die "power_pages.c does not compile"
	KSRC=$("$top/scripts/fetch-ksrc.sh")
	export KSRC
	dir=$(cd "$dir" && pwd)
	BUILD=$dir LABLDFLAGS="-Wl,--wrap=mp_map_open $dir/pages.o" "$top/scripts/build.sh"
	perf=$dir/mprotect-lab
}

# run PERCENT RUN: its record, made at once or not at all.
run()
{
	_rec=$dir/$1.$2.rec
	[ ! -e "$_rec" ] || return 0
	rm -f "$tmp/record"
	MORE_PAGES=$1 "$perf" -p -s shared-dirty --time "$seconds" -o "$tmp/record" \
		>"$tmp/out" || { cat "$tmp/out" >&2; die "a run failed"; }
	mv "$tmp/record" "$_rec"
}

# pairs BASE HEAD: so many, each of another run.
pairs()
{
	awk -v n="$verdicts" -v runs="$runs" -v a="$1" -v b="$2" -v dir="$dir" 'BEGIN {
		srand(1)
		while (n > 0) {
			i = int(rand() * runs) + 1; j = int(rand() * runs) + 1
			if (a == b && i == j) continue
			printf "%s/%d.%d.rec %s/%d.%d.rec\n", dir, a, i, dir, b, j
			n--
		}
	}'
}

# PHASE VERDICT CHANGE WIDTH lines to a table; of the latter two the medians
table()
{
	sort -k 3,3g >"$tmp/by-change"
	sort -k 4,4g "$tmp/by-change" | awk -v title="$1" '
		FNR == NR { change[$1, ++seen[$1]] = $3; next }
		{ width[$1, ++n[$1]] = $4; count[$1, $2]++ }
		END {
			split("protect restore touch", phase, " ")
			for (i = 1; i <= 3; i++) {
				p = phase[i]
				if (n[p])
					printf "%-34s %-8s %5d %5d %9d %10d %13d %+8.2f %7.2f\n",
						title, p, n[p], count[p, "OK"], count[p, "IMPROVED"],
						count[p, "REGRESSED"], count[p, "INCONCLUSIVE"],
						change[p, int((n[p] + 1) / 2)],
						width[p, int((n[p] + 1) / 2)]
			}
		}' "$tmp/by-change" -
}

# judged THRESHOLD PERCENT
judged()
{
	pairs 0 "$2" | "$build/bench/power" "$1" >"$dir/verdicts.$1.$2" ||
		die "a verdict failed"
	awk '{ print $3, $4, $5, $7 - $6 }' "$dir/verdicts.$1.$2" |
		table "+$2 % pages, threshold $1 %"
}

# lived THRESHOLD PERCENT: true runs against a recorded one
lived()
{
	i=0
	while [ "$i" -lt "$live" ]; do
		i=$((i + 1))
		MORE_PAGES=$2 "$perf" -p -s shared-dirty --time "$seconds" \
			--baseline "$dir/0.$((i % runs + 1)).rec" --threshold "$1" --severity warn |
			sed -n 's/.*perf\.shared-dirty\.\([a-z]*\) .* \([A-Z]*\): floor \([-+0-9.]*\)% (\([-+0-9.]*\) to \([-+0-9.]*\)).*/\1 \2 \3 \4 \5/p' |
			awk '{ print $1, $2, $3, $5 - $4 }'
	done >"$dir/live.$1.$2"
	table "+$2 % pages, threshold $1 %, live" <"$dir/live.$1.$2"
}

compile "$top/tests/power.c"
slower
i=0
load
while [ "$i" -lt "$runs" ]; do
	i=$((i + 1))
	for percent in 0 2 5 10; do
		run "$percent" "$i"
	done
	[ $((i % 5)) -ne 0 ] || load
done
printf '%-34s %-8s %5s %5s %9s %10s %13s %8s %7s\n' "" phase pairs OK IMPROVED REGRESSED \
	INCONCLUSIVE change% width%
judged 5 0
judged 3 0
judged 5 2
judged 3 5
judged 3 10
[ "$live" -eq 0 ] || {
	lived 5 0
	lived 5 2
	lived 3 5
	lived 3 10
	load
}
