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

# field KERNEL ROW COLUMN: of t.tsv, by the names in its first line; of several sizes
# a row is SCENARIO:PAGES.PHASE
field()
{
	awk -F '\t' -v kernel="$1" -v row="$2" -v column="$3" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["kernel"] == kernel &&
		($at["scenario"] "." $at["phase"] == row ||
		 $at["scenario"] ":" $at["pages"] "." $at["phase"] == row) {
			print $at[column]
		}' t.tsv
}

# is_field WANT KERNEL ROW COLUMN: to as many digits as WANT has
is_field()
{
	_want=$1
	shift
	case $_want in
	*.*) _digits=$(printf %s "${_want#*.}" | wc -c) ;;
	*) _digits=0 ;;
	esac
	_got=$(printf "%.${_digits}f" "$(field "$@")")
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
is_field 2 6.16 shared-dirty.protect boots
matches 'the table is that of the robot' \
	'^#     54\.800 ± +[0-9.]+%     \+6\.2%    58\.200 ± +[0-9.]+%  shared-dirty\.protect\.mean$'
matches 'with the drift' '^# shared-dirty\.protect .* -1\.93% +- +\+0\.00%$'
run 'but 5.5 % lies within the drift' 0 "$prog" -c a1.rec b.rec a2.rec --threshold 5.5
verdict shared-dirty.protect INCONCLUSIVE

# The report itself: 572, 803, 577.
for f in a1:6.16:38.13333333 b:6.17-rc1:53.53333333 a2:6.16:38.46666667; do
	IFS=: read -r name release cost <<-END
		$f
	END
	record "$name.rec" "$facts release=$release build=#1" "shared-dirty:16384:$cost:8"
done
rm t.tsv
run 'A/B/A, published: 39.77 %' 1 "$prog" -c a1.rec b.rec a2.rec --tsv t.tsv
is_field 38.300 6.16 shared-dirty.protect mean
is_field 39.77 6.17-rc1 shared-dirty.protect change
is_field 0.87 6.16 shared-dirty.protect drift
sed -n 's/^# //p' "$out" | sed -n '/^mprotect() of/,$p' | sed '/^Totals/d' >mail
ok 'the mail has at most 76 columns' awk 'length > 76 { exit 1 }' mail
ok 'and the figures' grep -q 'shared-dirty.protect 38.[0-9]* -> 53.[0-9]*, +39.8%' mail
ok 'and who was compared' grep -q '^mprotect() of 6.17-rc1 against 6.16 (1 and 2 boots, EPYC' mail
run 'labels name the kernels' 1 "$prog" -c base=a1.rec head=b.rec base=./a2.rec
matches 'in the table' '^# +base +head$'
run '--severity warn' 0 "$prog" -c a1.rec b.rec --severity warn
matches 'is told as an expected failure' \
	'^ok 1 compare\.shared-dirty\.protect # XFAIL REGRESSED .*\+40\.'
run '--severity fail is what auto is' 1 "$prog" -c a1.rec b.rec --severity fail
run '-s selects' 1 "$prog" -c a1.rec b.rec -s shared-dirty
run '-v tells the environment' 1 "$prog" -c a1.rec b.rec -v
matches 'of each record' '^# env release=6\.17-rc1$'
matches 'and counters that did not change' '^#  .* shared-dirty\.protect\.csw$'

# The sizes of v6.16 and v6.17-rc1, ns a call.
record s16.rec "$facts release=6.16" none-4k:1:1713:- none-40k:10:207.1:- \
	none-400k:100:34.53:- none-4000k:1000:18.804:-
record s17.rec "$facts release=6.17" none-4k:1:1775:- none-40k:10:236.2:- \
	none-400k:100:59.93:- none-4000k:1000:44.116:-
rm t.tsv
run 'sizes, published' 1 "$prog" -c s16.rec s17.rec --tsv t.tsv
verdict none-4k.protect OK
for size in 40k:14 400k:74 4000k:135; do
	verdict "none-${size%:*}.protect" REGRESSED
	is_field "${size#*:}" 6.17 "none-${size%:*}.protect" change
done

