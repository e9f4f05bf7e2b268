#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Boot kernels in QEMU and run mprotect_perf in each: no root, no network, no
# disk image. With the default --accel icount the guest's clock counts executed
# instructions, and the same image gives the same figures on every boot, on
# any machine. Instructions are not time: what atomics, cache and TLB misses
# cost does not show.

set -eu
LC_ALL=C
export LC_ALL

usage()
{
	cat <<-EOF
	usage: $0 [options] [LABEL=]KERNEL... [-- mprotect_perf options]

	KERNEL is an image, a build tree, or debian:VERSION[-FLAVOUR].
	  --arch ARCH      amd64, arm64 or ppc64el; default: this machine
	  --boots N        boots of each kernel, in the order A B A B; default 1
	  --accel HOW      icount (default), tcg, or kvm
	  --smp N          processors of a guest; default 1
	  --mem SIZE       memory of a guest; default 1G
	  --timeout S      seconds a boot may take; default 900
	  --settle S       seconds of the guest before the program starts;
	                   default 20 (free with icount), else 2
	  --jobs N         boots side by side; default: processors of this machine
	  --append WORDS   more of the kernel's command line
	  --program FILE   default build/mprotect-lab, build/mprotect-lab-ARCH
	  --profile        where the instructions of the first kernel and of others
	                   are: per kernel function and page, by difference
	  --no-compare     after a -p of more than one kernel, no comparison
	  --send NAME=PATH send one more file of the guest, as OUT/LABEL.BOOT.NAME
	  --out DIR        default build/vmtest/out
	  --keep           keep temporary files, and say where
	mprotect_perf options: default -p. "-o" and, with icount, "--unit insn" are
	added to a -p; with --profile, --procs 1 and --cycles 400, too, and its default
	is -p -s shared-dirty. Leaves LABEL.BOOT.rec, .console and .status in DIR.
	Exit status: 1 if a boot did not do what it should, else that of
	"mprotect_perf -c" where kernels are compared: 1 is REGRESSED; else 0.
	EOF
}

die()
{
	echo "vmtest: $*" >&2
	exit 1
}

say()
{
	echo "vmtest: $*" >&2
}

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
arch='' boots=1 accel=icount smp=1 mem=1G timeout=900 settle='' append=''
jobs=$(nproc 2>/dev/null || echo 1)
program='' out=$root/build/vmtest/out keep='' send='' profile='' tmp='' guest_pid=''
kernels='' lanes='' leash='' compare=1
newline='
'
# shellcheck source=SCRIPTDIR/initramfs.sh
. "$here/initramfs.sh"
# shellcheck source=SCRIPTDIR/guest.sh
. "$here/guest.sh"
# shellcheck source=SCRIPTDIR/kernels.sh
. "$here/kernels.sh"
# shellcheck source=SCRIPTDIR/profile.sh
. "$here/profile.sh"

number()
{
	case $2 in
	'' | *[!0-9]* | 0?*) die "$1 $2: not a number" ;;
	esac
}

check_host()
{
	for _tool in timeout cksum mkfifo mktemp; do
		command -v "$_tool" >/dev/null 2>&1 || die "$_tool is missing"
	done
	if [ "$accel" = kvm ]; then
		# Never something else instead: its figures would look alike.
		[ -w /dev/kvm ] || die "--accel kvm: no usable /dev/kvm here"
		[ "$arch" = "$(host_arch)" ] ||
			die "--accel kvm: this machine is not $arch"
	fi
	if [ -z "$program" ]; then
		program=$root/build/mprotect-lab-$arch
		[ "$arch" != "$(host_arch)" ] ||
			program=$root/build/mprotect-lab
	fi
	[ -f "$program" ] || die "$program is missing: make it, or --program"
}

# Everything we started and made goes away with us, whatever ends us.
clean_up()
{
	trap '' HUP INT TERM
	for _pid in $lanes; do
		kill "$_pid" 2>/dev/null || :
	done
	slip_leash
	wait
	if [ -n "$keep" ] && [ -n "$tmp" ]; then
		say "kept $tmp"
	elif [ -n "$tmp" ]; then
		rm -rf "$tmp"
	fi
}

