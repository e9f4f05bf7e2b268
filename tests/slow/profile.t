#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# vmtest.sh --profile on the kernels before and after cac1db8c3aad: the table
# must name the functions that this commit has put between.

set -eu

cd "$(dirname "$0")/../.."
# shellcheck source=tests/lib.sh
. tests/lib.sh

# grown NAME FUNCTION TICKS: gained more than three times its noise, and TICKS.
grown()
{
	if awk -v name="$2" -v ticks="$3" '
		$1 == name && $6 > 3 * $7 && $5 - $3 >= ticks { found = 1 }
		END { exit !found }' "$log"; then
		tap_result ok "$1"
	else
		tap_result "not ok" "$1"
	fi
}

if ! have qemu-system-x86_64; then
	skip profile "no qemu-system-x86_64"
	done_testing
	exit
fi
ok "6.16 and 6.17" vmtest/vmtest.sh --arch amd64 --out "$tmp/out" --settle 5 \
	--profile debian:6.16 debian:6.17 -- \
	-p -s shared-dirty --cycles 150
sed 's/^/# /' "$log"
grown "a call for each page that was none" prot_commit_flush_ptes 50
grown "the page is looked up" vm_normal_page 10
# What the ticks say and what the clock says of the same cycles are two ways to
# count. The clock's has the way into the kernel, the ticks' the timer itself.
sum=$(awk '/^= all/ { print int($7) }' "$log")
clock=$(awk '/^= protect/ { print int($10) }' "$log")
echo "# all functions $sum, clock $clock"
if [ $((sum * 10)) -gt $((clock * 8)) ] && [ $((sum * 10)) -lt $((clock * 12)) ]
then
	tap_result ok "both sums agree"
else
	tap_result "not ok" "both sums agree"
fi
done_testing