# The same as one scenario of four sizes: one test, whose verdict is that of the worst.
record v16.rec "$facts release=6.16" none:1:1713:- none:10:207.1:- none:100:34.53:- \
	none:1000:18.804:-
record v17.rec "$facts release=6.17" none:1:1775:- none:10:236.2:- none:100:59.93:- \
	none:1000:44.116:-
rm t.tsv
run 'one scenario of four sizes' 1 "$prog" -c v16.rec v17.rec --tsv t.tsv
ok 'it is KTAP, whole and in order' ktap
verdict none.protect REGRESSED
matches 'of the worst size' '^not ok 1 compare.none.protect #  REGRESSED at 4000KiB: floor 18\.'
matches 'with the range over all' \
	'; 4 sizes \(3 REGRESSED, 1 OK\), \+3\.6% at 4KiB to \+134\.6% at 4000KiB$'
matches 'all are corrected for' '^# 4 verdicts, each at 98\.75%'
matches 'and in the table' ' none@40KiB\.protect\.floor$'
for size in 1:1.04 10:1.14 100:1.74 1000:2.35; do
	row=none:${size%:*}.protect
	is_field "$(echo "${size#*:}" | awk '{ print 100 * ($1 - 1) }')" 6.17 "$row" change
	ratio=$(echo "$(field 6.17 "$row" mean) $(field 6.16 "$row" mean)" |
		awk '{ printf "%.2f", $1 / $2 }')
	echo "$ratio" >"$log"
	ok "published: ${size#*:} times" test "$ratio" = "${size#*:}"
done
# vectors_stats.py has 1775.1, 17.044 and 1803.4, 42.442 for the means
matches 'a call costs so much, a page so much' \
	'^# none\.protect +6\.16 +177[0-9]\.[0-9]+ ± +69\.[0-9]+ +17\.0[0-9]+ ± +[0-9.]+ +6\.[0-9]%$'
matches 'on the other kernel' \
	'^# +6\.17 +1(79|80)[0-9]\.[0-9]+ ± +7[01]\.[0-9]+ +42\.[0-9]+ ± +[0-9.]+ +5\.[0-9]%$'
matches 'what changed is the page' '^# +change +[+-][0-9]\.[0-9]% ± .* \+149\.[0-9]% ±'
record v18.rec "$facts release=6.18" none:1:1713:- none:7:900:- none:100:34.53:-
run 'sizes that one record has not' 4 "$prog" -c v16.rec v18.rec
matches 'have no verdict' '^ok 1 compare.none.protect # SKIP INCONCLUSIVE at [0-9]+KiB: one of the two kernels has no such row; 5 sizes \(3 INCONCLUSIVE, 2 OK\)'
matches 'a curve that is no line is said to be none' \
	'^# +6\.18 .* [0-9]+\.[0-9]%  it is no line$'
run 'nor is it a good commit' 125 "$prog" --bisect -c v16.rec v18.rec

# Tasks that run at once; the last of them half as fast.
record t16.rec "$facts release=6.16" th:1024:40:8:0:1 th:1024:50:8:0:2 th:1024:80:8:0:4
record t17.rec "$facts release=6.17" th:1024:40:8:0:1 th:1024:56:8:0:2 th:1024:180:8:0:4
rm t.tsv
run 'one scenario with three numbers of tasks' 1 "$prog" -c t16.rec t17.rec --tsv t.tsv
ok 'it is KTAP, whole and in order' ktap
matches 'the worst is told' \
	'compare.th.protect #  REGRESSED at 4 tasks: .*; 3 numbers of tasks \(2 REGRESSED, 1 OK\), \+0\.0% at 1 task to \+125\.0% at 4 tasks$'
verdict th.touch OK
# 1e9 / (48 * 1024), twice 1e9 / (58 * 1024) less a half, four times 1e9 / (88 * 1024)
matches 'operations of one task' '^# th +6\.16 +1 +203[0-9]{2}\.[0-9]+ +203[0-9]{2}\.[0-9]+ +1\.000 +1\.000$'
matches 'of four' '^# +4 +388[0-9]{2}\.[0-9]+ +97[0-9]{2}\.[0-9]+ +1\.99[0-9] +1\.91[0-9]$'
ok 'also in the TSV' test "$(field 6.17 th.touch ops | wc -l)" -eq 3

# Several kernels: the step is named, also when it was taken back.
record c.rec "$facts release=6.18 build=#1" shared-dirty:16384:38.5:8:16384
rm t.tsv
run 'three kernels' 0 "$prog" -c a1.rec b.rec c.rec --tsv t.tsv
matches 'a column each' '^# +6\.16 +6\.17-rc1 +6\.18$'
matches 'the change between neighbours' '\+40\.4% +53\.[0-9]+ .* -28\.1% +38\.[0-9]+ .*\.median'
matches 'and where it changed most' 'OK .*; most from 6\.16 to 6\.17-rc1: \+40\.'
matches 'the counter that explains' 'touch .*; time \+0\.0%, faults 0 -> 16384 a cycle'
ok 'a line per row and kernel' test "$(wc -l <t.tsv)" -eq 7
ok 'as many fields in each' \
	awk -F '\t' 'NR == 1 { n = NF } NF != n { exit 1 }' t.tsv
sed -nE 's/^ \*	([a-z_]+)(	.*|$)/\1/p' \
	"$here/lab/mprotect_perf_tsv.h" >columns
head -n 1 t.tsv | tr '\t' '\n' >heading
ok 'the columns are the documented ones' diff columns heading

# Things to know beside a verdict.
record d.rec "$facts release=6.17-rc1 governor=powersave cmdline=\"root=/dev/a quiet\"" \
	shared-dirty:16384:53.5:11
record e.rec "$facts release=6.16 governor=performance cmdline=\"root=/dev/a\"" \
	shared-dirty:16384:38.1:8
run 'a control that moved as well' 1 "$prog" -c e.rec d.rec
matches 'is told with the verdict' 'REGRESSED .* touch, the control, moved \+37\.5%'
matches 'the governor differs' '^# differs: governor: performance in e\.rec, powersave in d\.rec$'
matches 'so does the command line' '^# differs: cmdline: only later: quiet$'
matches 'one boot each is told' '^# one boot of each kernel'
matches 'and the correction' '^# 2 verdicts, each at 97\.50% \(Bonferroni\)'
run 'a label on two kernels' 0 "$prog" -c x=e.rec x=d.rec y=e.rec --threshold 90
matches 'is told' '^# x: its boots are of different kernels: 6\.16 and 6\.17-rc1$'
procs=2 cycles=10
record few.rec "$facts release=6.17" shared-dirty:16384:53:8
procs=15 cycles=100
run '20 cycles are too few' 4 "$prog" -c e.rec few.rec
matches 'which is said' '^ok 1 .* # SKIP INCONCLUSIVE .*: only 20 cycles of 2 processes'
record coarse.rec "$facts release=6.17 clock_step_ns=1400" shared-dirty:16384:53:8
record fine.rec "$facts release=6.17 clock_step_ns=1300" shared-dirty:16384:53:8
run 'the clock is too coarse for a phase' 1 "$prog" -c e.rec coarse.rec
matches 'which is said' \
	'^ok 2 .*touch # SKIP INCONCLUSIVE .*: the phase is only 93\.4 clock steps long in the head; 100 are needed'
verdict shared-dirty.protect REGRESSED
run 'of one of two boots' 1 "$prog" -c a=e.rec b=coarse.rec b=fine.rec
verdict shared-dirty.touch INCONCLUSIVE
run 'one that is not' 1 "$prog" -c e.rec fine.rec
verdict shared-dirty.touch OK
procs=1 cycles=3 noise=0.4
record wide1.rec 'unit=insn page_size=4096 release=6.16' s:16:400:-
record wide2.rec 'unit=insn page_size=4096 release=6.17' s:16:500:-
procs=15 cycles=100 noise=0.001
run 'three noisy ones have no interval' 4 "$prog" -c wide1.rec wide2.rec --tsv wide.tsv
matches 'that means anything' '\+25\.[0-9]+%, median .*: too few or too noisy samples to say$'
ok 'no figure is absurd' sh -c '! grep -E "[0-9]{6}%|e\+|inf|nan" "$1" wide.tsv' sh "$out"
# shellcheck disable=SC1003 # no quote
record hostile.rec "$facts"' release="6.1\\x0anot ok\\x1b[2J`touch pwned`"' \
	shared-dirty:16384:38.1:8
run 'a record that would write lines of its own' 0 \
	"$prog" -c e.rec hostile.rec --plot hostile.svg
ok 'does not' ktap
# but for the two bytes of the plus-minus sign
LC_ALL=C tr -d '\n\040-\176\302\261' <"$out" >bytes
fails 'nor send anything but text' test -s bytes
fails 'nor does it run commands' test -e pwned

# git bisect run
run '--bisect: good' 0 "$prog" --bisect -c a1.rec a2.rec
run '--bisect: bad' 1 "$prog" --bisect -c a1.rec b.rec
run '--bisect: cannot tell' 125 "$prog" --bisect -c a1.rec few.rec
run '--bisect: no record' 125 "$prog" --bisect -c a1.rec none.rec
record other.rec "unit=insn page_size=4096" shared-dirty:16384:53:8
run '--bisect: not comparable' 125 "$prog" --bisect -c a1.rec other.rec
run '--bisect: a wrong option' 125 "$prog" -c a1.rec b.rec --nosuch --bisect
noise=0.2
record open.rec "$facts release=6.17" shared-dirty:16384:-:8
noise=0.001
awk '/^sample/ && NR == FNR { sub(/ touch.*/, ""); line[n++] = $0; next }
	NR != FNR && /^sample/ { match($0, / touch=.*/); $0 = line[i++] substr($0, RSTART) }
	NR != FNR' a2.rec open.rec >open2.rec
run '--bisect: a control that is open' 0 "$prog" --bisect -c a1.rec open2.rec
verdict shared-dirty.touch INCONCLUSIVE

# Two runs of this machine, the second one slower by a known part.
for time in 4 8 16; do
	rm -f n1.rec n2.rec slow.rec
	run "a run of $time s" 0 "$prog" -p -s devzero-none --time "$time" -o n1.rec
	run 'and another' 0 "$prog" -p -s devzero-none --time "$time" -o n2.rec
	# INCONCLUSIVE where the machine is busy, REGRESSED never
	"$prog" -c n1.rec n2.rec >"$out" 2>"$err" || :
	cp "$out" "$log"
	ok 'are compared' ktap
	fails 'and not found to differ' grep '^not ok' "$out"
	awk '/^sample/ { for (i = 2; i <= NF; i++)
			if ($i ~ /^(protect|restore)=/) {
				split($i, f, "=")
				$i = f[1] "=" int(f[2] * 1.1 + 0.5)
			} } { print }' n2.rec >slow.rec
	"$prog" -c n1.rec slow.rec >"$out" 2>"$err" || :
	found=$(grep -cE '^not ok .*devzero-none\.(protect|restore) #  REGRESSED' "$out") || :
	[ "$found" -lt 2 ] || break
