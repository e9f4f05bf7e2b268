#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What the environment does not allow is a SKIP with its reason, never a failure,
# and the names stay: limits, policies, what is hidden or read-only. And what is
# changed is put back, whatever ends the test.
set -eu

cd "$(dirname "$0")/.."
. tests/lib.sh
PROG=${PROG:-build/mprotect_perf}
# shellcheck source=tests/prog.sh
. tests/prog.sh
if [ "$(id -u)" != 0 ] || ! unshare -m true 2>/dev/null; then
	echo '1..0 # SKIP needs root, and mount namespaces'
	exit 0
fi

# Settings are changed below: one test at a time, as run.t and settings.t do it.
exec 8</proc/sys/vm/min_free_kbytes
flock -w 600 8
thp=/sys/kernel/mm/transparent_hugepage
pool=/proc/sys/vm/nr_hugepages

# settings: all that the test may change
settings()
{
	cat $pool $thp/enabled $thp/defrag $thp/shmem_enabled $thp/use_zero_page \
		$thp/khugepaged/defrag $thp/khugepaged/*_millisecs \
		$thp/khugepaged/max_* $thp/khugepaged/pages_to_scan $thp/hugepages-*/enabled $thp/hugepages-*/shmem_enabled 2>/dev/null || :
}
settings >"$tmp/settings"

# put_back NAME: they are as they were
put_back()
{
	settings >"$tmp/now"
	ok "$1: settings are as they were" cmp "$tmp/settings" "$tmp/now"
}

# sysctl_is NAME VALUE COMMAND...: with another value meanwhile
sysctl_is()
{
	_file=/proc/sys/$1 _was=$(cat "/proc/sys/$1") _status=0
	echo "$2" >"$_file"
	shift 2
	"$@" || _status=$?
	echo "$_was" >"$_file"
	return $_status
}

cp "$prog" "$tmp/prog"
chmod 755 "$tmp" "$tmp/prog"
prog=$tmp/prog
status 0 "$prog" || :
names >"$tmp/names"
ok 'as root, without a limit, there are a hundred results' \
	sh -c '[ "$(grep -c "^ok [^#]*$" "$1")" -ge 100 ]' sh "$out"
put_back 'a whole run'

# same NAME COMMAND...: nothing fails, and the names are those
same()
{
	_name=$1
	shift
	run "$_name: nothing fails" 0 "$@"
	names >"$tmp/names2"
	ok "$_name: the names stay" cmp "$tmp/names2" "$tmp/names"
}

# some NAME COMMAND...: the same of a row of each kind, and the single calls
some()
{
	_name=$1
	shift
	run "$_name: nothing fails" 0 "$@" -f mprotect_call -v private_dirty -v exec_shared \
		-v hugetlb -v mthp_64k -v file_clean -v uffd_wp -v threads -v processes
	names >"$tmp/names2"
	ok "$_name: the names stay" sh -c 'grep -E "$1" "$2" | cmp - "$3"' sh \
		'_call\.|\.(private_dirty|exec_shared|hugetlb|mthp_64k|file_clean|uffd_wp|threads|processes)\.' \
		"$tmp/names" "$tmp/names2"
}

# skips REGEX: with this reason
skips()
{
	matches "and says: $1" "^ok [0-9]+ mprotect.* # SKIP .*$1"
}

# none: the whole is skipped
none()
{
	run "$1: all is skipped" 4 "$@"
	matches 'with the reason' "^1\.\.0 # SKIP cannot fork twice, or watch a process$"
}

nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'

# shellcheck disable=SC2086 # options are words
same nobody $nobody "$prog"
skips 'needs /proc/kpageflags and CAP_SYS_ADMIN'
same 'root of a user namespace' unshare -Ur "$prog"

same 'RLIMIT_AS' prlimit --as=20971520 "$prog"
skips 'RLIMIT_AS leaves'
same 'RLIMIT_DATA' prlimit --data=1500000 "$prog"
skips 'RLIMIT_DATA leaves'
some 'RLIMIT_FSIZE' prlimit --fsize=200000 "$prog"
skips 'making a file of 4194304 bytes: File too large'
same 'RLIMIT_NOFILE of 6' prlimit --nofile=6 "$prog"
some 'RLIMIT_STACK' prlimit --stack=65536 "$prog"
some 'RLIMIT_CPU' prlimit --cpu=1 "$prog"
# shellcheck disable=SC2086
same 'RLIMIT_NPROC' $nobody prlimit --nproc=3 "$prog"
none prlimit --nofile=4 "$prog"
# shellcheck disable=SC2086
none $nobody prlimit --nproc=1 "$prog"
same 'vm.max_map_count' sysctl_is vm/max_map_count 200 "$prog"
skips 'vm.max_map_count is 200'
some 'vm.overcommit_memory' sysctl_is vm/overcommit_memory 1 "$prog"
skips 'vm.overcommit_memory is 1'
put_back 'limits'

