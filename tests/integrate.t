#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# scripts/integrate.sh on real kernel trees: in, twice, out again byte for byte;
# what must be refused; and every way in which a kernel developer builds it.

set -eu

cd "$(dirname "$0")/.."
# shellcheck source=tests/lib.sh
. tests/lib.sh
# shellcheck source=tests/tree.sh
. tests/tree.sh

mm=tools/testing/selftests/mm

# same NAME TREE STATE: the tree is what it was when STATE was taken.
same()
{
	tree_state "$2" >"$tmp/now"
	ok "$1" diff "$3" "$tmp/now"
}

# An older version of ours: other files, other lines, in the same places.
old_version()
{
	mkdir -p "$tmp/old/tools/testing/selftests"
	cp -r scripts "$tmp/old/"
	cp -r "$mm" "$tmp/old/$mm"
	echo '/* gone since */' >"$tmp/old/$mm/mprotect_perf_gone.c"
	sed -i 's|"$ours/ksft_mprotect.sh"|& "$ours/mprotect_perf_gone.c"|' \
		"$tmp/old/scripts/integrate.sh"
	echo '/* other */' >"$tmp/old/$mm/mprotect_perf.c"
	sed -i 's/^TEST_GEN_FILES/MPROTECT_PERF_PARTS := gone\n&/' \
		"$tmp/old/$mm/Makefile"
	sed -i 's/mprotect_perf: is.*/mprotect_perf: an older text/' \
		"$tmp/old/$mm/run_vmtests.sh"
	printf '#@ end\n# mprotect_perf: gone\nCONFIG_GONE=y\n' \
		>>"$tmp/old/$mm/config"
}

# A tree that gives its tests less time than ours may need.
short_time()
{
	for text in timeout=45 timeout=0 '# none'; do
		echo "$text" >"$tree/$mm/settings"
		tree_state "$tree" >"$tmp/short"
		scripts/integrate.sh "$tree"
		least=$(sed -n 's/^timeout=//p' "$mm/settings")
		ok "$v: with $text there is time enough" awk -F= -v least="$least" '
			$1 == "timeout" && ($2 >= least || !$2) { ok = 1 }
			END { exit !ok }' "$tree/$mm/settings"
		scripts/integrate.sh -r "$tree"
		same "$v: and $text is back afterwards" "$tree" "$tmp/short"
	done
	cp "$tmp/settings" "$tree/$mm/settings"
}

in_and_out()
{
	cp "$tree/$mm/settings" "$tmp/settings"
	tree_state "$tree" >"$tmp/clean"
	ok "$v: integrate" scripts/integrate.sh "$tree"
	tree_state "$tree" >"$tmp/in"
	ok "$v: integrate again" scripts/integrate.sh "$tree"
	same "$v: again changes nothing" "$tree" "$tmp/in"
	ok "$v: remove" make -s integrate REMOVE=1 KTREE="$tree"
	same "$v: removed byte for byte" "$tree" "$tmp/clean"
	ok "$v: remove again" scripts/integrate.sh -r "$tree"
	same "$v: which changes nothing" "$tree" "$tmp/clean"

	ok "$v: an older version" "$tmp/old/scripts/integrate.sh" "$tree"
	ok "$v: brought up to date" make -s integrate KTREE="$tree"
	same "$v: as if it had never been" "$tree" "$tmp/in"
	"$tmp/old/scripts/integrate.sh" "$tree"
	ok "$v: an older version removed" scripts/integrate.sh -r "$tree"
	same "$v: removed byte for byte too" "$tree" "$tmp/clean"
}

# cut N ARGUMENT...: scripts/integrate.sh, cut short after N moves.
cut()
{
	mkdir -p "$tmp/bin"
	echo "$1" >"$tmp/moves"
	shift
	cat >"$tmp/bin/mv" <<-EOF
		#!/bin/sh
		n=\$(cat "$tmp/moves")
		[ "\$n" -gt 0 ] || exit 1
		echo "\$((n - 1))" >"$tmp/moves"
		exec $(command -v mv) "\$@"
	EOF
	chmod +x "$tmp/bin/mv"
	! PATH="$tmp/bin:$PATH" scripts/integrate.sh "$@"
}