done
cp "$out" "$log"
fails 'a run that is 10 % slower is never the same' \
	grep -E '^ok .*devzero-none\.(protect|restore) #  ' "$out"
if [ "$found" = 2 ]; then
	# by how much, the noise between two runs is in; of the same run there is none
	run 'it is found' 1 "$prog" -c n2.rec slow.rec
	matches 'to be by 10 %' 'devzero-none\.restore .*, \+(9\.9[5-9]|10\.0[0-5])% \('
else
	skip 'it is found' "a machine as busy as this: $(sed -n \
		's/^ok .*devzero-none\.[pr].* # SKIP INCONCLUSIVE//p' "$out" | head -n 1)"
fi
run '20 cycles of it' 0 "$prog" -p -s devzero-none --procs 2 --cycles 10 -o few2.rec
run 'say nothing' 4 "$prog" -c n1.rec few2.rec

# A record larger than the memory that it may take.
procs=30 cycles=30000
record big.rec "$facts release=6.17" shared-dirty:16384:38:8
procs=15 cycles=100
run 'a record of 75 MB in 40 MB' 0 sh -c 'ulimit -v 40000; exec "$@"' sh \
	"$prog" -c a1.rec big.rec
matches 'looks at a part of the times' '^# a long record: one time in [0-9]+ was looked at'
rm big.rec