group=/sys/fs/cgroup/memory/mprotect_perf.$$
limit=memory.limit_in_bytes
[ -d /sys/fs/cgroup/memory ] || { group=/sys/fs/cgroup/mprotect_perf.$$ limit=memory.max; }
if mkdir "$group" 2>/dev/null && echo 20000000 2>/dev/null >"$group/$limit"; then
	# shellcheck disable=SC2016 # for the inner shell
	same 'a control group with little memory' sh -c \
		'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' sh "$group" "$prog"
	skips 'the memory control group leaves'
else
	skip 'a control group with little memory' 'cannot make one here'
fi
rmdir "$group" 2>/dev/null || :

# What is hidden, or may not be written to
# shellcheck disable=SC2016
{
same 'no /proc' unshare -m sh -c 'umount -l /proc; exec "$@"' sh "$prog"
skips 'needs /proc/self/maps: No such file'
ok 'but access is looked at' grep -qE '^ok [0-9]+ mprotect\.private_none\.access$' "$out"
some 'no /sys' unshare -m sh -c 'umount -l /sys; exec "$@"' sh "$prog"
some 'read-only /sys' unshare -m sh -c \
	'mount --rbind /sys /sys && mount -o remount,ro,bind /sys && exec "$@"' sh "$prog"
some 'no room in /tmp' unshare -m sh -c 'mount -t tmpfs -o size=1m none /tmp && exec "$@"' \
	sh "$prog"
skips 'TMPDIR'
}
mkdir "$tmp/root"
cp "$prog" "$tmp/root/"
same 'an empty root' chroot "$tmp/root" /prog
some 'no place for a file' env TMPDIR="$tmp/none" "$prog"
skips 'needs a temporary file: .*/none: No such file or directory; set TMPDIR'
put_back 'what is hidden'

# Policies
if ${CC:-cc} -O2 -Wall -Wextra -Werror -o "$tmp/deny" tests/deny.c 2>"$log"; then
	number()
	{
		printf '#include <sys/syscall.h>\nSYS_%s\n' "$1" |
			${CC:-cc} -E -x c - | tail -n 1 | tr -d ' '
	}
	for errno in 1 13; do
		same "mprotect(PROT_EXEC) is errno $errno" \
			"$tmp/deny" "$(number mprotect)/2/4" $errno "$prog"
		skips 'a policy refuses executable memory'
		ok 'and nothing else is skipped for it' sh -c \
			'[ "$(grep -c "a policy refuses" "$1")" = 12 ]' sh "$out"
	done
	for call in madvise memfd_create userfaultfd fsync ftruncate pwrite64 pkey_mprotect \
		unshare mincore prlimit64 capget flock prctl access getrusage mount munmap; do
		some "$call() is EPERM" "$tmp/deny" "$(number $call)" 1 "$prog"
	done
	none "$tmp/deny" "$(number pidfd_open)" 1 "$prog"
else
	skip 'policies' 'no seccomp.h'
fi
some 'readable is executable' setarch -X "$prog"
some 'signals are ignored' sh -c 'trap "" SEGV BUS ALRM PIPE CHLD XCPU; exec "$@"' sh "$prog"
some 'one CPU' taskset -c 0 "$prog"
some 'no standard input and error' sh -c 'exec "$@" <&- 2>&-' sh "$prog"

# What has been changed is put back: for the rows that need it, and no others.
if [ -w $thp/enabled ]; then
	was=$(sed 's/.*\[\(.*\)\].*/\1/' $thp/enabled)
	trap 'echo "$was" >$thp/enabled; rm -rf "$tmp"' EXIT
	echo never >$thp/enabled
	settings >"$tmp/settings"
	run 'huge pages are had where they were off' 0 "$prog" -v thp_pmd -v thp_pte -v mthp_64k
	ok 'all of them' sh -c '! grep -q SKIP "$1"' sh "$out"
	put_back 'afterwards'
	# shellcheck disable=SC2086
	run 'not by nobody' 0 $nobody "$prog" -v thp_pmd
	skips 'no huge pages to be had'
	for signal in TERM INT HUP; do
		"$prog" -p -t time -v thp_pmd -v hugetlb --procs 1000 >/dev/null 2>&1 &
		_pid=$!
		sleep 0.7
		ok "$signal: they are changed meanwhile" sh -c '! grep -q "\[never\]" "$1"' sh $thp/enabled
		kill -$signal "$_pid"
		wait "$_pid" || :
		put_back "$signal"
	done
	"$prog" -p -t time -v thp_pmd 2>/dev/null | head -n 2 >/dev/null
	put_back 'head'
	"$prog" -v thp_pmd -v hugetlb >"$tmp/first" 2>&1 &
	sleep 0.02
	"$prog" -v thp_pmd -v hugetlb >"$tmp/second" 2>&1
	wait
	put_back 'two at once'
	echo "$was" >$thp/enabled
	trap 'rm -rf "$tmp"' EXIT
else
	skip 'settings are put back' 'no transparent huge pages'
fi
done_testing
