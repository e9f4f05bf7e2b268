#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Find or fetch a kernel source, and print its path: the directory in KSRC if
# that is set, else Debian's linux-source-KVER, unpacked under build/.
#
# Only what selftests, "make headers" and checkpatch need is unpacked. A tree
# gets its name after its last file is there, so that one that is cut short is
# never taken for a whole one. A tree that is there needs no network.

set -eu

die()
{
	echo "fetch-ksrc: $*" >&2
	exit 1
}

say()
{
	echo "fetch-ksrc: $*" >&2
}

here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$here/../build}
kver=${1:-${KVER:-7.3}}
give="give a kernel source with KSRC=/path/to/linux"

# shellcheck source=vmtest/apt.sh
. "$here/../vmtest/apt.sh"

if [ -n "${KSRC-}" ]; then
	[ -d "$KSRC" ] || die "KSRC=$KSRC: no such directory"
	[ -f "$KSRC/tools/testing/selftests/lib.mk" ] ||
		die "KSRC=$KSRC: not a kernel source (no tools/testing/selftests/lib.mk)"
	(cd "$KSRC" && pwd)
	exit
fi

# find_tar: the compressed source, from an installed package or fetched.
find_tar()
{
	if [ -f "/usr/src/$name.tar.xz" ]; then
		cat "/usr/src/$name.tar.xz"
		return
	fi
	dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/$name.tar.xz"
}

# The stable, the backported and the newest kernels of Debian are in these.
fetch_deb()
{
	[ ! -f "/usr/src/$name.tar.xz" ] || return 0
	apt_init "$build/ksrc/apt" "$(dpkg --print-architecture 2>/dev/null)" \
		trixie trixie-backports sid || die "$APT_ERR; $give"
	say "reading package lists"
	apt_refresh || die "$APT_ERR; $give"
	say "downloading $name (150 MB)"
	mkdir "$tmp/deb"
	apt_get "$name" "$tmp/deb" || die "$APT_ERR; $give"
	deb=$(find "$tmp/deb" -name '*.deb')
}

# In a wildcard of tar, "*" matches "/" too.
unpack()
{
	say "unpacking $name"
	mkdir "$tmp/tree"
	find_tar | xz -dc -T0 | tar -x -C "$tmp/tree" --strip-components=1 \
		--wildcards --exclude='*/selftests/bpf' --exclude='*/dts' \
		"$name/Makefile" "$name/Kbuild" "$name/usr" "$name/scripts" \
		"$name/include" "$name/arch/*/Makefile*" \
		"$name/arch/*/include" "$name/arch/*/syscalls" \
		"$name/arch/*/tools" "$name/mm/gup_test.h" \
		"$name/lib/test_hmm_uapi.h" "$name/tools/scripts" \
		"$name/tools/include" "$name/tools/arch" \
		"$name/tools/testing/kunit" "$name/tools/testing/selftests" ||
		die "$name cannot be unpacked; $give"
	# The last member that we ask for: was the stream whole?
	[ -f "$tmp/tree/usr/include/Makefile" ] ||
		die "$name: its archive is not whole; $give"
}

case $kver in
[1-9]*.[0-9]*) ;;
*) die "KVER=$kver: not a version like 7.3" ;;
esac
name=linux-source-$kver
mkdir -p "$build/ksrc"
build=$(cd "$build" && pwd)
tree=$build/ksrc/$name
if [ ! -d "$tree" ]; then
	for tool in apt-get dpkg-deb flock xz; do
		command -v "$tool" >/dev/null 2>&1 ||
			die "no $tool to get $name with; $give"
	done
	# One at a time: tests run in parallel and ask for the same tree.
	exec 9>"$build/ksrc/.lock"
	flock 9
fi
if [ ! -d "$tree" ]; then
	# What a killed one left behind; we hold the lock.
	rm -rf "$build"/ksrc/.tmp.*
	tmp=$(mktemp -d "$build/ksrc/.tmp.XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' HUP TERM
	fetch_deb
	unpack
	mv "$tmp/tree" "$tree"
fi
echo "$tree"
