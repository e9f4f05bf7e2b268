#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The program, run for real on this machine's kernel: as this user, as nobody,
# where it may not look, and with everything a user can get wrong.
set -eu

cd "$(dirname "$0")/.."
. tests/lib.sh
# shellcheck source=tests/prog.sh
. tests/prog.sh
root=$([ "$(id -u)" != 0 ] || echo yes)

# as_nobody COMMAND...
as_nobody()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

run 'validation passes' 0 "$prog"
ok 'it is KTAP, whole and in order' ktap
names >"$tmp/names"
run '-l lists the scenarios' 0 "$prog" -l
for row in shared-dirty private-dirty private-none devzero-none single-protect \
	one-page split-restore file-clean file-dirty thp-pte thp-pmd mthp-64k uffd-wp \
	threads threads-shared processes libmicro-z8k libmicro-z128k libmicro-wz8k \
	libmicro-wz128k libmicro-twz8k libmicro-tw128k; do
	for check in return access content vma state pagemap kpageflags faults; do
		echo "validate.$row.$check" >>"$tmp/due"
	done
	matches "$row is listed" "^$row "
done
ok 'every row has every check, in the order of the table' \
	sh -c 'grep -v "^validate\.api" "$1" | cmp - "$2"' sh "$tmp/names" "$tmp/due"

# What may not be looked at is a SKIP, under the same name.
if [ -z "$root" ]; then
	skip 'as nobody' 'not root: it is an ordinary user already'
else
	cp "$prog" "$tmp/prog"
	chmod 755 "$tmp" "$tmp/prog"
	run 'nobody may run it' 0 as_nobody "$tmp/prog"
	ok 'it is KTAP' ktap
	matches 'nobody may not see page frames' \
		'^ok .* validate\.shared-dirty\.kpageflags # SKIP no CAP_SYS_ADMIN'
	matches 'nobody sees the rest' '^ok .* validate\.shared-dirty\.pagemap$'
	names >"$tmp/names2"
	ok 'the names are the same' cmp "$tmp/names2" "$tmp/names"
fi
if unshare -Ur true 2>/dev/null; then
	run 'root of a user namespace' 0 unshare -Ur "$prog" -s one-page
	matches 'page frames are hidden there, which is a SKIP' \
		'^ok .* validate\.one-page\.kpageflags # SKIP '
else
	skip 'root of a user namespace' 'unshare -Ur is not allowed here'
fi
if [ -n "$root" ] && unshare -m true 2>/dev/null; then
	# shellcheck disable=SC2016 # for the inner shell
	run 'without /proc' 0 unshare -m sh -c 'mount -t tmpfs none /proc && exec "$1"' sh "$prog"
	ok 'it is KTAP without /proc, too' ktap
	for check in vma state pagemap kpageflags; do
		matches "without /proc, $check is a SKIP" \
			"^ok .* validate\.private-none\.$check # SKIP /proc/"
	done
	matches 'without /proc, access is still checked' '^ok .* validate\.private-none\.access$'
else
	skip 'without /proc' 'needs root and a mount namespace'
fi