# Wherever it is cut short, the next run makes it whole, or takes it all out.
cuts()
{
	all=$(find "$mm" -name 'mprotect_perf*' -o -name 'ksft_*' | wc -l)
	for n in 1 2 "$all" $((all + 1)) $((all + 2)); do
		cut "$n" "$tree" || return 1
		scripts/integrate.sh "$tree"
		tree_state "$tree" | diff "$tmp/in" - || return 1
		scripts/integrate.sh -r "$tree"
		cut "$n" "$tree" || return 1
		scripts/integrate.sh -r "$tree"
		tree_state "$tree" | diff "$tmp/clean" - || return 1
	done
	for n in 1 2; do
		scripts/integrate.sh "$tree"
		cut "$n" -r "$tree" || return 1
		scripts/integrate.sh -r "$tree"
		tree_state "$tree" | diff "$tmp/clean" - || return 1
	done
}

# refused NAME TEXT: status 1, one line with this text, tree untouched.
refused()
{
	tree_state "$tree" >"$tmp/before"
	fails "$1 is refused" scripts/integrate.sh "$tree"
	one_line "$1: in one line"
	says "$1: with the reason" "$2"
	same "$1: nothing is touched" "$tree" "$tmp/before"
	fails "$1: so is removal" scripts/integrate.sh -r "$tree"
	same "$1: which touches nothing" "$tree" "$tmp/before"
}

# broken_tree: a fresh copy to be broken.
broken_tree()
{
	rm -rf "$tmp/broken"
	cp -a "$tmp/$v" "$tmp/broken"
	tree=$tmp/broken
}

refusals()
{
	broken_tree
	rm "$tree/tools/testing/selftests/lib.mk"
	refused "no kernel tree" "not a kernel tree"
	broken_tree
	mv "$tree/$mm" "$tree/tools/testing/selftests/vm"
	refused "6.1 with its vm/" "the static binary built from a newer tree"
	broken_tree
	echo 'int main(void) { return 0; }' >"$tree/$mm/mprotect_perf.c"
	refused "a foreign file of our name" "mm/mprotect_perf.c is there"
	broken_tree
	printf '\n- mprotect\n\tsomebody else\n' >>"$tree/$mm/run_vmtests.sh"
	refused "a foreign category" "already speaks of mprotect_perf"
	broken_tree
	mv "$tree/$mm/Makefile" "$tree/$mm/Makefile.real"
	ln -s Makefile.real "$tree/$mm/Makefile"
	refused "a symbolic link" "is a symbolic link"

	# A tree without an anchor: removal finds nothing to do.
	broken_tree
	sed -i '/run_test .\/mremap_test/d' "$tree/$mm/run_vmtests.sh"
	tree_state "$tree" >"$tmp/before"
	fails "an unknown tree is refused" scripts/integrate.sh "$tree"
	one_line "an unknown tree: in one line"
	says "an unknown tree: with the file" "mm/run_vmtests.sh: no line"
	same "an unknown tree: nothing is touched" "$tree" "$tmp/before"

	if [ "$(id -u)" != 0 ] || ! can_shield; then
		skip "a read-only tree is refused" "no mount namespace"
		return
	fi
	broken_tree
	fails "a read-only tree is refused" unshare -m sh -c '
		mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" &&
		exec scripts/integrate.sh "$1"' sh "$tree"
	says "a read-only tree: with the reason" "cannot be written to"
	one_line "a read-only tree: in one line"
}

# built FILE MACHINE: the machine is what readelf calls it.
built()
{
	readelf -h "$1" | grep -q "Machine: .*$2"
}

