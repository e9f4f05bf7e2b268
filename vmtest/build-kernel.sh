#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Build a kernel tree for vmtest.sh, small and quickly: "make tinyconfig", then
# config.ARCH, which says why for each of its options. Nothing is written to the
# tree; the same output directory again makes the next build a short one.

set -eu

usage()
{
	cat <<-EOF
	usage: $0 [options] TREE

	  --output DIR   where to build; default: build/linux
	  --config FILE  more options, after our own
	  --jobs N       default: processors of this machine
	Prints the path of the image; compiled through ccache where that is installed.
	EOF
}

die()
{
	echo "build-kernel: $*" >&2
	exit 1
}

here=$(cd "$(dirname "$0")" && pwd)
output=$here/../build/linux
jobs=$(nproc 2>/dev/null || echo 1)
more=

# Options of ours that the tree has, but that did not come out as we want them.
# "make olddefconfig" drops silently what it does not know or cannot have.
report_lost()
{
	sed -n '/^CONFIG_/p' "$fragment" ${more:+"$more"} |
		grep -vxF -f "$output/.config" | sed 's/^CONFIG_//' | tr '\n' ' ' \
		>"$output/vmtest-lost"
	[ ! -s "$output/vmtest-lost" ] ||
		echo "build-kernel: not in this tree: $(cat "$output/vmtest-lost")" >&2
}

# The configuration is made anew when something of it has changed only: a new
# .config costs a look at every file.
configure()
{
	_sum=$(cat "$fragment" ${more:+"$more"} \
		"$(dirname "$0")/build-kernel.sh" | cksum)
	[ ! -f "$output/.config" ] ||
		[ "$_sum" != "$(cat "$output/vmtest-sum" 2>/dev/null)" ] || {
		kernel_make olddefconfig
		return
	}
	kernel_make tinyconfig
	# tinyconfig says "is not set" of what we set: the last one counts,
	# with a warning for each that nobody needs to see.
	sed -n '/^CONFIG_/p' "$fragment" ${more:+"$more"} >>"$output/.config"
	kernel_make olddefconfig
	report_lost
	echo "$_sum" >"$output/vmtest-sum"
}

# The date and the name of the machine are in the image, and so in figures that
# depend on where code lies: the same tree is to give the same kernel.
kernel_make()
{
	make -s -C "$tree" O="$output" KBUILD_BUILD_TIMESTAMP=2026-01-01 \
		KBUILD_BUILD_USER=vmtest KBUILD_BUILD_HOST=vmtest \
		KBUILD_BUILD_VERSION=1 ${cc:+CC="$cc"} "$@" \
		>"$output/vmtest-log" 2>&1 && return
	grep -E -m 5 'error|Error|No rule' "$output/vmtest-log" >&2 ||
		tail -n 5 "$output/vmtest-log" >&2
	die "make $1 fails in $tree; all of it is in $output/vmtest-log"
}

while [ $# -gt 0 ]; do
	case $1 in
	--output | --config | --jobs)
		[ $# -gt 1 ] || die "$1 needs a value"
		;;
	esac
	case $1 in
	--output) output=$2; shift ;;
	--config) more=$(realpath "$2"); shift ;;
	--jobs) jobs=$2; shift ;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; exit 1 ;;
	*) break ;;
	esac
	shift
done
[ $# -eq 1 ] || { usage >&2; exit 1; }
[ -f "$1/Kbuild" ] || die "$1: no kernel tree"
[ "$(uname -m)" = x86_64 ] || die "only amd64 is built here, on itself"
tree=$(cd "$1" && pwd)
fragment=$here/config.amd64
for tool in make flex bison bc; do
	command -v "$tool" >/dev/null 2>&1 || die "$tool is missing"
done
cc=${CC-}
if command -v ccache >/dev/null 2>&1; then
	cc="ccache ${CC:-gcc}"
fi
mkdir -p "$output"
output=$(cd "$output" && pwd)

configure
kernel_make "-j$jobs" bzImage
echo "$output/arch/x86/boot/bzImage"