# Base pages stay base pages with THP on: the row asks the kernel, not sysfs.
thp=/sys/kernel/mm/transparent_hugepage
thp_choice()
{
	sed -n 's/.*\[\(.*\)\].*/\1/p' "$1"
}
large_folios()
{
	echo never >$thp/enabled
	run 'without huge pages' 4 "$prog" -s thp-pte,thp-pmd
	matches 'their rows are skipped, with the mend' \
		"^ok .* validate\.thp-pte\.return # SKIP $thp/enabled is 'never': give --allow-settings"
	run 'settings may be changed' 0 "$prog" -s thp-pte,thp-pmd,mthp-64k --allow-settings
	ok 'it is KTAP' ktap
	matches 'huge pages are had' '^ok .* validate\.thp-pmd\.state$'
	matches 'also page by page' '^ok .* validate\.thp-pte\.state$'
	matches 'page frames are those of whole folios' \
		'^ok .* validate\.thp-pte\.kpageflags( # SKIP .*hidden.*)?$'
	[ ! -e $thp/hugepages-64kB/enabled ] ||
		matches 'folios of 64 KiB are had' '^ok .* validate\.mthp-64k\.pagemap$'
	ok 'it is as it was' [ "$(thp_choice $thp/enabled)" = never ]
	run 'a record of it' 0 "$prog" -p -s thp-pmd --allow-settings --procs 1 --cycles 3 \
		-o "$tmp/thp.rec"
	ok 'says what was in force' grep -qE '^env .*\<thp=madvise' "$tmp/thp.rec"
	run 'a baseline that is not there' 1 "$prog" -p -s thp-pmd --allow-settings \
		--baseline "$tmp/none.rec"
	ok 'leaves it as it was' [ "$(thp_choice $thp/enabled)" = never ]
	run 'not by everybody' 1 as_nobody "$tmp/prog" -s thp-pte --allow-settings
	ok 'which is told in one line' sh -c '[ "$(wc -l <"$1")" = 1 ] && grep -q enabled "$1"' sh "$err"
	echo madvise >$thp/enabled
	if unshare -Ur true 2>/dev/null; then
		run 'root of a user namespace proves huge pages by smaps' 0 \
			unshare -Ur "$prog" -s thp-pmd
		matches 'and cannot see page frames' \
			'^ok .* validate\.thp-pmd\.kpageflags # SKIP page frames are hidden'
	fi
	if have strace && strace -o /dev/null true 2>/dev/null; then
		run 'madvise() does nothing' 4 strace -f -qq -o /dev/null \
			-e inject=madvise:retval=0 "$prog" -s thp-pte,thp-pmd
		matches 'folios that are not had are a SKIP' \
			'thp-pmd\.state # SKIP no such folios to be had: '
	else
		skip 'madvise() does nothing' 'no strace'
	fi
}
if [ -n "$root" ] && [ -w $thp/enabled ] && [ -w $thp/shmem_enabled ]; then
	# tests/settings.t changes them, too
	exec 8</proc/sys/vm/min_free_kbytes
	flock -w 600 8
	was=$(thp_choice $thp/enabled)
	was_shmem=$(thp_choice $thp/shmem_enabled)
	trap 'echo "$was" >$thp/enabled; echo "$was_shmem" >$thp/shmem_enabled; rm -rf "$tmp"' EXIT
	echo always >$thp/enabled
	echo force >$thp/shmem_enabled
	run 'THP always, and forced for shared memory' 0 "$prog"
	matches 'and page frames are still base pages' \
		'^ok .* validate\.shared-dirty\.kpageflags( # SKIP .*hidden.*)?$'
	echo "$was_shmem" >$thp/shmem_enabled
	large_folios
	echo "$was" >$thp/enabled
	exec 8<&-
	trap 'rm -rf "$tmp"' EXIT
else
	skip 'THP always, and large folios' 'needs root and a kernel with transparent huge pages'
fi

# Memory is asked for before it is taken; a control group may allow less.
group=/sys/fs/cgroup/memory/mprotect_perf.$$
limit=memory.limit_in_bytes
[ -d /sys/fs/cgroup/memory ] || { group=/sys/fs/cgroup/mprotect_perf.$$ limit=memory.max; }
if [ -n "$root" ] && mkdir "$group" 2>/dev/null && echo 50000000 2>/dev/null >"$group/$limit"; then
	# shellcheck disable=SC2016 # for the inner shell
	run 'in a control group with little memory' 0 sh -c \
		'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' sh "$group" \
		"$prog" -s private-dirty,one-page
	matches 'a large row is skipped, and the limit named' \
		'private-dirty\.return # SKIP needs 80 MiB of memory, its control group leaves [0-9]+ MiB'
	matches 'a small one runs' '^ok .* validate\.one-page\.return$'
else
	skip 'a control group with little memory' 'cannot make one here'
fi
rmdir "$group" 2>/dev/null || :

# Where a row cannot be had.
# shellcheck disable=SC2016 # for the inner shell
run 'no address space is a failure' 1 \
	sh -c 'ulimit -v 50000; exec "$1" -s shared-dirty' sh "$prog"
matches 'and names the call' \
	'^not ok .*shared-dirty\.return #  in phase set-up: mmap of [0-9]+ bytes of address space: '
run 'no place for a file: all skipped' 4 env TMPDIR="$tmp/none" "$prog" -s file-dirty
matches 'and the mend is named' '# SKIP needs a temporary file: .*set TMPDIR$'
run 'some skipped is no failure' 0 env TMPDIR="$tmp/none" "$prog" -s file-dirty,one-page
if unshare -Urm true 2>/dev/null; then
	# shellcheck disable=SC2016 # for the inner shell
	run 'no room for a file: all skipped' 4 unshare -Urm sh -c 'mkdir "$1" &&
		mount -t tmpfs -o size=2m none "$1" && TMPDIR=$1 exec "$2" -s file-dirty,file-clean' \
		sh "$tmp/small" "$prog"
	matches 'and what is there' \
		'# SKIP needs 4096 KiB for a temporary file, .*/small has 2048 KiB left; set TMPDIR$'
else
	skip 'no room for a file' 'unshare -Urm is not allowed here'
fi
run 'no file is left behind' 0 env TMPDIR="$tmp/t" sh -c \
	'mkdir "$TMPDIR" && "$1" -s file-clean,file-dirty && rmdir "$TMPDIR"' sh "$prog"

# Timing.
rec=$tmp/a.rec
run '-p times and writes a record' 0 \
	"$prog" -p -s one-page,single-protect,private-none --time 1 -o "$rec"
