#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Rows that must be refused: the program runs on a kernel with a bug (see
# broken_mprotect.c), one bug after the other, and the check that is there for
# it must say "not ok". In the end every check must have failed for some bug.
set -eu

cd "$(dirname "$0")/.."
. tests/lib.sh
lab=lab

# the kernel's kselftest.h, as "make" has taken it
ksft=$(find build/tree -path '*/selftests/mm/Makefile' 2>/dev/null | head -n 1)
if [ -z "$ksft" ]; then
	echo '1..0 # SKIP no kernel selftests under build/: run make first'
	exit 0
fi

build()
{
	# shellcheck disable=SC2046 # a list of files
	${CC:-cc} -O2 -D_GNU_SOURCE= -I"${ksft%/mm/Makefile}" -o "$tmp/broken" \
		$(ls $lab/mprotect_perf*.c) tests/broken_mprotect.c \
		-Wl,--wrap=mprotect,--wrap=mp_uffd_protect -lcap -lm -lpthread
}

# bug NAME CHECK...: these are "not ok" with it, whatever else is
bug()
{
	_bug=$1
	_status=0
	shift
	BROKEN=$_bug "$tmp/broken" >"$log" 2>&1 || _status=$?
	sed -n 's/^not ok [0-9]* \([^ ]*\).*/\1/p' "$log" >"$tmp/refused"
	cat "$tmp/refused" >>"$tmp/all"
	for _check in "$@"; do
		if ! grep -qx "validate\.$_check" "$tmp/refused"; then
			echo "# $_check survived" >>"$log"
			_status=survived
		fi
	done
	if [ "$_status" = 1 ]; then
		tap_result ok "$_bug is refused by $*"
	else
		echo "# exit status $_status"
		tap_result "not ok" "$_bug is refused by $*"
	fi
}

ok 'the program is built with a wrapped mprotect()' build
ok 'no bug, nothing refused' env BROKEN=none "$tmp/broken"
sed -n 's/^ok [0-9]* \([^ ]*\)$/\1/p; s/^ok [0-9]* \([^ ]*\) #  .*/\1/p' "$log" |
	sort >"$tmp/passed"

bug fail_protect shared-dirty.return private-none.return one-page.return \
	uffd-wp.return threads.return threads-shared.return processes.return
bug fail_restore shared-dirty.return private-dirty.return split-restore.return
bug stray_errno api.zero-length single-protect.return file-clean.return
bug always_0 api.unaligned-address api.unknown-bits api.growsdown-and-growsup \
	api.growsdown-on-other-mapping api.hole-at-start api.hole-inside \
	api.hole-at-end api.range-wraps-around api.length-overflows \
	api.read-only-descriptor-shared api.write-sealed-memfd api.vma-limit
bug always_eio api.same-protection api.zero-length api.length-is-rounded-up \
	api.growsdown api.spans-two-mappings api.untouched-pages \
	api.read-only-descriptor-private
bug last_page_writable uffd-wp.access uffd-wp.pagemap threads.access processes.vma \
	threads-shared.access libmicro-z8k.access shared-dirty.access shared-dirty.vma private-none.access \
	devzero-none.vma split-restore.access one-page.access file-dirty.access
bug last_page_shut shared-dirty.access private-none.access file-dirty.vma \
	api.same-protection
bug read_too private-none.access devzero-none.access private-none.vma
bug flip_first api.hole-inside api.hole-at-end api.read-only-descriptor-shared
bug unmap_page shared-dirty.access private-dirty.state file-clean.pagemap
bug swap_content uffd-wp.content processes.content shared-dirty.content private-none.content file-dirty.content
bug lose_content private-dirty.content one-page.content split-restore.content
bug split_vma shared-dirty.vma private-dirty.vma file-clean.vma
bug zap_page uffd-wp.state threads.faults processes.state libmicro-wz8k.pagemap \
	shared-dirty.state shared-dirty.pagemap shared-dirty.faults \
	private-none.content devzero-none.faults file-clean.faults
bug map_twice shared-dirty.pagemap file-dirty.pagemap
bug lose_writable private-dirty.faults one-page.faults split-restore.faults
bug truncate_len api.length-is-rounded-up
bug accept_any api.unaligned-address api.unknown-bits api.growsdown
bug zero_is_one api.zero-length
bug first_only api.spans-two-mappings api.read-only-descriptor-private
bug beyond_hole api.hole-at-start api.hole-inside
bug populate api.untouched-pages
bug take_on_failure api.unaligned-address api.write-sealed-memfd api.vma-limit
bug die api.zero-length shared-dirty.return file-dirty.return
says 'a child that was killed is named, with signal and phase' \
	'validate.shared-dirty.return #  the child was killed by signal 9 (Killed) in phase protect'

# The others wait for one that died, and must not do so for ever.
fails 'one of several processes dies' env BROKEN=die_once BROKEN_ONCE="$tmp/once" \
	"$tmp/broken" -p -s processes --tasks 3 --procs 1 --cycles 1000
ok 'it was only one' test -d "$tmp/once"
BROKEN=die_once BROKEN_ONCE="$tmp/twice" "$tmp/broken" -p -s processes --tasks 3 --procs 1 \
	--cycles 1000 >"$log" 2>&1 || :
says 'it is named, and not waited for until the time limit' \
	'perf.processes.protect #  in phase protect: task'

# What a size has not got to is not passed for the sake of another.
fails 'a large size fails' env BROKEN=fail_large "$tmp/broken" -s private-none --sweep 64k..4mx64
says 'it is named' 'validate.private-none.return #  4 MiB: protect: mprotect() returned -1'
says 'and what was not reached is not passed' \
	'validate.private-none.faults # SKIP not reached: an earlier check failed'

# A hang is a failure that is named, and the child is gone.
fails 'a hang is refused' env BROKEN=hang "$tmp/broken" -s one-page --timeout 2
says 'a hang is named, with its phase' \
	'no answer within 2 s; the child was killed in phase protect'
fails 'no child is left' pgrep -f "$tmp/broken"

# Huge pages where base pages are claimed; only root can see page frames.
huge=/sys/kernel/mm/transparent_hugepage/hpage_pmd_size
if [ ! -e $huge ]; then
	skip 'a huge page is refused' 'this kernel has no transparent huge pages'
else
	bug collapse shared-dirty.state private-dirty.state devzero-none.state
	if grep -qx validate.shared-dirty.kpageflags "$tmp/passed"; then
		bug collapse_and_split shared-dirty.kpageflags private-none.kpageflags
	else
		skip 'a large folio mapped by base pages is refused' 'page frames are hidden'
	fi
fi

# What passed on this kernel and no bug could make fail is no check. Small and
# file mappings cannot be made huge from here; their row is another's code. A
# large folio that did not stay whole is a SKIP: no kernel has promised it.
sort -u "$tmp/all" >"$tmp/refused"
comm -23 "$tmp/passed" "$tmp/refused" |
	grep -v '\(one-page\|split-restore\|file-.*\|thp-.*\|mthp-64k\)\.kpageflags' >"$log" || :
ok 'every check has failed for some bug' test ! -s "$log"
done_testing
