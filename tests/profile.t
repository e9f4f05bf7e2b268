#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# vmtest.sh --profile: the arithmetic of its table, from ticks that are known.
# Boots nothing; tests/slow/profile.t does.

set -eu

cd "$(dirname "$0")/.."
# shellcheck source=tests/lib.sh
. tests/lib.sh
# shellcheck source=vmtest/profile.sh
. vmtest/profile.sh

# record FILE CYCLES COST: cycles of 1000 pages at COST instructions per page.
record()
{
	for _cycle in $(seq "$2"); do
		echo "sample scenario=x proc=0 cycle=$_cycle pages=1000 calls=1" \
			"protect=$(($3 * 1000)) restore=$(($3 * 1000)) touch=8"
	done >"$1"
}

# ticks FILE [COUNT SYMBOL]...
ticks()
{
	_file=$1
	shift
	{
		echo "tick_ns 4000"
		[ $# -eq 0 ] || printf '%s %s\n' "$@"
	} >"$_file"
}

say()
{
	echo "vmtest: $*"
}

# In a shell of its own: their variables have the names of ours.
report()
{
	(profile_report)
}

# row NAME REGEX: $log has such a row; blanks are any number of them.
row()
{
	if grep -qE "^$(echo "$2" | sed 's/  */ +/g')\$" "$log"; then
		tap_result ok "$1"
	else
		tap_result "not ok" "$1"
	fi
}

# 101 cycles against one: 100,000 pages. A tick is 0.04 instructions per page.
out=$tmp
printf '%s 1 image\n' base head >"$tmp/plan"
for kernel in base head; do
	record "$out/$kernel.1.rec" 101 100
	record "$out/$kernel.1.few.rec" 1 100
done
ticks "$out/base.1.few.ticks" 500 set_up 10 grows
ticks "$out/base.1.ticks" 505 set_up 1010 grows 400 goes 30 same 10 same
ticks "$out/head.1.few.ticks" 500 set_up 10 grows
ticks "$out/head.1.ticks" 495 set_up 3010 grows 40 same 900 comes

ok "a table of two kernels" report
row "a function that grows" "grows 40.0 1000 120.0 3000 \+80.0 2.5"
row "one that comes" "comes 0.0 0 36.0 900 \+36.0 1.2"
row "one that goes" "goes 16.0 400 0.0 0 -16.0 0.8"
row "two lines of one function" "same 1.6 40 1.6 40 \+0.0 0.4"
row "set-up is no function of the phases" "1 others 0.2 5 -0.2 -5 -0.4 1.8"
row "the sum" "= all of these 57.8 1445 157.4 3935 \+99.6 *"
row "what the clock says" "= protect \+ restore by the clock 200.0 0 200.0 0 \+0.0 *"
cut -d ' ' -f 1 "$log" | head -n 5 | tail -n 4 | tr '\n' ' ' >"$tmp/order"
ok "the largest change comes first" grep -qx "grows comes goes same " \
	"$tmp/order"
echo "base 1 image" >"$tmp/plan"
report >"$log" 2>&1 || :
row "one kernel" "grows 40.0 1000 0.0 0 -40.0 1.3"
rm "$out/base.1.ticks"
fails "no ticks" report
says "it says why" "base: no profile"
done_testing