ok 'it is KTAP' ktap
for t in one-page.protect one-page.restore one-page.touch single-protect.protect \
	private-none.protect private-none.restore; do
	matches "perf.$t has figures with fractions" \
		"^ok [0-9]+ perf\.$t #  floor=[0-9]+\.[0-9]{3} .*unit=ns/page"
done
fails 'what a row does not have is not timed' grep -q 'perf.private-none.touch' "$out"
ok 'the record has its version' sh -c 'head -n 1 "$1" | grep -qx "mprotect_perf-record 1"' sh "$rec"
ok 'and its trailer' sh -c \
	'tail -n 1 "$1" | grep -qx "end samples=$(grep -c "^sample " "$1")"' sh "$rec"
for key in release page_size unit counters cpu model cmdline clocksource clock_step_ns thp \
	preempt mitigations hypervisor debug load tool options; do
	ok "the record says $key" grep -qE "^env .*\<$key=" "$rec"
done
run 'as many processes and cycles as asked for' 0 "$prog" -p -s one-page,devzero-none \
	--warmup-procs 1 --procs 3 --cycles 5 --seed 9 -o "$tmp/b.rec"
ok 'and no more' sh -c \
	'[ "$(grep -c "^sample scenario=one-page " "$1")" = 15 ] && grep -q "proc=2 cycle=4 " "$1" &&
	 [ "$(grep -c "^sample " "$1")" = 30 ]' sh "$tmp/b.rec"

# Sizes.
run 'a row in several sizes' 0 "$prog" -p -s private-none,split-restore --sweep 4k..1mx16 \
	--procs 2 --cycles 20 -o "$tmp/s.rec"
ok 'it is KTAP' ktap
matches 'has a line for each' '^#   protect  1 MiB +1 +[0-9]+ +[0-9.]+ '
matches 'and one through them' '^#   protect  a call is [0-9.]+ \+- [0-9.]+, and [0-9.]+ \+- '
matches 'which the result has, too' 'perf\.private-none\.protect #  .* fixed=[0-9.]+/call per_page='
ok 'each is in the record' sh -c \
	'[ "$(grep "^sample scenario=private-none " "$1" | sed "s/.* pages=\([0-9]*\) calls=\([0-9]*\) .*/\1 \2/" |
		sort -u | wc -l)" = 3 ]' sh "$tmp/s.rec"
if have gnuplot; then
	run 'sizes can be drawn' 0 "$prog" -p -s private-none --sweep 4k..64kx4 --procs 2 \
		--cycles 9 --plot "$tmp/s.svg"
	ok 'as a curve' grep -q 'cost against size' "$tmp/s.svg"
	wrong 's.svg: exists' -p -s private-none --procs 1 --cycles 3 --plot "$tmp/s.svg"
else
	skip 'sizes can be drawn' 'no gnuplot'
fi
run 'what memory does not allow' 0 "$prog" -p -s private-none --sweep 4k..1024gx300000000 \
	--procs 1 --cycles 3
matches 'is left out, and said' '^#   1048576 MiB: left out: needs [0-9]+ MiB of memory, '

# Tasks.
run 'threads and processes' 0 "$prog" -p -s threads,threads-shared,processes --tasks 1,3 \
	--procs 2 --cycles 10 -o "$tmp/t.rec"
ok 'it is KTAP' ktap
for row in threads threads-shared processes; do
	ok "$row: every cycle of every task is in the record" sh -c '
		[ "$(grep -c "^sample scenario=$2 .* tasks=3 " "$1")" = 60 ] &&
		for task in 0 1 2; do
			[ "$(grep -c "^sample scenario=$2 .* tasks=3 task=$task .*start=" "$1")" = 20 ] || exit 1
		done' sh "$tmp/t.rec" "$row"
done
matches 'operations per second are told' '^#   3 tasks +[0-9]+\.[0-9] +[0-9]+\.[0-9] +[0-9.]+ '
run 'how they scale can be compared' 4 "$prog" -c a="$tmp/t.rec" b="$tmp/t.rec"
matches 'for each kernel' '^# threads +b +1 +[0-9.]+ +[0-9.]+ +1\.000 +1\.000$|^# +b +1 +[0-9.]+ +[0-9.]+ +1\.000 +1\.000$'
for p in lin yang jain libmicro; do
	run "--protocol $p" 0 "$prog" -p --protocol $p -s devzero-none --sweep 8k..8k
	matches "has the figure of its author" "^#   $p: "
done

run 'more rows than a record can hold' 1 timeout 30 "$prog" --sweep 4k..1gx1.25
ok 'are refused in one line, before any test' sh -c \
	'[ "$(wc -l <"$1")" = 1 ] && [ ! -s "$2" ] && grep -q "at most 1024; choose fewer" "$1"' \
	sh "$err" "$out"
