#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Build build/mprotect_perf, static, inside the selftests of a real kernel
# source, and beside it build/mprotect-lab. KSRC is only read: what the build
# needs of it is copied under build/, our files are integrated into the copy,
# and the kernel's own Makefile builds the test there. Does nothing, and says
# nothing, when all is up to date.
#
#	build.sh [arm64|ppc64el]	that machine's go to build/*-ARCH

set -eu

# "make scan ARCH=ppc64el" means Debian's name; the kernel's Makefile has its own
unset ARCH

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${BUILD:-$here/../build}"
build=$(cd "${BUILD:-$here/../build}" && pwd)
ksrc=$("$here/fetch-ksrc.sh")
tree=$build/tree/$(printf '%s' "$ksrc" | cksum | tr ' ' -)
selftests=$tree/tools/testing/selftests

# Newer than our copy? Then the user's own work on the tree is to be seen.
changed()
{
	[ ! -e "$tree/.whole" ] ||
		[ -n "$(cd "$ksrc" && find tools/include \
			tools/testing/selftests/lib.mk \
			tools/testing/selftests/*.h \
			tools/testing/selftests/mm \
			-newer "$tree/.whole" -name '*.[chm]*' -type f |
			head -n 1)" ]
}

# The parts of a kernel tree that its mm selftests are made from. The mark goes
# to the copy last, with the time at which the copying began.
copy()
{
	echo "build: taking the mm selftests of $ksrc" >&2
	rm -rf "$tree"
	mkdir -p "$tree"
	: >"$tree/.begun"
	(cd "$ksrc" && tar -c --exclude='local_config.*' Makefile \
		mm/gup_test.h tools/arch tools/include \
		tools/testing/selftests/lib.mk tools/testing/selftests/*.h \
		tools/testing/selftests/mm tools/testing/selftests/x86) |
		tar -x -C "$tree"
	mv "$tree/.begun" "$tree/.whole"
}

# Where the cross compiler and its libcap are, as words for make.
cross()
{
	case $arch in
	arm64) triplet=aarch64-linux-gnu ;;
	ppc64el) triplet=powerpc64le-linux-gnu ;;
	*) echo "build: $arch: not an architecture we know" >&2; exit 1 ;;
	esac
	cc=$triplet-gcc
	libcap=$("$here/fetch-libcap.sh" "$arch")
	cflags="-I$libcap/usr/include"
	# tools/include's types.h, which stands in for that of "make headers",
	# lacks the vector type that a powerpc signal frame is made of.
	[ "$arch" != ppc64el ] || cflags="$cflags \
		-D__SANE_USERSPACE_TYPES__= -include asm/types.h"
	ldflags="-L$libcap/usr/lib/$triplet"
}

# keep PROGRAM: what was built takes its place if it is another one.
keep()
{
	_result=$build/${1##*/}${arch:+-$arch}
	cmp -s "$out/$1" "$_result" || cp "$out/$1" "$_result"
}

arch=${1-}
cc=${CC-}
triplet=
cflags=
ldflags=
[ -z "$arch" ] || cross
! changed || copy
"$here/integrate.sh" "$tree"
out=$tree/out${arch:+-$arch}
mkdir -p "$out"
env -u MAKEFLAGS make -s -C "$selftests/mm" OUTPUT="$out" ${cc:+CC="$cc"} \
	${triplet:+CROSS_COMPILE="$triplet-"} \
	USERCFLAGS="$cflags ${USERCFLAGS-}" \
	USERLDFLAGS="-static $ldflags ${USERLDFLAGS-}" "$out/mprotect_perf" >&2
keep mprotect_perf
env -u MAKEFLAGS make -s -C "$here/../lab" OUTPUT="$out/lab" ${cc:+CC="$cc"} \
	SELFTESTS="$selftests" CFLAGS="-O2 $cflags ${USERCFLAGS-}" \
	LDFLAGS="$ldflags ${USERLDFLAGS-} ${LABLDFLAGS-}" >&2
keep lab/mprotect-lab
