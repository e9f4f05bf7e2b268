#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Which commit made mprotect() dearer? In a kernel tree, with the last good
# commit checked out, then with the bisection begun:
#
#	bisect.sh --good			record the good one
#	git bisect start BAD GOOD
#	git bisect run bisect.sh		one step: build, boot, compare
#
# All steps build in one directory, so that each compiles what has changed only,
# and boot with the clock counting instructions: a step has no noise.
# 0 is good, 1 regressed; 125, what git takes for "skip this one", when it does
# not build, boot or pass the validation; 128 ends the bisection: its set-up
# is wrong.

set -eu

usage()
{
	cat <<-EOF
	usage: $0 [options] [-- mprotect_perf options]

	  --good          record this commit as the good one
	  --record FILE   the good record; default: build/bisect/good.rec
	  --output DIR    where kernels are built; default: build/bisect/linux
	  --config FILE   more options of the kernel, see build-kernel.sh
	  --program FILE  default: build/mprotect-lab
	  --threshold PCT of the verdict; default: that of mprotect_perf -c
	mprotect_perf options: default -p -s shared-dirty --procs 2 --cycles 10; the
	same for the good one and for all steps. The working directory is the tree.
	EOF
}

die()
{
	echo "bisect: $*" >&2
	exit 128
}

# cannot WHAT: nothing is known of this commit.
cannot()
{
	[ -z "$good" ] || die "$commit: $*: cannot be the good one"
	echo "bisect: $commit: $*: skipped" >&2
	exit 125
}

here=$(cd "$(dirname "$0")" && pwd)
build=$here/../build
good='' config='' threshold=''
record=$build/bisect/good.rec output=$build/bisect/linux
program=$build/mprotect-lab

while [ $# -gt 0 ]; do
	case $1 in
	--record | --output | --config | --program | --threshold)
		[ $# -gt 1 ] || die "$1 needs a value"
		;;
	esac
	case $1 in
	--good) good=1 ;;
	--record) record=$2; shift ;;
	--output) output=$2; shift ;;
	--config) config=$2; shift ;;
	--program) program=$2; shift ;;
	--threshold) threshold=$2; shift ;;
	-h | --help) usage; exit 0 ;;
	--) shift; break ;;
	*) usage >&2; exit 128 ;;
	esac
	shift
done
[ $# -gt 0 ] || set -- -p -s shared-dirty --procs 2 --cycles 10 --warmup 3
[ -x "$program" ] || die "no $program: make it first"
[ -f Kbuild ] || die "not in a kernel tree"
[ -n "$good" ] || head -n 1 "$record" 2>/dev/null |
	grep -q '^mprotect_perf-record ' ||
	die "$record is no record: run with --good on the good commit first"
commit=$(git log -1 --format='%h %s' 2>/dev/null || echo "this tree")

mkdir -p "$output"
tmp=$(mktemp -d "$output/../.bisect.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

image=$("$here/build-kernel.sh" --output "$output" \
	${config:+--config "$config"} .) || cannot "does not build"
"$here/vmtest.sh" --program "$program" --out "$tmp" --settle 5 \
	"kernel=$image" -- "$@" || cannot "does not pass"
if [ -n "$good" ]; then
	mv "$tmp/kernel.1.rec" "$record"
	echo "bisect: $commit: recorded as good"
	exit
fi
status=0
"$program" -c --bisect ${threshold:+--threshold "$threshold"} "$record" \
	"$tmp/kernel.1.rec" >"$tmp/verdict" || status=$?
sed -n 's/^\(not \)*ok [0-9]* compare\./# /p' "$tmp/verdict"
case $status in
0) echo "bisect: $commit: good" ;;
1)
	# 1 is a usage error or a record that is not one, too.
	grep -q '^not ok .*REGRESSED' "$tmp/verdict" ||
		die "mprotect_perf -c: $(tail -n 1 "$tmp/verdict")"
	echo "bisect: $commit: regressed"
	;;
*) cannot "cannot tell" ;;
esac
exit "$status"