run 'more processes than a record can hold' 1 timeout 30 "$prog" -p --procs 20000 -s one-page,private-none
ok 'are refused in one line, before any test' sh -c \
	'[ "$(wc -l <"$1")" = 1 ] && [ ! -s "$2" ] && grep -q "holds 16384 processes of each" "$1"' \
	sh "$err" "$out"

# Verdicts: a limit that none can keep, and one that all do.
few='-p -s one-page --procs 4 --cycles 8'
# shellcheck disable=SC2086 # options are words
run 'over a limit fails' 1 "$prog" $few --max protect=0.001 --severity fail
matches 'and is named' '^not ok .* perf\.one-page\.protect #  .* REGRESSED: floor .*, limit 0.001$'
matches 'a phase without a limit has no verdict' '^ok .* perf\.one-page\.restore #  floor=[^:]*$'
# shellcheck disable=SC2086 # options are words
run 'over a limit only warns' 0 "$prog" $few --max protect=0.001 --severity warn
matches 'which is XFAIL' '^ok .* perf\.one-page\.protect # XFAIL .*only a warning: --severity warn'
# shellcheck disable=SC2086 # options are words
run 'within a limit' 0 "$prog" $few --max protect=1000000000,touch=1000000000 --severity fail
matches 'is OK' '^ok .* perf\.one-page\.protect #  .* OK: floor .*, limit 1000000000'
# shellcheck disable=SC2086 # options are words
run 'the worst of several sizes' 1 "$prog" $few --sweep 4k..64kx16 --max protect=400 --severity fail
matches 'is the verdict, and named' \
	'^not ok .* perf\.one-page\.protect #  .* REGRESSED: 4 KiB: floor .*, limit 400'
sed 's/^env unit=ns/env unit=insn/' "$tmp/b.rec" >"$tmp/c.rec"
for base in "$tmp/c.rec" "$tmp/none.rec"; do
	# shellcheck disable=SC2086 # options are words
	run "a baseline that cannot be one: ${base##*/}" 1 "$prog" $few --baseline "$base"
	ok 'is refused in one line, before any test' sh -c \
		'[ "$(wc -l <"$1")" = 1 ] && [ ! -s "$2" ]' sh "$err" "$out"
done

# shellcheck disable=SC2086 # options are words
run 'a baseline of other sizes only' 0 "$prog" $few --sweep 64k..64k --baseline "$tmp/b.rec" -s one-page
matches 'is no verdict, and the sizes are named' \
	'perf\.one-page\.protect # SKIP floor=.* no verdict: .*pages=[0-9]+ calls=[0-9]+ in .*b\.rec, [0-9]+, [0-9]+ in this run'
run 'an existing record is not overwritten' 1 "$prog" -p -s one-page -o "$rec"
ok 'and is named, with the mend, in one line' sh -c \
	'[ "$(wc -l <"$1")" = 1 ] && grep -q "a.rec: exists" "$1"' sh "$err"
run 'a record that cannot be made' 1 "$prog" -p -s one-page -o "$tmp/none/a.rec"
if [ -e /dev/full ]; then
	ok 'a full disk is a failure' sh -c \
		'"$1" -s one-page >/dev/full 2>"$2"; [ $? = 1 ] && grep -q full "$2"' \
		sh "$prog" "$err"
fi
run '--unit insn' 0 "$prog" -p -s one-page --time 0.2 --unit insn
matches 'changes the unit' 'perf\.one-page\.protect #  .*unit=insn/page'

# What a user can get wrong.
wrong "no scenario 'nosuch'; -l lists them" -s nosuch
wrong "no scenario ''" -s one-page,
wrong "unknown option '--nosuch'" --nosuch
wrong "unknown option '-x'" -x
wrong "write --cycles in full" -p --cyc 3
wrong "'--time' needs an argument" -p --time
wrong "'-s' needs an argument" -s
wrong "--time '3x': give seconds" -p --time 3x
wrong "--time 'nan': give seconds" -p --time nan
wrong "--time '-1': give seconds" -p --time -1
wrong "--cycles '0': give a whole number from 1" -p --cycles 0
wrong "--cycles '99999999999999999999'" -p --cycles 99999999999999999999
wrong "--cpu '-1': give a whole number" -p --cpu -1
wrong "--unit 's': give ns or insn" -p --unit s
wrong "--time has no effect without -p" --time 3
wrong "at most 1024; choose fewer" -p --sweep 4k..1gx1.25 \
	--tasks 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16
wrong "--output has no effect without -p" -o "$tmp/x"
wrong "-l and -p: give one" -l -p
wrong "'rest' is not an option" rest
run '-h helps' 0 "$prog" -h
matches 'and tells the exit status' '^Exit status: 0 '
done_testing
