#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# See that what we need is there: as root on a Debian machine install what is
# missing, else say in one line what that is.
#
#	deps.sh build	what it takes to build and run: fails when it cannot be had
#	deps.sh check	what all tests want: never fails, a test without its tool
#			is skipped and says so
#	deps.sh slow	what make check-slow wants, likewise
#	deps.sh bench	what make bench needs

set -eu

have()
{
	command -v "$1" >/dev/null 2>&1
}

# want COMMAND[=PACKAGE]...: note the packages of commands that are not there.
want()
{
	for _want; do
		have "${_want%%=*}" || missing="$missing ${_want#*=}"
	done
}

# The header and the static library: the compiler alone can say.
libcap()
{
	have "${CC:-cc}" || return 0
	echo '#include <sys/capability.h>
	int main(void) { return cap_free(cap_get_proc()); }' |
		"${CC:-cc}" -x c - -o /dev/null -static -lcap 2>/dev/null ||
		missing="$missing libcap-dev"
}

# With KSRC given, nothing more than this. Some minimal images have no awk.
build_tools()
{
	want "${CC:-cc}=gcc" make awk=mawk
	have "${CC:-cc}" || missing="$missing libc6-dev libcap-dev"
	libcap
	[ -z "${KSRC-}" ] || return 0
	want xz=xz-utils
	# The mirror may be an https one.
	[ -e /etc/ssl/certs/ca-certificates.crt ] || ! have apt-get ||
		missing="$missing ca-certificates"
}

# The first of these packages are named like their commands.
check_tools()
{
	want gcc clang lld sparse shellcheck strace python3 rsync git \
		prove=perl readelf=binutils \
		aarch64-linux-gnu-gcc=gcc-aarch64-linux-gnu \
		powerpc64le-linux-gnu-gcc=gcc-powerpc64le-linux-gnu \
		qemu-system-x86_64=qemu-system-x86 \
		qemu-system-aarch64=qemu-system-arm \
		qemu-system-ppc64=qemu-system-ppc gnuplot=gnuplot-nox
	header /usr/include/numa.h libnuma-dev
	header /usr/aarch64-linux-gnu/lib/libc.a libc6-dev-arm64-cross
	header /usr/powerpc64le-linux-gnu/lib/libc.a libc6-dev-ppc64el-cross
	# Fuzzers and sanitizers with clang; a file per version of it.
	ls /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a \
		>/dev/null 2>&1 || missing="$missing libclang-rt-dev"
}

# make check-slow builds kernels.
slow_tools()
{
	check_tools
	want flex bison bc
}

bench_tools()
{
	want g++ stress-ng
	header /usr/include/benchmark/benchmark.h libbenchmark-dev
}

# header FILE PACKAGE: what is no command.
header()
{
	[ -e "$1" ] || missing="$missing $2"
}

install()
{
	echo "deps: installing$missing" >&2
	# shellcheck disable=SC2086 # a list of names without blanks
	DEBIAN_FRONTEND=noninteractive apt-get install -qq -y \
		--no-install-recommends $missing >"$log" 2>&1
}

what=${1:-build}
missing=
"${what}_tools"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ] && have apt-get; then
	log=$(mktemp)
	trap 'rm -f "$log"' EXIT
	# The lists of a fresh image are empty or old.
	if install || { apt-get update >"$log" 2>&1 && install; }; then
		exit 0
	fi
	grep '^E:' "$log" >&2 || tail -n 3 "$log" >&2
fi
if have apt-get; then
	echo "deps: missing:$missing; as root: apt-get install$missing" >&2
else
	echo "deps: missing (Debian's names for it):$missing" >&2
fi
[ "$what" = check ] || [ "$what" = slow ]
