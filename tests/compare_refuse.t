#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What -c refuses: records that cannot be compared, files that are none, options
# that have no effect. Each is one line on stderr that names what, where and the
# mend; the exit status is 1, and that of --bisect 125.
set -eu

cd "$(dirname "$0")/.."
# shellcheck source=tests/lib.sh
. tests/lib.sh
# shellcheck source=tests/prog.sh
. tests/prog.sh
# shellcheck source=tests/records.sh
. tests/records.sh
cd "$tmp"
procs=5 cycles=20
record a.rec "$facts release=6.16" shared-dirty:16384:38:8
record b.rec "$facts release=6.17" shared-dirty:16384:53:8

# refused TEXT FILE...: by -c, and with --bisect 125
refused()
{
	_refused=$1
	shift
	wrong "$_refused" -c "$@"
	exits 'to git bisect it says nothing' 125 timeout 10 "$prog" --bisect -c "$@"
}

# other KEY VALUE: x.rec, of a machine that differs in this
other()
{
	record x.rec "$(echo "$facts" | sed "s/\<$1=[^ ]*/$1=$2/") release=6.17" \
		shared-dirty:16384:53:8
}

other unit insn
refused 'unit: ns in a.rec, insn in x.rec; not comparable' a.rec x.rec
other page_size 16384
refused 'page_size: 4096 in a.rec, 16384 in x.rec; not comparable' a.rec x.rec
other arch aarch64
refused 'arch: x86_64 in a.rec, aarch64 in x.rec; not comparable' a.rec x.rec
other model Xeon
refused 'model: EPYC in a.rec, Xeon in x.rec; not comparable' a.rec x.rec
other clocksource hpet
refused 'clocksource: tsc in a.rec, hpet in x.rec; not comparable' a.rec x.rec
other hypervisor yes
refused 'hypervisor: no in a.rec, yes in x.rec; not comparable' a.rec x.rec
record x.rec "$facts release=6.17 accel=icount" shared-dirty:16384:53:8
refused 'accel: absent in a.rec, icount in x.rec; not comparable' a.rec x.rec
record x.rec "$facts release=6.17" shared-dirty:1024:53:8
refused 'shared-dirty: pages=16384 calls=1 in a.rec, 1024, 1 in x.rec' a.rec x.rec
refused 'pages=16384 calls=1 in a.rec, 1024, 1 in x.rec' a.rec b.rec x.rec

record x.rec "$facts release=6.17" shared-dirty:16384:53:8:0:2
refused 'shared-dirty: pages=16384 calls=1 tasks=1 in a.rec, 16384, 1, 2 in x.rec' a.rec x.rec
record x.rec "$facts release=6.17" shared-dirty:1024:53:8 shared-dirty:4:53:8
refused 'shared-dirty: pages=16384 calls=1 in a.rec, 1024, 1 in x.rec' a.rec x.rec

# Files that are no record, or not a whole one.
sed '$d' b.rec >x.rec
refused "x.rec:102: cut off: line 102 is the last, no 'end' line" a.rec x.rec
head -c 3000 b.rec >x.rec
refused 'x.rec:' a.rec x.rec
cat b.rec b.rec >x.rec
refused 'x.rec:104: ' a.rec x.rec
sed '5{p}' b.rec >x.rec
refused 'x.rec:6: shared-dirty proc=0 cycle=2 after cycle 2: twice, or disorder' a.rec x.rec
record tasks.rec "$facts release=6.17" shared-dirty:16384:53:8:0:2
sed '/task=1 /{p;q}' tasks.rec >x.rec
refused 'x.rec:24: shared-dirty proc=0 task=1 cycle=0 after cycle 0: twice' a.rec x.rec
sed 's/task=1/task=2/' tasks.rec >x.rec
refused 'x.rec:23: task=2 of tasks=2 of shared-dirty' a.rec x.rec
sed '1s/1/2/' b.rec >x.rec
refused 'x.rec:1: ' a.rec x.rec
sed '2s/unit=ns//;2s/  / /' b.rec >x.rec
refused 'no env unit before this line' a.rec x.rec
cp "$prog" x.rec
refused 'x.rec:1: ' a.rec x.rec
: >x.rec
refused 'x.rec' a.rec x.rec
refused '/dev/null' a.rec /dev/null
refused '/dev/zero' a.rec /dev/zero
mkdir dir
refused 'dir: ' a.rec dir
mkfifo fifo
refused 'fifo: ' a.rec fifo
refused 'none.rec: cannot open' a.rec none.rec
refused 'none/b.rec: cannot open' a.rec none/b.rec
printf 'mprotect_perf-record 1\nenv unit=ns page_size=4096\nend samples=0\n' >x.rec
refused 'no timed sample in any record' x.rec x.rec

# Labels.
refused '2 records of one kernel, x; say base=FILE head=FILE' x=a.rec x=b.rec
refused "'=a.rec': a label is 1 to 40" =a.rec b.rec
refused "'a b=a.rec': a label is" 'a b=a.rec' b.rec
refused "a label is" "$(printf '%041d' 0)=a.rec" b.rec
refused '3 records of one kernel, 6.16; say base=FILE head=FILE' a.rec a.rec a.rec
cp b.rec x=y.rec
refused "y.rec: cannot open" a.rec x=y.rec
run 'a file with = in its name, ./ before it' 0 \
	"$prog" -c --severity warn a.rec ./x=y.rec

# Options.
wrong '-c needs two records or more' -c
wrong '-c needs two records or more' -c a.rec
wrong '-p and -c: give one of them' -c -p a.rec b.rec
wrong '-l and -c: give one of them' -c -l a.rec b.rec
for option in '-o x' '--time 3' '--procs 3' '--warmup-procs 3' '--cycles 3' '--warmup 3' \
	'--cpu 0' '--unit ns' '--max protect=3' '--baseline a.rec' '--timeout 3'; do
	# shellcheck disable=SC2086 # two words
	wrong 'has no effect with -c' -c a.rec b.rec $option
done
wrong "--tsv has no effect without -c" --tsv x.tsv
wrong "--plot has no effect without -p or -c" --plot x.png
wrong "--threshold has no effect without -p or -c" --threshold 3
wrong "--seed has no effect without -p or -c" --seed 3
wrong "'a.rec' is not an option" a.rec b.rec
exits '--bisect without -c' 125 "$prog" --bisect
wrong "no scenario 'nosuch' in the records" -c a.rec b.rec -s nosuch
wrong "no scenario 'api' in the records" -c a.rec b.rec -s shared-dirty,api
wrong "no scenario '' in the records" -c a.rec b.rec -s shared-dirty,
wrong "--threshold '-1': give percent" -c a.rec b.rec --threshold -1
wrong "--plot 'x.gif': give a name that ends in .svg or .png" -c a.rec b.rec --plot x.gif
wrong "--plot 'png': give a name" -c a.rec b.rec --plot png
wrong "b.rec: exists already; remove it" -c a.rec b.rec --tsv b.rec
wrong 'none/x.tsv: cannot create' -c a.rec b.rec --tsv none/x.tsv
exits '--severity warn is no --bisect' 125 "$prog" -c --bisect a.rec b.rec --severity warn
says 'which is said' '--severity warn has no effect with --bisect'
ok 'nothing was left behind' sh -c '! ls | grep -E "tsv|png|svg|tmp$"'
done_testing
