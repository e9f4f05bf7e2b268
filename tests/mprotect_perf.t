#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The test, run for real on this machine's kernel: as this user and as nobody,
# timed, recorded, cut short, and with everything a user can get wrong.
set -eu

cd "$(dirname "$0")/.."
. tests/lib.sh
PROG=${PROG:-build/mprotect_perf}
# shellcheck source=tests/prog.sh
. tests/prog.sh

# ktap_of_harness: a plan that is kept, in order, and nothing that is no KTAP.
ktap_of_harness()
{
	awk '
	NR == 1 && !/^TAP version 13$/ { bad = "no version line" }
	/^1\.\.[0-9]+$/ { plan = substr($0, 4); next }
	/^(not )?ok / {
		n++
		if (!match($0, /^(not )?ok [0-9]+ mprotect[a-z_]*\.[a-z0-9_]+\.[a-z]+( # .+)?$/))
			bad = "not a result: " $0
		sub(/^not /, "")
		if ($2 != n)
			bad = "out of order: " $0
		next
	}
	/^#/ { next }
	NR > 1 { bad = "not KTAP: " $0 }
	END {
		if (n != plan) bad = n " results, " plan " planned"
		if (bad) { print "# " bad; exit 1 }
	}' "$out"
}

run 'validation passes' 0 "$prog"
ok 'it is KTAP, whole and in order' ktap_of_harness
names >"$tmp/names"
for row in shared_dirty private_dirty private_none devzero_none single_protect \
	one_page split_restore file_clean file_dirty thp_pte thp_pmd mthp_64k hugetlb \
	uffd_wp zero_page exec exec_shared many_vmas walk threads threads_shared processes \
	libmicro_z8k libmicro_z128k libmicro_wz8k libmicro_wz128k libmicro_twz8k \
	libmicro_tw128k; do
	for look in access vma state folios faults; do
		echo "mprotect.$row.$look"
	done
done >"$tmp/due"
ok 'every row has every look, in the order of the table' \
	sh -c 'grep "^mprotect\." "$1" | cmp - "$2"' sh "$tmp/names" "$tmp/due"
ok 'nothing is timed' sh -c '! grep "\.time$" "$1"' sh "$tmp/names"
ok 'single calls are there' grep -qx 'mprotect_call.hole_inside.result' "$tmp/names"
run '-l lists' 0 "$prog" -l
ok 'just that' cmp "$out" "$tmp/names"
run 'a row alone' 0 "$prog" -v walk
ok 'is just that' sh -c '[ "$(grep -c "^ok " "$1")" = 5 ]' sh "$out"
run 'a look alone' 0 "$prog" -r mprotect.walk.vma
ok 'is just that' sh -c '[ "$(grep -c "^ok " "$1")" = 1 ]' sh "$out"
run 'the first filter that matches decides' 0 "$prog" -T vma -v walk
ok 'between them' sh -c '[ "$(grep -c "^ok " "$1")" = 4 ]' sh "$out"
run '-h helps' 0 "$prog" -h
matches 'and tells the exit status' '^Exit status: 0 '

# Timing.
few='-p -r mprotect.walk.time --procs 3 --cycles 7'
# shellcheck disable=SC2086 # options are words
run '-p times' 0 "$prog" $few
ok 'it is KTAP' ktap_of_harness
for phase in protect restore touch; do
	matches "$phase has figures with fractions" \
		"^# perf mprotect\.walk\.$phase floor=[0-9]+\.[0-9]{3} median=[0-9.]+ p99=[0-9.]+ unit=ns/page cycles=21 procs=3$"
done
run '-p with a row checks and times it' 0 "$prog" -p -v private_none --procs 2 --cycles 2
ok 'all of it' sh -c '[ "$(grep -c "^ok " "$1")" = 6 ]' sh "$out"
fails 'what a row does not have is not timed' grep -q 'perf mprotect.private_none.touch' "$out"
# shellcheck disable=SC2086
run 'within a limit' 0 "$prog" $few --max protect=1000000000,touch=1000000000
# shellcheck disable=SC2086
run 'over a limit fails' 1 "$prog" $few --max touch=0.001,protect=0.001
matches 'and names phase, figure and limit' \
	'^not ok 1 mprotect.walk.time #  protect: floor [0-9.]+ ns/page, --max is 0.001$'
# shellcheck disable=SC2086
run '--unit insn' 0 "$prog" $few --unit insn
matches 'changes the unit' 'unit=insn/page'
run 'other sizes' 0 "$prog" -p -t time -v walk -v split_restore --pages 17 --procs 1 --cycles 2 \
	--record "$tmp/pages.rec"
ok 'are of the pages that are changed' sh -c \
	'grep -q "scenario=walk .* pages=32 calls=2 " "$1" &&
	 grep -q "scenario=split_restore .* pages=8704 calls=512 " "$1"' sh "$tmp/pages.rec"
run 'all rows can be timed' 0 "$prog" -p -t time --procs 1 --cycles 2
fails 'and all are' sh -c 'for row in $(sed "s/mprotect\.\(.*\)\..*/\1/" "$2" | sort -u); do
	grep -q "perf mprotect.$row.protect\|mprotect.$row.time # SKIP" "$1" || echo "$row"; done | grep .' \
	sh "$out" "$tmp/due"

# Tasks.
run 'several tasks' 0 "$prog" -p -t time -v threads -v threads_shared -v processes --tasks 3 \
	--procs 2 --cycles 5 --record "$tmp/t.rec"
for row in threads threads_shared processes; do
	for task in 0 1 2; do
		ok "$row: every cycle of task $task is in the record" sh -c '
			[ "$(grep -c "^sample scenario=$2 .* tasks=3 task=$3 start=" "$1")" = 10 ]' \
			sh "$tmp/t.rec" "$row" "$task"
	done
done

# The record.
# whole FILE: version, facts, samples and a trailer that counts them
whole()
{
	awk '
	NR == 1 && $0 != "mprotect_perf-record 2" { bad = "version: " $0 }
	NR == 2 && !/^env release=[^ ]+ boot_id=[0-9a-f-]+ date=20[0-9-]+T[0-9:]+Z page_size=[0-9]+ unit=ns cpu=[0-9]+ arch=[^ ]+$/ {
		bad = "facts: " $0
	}
	/^sample / { n++; if (!/ protect=[0-9]+ protect_faults=[0-9]+/) bad = $0 }
	{ last = $0 }
	END {
		if (last != "end samples=" n + 0) bad = "trailer: " last
		if (bad) { print "# " bad; exit 1 }
	}' "$1"
}
# shellcheck disable=SC2086
run 'a record in a file' 0 "$prog" $few --record "$tmp/a.rec"
ok 'is whole' whole "$tmp/a.rec"
ok 'and has all samples' sh -c '[ "$(grep -c "^sample scenario=walk proc=[0-2] cycle=[0-6] " "$1")" = 21 ]' \
	sh "$tmp/a.rec"
# shellcheck disable=SC2086
run 'one that is there is not overwritten' 1 "$prog" $few --record "$tmp/a.rec"
ok 'and is named' grep -q 'a.rec: File exists' "$err"
# shellcheck disable=SC2086
run 'a record on standard output' 0 "$prog" $few --record -
ok 'is whole' whole "$out"
ok 'and KTAP goes to standard error' grep -q '^ok 1 mprotect.walk.time' "$err"
# shellcheck disable=SC2086
run 'one that cannot be made' 1 "$prog" $few --record "$tmp/none/a.rec"
if [ -e /dev/full ]; then
	fails 'a full disk is a failure' sh -c '"$@" >/dev/full 2>&1' sh "$prog" -v walk
	# shellcheck disable=SC2086
	fails 'for a record, too' sh -c 'exec "$@" --record - >/dev/full' sh "$prog" $few
fi
for signal in TERM INT HUP; do
	rm -f "$tmp/cut.rec"
	"$prog" -p -t time -v walk -v one_page --procs 1000 --record "$tmp/cut.rec" >/dev/null 2>&1 &
	sleep 0.7
	kill -$signal $!
	_got=0
	wait $! || _got=$?
	ok "$signal: it ends" [ "$_got" = 1 ]
	ok "$signal: the record has what was measured" grep -q '^sample ' "$tmp/cut.rec"
	ok "$signal: it is marked, and whole" sh -c 'grep -qx "env cut_short=yes" "$1" &&
		[ "$(tail -n 1 "$1")" = "end samples=$(grep -c "^sample " "$1")" ]' sh "$tmp/cut.rec"
done
fails 'no process is left behind' pgrep -f "$prog -p -t time -v walk -v one_page"

# What a user can get wrong.
wrong "--nosuch: no such option; -h helps" --nosuch
wrong "-x: no such option; -h helps" -x
wrong "-v needs a value; -h helps" -v
wrong "rest: not an option; -h helps" rest
wrong "-v shared_dirt: no such; the nearest row is shared_dirty" -v shared_dirt
wrong "-V libmicro_w8k: no such; the nearest row is libmicro_wz8k" -V libmicro_w8k
wrong "-r mprotect.walk.accesses: no such; the nearest row is walk" -r mprotect.walk.accesses
wrong "-t nosuch: no such" -v walk -t nosuch
wrong "-f mprotec: no such" -f mprotec
wrong "these filters leave no test; time needs -p" -r mprotect.walk.time
wrong "these filters leave no test" -F mprotect -F mprotect_call
wrong "--procs 0: give a number from 1 to 1000" -p --procs 0
wrong "--cycles 3x: give a number" -p --cycles 3x
wrong "--pages -1: give a number" -p --pages -1
wrong "--tasks 65: give a number from 1 to 64" --tasks 65
wrong "--cpu 1023: not a CPU that this program may run on" -p --cpu 1023
wrong "--cpu 99999: give a number from 0 to" -p --cpu 99999
wrong "--unit: give ns or insn" -p --unit s
wrong "--max: give protect=NS, restore=NS or touch=NS, not bogus=1" -p --max bogus=1
wrong "--max: give protect=NS, restore=NS or touch=NS, not x" -p --max protect=x
wrong "--max: give protect=NS" -p --max protect
wrong "--max: no chosen row has touch timed" -p -v private_none --max touch=5
wrong "an option of timing has no effect without -p" --procs 3
wrong "--record $tmp/x: nothing is timed" -p -t access --record "$tmp/x"
wrong "--tasks: no chosen row has several" -v walk --tasks 3
done_testing