# build NAME OUT MACHINE MAKE-ARGUMENT...
build()
{
	_name=$1 _out=$2 _machine=$3
	shift 3
	mkdir -p "$_out"
	ok "$v: $_name builds" make -s -C "$tree/$mm" OUTPUT="$_out" \
		"$@" "$_out/mprotect_perf"
	ok "$v: for $_machine" built "$_out/mprotect_perf" "$_machine"
}

# cross ARCH TRIPLET MACHINE FLAG...: as scripts/build.sh does it.
cross()
{
	if ! have "$2-gcc"; then
		skip "$v: cross, $1" "no $2-gcc"
		return
	fi
	if ! _lib=$(scripts/fetch-libcap.sh "$1" 2>"$log"); then
		skip "$v: cross, $1" "$(tail -n 1 "$log")"
		return
	fi
	_arch=$1 _triplet=$2 _elf=$3
	shift 3
	build "cross, $_arch" "$tmp/out-$_arch" "$_elf" \
		CROSS_COMPILE="$_triplet-" \
		USERCFLAGS="-Werror -I$_lib/usr/include $*" \
		USERLDFLAGS="-static -L$_lib/usr/lib/$_triplet"
}

builds()
{
	program='TEST_GEN_FILES=$(OUTPUT)/mprotect_perf'
	native=$(readelf -h /bin/sh | sed -n 's/.*Machine: *//p')
	build "in place" "$tree/$mm" "$native" USERCFLAGS=-Werror
	ok "$v: O= builds" make -s -C "$tree/tools/testing/selftests" \
		TARGETS=mm O="$tmp/o" FORCE_TARGETS=1 "$program"
	ok "$v: there" built "$tmp/o/kselftest/mm/mprotect_perf" "$native"
	if have clang; then
		build "LLVM=1" "$tmp/out-llvm" "$native" LLVM=1 \
			USERCFLAGS=-Werror
	else
		skip "$v: LLVM=1" "no clang"
	fi
	cross arm64 aarch64-linux-gnu AArch64
	cross ppc64el powerpc64le-linux-gnu PowerPC64 \
		-D__SANE_USERSPACE_TYPES__= -include asm/types.h
	if have git; then
		git init -q "$tree"
		ok "$v: git ignores the program" git -C "$tree" check-ignore -q \
			"$mm/mprotect_perf"
		fails "$v: and no source" git -C "$tree" check-ignore \
			"$mm/mprotect_perf.c" "$mm/ksft_mprotect.sh"
	else
		skip "$v: git ignores the program" "no git"
	fi
	rm -rf "$tmp/o" "$tmp"/out-*
}

# run_vmtests.sh knows our category.
files()
{
	ok "$v: run_vmtests.sh -h" "$tree/$mm/run_vmtests.sh" -h
	says "$v: names the category" "- mprotect"
	ok "$v: emit_tests" make -s -C "$tree/$mm" OUTPUT="$tree/$mm" \
		COLLECTION=mm emit_tests
	says "$v: names the wrapper" "mm:ksft_mprotect.sh"
}

# A snapshot, so that nobody who is at work on the sources meanwhile can make
# two integrations of "the same" differ.
mkdir "$tmp/ours"
cp -a Makefile scripts vmtest tools "$tmp/ours/"
export BUILD="$PWD/build"
cd "$tmp/ours"

have readelf || { echo "1..0 # SKIP no readelf"; exit 0; }
old_version
for v in $tree_versions; do
	tree=$tmp/$v
	if ! tree_copy "$v" "$tree"; then
		skip "$v" "$(tail -n 1 "$log")"
		continue
	fi
	in_and_out
	ok "$v: cut short, and made whole" cuts
	short_time
	scripts/integrate.sh "$tree"
	files
	builds
	scripts/integrate.sh -r "$tree"
	fails "$v: removal takes the program too" \
		sh -c "ls '$tree/$mm' | grep mprotect"
done
# On the newest of them, clean again but for what the builds have left there.
[ ! -d "$tree" ] || refusals
done_testing
