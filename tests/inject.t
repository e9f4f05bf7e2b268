#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# System calls that fail: strace makes them, in the real program. Each must end
# in a "not ok" or a SKIP that names the call, with all the results that the
# plan has promised, the right exit status, and without a hang.
set -eu

cd "$(dirname "$0")/.."
. tests/lib.sh
prog=${PROG:-build/mprotect-lab}

if ! have strace || ! strace -o /dev/null true 2>/dev/null; then
	echo '1..0 # SKIP strace is missing, or may not trace here'
	exit 0
fi
if [ ! -x "$prog" ]; then
	echo "1..0 # SKIP no $prog: run make first"
	exit 0
fi

# whole: as many results as planned, and no line in a stranger's name
whole()
{
	_plan=$(sed -n 's/^1\.\.//p' "$log")
	[ "$(grep -cE '^(not )?ok [0-9]+ ' "$log")" = "$_plan" ]
}

# inject NAME STATUS TEXT OPTIONS STRACE-ARGUMENT...
inject()
{
	_what=$1 _want=$2 _text=$3 _opts=$4
	shift 4
	_got=0
	# shellcheck disable=SC2086 # options are words
	timeout -k 5 100 strace -f -qq -o /dev/null "$@" "$prog" $_opts >"$log" 2>&1 || _got=$?
	[ "$_got" = "$_want" ] || echo "# exit status $_got, not $_want" >>"$log"
	if [ "$_got" = "$_want" ] && whole && grep -qE "$_text" "$log"; then
		tap_result ok "$_what"
	else
		echo "# wanted: $_text" >>"$log"
		tap_result "not ok" "$_what"
	fi
}

# strace counts calls in each process anew; the first mprotect() of the parent
# is libc's own.
one='-s one-page'
inject 'mprotect() fails' 1 \
	'^not ok .*one-page\.return #  protect: mprotect\(\) returned -1, errno 12' \
	"$one" -e inject=mprotect:error=ENOMEM:when=2+
inject 'mprotect() fails in the middle of a phase' 1 \
	'^not ok .*one-page\.return #  protect: mprotect\(\) returned -1, errno 12' \
	"$one" -e inject=mprotect:error=ENOMEM:when=100
inject 'mprotect() fails in the restore phase' 1 \
	'^not ok .*one-page\.return #  restore: mprotect\(\) returned -1, errno 12' \
	"$one" -e inject=mprotect:error=ENOMEM:when=600
inject 'mprotect() fails while it is timed' 1 \
	'^not ok .*perf\.one-page\.protect #  in phase (protect|restore): mprotect\(\) failed while' \
	"$one -p --time 0.1" -e inject=mprotect:error=ENOMEM:when=2700
inject 'mprotect() does nothing and says that it worked' 1 \
	'^not ok .*one-page\.access #  after protect: write to page 2 worked' \
	"$one" -e inject=mprotect:retval=0:when=2+
inject 'mprotect() runs into a VMA limit that is none' 1 \
	'^not ok .*api\.vma-limit #  refused at [0-9]+ VMAs, the limit is ' \
	'-s api' -e inject=mprotect:error=ENOMEM:when=100
inject 'mmap() of a region fails' 1 \
	'^not ok .*one-page\.return #  in phase populate: mmap of region [0-9]+: ' \
	"$one" -e inject=mmap:error=ENOMEM:when=10+
inject 'mmap() of everything fails' 1 \
	'^not ok .*one-page\.return #  mmap of memory to share' \
	"$one" -e inject=mmap:error=ENOMEM
inject 'madvise() fails' 1 \
	'^not ok .*one-page\.return #  in phase populate: madvise\(MADV_NOHUGEPAGE\): ' \
	"$one" -e inject=madvise:error=EPERM
inject 'madvise() of a kernel without huge pages' 0 \
	'^ok .*one-page\.return$' "$one" -e inject=madvise:error=EINVAL
inject 'pread() of pagemap fails' 0 \
	'^ok .*one-page\.pagemap # SKIP reading pagemap: Input/output error' \
	"$one" -e inject=pread64:error=EIO
inject 'pread() of pagemap is interrupted' 0 \
	'^ok .*one-page\.pagemap$' "$one" -e inject=pread64:error=EINTR:when=1
inject 'pread() of pagemap ends early' 0 \
	'^ok .*one-page\.pagemap # SKIP reading pagemap: it ends too early' \
	"$one" -e inject=pread64:retval=0
inject 'fork() fails' 1 \
	'^not ok .*one-page\.return #  fork: Resource temporarily unavailable' \
	"$one" -e inject=clone,fork,vfork:error=EAGAIN
