#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# How well does a figure repeat? mprotect_perf, a google/benchmark loop of the
# same workload and stress-ng's, one after the other, N times, the same wall
# time each; then each tool's spread, (max - min) / min, and coefficient of
# variation. "make bench" runs it.
#
#	[NOISE=1] bench.sh [N [SECONDS [SCENARIO...]]]
#
# NOISE: with a neighbour of our own on the same CPU, busy for 20 to 300 ms and
# away for up to a second, as the neighbours of a shared machine are; where the
# others are quiet, every tool repeats.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/lib.sh
. "$here/lib.sh"
: "${build:?}" "${cpu:?}" "${tmp:?}"
n=${1:-10}
seconds=${2:-10}
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- shared-dirty private-none devzero-none one-page

case $n$seconds in
*[!0-9]*) die "usage: bench.sh [N [SECONDS [SCENARIO...]]]" ;;
esac
for tool in stress-ng g++; do
	command -v "$tool" >/dev/null || die "$tool is missing: apt-get install stress-ng g++ libbenchmark-dev"
done
gbench=$build/bench/gbench
if [ -z "$(find "$gbench" -newer "$here/gbench.cc" 2>/dev/null)" ]; then
	g++ -O2 -o "$gbench" "$here/gbench.cc" -lbenchmark -lpthread ||
		die 'google/benchmark is missing: apt-get install libbenchmark-dev'
fi

# shellcheck disable=SC2016 # for the inner shell
neighbour='
	awk "BEGIN { srand(1); for (;;) print 0.02 + 0.28 * rand(), rand() }" |
		while read -r busy away; do
			timeout "$busy" sh -c "while :; do :; done"
			sleep "$away"
		done'

if [ -n "${NOISE-}" ]; then
	# a session of its own: all of it can be killed
	setsid taskset -c "$cpu" sh -c "$neighbour" &
	noise=$!
	trap 'kill -- -"$noise" 2>/dev/null; rm -rf "$tmp"' EXIT
	echo "with a neighbour on CPU $cpu"
fi

# Each prints lines of "NAME VALUE".
ours()
{
	"$build/mprotect-lab" -p -s "$1" --time "$seconds" |
		sed -n 's/^ok [0-9]* perf\.[^.]*\.\([a-z]*\) .*floor=\([0-9.]*\) median=\([0-9.]*\) mean=\([0-9.]*\).*/floor.\1 \2\nmedian.\1 \3\nmean.\1 \4/p' |
		grep -v touch | sed 's/^/mprotect_perf./'
}

google()
{
	taskset -c "$cpu" "$gbench" --benchmark_filter="run/$1" --benchmark_min_time="$seconds" \
		--benchmark_format=csv 2>/dev/null |
		sed -n 's/^"run[^"]*",[0-9]*,\([0-9.e+]*\),\([0-9.e+]*\),.*/google-benchmark.real \1\ngoogle-benchmark.cpu \2/p'
}

stress()
{
	taskset -c "$cpu" stress-ng --mprotect 1 --timeout "${seconds}s" --metrics-brief 2>&1 |
		awk '$4 == "mprotect" || $5 == "mprotect" {
			for (i = 1; i <= NF; i++) if ($i == "mprotect") {
				if ($(i + 5) > 0) print "stress-ng.ops " $(i + 5); exit } }'
}

for scenario; do
	i=0
	load
	: >"$tmp/all"
	while [ "$i" -lt "$n" ]; do
		i=$((i + 1))
		[ ! -t 2 ] || printf '\r%s %d/%d ' "$scenario" "$i" "$n" >&2
		{ ours "$scenario"; google "$scenario"; stress; } >>"$tmp/all"
	done
	[ ! -t 2 ] || printf '\r%40s\r' '' >&2
	echo "$scenario: $n runs of $seconds s each"
	awk '
	{
		if (!($1 in count)) name[++names] = $1
		count[$1]++; sum[$1] += $2; square[$1] += $2 * $2
		if (!($1 in min) || $2 < min[$1]) min[$1] = $2
		if (!($1 in max) || $2 > max[$1]) max[$1] = $2
	}
	END {
		printf "  %-32s %4s %14s %9s %8s\n", "figure", "runs", "mean", "spread%", "cv%"
		for (i = 1; i <= names; i++) {
			k = name[i]; m = sum[k] / count[k]
			v = count[k] > 1 ? (square[k] - count[k] * m * m) / (count[k] - 1) : 0
			spread[k] = 100 * (max[k] - min[k]) / min[k]
			printf "  %-32s %4d %14.3f %9.2f %8.2f\n", k, count[k], m, spread[k],
				100 * sqrt(v > 0 ? v : 0) / m
		}
		s = spread["mprotect_perf.floor.protect"]
		r = spread["mprotect_perf.floor.restore"]
		if (r > s) s = r
		if (s > 0)
			printf "  spread of google/benchmark, real and CPU time, over the larger one of our floors: %.0f, %.0f\n",
				spread["google-benchmark.real"] / s, spread["google-benchmark.cpu"] / s
	}' "$tmp/all"
done