# prepare [ARG...]: the initramfs, with the program's options in it.
prepare()
{
	build_init "$here" "$arch" "$root/build/vmtest/init.$arch"
	expect_record=
	for _arg; do
		[ "$_arg" != -p ] || expect_record=1
	done
	if [ -n "$expect_record" ]; then
		[ -n "$profile" ] || set -- "$@" -o /tmp/record
		[ "$accel" != icount ] || set -- "$@" --unit insn
	fi
	mkdir "$tmp/vmtest" "$tmp/claim"
	: >"$tmp/vmtest/args"
	if [ -n "$profile" ]; then
		profile_args "$@"
	elif [ $# -gt 0 ]; then
		printf '%s\0' "$@" >"$tmp/vmtest/args"
	fi
	echo "$settle" >"$tmp/vmtest/settle"
	echo "/dev/$port" >"$tmp/vmtest/port"
	printf '%s' "${expect_record:+rec /tmp/record$newline}$send" \
		>"$tmp/vmtest/send"
	initrd=$tmp/initrd
	make_initramfs "$root/build/vmtest/init.$arch" "$program" \
		"$tmp/vmtest" >"$initrd"
}

# plan: a line "LABEL BOOT IMAGE" for every boot. A slow change of the machine
# must not fall on one kernel: all first boots, then all second ones.
plan()
{
	_boot=1
	while [ "$_boot" -le "$boots" ]; do
		printf '%s' "$kernels" | while read -r _label _image; do
			[ -z "$_label" ] || echo "$_label $_boot $_image"
		done
		_boot=$((_boot + 1))
	done
}

report()
{
	if [ -z "$guest_fault" ]; then
		say "$1 boot $2: exit status $guest_exit, $guest_seconds s"
		return
	fi
	# One write, so that the reports of two lanes do not mix.
	_text=$(echo "vmtest: $1 boot $2: FAILED: $guest_fault, after" \
			"$guest_seconds s; the end of its console:"
		grep -v '^$' "$out/$1.$2.console" | tail -n 15 | sed 's/^/  | /')
	printf '%s\n' "$_text" >&2
}

# hold_leash: SIGKILL leaves no time to end the lanes. We alone hold this pipe
# open, and when it closes unasked, whoever reads from it ends them.
hold_leash()
{
	mkfifo "$tmp/leash"
	exec 8<>"$tmp/leash"
	exec 7<"$tmp/leash"
	(
		trap - EXIT
		exec 8>&-
		# shellcheck disable=SC2086 # a list
		read -r _ <&7 || kill $lanes
	) &
	leash=$!
	exec 7<&-
}

slip_leash()
{
	[ -z "$leash" ] || echo >&8
	leash=
}

# lane: does boots that no other lane has claimed, until none is left. A
# directory is made by one only.
lane()
{
	trap 'kill "$guest_pid" 2>/dev/null; wait; exit 1' TERM
	trap - EXIT
	while read -r lane_label lane_boot lane_image; do
		mkdir "$tmp/claim/$lane_label.$lane_boot" 2>/dev/null ||
			continue
		guest_boot "$lane_image" "$out/$lane_label.$lane_boot" ||
			: >"$tmp/failed"
		report "$lane_label" "$lane_boot"
	done <"$tmp/plan"
}

run()
{
	mkdir -p "$out"
	plan >"$tmp/plan"
	while read -r _name _boot _image; do
		rm -f "$out/$_name.$_boot".*
	done <"$tmp/plan"
	_lane=0
	while [ "$_lane" -lt "$jobs" ]; do
		_lane=$((_lane + 1))
		lane &
		lanes="$lanes $!"
	done
	hold_leash
	for _pid in $lanes; do
		wait "$_pid" || : >"$tmp/failed"
	done
	lanes=
	slip_leash
	[ ! -e "$tmp/failed" ]
}

# compare_kernels: the boots of the plan, by the program of this machine.
compare_kernels()
{
	_judge=$root/build/mprotect-lab
	[ "$arch" != "$(host_arch)" ] || _judge=$program
	if ! [ -x "$_judge" ]; then
		say "no $_judge, no comparison"
		return
	fi
	set --
	while read -r _name _boot _image; do
		set -- "$@" "$_name=$out/$_name.$_boot.rec"
	done <"$tmp/plan"
	"$_judge" -c "$@"
}

[ $# -gt 0 ] || { usage >&2; exit 1; }
specs=
while [ $# -gt 0 ]; do
	case $1 in
	--arch | --boots | --accel | --smp | --mem | --timeout | --settle | \
	--jobs | --append | --program | --send | --out)
		[ $# -gt 1 ] || die "$1 needs a value"
		;;
	esac
	case $1 in
	--arch) arch=$2; shift ;;
	--boots) number "$1" "$2"; boots=$2; shift ;;
	--accel) accel=$2; shift ;;
	--smp) number "$1" "$2"; smp=$2; shift ;;
	--mem) mem=$2; shift ;;
	--timeout) number "$1" "$2"; timeout=$2; shift ;;
	--settle) number "$1" "$2"; settle=$2; shift ;;
	--jobs) number "$1" "$2"; jobs=$2; shift ;;
	--append) append="$append $2"; shift ;;
	--program) program=$2; shift ;;
	--send) send="$send${2%%=*} ${2#*=}$newline"; shift ;;
	--out) out=$2; shift ;;
	--keep) keep=1 ;;
	--no-compare) compare='' ;;
	--profile) profile=1 append="$append profile=2" ;;
	-h | --help) usage; exit 0 ;;
	--) shift; break ;;
	-*) usage >&2; exit 1 ;;
	*) specs="$specs$1$newline" ;;
	esac
	shift
done
[ -n "$specs" ] || die "no kernel given"
[ $# -gt 0 ] || set -- -p ${profile:+-s shared-dirty}
[ -z "$profile" ] || [ "$1" = -p ] ||
	die "--profile needs mprotect_perf options that begin with -p"
case ${arch:=$(host_arch)} in
amd64 | arm64 | ppc64el) ;;
*) die "--arch $arch: not one that we know" ;;
esac
case $accel in
icount) : "${settle:=20}" ;;
kvm | tcg) : "${settle:=2}" ;;
*) die "--accel $accel: not icount, kvm or tcg" ;;
esac
check_host
guest_machine
guest_tie
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
tmp=$(mktemp -d "${TMPDIR:-/tmp}/vmtest.XXXXXX")
while read -r spec; do
	[ -z "$spec" ] || add_kernel "$spec"
done <<EOF
$specs
EOF
prepare "$@"
run
if [ -n "$profile" ]; then
	profile_report
elif [ -n "$expect_record" ] && [ -n "$compare" ] &&
     [ "$(cut -d ' ' -f 1 "$tmp/plan" | sort -u | wc -l)" -gt 1 ]; then
	compare_kernels
fi