inject 'pipe() fails' 1 \
	'^not ok .*one-page\.return #  pipe: Too many open files' \
	"$one" -e inject=pipe2:error=EMFILE
inject 'timerfd fails' 1 \
	'^not ok .*one-page\.return #  timerfd: ' \
	"$one" -e inject=timerfd_create:error=EMFILE
inject 'poll() is interrupted' 0 \
	'^ok .*one-page\.return$' "$one" -e inject=poll:error=EINTR:when=1
inject 'pinning fails' 1 \
	'^not ok .*one-page\.return #  cannot pin to CPU' \
	"$one" -e inject=sched_setaffinity:error=EINVAL
inject 'smaps cannot be opened' 0 \
	'^ok .*one-page\.state # SKIP /proc/self/smaps: Permission denied' \
	"$one" -P /proc/self/smaps -e inject=open,openat:error=EACCES
inject 'and its VMAs are looked at in maps' 0 \
	'^ok .*one-page\.vma$' \
	"$one" -P /proc/self/smaps -e inject=open,openat:error=EACCES
inject 'pagemap cannot be opened' 0 \
	'^ok .*one-page\.pagemap # SKIP /proc/self/pagemap: No such file' \
	"$one" -P /proc/self/pagemap -e inject=open,openat:error=ENOENT
inject 'fsync() fails' 1 \
	'^not ok .*file-clean\.return #  in phase populate: fsync of the temporary file: ' \
	'-s file-clean' -e inject=fsync:error=EIO
inject 'the child is killed' 1 \
	'^not ok .*one-page\.return #  the child was killed by signal 9 \(Killed\) in phase protect' \
	"$one" -e inject=mprotect:signal=KILL:when=100
inject 'the child gets a SIGSEGV of its own' 1 \
	'^not ok .*one-page\.return #  the child was killed by signal 11 .* in phase protect' \
	"$one" -e inject=mprotect:signal=SEGV:when=100
inject 'the child hangs' 1 \
	'^not ok .*one-page\.return #  no answer within 2 s; the child was killed in phase protect' \
	"$one --timeout 2" -e inject=mprotect:delay_enter=20s:when=100
inject 'the samples cannot be written to the parent' 1 \
	'^not ok .*perf\.one-page\.protect #  in phase set-up: writing to the parent: ' \
	"$one -p --time 0.1" -e inject=write:error=EPIPE:when=1
inject 'capabilities cannot be read' 0 \
	'^ok .*one-page\.kpageflags # SKIP no CAP_SYS_ADMIN' \
	"$one" -e inject=capget:error=EPERM
inject 'no userfaultfd' 4 \
	'^ok .*uffd-wp\.return # SKIP needs userfaultfd: Operation not permitted' \
	'-s uffd-wp' -e inject=userfaultfd:error=EPERM
inject 'userfaultfd cannot be registered' 4 \
	'^ok .*uffd-wp\.return # SKIP UFFDIO_REGISTER for write protection: Cannot allocate' \
	'-s uffd-wp' -e inject=ioctl:error=ENOMEM:when=3
inject 'its write protection fails' 1 \
	'^not ok .*uffd-wp\.return #  restore: UFFDIO_WRITEPROTECT returned -1, errno 12' \
	'-s uffd-wp' -e inject=ioctl:error=ENOMEM:when=4
inject 'a thread cannot be made' 1 \
	'^not ok .*threads\.return #  protect: task [01] of 2: no thread: ' \
	'-s threads --tasks 2' -e inject=clone3,clone:error=EAGAIN:when=2+
inject 'a process is killed' 1 \
	'^not ok .*processes\.return #  .*task [01] of 2: killed by signal 9 \(Killed\)' \
	'-s processes --tasks 2' -e inject=mprotect:signal=KILL:when=2
inject 'the record cannot be synced' 1 \
	'^mprotect_perf: .*a\.rec: cannot write: Input/output error' \
	"$one -p --procs 1 --cycles 2 -o $tmp/a.rec" -e inject=fsync:error=EIO
# toggled N: how often the 64 MiB were taken away, with N cycles of warm-up
toggled()
{
	strace -f -qq -e trace=mprotect -o "$tmp/trace" "$prog" -p -s private-none --procs 1 \
		--cycles 1 --warmup "$1" >"$log" 2>&1 || return 1
	grep -c 'mprotect([^,]*, 67108864, PROT_NONE) = 0' "$tmp/trace"
}

none=$(toggled 0) three=$(toggled 3)
ok '--warmup is how many cycles are run before those that count' [ "$((none + 3))" = "$three" ]
ok 'and none is left behind' sh -c '! ls "$1"/a.rec* 2>/dev/null' sh "$tmp"
done_testing
