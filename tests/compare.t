#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The program comparing records: verdicts whose outcome is known, from published
# figures to two runs of this machine, and what is written beside them. What it
# refuses is compare_refuse.t's.
set -eu

cd "$(dirname "$0")/.."
# shellcheck source=tests/lib.sh
. tests/lib.sh
# shellcheck source=tests/prog.sh
. tests/prog.sh
# shellcheck source=tests/records.sh
. tests/records.sh
here=$PWD
cd "$tmp"

# verdict ROW.PHASE VERDICT: what the last comparison said of this row
verdict()
{
	case $2 in
	REGRESSED) _line="^not ok [0-9]+ compare\.$1 #  REGRESSED " ;;
	INCONCLUSIVE) _line="^ok [0-9]+ compare\.$1 # SKIP INCONCLUSIVE" ;;
	*) _line="^ok [0-9]+ compare\.$1 #  $2 " ;;
	esac
	matches "$1 is $2" "$_line"
}

# field KERNEL ROW COLUMN: of t.tsv, by the names in its first line
field()
{
	awk -F '\t' -v kernel="$1" -v row="$2" -v column="$3" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["kernel"] == kernel && $at["scenario"] "." $at["phase"] == row { print $at[column] }
	' t.tsv
}

# is_field WANT KERNEL ROW COLUMN: to as many digits as WANT has
is_field()
{
	_want=$1
	shift
	_got=$(printf "%.$(printf %s "${_want#*.}" | wc -c)f" "$(field "$@")")
	echo "$* is $_got, not $_want" >"$log"
	if [ "$_got" = "$_want" ]; then
		tap_result ok "$*: $_want"
	else
		tap_result "not ok" "$*: $_want"
	fi
}

# The follow-up to the v6.17 report: 830, 873 and 814 in 15 processes.
for f in a1:6.16:55.33333333 b:6.17-rc1:58.2 a2:6.16:54.26666667; do
	IFS=: read -r name release cost <<-END
		$f
	END
	record "$name.rec" "$facts release=$release build=#1" "shared-dirty:16384:$cost:8"
done
run 'A/B/A, published: 6.20 % are more than 3 %' 1 \
	"$prog" -c a1.rec b.rec a2.rec --threshold 3 --tsv t.tsv
ok 'it is KTAP, whole and in order' ktap
verdict shared-dirty.protect REGRESSED
verdict shared-dirty.touch OK
is_field 54.800 6.16 shared-dirty.protect mean
is_field 58.200 6.17-rc1 shared-dirty.protect mean
is_field 6.20 6.17-rc1 shared-dirty.protect change
is_field -1.93 6.16 shared-dirty.protect drift
is_field 6.20 6.17-rc1 shared-dirty.protect first_change
is_field 0.00 6.17-rc1 shared-dirty.protect touch_change
is_field 2.0 6.16 shared-dirty.protect boots
matches 'the table is that of the robot' \
	'^#     54\.800 ± +[0-9.]+%     \+6\.2%    58\.200 ± +[0-9.]+%  shared-dirty\.protect\.mean$'
matches 'with the drift' '^# shared-dirty\.protect .* -1\.93% +- +\+0\.00%$'
run 'and 5.5 % lies within the drift' 4 "$prog" -c a1.rec b.rec a2.rec --threshold 5.5 -s shared-dirty
verdict shared-dirty.protect INCONCLUSIVE || :