# Files that are written.
for name in t.tsv a1.rec; do
	cp "$name" kept
	run "--tsv does not overwrite $name" 1 "$prog" -c a1.rec b.rec --tsv "$name"
	ok 'which is untouched' cmp "$name" kept
done
run 'nor --plot' 1 "$prog" -c a1.rec b.rec --plot hostile.svg
run 'a record that is wrong' 1 "$prog" -c a1.rec none.rec --tsv none.tsv --plot none.png
ok 'leaves nothing behind' sh -c '! ls | grep -E "^none|tmp$"'
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	mkdir small
	run 'a full disk' 1 unshare -m sh -c 'mount -t tmpfs -o size=8k none small
		head -c 4096 /dev/zero >small/fill; shift
		"$@" || s=$?; ls small >left; exit "$s"' sh x \
		"$prog" -c a1.rec a2.rec s16.rec s17.rec b.rec c.rec d.rec e.rec --tsv small/t.tsv
	ok 'is told in one line' sh -c '[ "$(wc -l <"$1")" = 1 ] &&
		grep -q "small/t.tsv: cannot write" "$1"' sh "$err"
	ok 'and leaves nothing behind' sh -c '[ "$(cat left)" = fill ]'
else
	skip 'a full disk' 'needs root and a mount namespace'
