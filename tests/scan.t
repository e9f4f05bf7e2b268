#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# scan.sh: its table, from records whose figures are known. Boots nothing.

set -eu

cd "$(dirname "$0")/.."
# shellcheck source=tests/lib.sh
. tests/lib.sh

dir=$tmp/build/scan/amd64

# record KERNEL PROTECT RESTORE [MORE]: instructions per page, twelve cycles, each
# restore taking MORE per page than the one before. $cc has compiled it.
record()
{
	mkdir -p "$dir"
	{
		echo 'mprotect_perf-record 1'
		echo 'env options="-p of a test"'
		echo 'env unit=insn'
		echo 'env clock_step_ns=1'
		echo "env release=$1"
		echo "env kernel=\"Linux version $1 (a@b) ($cc, GNU ld 2.44) #1\""
		echo 'env arch=x86_64'
		echo 'env page_size=4096'
		echo 'env model="a model"'
		for _cycle in 0 1 2 3 4 5 6 7 8 9 10 11; do
			echo "sample scenario=shared-dirty proc=0" \
				"cycle=$_cycle pages=1000 calls=1" \
				"protect=$(($2 * 1000)) restore=$((($3 + _cycle * ${4:-0}) * 1000))"
		done
		echo 'end samples=12'
	} >"$dir/$1.1.rec"
	echo "package=linux-image-$1 $1-1" >"$dir/$1.1.status"
}

# scan KERNELS [STEP]
scan()
{
	env BUILD="$tmp/build" NOBOOT=1 ARCH=amd64 KERNELS="$1" \
		STEP="${2:-2}" scripts/scan.sh
}

if [ ! -x build/mprotect_perf ]; then
	skip scan "no build/mprotect_perf"
	done_testing
	exit
fi
mkdir -p "$tmp/build"
cp build/mprotect_perf "$tmp/build/"
cc="x86_64-linux-gnu-gcc-14 (Debian 14.2.0-19) 14.2.0"
record 6.12 150 200
record 6.16 150 203
record 6.17 300 203
cc="gcc (GCC) 16.1.0"
record 7.0 297 100

ok "four kernels" scan "6.12 6.16 6.17 7.0"
ok "the table is kept" grep -qxF "$(sed -n 1p "$log")" "$dir/table.txt"
scan "6.12 6.16 6.17 7.0" >"$log" 2>&1
says "what was measured" "# mprotect_perf -p of a test"
says "with which packages" "# 6.17: linux-image-6.17 6.17-1, gcc-14 14.2.0"
says "that it is another compiler" \
	"7.0-1, gcc 16.1.0  <- another compiler than before"
says "a line of figures" \
	"shared-dirty.protect         150.0     150.0     300.0     297.0"
says "a line of steps" "=   +100.0%     -1.0%"
says "steps up and down" "+1.5%         =    -50.7%"
says "where: protect" \
	"6.17    shared-dirty.protect         150.0 ->     300.0   +100.0%"
says "where: restore" \
	"7.0     shared-dirty.restore         203.0 ->     100.0    -50.7%"
silent "where: not a small one" "^6.16 "
ok "a lower limit" scan "6.12 6.16 6.17 7.0" 1
says "a lower limit: the small one" \
	"6.16    shared-dirty.restore         200.0 ->     203.0     +1.5%"
ok "all figures are" grep -q "^shared-dirty	protect	" "$dir/table.tsv"
silent "its steps are sure" "differ as much"
record 7.1 297 120 40
ok "a kernel whose cycles differ" scan "6.17 7.0 7.1"
says "it is said" "(its cycles differ as much)"
rm "$dir/6.16.1.rec"
ok "a kernel is missing" scan "6.12 6.16 6.17 7.0"
says "it is said" "scan: 6.16: no record"
says "the step is over the gap" \
	"6.17    shared-dirty.protect         150.0 ->     300.0   +100.0%"
fails "one kernel has no history" scan "6.12"
says "it is said which lack" "there are not two records to compare"
done_testing
