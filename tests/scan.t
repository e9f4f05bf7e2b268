#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# scan.sh: its table, from records whose figures are known, and what becomes of
# the last results when the next ones are made. Boots nothing: a script is in the
# place of vmtest.sh.

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

test_table()
{
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
}

# fake_tree: scan.sh with a vmtest.sh that "boots" what is in $tmp/guest: a record
# comes, or nothing does; it hangs at one that is named "hang". What it was asked
# for is in $tmp/asked.
fake_tree()
{
	tree=$tmp/tree
	mkdir -p "$tree/scripts" "$tree/vmtest" "$tmp/guest"
	cp scripts/scan.sh "$tree/scripts/"
	cat >"$tree/vmtest/fetch-kernel.sh" <<-'EOF'
	#!/bin/sh
	[ "$3" != 6.99 ] || { echo "fetch-kernel: $3: none" >&2; exit 1; }
	echo "image-of-$3"
	EOF
	cat >"$tree/vmtest/vmtest.sh" <<-EOF
	#!/bin/sh
	trap 'echo ended >"$tmp/ended"; kill \$!; exit 143' TERM
	echo "\$*" >"$tmp/asked"
	out=\$(echo "\$*" | sed 's/.*--out \([^ ]*\) .*/\1/')
	bad=0
	for arg; do
		case \$arg in
		hang=*) : >"$tmp/hangs"; sleep 60 & wait ;;
		*=image-of-*) ;;
		--) break ;;
		*) continue ;;
		esac
		cp "$tmp/guest/\${arg%%=*}".* "\$out/" 2>/dev/null && continue
		echo "of \$arg" >"\$out/\${arg%%=*}.1.console"
		echo "fault=a hang" >"\$out/\${arg%%=*}.1.status"
		bad=1
	done
	exit \$bad
	EOF
	chmod +x "$tree"/*/*.sh
	cat >"$tmp/build/old-program" <<-EOF
	of yesterday
	EOF
}

# fake_scan KERNELS [NAME=VALUE...]
fake_scan()
{
	_kernels=$1
	shift
	env BUILD="$tmp/build" ARCH=amd64 PROGRAM="$tmp/build/old-program" \
		KERNELS="$_kernels" "$@" "$tree/scripts/scan.sh"
}

# same NAME: the results are those in $tmp/last, and no others are about.
same()
{
	ok "$1" diff -r "$tmp/last" "$dir"
	ok "$1: nothing else is left" [ -z "$(find "$tmp/build/scan" -mindepth 1 \
		-maxdepth 1 ! -name amd64 ! -name amd64.failed)" ]
}

test_replace()
{
	record 6.12 150 200
	record 6.16 150 200
	mv "$dir" "$tmp/guest/new"
	mv "$tmp/guest/new/"* "$tmp/guest/"
	ok "two kernels that boot" fake_scan "6.12 6.16"
	says "they are in the table" "shared-dirty.protect         150.0     150.0"
	ok "their records are kept" cmp "$tmp/guest/6.16.1.rec" "$dir/6.16.1.rec"
	cp -a "$dir" "$tmp/last"
	same "they are all there is"

	record 6.16 170 200
	mv "$dir/6.16.1.rec" "$tmp/guest/"
	ok "once more" fake_scan "6.12 6.16"
	says "the new ones count" "shared-dirty.protect         150.0     170.0"

	rm -rf "$tmp/last"
	cp -a "$dir" "$tmp/last"
	mv "$tmp/guest" "$tmp/later"
	mkdir "$tmp/guest"
	fails "none boots" fake_scan "6.12 6.16"
	says "none boots: old figures, as such" "	<- as of 20"
	says "none boots: why" "; now: a hang"
	ok "none boots: the record stays" \
		cmp "$tmp/last/6.12.1.rec" "$dir/6.12.1.rec"
	ok "none boots: its console" grep -q "of 6.12=" "$dir/6.12.failed.console"
	fails "no kernel is to be had" fake_scan "6.99"
	says "it is said" "no kernel to boot"

	rm -rf "$tmp/guest"
	mv "$tmp/later" "$tmp/guest"
	fails "one is not to be had, one does not boot" \
		fake_scan "6.12 6.16 6.17 6.99"
	says "the others are in the table" \
		"shared-dirty.protect         150.0     170.0"
	says "the one that has not booted is named" "# 6.17: not here: a hang"
	says "and the one that could not" "# 6.99: not here: not booted"
	silent "nothing is old" "as of"
	ok "all is well again" fake_scan "6.12 6.16"
	silent "nothing is old" "as of"
}

# The results are the same after a scan that came to nothing.
test_failure()
{
	rm -rf "$tmp/last" "$dir.failed"
	cp -a "$dir" "$tmp/last"
	fails "no two records" fake_scan "6.12 6.18"
	same "no two records: the last results"
	ok "no two records: what was tried" grep -q "of 6.18=" \
		"$dir.failed/6.18.failed.console"
	sed 's/page_size=4096/page_size=65536/' "$tmp/guest/6.16.1.rec" \
		>"$tmp/guest/6.18.1.rec"
	fails "what cannot be compared" fake_scan "6.12 6.18"
	same "what cannot be compared: the last results"
	rm "$tmp/guest/6.18.1.rec"
	for _sig in INT TERM; do
		rm -f "$tmp/hangs" "$tmp/ended"
		interrupt $_sig
		same "SIG$_sig: the last results"
		ok "SIG$_sig: it ends vmtest.sh" test -e "$tmp/ended"
	done
}

# interrupt SIGNAL: a scan in the middle. The shell lets it ignore SIGINT.
interrupt()
{
	env --default-signal="$1" BUILD="$tmp/build" ARCH=amd64 \
		KERNELS="6.12 hang 6.16" "$tree/scripts/scan.sh" >"$log" 2>&1 &
	_pid=$! _tries=0 _status=0
	until [ -e "$tmp/hangs" ] || [ "$_tries" -ge 20 ]; do
		_tries=$((_tries + 1))
		sleep 1
	done
	kill -s "$1" "$_pid"
	wait "$_pid" || _status=$?
	if [ "$_tries" -lt 20 ] && [ "$_status" -gt 128 ]; then
		tap_result ok "SIG$1 ends it"
	else
		tap_result "not ok" "SIG$1 ends it"
	fi
}

# asked NAME WORDS: vmtest.sh was.
asked()
{
	cp "$tmp/asked" "$log"
	says "$1" "$2"
}

test_options()
{
	ok "a program of yesterday" fake_scan "6.12 6.16"
	asked "one processor" " --smp 1 "
	silent "an option it does not know" "allow-settings"
	echo "--allow-settings" >"$tmp/build/new-program"
	ok "a program of today" fake_scan "6.12 6.16" SMP=2 FLAVOUR=cloud \
		OPTIONS="--tasks 1,2" PROGRAM="$tmp/build/new-program"
	asked "two processors" " --smp 2 "
	asked "a flavour" " 6.12=image-of-6.12-cloud "
	asked "its options" \
		" -- -p --allow-settings --tasks 1,2 --procs 1 --cycles 12 "
	ok "they are kept apart" test -s "$dir-cloud-smp2/table.txt"
}

# A table of rows in several sizes and numbers of tasks, not all on all kernels.
test_variants()
{
	mkdir -p "$tmp/fake/scan"
	cp -a "$dir" "$tmp/fake/scan/amd64"
	cp "$dir/6.12.1.rec" "$tmp/fake/scan/amd64/6.17.1.rec"
	cp "$dir/6.12.1.status" "$tmp/fake/scan/amd64/6.17.1.status"
	rm "$tmp/fake/scan/amd64/6.17.failed".*
	tr ' ' '\t' >"$tmp/tsv" <<-EOF
	scenario phase pages calls tasks kernel floor floor_sd
	plain protect 1024 1 1 6.12 10 0
	plain protect 1024 1 1 6.16 10 0
	plain protect 1024 1 1 6.17 12 0
	threads protect 1024 1 1 6.12 10 0
	threads protect 1024 1 1 6.16 10 0
	threads protect 1024 1 1 6.17 10 0
	threads protect 1024 1 2 6.12 10 0
	threads protect 1024 1 2 6.16  0
	threads protect 1024 1 2 6.17 15 0
	sized-for-a-scenario touch 1 1 1 6.12  0
	sized-for-a-scenario touch 1 1 1 6.16 10 0
	sized-for-a-scenario touch 1 1 1 6.17 11 0
	sized-for-a-scenario touch 512 1 1 6.12 10 0
	sized-for-a-scenario touch 512 1 1 6.16 10 0
	sized-for-a-scenario touch 512 1 1 6.17  0
	calls protect 64 1 1 6.12 10 0
	calls protect 128 2 1 6.12 10 0
	small protect 1 1 1 6.12 0.811 0
	small protect 1 1 1 6.16 0.811 0
	small protect 1 1 1 6.17 0.852 0
	EOF
	cat >"$tmp/fake/mprotect-lab" <<-EOF
	#!/bin/sh
	cp "$tmp/tsv" table.tsv
	EOF
	chmod +x "$tmp/fake/mprotect-lab"
	ok "rows in variants" env BUILD="$tmp/fake" NOBOOT=1 ARCH=amd64 \
		KERNELS="6.12 6.16 6.17" scripts/scan.sh
	says "one of its kind has its plain name" \
		"plain.protect                        10.0      10.0      12.0"
	says "tasks are named" \
		"threads*1.protect                    10.0      10.0      10.0"
	says "a row that is missing in the middle" \
		"threads*2.protect                    10.0         -      15.0"
	says "its step is from the last that has it" \
		"threads*2.protect                    10.0 ->      15.0    +50.0%  (since 6.12)"
	says "sizes are named; missing at first" \
		"sized-for-a-scenario@4KiB.touch         -      10.0      11.0"
	says "no step where there is nothing before" \
		"$(printf '%-31s %9s %9s %9s' '' '' '' '+10.0%')"
	says "missing at last" \
		"sized-for-a-scenario@2MiB.touch      10.0      10.0         -"
	says "calls are named where sizes are alike" "calls@256KiBx2.protect "
	says "a small figure" \
		"small.protect                       0.811     0.811     0.852"
	says "a small step" \
		"small.protect                       0.811 ->     0.852     +5.1%"
	silent "a step from the neighbour" "plain.*since"
	silent "no blanks at the end" " \$"
}

if [ ! -x build/mprotect-lab ]; then
	skip scan "no build/mprotect-lab"
	done_testing
	exit
fi
mkdir -p "$tmp/build"
cp build/mprotect-lab "$tmp/build/"
test_table
rm -rf "$dir"
fake_tree
test_replace
test_failure
test_options
test_variants
done_testing