fi
if [ -e /dev/full ]; then
	exits 'no room for the results' 1 sh -c '"$@" >/dev/full' sh "$prog" -c a1.rec a2.rec
	exits 'is no bad commit' 125 sh -c '"$@" >/dev/full' sh "$prog" --bisect -c a1.rec a2.rec
fi
if have gnuplot; then
	run '--plot: PNG' 4 "$prog" -c a1.rec b.rec a2.rec c.rec s17.rec --plot p.png
	matches 'a row that the last kernel has not is no change' \
		'^ok 1 compare.shared-dirty.protect # SKIP INCONCLUSIVE: one of the two kernels has no such row$'
	ok 'nothing to complain of' ktap
	ok 'is one' sh -c 'head -c 8 p.png | od -An -c | grep -q "P *N *G"'
	run '--plot: curves' 1 "$prog" -c v16.rec v17.rec --plot v.svg
	ok 'nothing to complain of' ktap
	ok 'over sizes' grep -q 'none.protect: cost against size' v.svg
	run '--plot: curves over tasks' 1 "$prog" -c t16.rec t17.rec --plot v2.svg
	ok 'nothing to complain of' ktap
	ok 'have operations' grep -q 'th: scaling' v2.svg
	ok 'SVG is one, also of names that are hostile' grep -q '^<svg' hostile.svg
else
	skip '--plot' 'no gnuplot'
fi
run 'no gnuplot' 1 env PATH="$tmp/none" "$prog" -c a1.rec b.rec --plot q.png
matches 'is one line' '^# no picture: no gnuplot here'
mkdir bin
printf '#!/bin/sh\ncat >/dev/null\necho half a picture\necho "line 1: oops" >&2\nexit 3\n' >bin/gnuplot
chmod +x bin/gnuplot
run 'a gnuplot that fails' 1 env PATH="$tmp/bin:$PATH" "$prog" -c a1.rec b.rec --plot q.png
matches 'says why' '^# no picture: gnuplot failed \(exit status 3\): line 1: oops$'
ok 'and half a picture is none' sh -c '! ls q.png* 2>/dev/null'

# The kernel's own parser.
ksrc=$("$here/scripts/fetch-ksrc.sh" 2>/dev/null) || ksrc=
kunit=$ksrc/tools/testing/kunit/kunit.py
if [ -n "$ksrc" ] && [ -e "$kunit" ] && have python3; then
	"$prog" -c a1.rec b.rec --severity warn >all || :
	ok 'kunit.py takes what passed' python3 "$kunit" parse "$tmp/all"
	"$prog" -c a1.rec b.rec >all || :
	fails 'and what did not' python3 "$kunit" parse "$tmp/all"
	says 'and counts' 'Testing complete. Ran 2 tests: passed: 1, failed: 1'
else
	skip 'kunit.py' 'no kernel source or no python3'
fi
done_testing
