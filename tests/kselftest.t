#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The kernel's own runners on an integrated tree: run_vmtests.sh of each kernel;
# on one tree the whole "install" of mm, run_kselftest.sh, the top-level "make
# kselftest", and a cross build against exported headers.

set -eu

cd "$(dirname "$0")/.."
# shellcheck source=tests/lib.sh
. tests/lib.sh
# shellcheck source=tests/tree.sh
. tests/tree.sh

mm=tools/testing/selftests/mm

# A program in our place that says what it was given, and how it ended.
stub()
{
	printf '#!/bin/sh\necho "# given: $*"\nexit %s\n' "$2" >"$1"
	chmod +x "$1"
}

# run_vmtests.sh and the wrapper, with a program that ends as told: what it was
# given arrives, and a failure stays one. That of 6.12 ends with 4 when a later
# test is skipped after ours has failed; the wrapper runs ours alone.
vmtests()
{
	cd "$tree/$mm"
	stub mprotect_perf 0
	ok "$v: run_vmtests.sh -t mprotect" \
		shielded ./run_vmtests.sh -t mprotect
	says "$v: runs it once" "ok 1 mprotect_perf"
	says "$v: and nothing else" "1..1"
	says "$v: without arguments" "# # given: "
	ok "$v: with arguments" shielded \
		./run_vmtests.sh -t mprotect -- -p -v "shared_dirty x"
	says "$v: which arrive" "# # given: -p -v shared_dirty x"
	ok "$v: the wrapper" shielded ./ksft_mprotect.sh -v private_none
	says "$v: hands them on" "# # given: -v private_none"
	stub mprotect_perf 1
	stub mremap_test 4
	fails "$v: a failure" shielded ./ksft_mprotect.sh
	says "$v: is reported" "not ok 1 mprotect_perf # exit=1"
	stub mprotect_perf 4
	exits "$v: a skip" 4 shielded ./ksft_mprotect.sh
	says "$v: is a skip" "ok 1 mprotect_perf # SKIP"
	rm mprotect_perf mremap_test
	cd "$top"
}

# Exported headers take more of the source than a copy of the selftests has. The
# files that stand for a configured tree are what "make kselftest" looks for.
whole_tree()
{
	whole=$tmp/whole
	cp -a "$1" "$whole"
	scripts/integrate.sh "$whole"
	mkdir -p "$whole/include/config" "$whole/include/generated"
	: >"$whole/.config"
	for file in config/auto.conf config/auto.conf.cmd \
		    generated/autoconf.h generated/rustc_cfg; do
		: >"$whole/include/$file"
	done
	ok "make headers" make -s -j2 -C "$whole" headers
}

# runner ARGUMENT...: the installed run_kselftest.sh; what it says is kept.
runner()
{
	(cd "$tmp/inst" && shielded ./run_kselftest.sh "$@") >"$tmp/said" 2>&1 ||
		{ cat "$tmp/said"; return 1; }
	cat "$tmp/said"
}

# Compiling all of mm is what takes time here; how well is of no interest.
installed()
{
	ok "make -C tools/testing/selftests TARGETS=mm install" \
		make -s -j2 -C "$whole/tools/testing/selftests" TARGETS=mm \
		USERCFLAGS=-O0 FORCE_TARGETS=1 install INSTALL_PATH="$tmp/inst"
	ok "lists mm:ksft_mprotect.sh" \
		grep -qx mm:ksft_mprotect.sh "$tmp/inst/kselftest-list.txt"
	ok "run_kselftest.sh runs it" runner -t mm:ksft_mprotect.sh
	says "and it passes" "ok 1 selftests: mm: ksft_mprotect.sh"
	says "as the program does" "ok 1 mprotect_perf"
	if have python3; then
		ok "kunit.py parses that" python3 \
			"$whole/tools/testing/kunit/kunit.py" parse "$tmp/said"
		says "as a test that passed" "passed: 1"
	else
		skip "kunit.py parses that" "no python3"
	fi
	export KSELFTEST_KSFT_MPROTECT_SH_ARGS="-v private_none"
	ok "KSELFTEST_KSFT_MPROTECT_SH_ARGS" runner -t mm:ksft_mprotect.sh
	says "arrive" "ok 1 mprotect_perf -v private_none"
	KSELFTEST_KSFT_MPROTECT_SH_ARGS=--no-such
	fails "a wrong option there" runner -t mm:ksft_mprotect.sh
	says "is a failure" "not ok 1 selftests: mm: ksft_mprotect.sh"
	unset KSELFTEST_KSFT_MPROTECT_SH_ARGS
}

# The top-level target finds the wrapper by itself. The copy's runner then skips
# all that is not ours: the other mm tests take minutes and alter the machine.
toplevel()
{
	cat >>"$whole/tools/testing/selftests/kselftest/runner.sh" <<-'EOF'
		run_many()
		{
			DIR="${PWD#${BASE_DIR}/}"
			for TEST in "$@"; do
				[ "$TEST" != ksft_mprotect.sh ] ||
					run_one "$DIR" "$TEST"
			done
		}
	EOF
	ok "make kselftest TARGETS=mm" shielded make -C "$whole" kselftest \
		TARGETS=mm
	says "finds and runs it" "ok 1 selftests: mm: ksft_mprotect.sh"
	says "with the program" "ok 1 mprotect_perf"
}

# O=, cross, and exported headers of that architecture, as the manual has it.
crossed()
{
	if ! have powerpc64le-linux-gnu-gcc ||
	   ! lib=$(scripts/fetch-libcap.sh ppc64el 2>"$log"); then
		skip "cross with exported headers" "no compiler or no libcap"
		return
	fi
	# What was exported in the tree itself would be in the way of O=.
	rm -rf "$whole/usr/include" "$whole/include/generated" "$whole/.config"
	cp -a "$1/usr/include" "$whole/usr/"
	ok "ppc64el: make headers O=" make -s -j2 -C "$whole" O="$tmp/ppc" \
		ARCH=powerpc headers
	ok "ppc64el: builds with them" make -s \
		-C "$whole/tools/testing/selftests" O="$tmp/ppc" TARGETS=mm \
		ARCH=powerpc CROSS_COMPILE=powerpc64le-linux-gnu- \
		FORCE_TARGETS=1 'TEST_GEN_FILES=$(OUTPUT)/mprotect_perf' \
		USERCFLAGS="-Werror -I$lib/usr/include" \
		USERLDFLAGS="-static -L$lib/usr/lib/powerpc64le-linux-gnu"
	ok "ppc64el: the program is there" \
		test -x "$tmp/ppc/kselftest/mm/mprotect_perf"
}

if ! can_shield; then
	echo "1..0 # SKIP no mount namespace to hide the sysctls in"
	exit 0
fi
top=$PWD
for v in $tree_versions; do
	tree=$tmp/$v
	if ! tree_copy "$v" "$tree"; then
		skip "$v" "$(tail -n 1 "$log")"
		continue
	fi
	scripts/integrate.sh "$tree"
	vmtests
	rm -rf "$tree"
done

if ! have rsync; then
	skip "install" "no rsync"
elif [ ! -e /usr/include/numa.h ]; then
	skip "install" "no libnuma, which other mm tests need"
elif [ -n "${KSRC-}" ] || ! src=$(scripts/fetch-ksrc.sh 2>"$log"); then
	# A user's tree may be gigabytes, and half built.
	skip "install" "no linux-source package"
else
	whole_tree "$src"
	installed
	toplevel
	crossed "$src"
fi
done_testing
