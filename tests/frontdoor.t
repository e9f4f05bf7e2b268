#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The front door: what "make" says when something is missing or wrong, and that
# it does no work twice. No network: apt is a stand-in, or not there at all.

set -eu

cd "$(dirname "$0")/.."
# shellcheck source=tests/lib.sh
. tests/lib.sh
# shellcheck source=tests/tree.sh
. tests/tree.sh

# only_tools DIR COMMAND...: a PATH with these commands and nothing else.
only_tools()
{
	_dir=$1
	mkdir -p "$_dir"
	shift
	for _tool; do
		_path=$(command -v "$_tool") || continue
		case $_path in
		/*) ln -sf "$_path" "$_dir/$_tool" ;;
		esac
	done
}

base="sh dirname mkdir cat sed awk grep tr id mktemp rm ls uname find tail head
	sort wc ln cp mv chmod cmp basename cksum tar date touch"

# stand_in FILE STATUS TEXT: a command that says it was run, and fails or not.
stand_in()
{
	printf '#!/bin/sh\necho "%s $*" >>"%s"\necho "%s" >&2\nexit %s\n' \
		"$(basename "$1")" "$tmp/ran" "$3" "$2" >"$1"
	chmod +x "$1"
}

# Without KSRC: what cannot be had, in one line that says what to give.
fetching()
{
	# shellcheck disable=SC2086 # words
	only_tools "$tmp/no-apt" $base
	fails "no apt: refused" env -u KSRC PATH="$tmp/no-apt" \
		BUILD="$tmp/empty" scripts/fetch-ksrc.sh
	one_line "no apt: in one line"
	says "no apt: what to give" "give a kernel source with KSRC="

	# shellcheck disable=SC2086 # words
	only_tools "$tmp/bad-apt" $base dpkg-deb dpkg xz flock apt-cache
	stand_in "$tmp/bad-apt/apt-get" 100 "E: no network here"
	fails "no network: refused" env -u KSRC PATH="$tmp/bad-apt" \
		APT_MIRROR=file:/nowhere BUILD="$tmp/empty" \
		scripts/fetch-ksrc.sh 6.12
	says "no network: what to give" "give a kernel source with KSRC="
	says "no network: what apt said" "E: no network here"
	ok "no network: no tree is left" test ! -e \
		"$tmp/empty/ksrc/linux-source-6.12"
	fails "no mirror: refused" env -u KSRC PATH="$tmp/bad-apt" \
		APT_ETC="$tmp" BUILD="$tmp/empty" scripts/fetch-ksrc.sh
	one_line "no mirror: in one line"
	fails "KVER=../x" env -u KSRC KVER=../x scripts/fetch-ksrc.sh
	one_line "KVER=../x: in one line"
}

# A tree that was half unpacked has a name that nobody looks for; one that is
# there needs neither apt nor a lock.
cached()
{
	mkdir -p "$tmp/half/ksrc/.tmp.abcdef/tree"
	fails "a half-done tree is no tree" env -u KSRC PATH="$tmp/bad-apt" \
		APT_MIRROR=file:/nowhere BUILD="$tmp/half" scripts/fetch-ksrc.sh
	ok "and is cleared away" test ! -e "$tmp/half/ksrc/.tmp.abcdef"
	mkdir -p "$tmp/half/ksrc/linux-source-7.3"
	ok "a whole one needs no apt" env -u KSRC PATH="$tmp/no-apt" \
		BUILD="$tmp/half" scripts/fetch-ksrc.sh
	says "and is named" "$tmp/half/ksrc/linux-source-7.3"
}

# The archive ends early: tar and xz say so, and no tree is made.
cut_archive()
{
	if ! have xz || ! have dpkg-deb || ! have flock; then
		skip "a cut archive" "no xz, dpkg-deb or flock"
		return
	fi
	mkdir -p "$tmp/deb/DEBIAN" "$tmp/deb/usr/src"
	printf 'Package: linux-source-7.3\nVersion: 1\nArchitecture: all\n%s\n%s\n' \
		'Maintainer: nobody <nobody@localhost>' 'Description: cut' \
		>"$tmp/deb/DEBIAN/control"
	mkdir -p "$tmp/linux-source-7.3/scripts"
	seq 100000 >"$tmp/linux-source-7.3/Makefile"
	tar -C "$tmp" -cJf "$tmp/whole.tar.xz" linux-source-7.3
	head -c 5000 "$tmp/whole.tar.xz" \
		>"$tmp/deb/usr/src/linux-source-7.3.tar.xz"
	dpkg-deb -b "$tmp/deb" "$tmp/cut.deb" >/dev/null
	# shellcheck disable=SC2086 # words
	only_tools "$tmp/cut-apt" $base dpkg-deb dpkg xz flock apt-cache
	printf '#!/bin/sh\ncase "$*" in\n*update*) : >"%s/lists/x_Packages" ;;\n' \
		"$tmp/cut/ksrc/apt" >"$tmp/cut-apt/apt-get"
	printf '*download*) cp "%s" . ;;\nesac\n' "$tmp/cut.deb" \
		>>"$tmp/cut-apt/apt-get"
	chmod +x "$tmp/cut-apt/apt-get"
	fails "a cut archive is refused" env -u KSRC PATH="$tmp/cut-apt" \
		APT_MIRROR=file:/nowhere BUILD="$tmp/cut" scripts/fetch-ksrc.sh
	says "a cut archive: with the reason" "linux-source-7.3"
	ok "a cut archive: no tree is left" test ! -e \
		"$tmp/cut/ksrc/linux-source-7.3"
}

ksrc_given()
{
	exits "KSRC that is not there" 2 make -s KSRC=/nowhere BUILD="$tmp/b"
	says "is named" "KSRC=/nowhere: no such directory"
	fails "KSRC that is no kernel" env KSRC="$tmp" BUILD="$tmp/b" \
		scripts/fetch-ksrc.sh
	one_line "is refused in one line"
	says "with the reason" "not a kernel source"
	exits "make integrate without KTREE" 2 make -s integrate
	says "says what to give" "give KTREE="
}

# As an ordinary user, or without apt, what is missing is named; as root it is
# installed. For a build with KSRC no more is wanted than a compiler and libcap.
deps()
{
	# shellcheck disable=SC2086 # words
	only_tools "$tmp/bare" $base make
	fails "deps: no compiler, no apt" env PATH="$tmp/bare" \
		KSRC="$tmp" scripts/deps.sh build
	one_line "deps: in one line"
	says "deps: what to install" "gcc libc6-dev libcap-dev"
	silent "deps: nothing that a build with KSRC does not need" \
		'xz|ca-cert|sparse'
	ok "deps: for tests it does not fail" env PATH="$tmp/bare" \
		scripts/deps.sh check

	# shellcheck disable=SC2086 # words
	only_tools "$tmp/user" $base make
	rm "$tmp/user/id"
	printf '#!/bin/sh\necho 1000\n' >"$tmp/user/id"
	chmod +x "$tmp/user/id"
	stand_in "$tmp/user/apt-get" 0 ""
	rm -f "$tmp/ran"
	fails "deps: an ordinary user" env PATH="$tmp/user" scripts/deps.sh build
	says "deps: is told the command" "as root: apt-get install gcc"
	ok "deps: and apt is not run" test ! -e "$tmp/ran"

	# shellcheck disable=SC2086 # words
	only_tools "$tmp/root" $base make
	rm "$tmp/root/id"
	printf '#!/bin/sh\necho 0\n' >"$tmp/root/id"
	chmod +x "$tmp/root/id"
	stand_in "$tmp/root/apt-get" 0 ""
	ok "deps: root" env PATH="$tmp/root" scripts/deps.sh build
	ok "deps: has it installed" grep -q "install.* gcc " "$tmp/ran"
	stand_in "$tmp/root/apt-get" 100 "E: held broken packages"
	fails "deps: when apt fails" env PATH="$tmp/root" scripts/deps.sh build
	says "deps: it is told why" "E: held broken packages"
}

# With KSRC, which is not written to; a second make has nothing to do, a changed
# source is built anew, and so is a changed tree.
building()
{
	v=${tree_versions##* }
	if ! tree_copy "$v" "$tmp/tree"; then
		skip "building" "$(tail -n 1 "$log")"
		return
	fi
	rm -rf "$tmp/tree/tools/testing/kunit"
	tree_state "$tmp/tree" >"$tmp/before"
	mkdir "$tmp/ours"
	cp -r Makefile scripts vmtest tools lab "$tmp/ours/"
	cd "$tmp/ours"
	export KSRC="$tmp/tree" BUILD="$tmp/ours/build"
	ok "make KSRC=" make
	says "says what it does" "taking the mm selftests of $tmp/tree"
	tree_state "$tmp/tree" >"$tmp/after"
	ok "the source is not written to" diff "$tmp/before" "$tmp/after"
	for program in mprotect_perf mprotect-lab; do
		ok "$program is static" sh -c \
			'! readelf -l "$1" | grep -q INTERP' sh "build/$program"
		ok "and runs" "build/$program" -h
	done
	ls -l --full-time build/mprotect* >"$tmp/first"
	ok "make again" make
	silent "says nothing"
	ls -l --full-time build/mprotect* >"$tmp/second"
	ok "and builds nothing" diff "$tmp/first" "$tmp/second"
	echo '#error changed' >>lab/mprotect_perf_stats.h
	exits "a changed header of the lab" 2 make
	says "is built anew" "#error changed"
	sed -i '$d' lab/mprotect_perf_stats.h
	echo '/* more */' >>"$tmp/tree/tools/testing/selftests/kselftest.h"
	ok "a changed kernel source" make
	says "is taken anew" "taking the mm selftests"
	echo '#error broken' >>tools/testing/selftests/mm/mprotect_perf.c
	exits "a broken source is an error" 2 make
	says "that is shown" "#error broken"
	unset KSRC BUILD
	cd "$top"
}

top=$PWD
fetching
cached
cut_archive
ksrc_given
deps
building
done_testing
