#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What does the harness cost, and does it change the figures? First the share
# of wall time that is spent inside timed phases; then the floor of the program
# against that of the bare loop of bench/bare.c, one process of each in turn,
# N times. Floors are the program's: of a process, and of the N processes.
#
#	cost.sh [N [SECONDS]]	SECONDS: as for --time; a process gets its part
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/lib.sh
. "$here/lib.sh"
n=${1:-40}
seconds=${2:-10}
case $n$seconds in
*[!0-9]*) die "usage: cost.sh [N [SECONDS]]" ;;
esac
compile "$here/bare.c"
compile "$here/floor.c"
: "${tmp:?}" "${build:?}" "${cpu:?}"

now()
{
	date +%s%N
}

# share SCENARIO: of the wall time of the timed part of a run.
share()
{
	t0=$(now)
	"$build/mprotect-lab" -s "$1" >/dev/null
	t1=$(now)
	"$build/mprotect-lab" -p -s "$1" --time "$seconds" -o "$tmp/share.$1" >/dev/null
	t2=$(now)
	awk -v wall=$((t2 - t1 - (t1 - t0))) -v name="$1" '
		/^sample/ {
			n++
			for (i = 1; i <= NF; i++)
				if ($i ~ /^(protect|restore|touch)=/) {
					split($i, a, "="); sum += a[2]
				}
			if (!($3 in seen)) { seen[$3]; procs++ }
		}
		END { printf "  %-16s %5.1f %% of %.1f s (%d cycles in %d processes)\n",
			name, 100 * sum / wall, wall / 1e9, n, procs }' "$tmp/share.$1"
}

# pairs SCENARIO shared|private BYTES
pairs()
{
	i=0
	while [ "$i" -lt "$n" ]; do
		i=$((i + 1))
		"$build/mprotect-lab" -p -s "$1" --time "$seconds" --procs 1 \
			-o "$tmp/A.$i" >/dev/null
		"$build/bench/bare" "$cpu" "$2" "$3" "$part" 1 1000000 >"$tmp/B.$i"
		"$build/bench/floor" figures "$tmp/A.$i" "$tmp/B.$i"
		rm "$tmp/A.$i" "$tmp/B.$i"
	done >"$tmp/figures"
	echo "  $1:"
	for phase in protect restore touch; do
		for side in A B; do
			grep "/$side\..* $phase " "$tmp/figures" | awk '{ print $4 }' |
				sort -n >"$tmp/$side"
		done
		awk -v phase="$phase" '
			FILENAME ~ /A$/ { a[++na] = $1; next }
			{ b[++nb] = $1 }
			END {
				x = a[int((na - 1) / 5) + 1]; y = b[int((nb - 1) / 5) + 1]
				printf "    %-8s %9.3f %9.3f %+8.2f\n", phase, x, y, 100 * (x / y - 1)
			}' "$tmp/A" "$tmp/B"
	done
}

load
echo "share of wall time inside timed phases:"
for row in shared-dirty private-none devzero-none one-page; do
	share "$row"
done
# What the program gives a process of --time.
part=$(awk -v s="$seconds" 'BEGIN { s /= 24; print (s < 0.05 ? 0.05 : s > 1 ? 1 : s) }')
printf 'floor in ns per page of %d processes of each, in turn:\n' "$n"
printf '             %9s %9s %8s\n' program bare 'diff%'
pairs shared-dirty shared 67108864
pairs private-dirty private 67108864
load
