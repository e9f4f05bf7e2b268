# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Kernel trees to try things on: copies of the parts that selftests are built
# from. Sourced by the tests that need one after lib.sh, whose $tmp and $log
# are these:
: "${tmp:?}" "${log:?}"

# The trees that there are to be tried: one, if the user has given one.
tree_versions=${KSRC:+KSRC}
: "${tree_versions:=6.12 7.2 7.3}"

# tree_copy VERSION DIR: 1 and the reason in $log when it cannot be had.
tree_copy()
{
	_src=$(scripts/fetch-ksrc.sh "$1" 2>"$log") || return 1
	mkdir -p "$2"
	(cd "$_src" && tar -c --exclude='local_config.*' Makefile \
		scripts/subarch.include mm/gup_test.h lib/test_hmm_uapi.h \
		tools/arch tools/include tools/testing/kunit \
		tools/testing/selftests/Makefile \
		tools/testing/selftests/lib.mk \
		tools/testing/selftests/run_kselftest.sh \
		tools/testing/selftests/*.h tools/testing/selftests/mm \
		tools/testing/selftests/kselftest \
		tools/testing/selftests/x86) | tar -x -C "$2"
}

# tree_state DIR: names, modes and contents, to be compared as text.
tree_state()
{
	(cd "$1" && find . -printf '%P %y %m %l\n' | sort &&
		find . -type f -exec cksum {} + | sort)
}

# shielded COMMAND...: run_vmtests.sh of some kernels sets sysctls before it
# looks at which test it is to run; here they are files that nobody reads.
shielded()
{
	unshare -m sh -c 'fake=$1; shift
		for sysctl in vm/nr_hugepages vm/drop_caches kernel/shmmax \
			      kernel/shmall vm/overcommit_memory \
			      kernel/yama/ptrace_scope; do
			file=/proc/sys/$sysctl
			[ -e "$file" ] || continue
			cat "$file" >"$fake" 2>/dev/null || :
			cp "$fake" "$fake.$(basename "$file")"
			mount --bind "$fake.$(basename "$file")" "$file" || exit 99
		done
		exec "$@"' sh "$tmp/sysctl" "$@"
}

can_shield()
{
	: >"$tmp/sysctl"
	shielded true >/dev/null 2>&1
}
