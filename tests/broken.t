#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Rows and calls that must be refused: the test runs on a kernel with a bug (see
# broken_mprotect.c), one bug after the other, and the look that is there for
# it must say "not ok". In the end every look must have failed for some bug, and
# for what it has seen, not for what mprotect() has returned.
set -eu

cd "$(dirname "$0")/.."
. tests/lib.sh

# the kernel's selftests, with ours in them, as "make" has left them
mm=$(find build/tree -path '*/selftests/mm/mprotect_perf.c' 2>/dev/null | head -n 1)
if [ -z "$mm" ]; then
	echo '1..0 # SKIP no kernel selftests under build/: run make first'
	exit 0
fi
mm=${mm%/*}

build()
{
	${CC:-cc} -O2 -static -D_GNU_SOURCE= -isystem "$mm/.." -isystem "$mm" \
		-isystem "$mm/../../../include/uapi" -o "$tmp/broken" \
		tools/testing/selftests/mm/mprotect_perf.c "$mm"/vm_util.c \
		"$mm"/*_settings.c tests/broken_mprotect.c \
		-Wl,--wrap=mprotect,--wrap=ioctl -lcap -lpthread
}

# refused: what the last run has said "not ok" to
refused()
{
	sed -n 's/^not ok [0-9]* \([^ ]*\).*/\1/p' "$log"
}

# judge BUG STATUS CHECK...: all of these are "not ok"
judge()
{
	_bug=$1 _status=$2
	shift 2
	refused >"$tmp/refused"
	sed -nE 's/^not ok [0-9]* ([^ ]*) #  (after|.* took|left|returned 0).*/\1/p' "$log" >>"$tmp/seen"
	for _check in "$@"; do
		if ! grep -qx "$_check" "$tmp/refused"; then
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

# names CHECK...: as the test has them: a ROW.LOOK, or a call
names()
{
	for _name; do
		case $_name in
		*.*) echo "mprotect.$_name" ;;
		*) echo "mprotect_call.$_name.result" ;;
		esac
	done
}

# bug NAME CHECK...: just these are run
bug()
{
	_status=0
	_name=$1
	shift
	# shellcheck disable=SC2046 # words
	set -- $(names "$@")
	# shellcheck disable=SC2046
	BROKEN=$_name "$tmp/broken" $(printf -- '-r %s ' "$@") >"$log" 2>&1 || _status=$?
	judge "$_name" "$_status" "$@"
}

# bug_for_all NAME CHECK...: all are run
bug_for_all()
{
	_status=0
	_name=$1
	shift
	BROKEN=$_name "$tmp/broken" >"$log" 2>&1 || _status=$?
	# shellcheck disable=SC2046 # words
	judge "$_name" "$_status" $(names "$@")
}

ok 'the program is built with a wrapped mprotect()' build
# takes as long as the harness waits: meanwhile the others
BROKEN=hang "$tmp/broken" -r mprotect.one_page.access >"$tmp/hang" 2>&1 &
hang=$!
ok 'no bug, nothing refused' env BROKEN=none "$tmp/broken"
sed -n 's/^ok [0-9]* \([^ ]*\)$/\1/p' "$log" | sort >"$tmp/passed"

bug fail_protect shared_dirty.access private_none.vma one_page.state uffd_wp.faults \
	threads.access threads_shared.state processes.vma exec.access hugetlb.access walk.vma
bug fail_restore shared_dirty.access private_dirty.faults split_restore.vma
bug stray_errno zero_length single_protect.access file_clean.vma
bug always_0 unaligned_address unknown_bits growsdown_and_growsup \
	growsdown_on_other_mapping hole_at_start hole_inside hole_at_end range_wraps_around \
	length_overflows read_only_descriptor_shared write_sealed_memfd exec_of_noexec_file \
	vma_limit_split_in_two vma_limit_split_in_three commit_limit
bug always_eio same_protection zero_length length_is_rounded_up growsdown \
	spans_two_mappings untouched_pages read_only_descriptor_private write_and_exec \
	vma_limit_no_split vma_limit_merge
bug_for_all last_page_writable uffd_wp.access uffd_wp.state threads.access processes.vma \
	threads_shared.access libmicro_z8k.access shared_dirty.access shared_dirty.vma \
	private_none.access devzero_none.vma split_restore.access one_page.access \
	file_dirty.access many_vmas.vma walk.access
bug last_page_shut shared_dirty.access private_none.access file_dirty.vma same_protection
bug read_too private_none.access devzero_none.access private_none.vma
bug flip_first hole_inside hole_at_end read_only_descriptor_shared
bug unmap_page shared_dirty.access private_dirty.state file_clean.state
bug swap_content uffd_wp.access processes.access shared_dirty.access private_none.access \
	file_dirty.access
bug_for_all lose_content private_dirty.access one_page.access split_restore.access
bug_for_all split_vma shared_dirty.vma private_dirty.vma file_clean.vma uffd_wp.vma
bug_for_all zap_page uffd_wp.state threads.faults processes.state libmicro_wz8k.state \
	shared_dirty.state shared_dirty.faults private_none.access devzero_none.faults \
	file_clean.faults hugetlb.access
bug map_twice shared_dirty.state file_dirty.state
bug lose_writable private_dirty.faults one_page.faults split_restore.faults
bug_for_all faulting thp_pmd.faults hugetlb.faults file_dirty.faults uffd_wp.faults
bug truncate_len length_is_rounded_up
bug accept_any unaligned_address unknown_bits growsdown
bug zero_is_one zero_length
bug first_only spans_two_mappings read_only_descriptor_private
bug beyond_hole hole_at_start hole_inside
bug_for_all populate untouched_pages libmicro_z8k.state libmicro_z128k.folios
bug take_on_failure unaligned_address write_sealed_memfd vma_limit_split_in_two commit_limit
bug stale_code exec.access exec_shared.access
bug no_exec exec.access exec_shared.vma
bug always_exec exec.access exec.vma shared_dirty.vma
bug exec_means_write exec.access exec_shared.vma
bug exec_anywhere exec_of_noexec_file
bug lose_on_failure vma_limit_split_in_two vma_limit_split_in_three
bug merge_needs_vma vma_limit_merge
bug memory_for_all commit_limit
bug die zero_length shared_dirty.access file_dirty.state
says 'a test that was killed is named, with its phase' \
	'mprotect.shared_dirty.access #  died or hung in phase protect'
BROKEN=stale_code "$tmp/broken" -p -r mprotect.exec.time --procs 1 --cycles 3 >"$log" 2>&1 || :
says 'what is timed is looked at' 'mprotect.exec.time #  '
refused >"$tmp/refused"
ok 'and refused' grep -qx mprotect.exec.time "$tmp/refused"

# The others wait for one that died, and must not do so for ever.
fails 'one of several processes dies' env BROKEN=die_once BROKEN_ONCE="$tmp/once" \
	"$tmp/broken" -p -r mprotect.processes.time --tasks 3 --procs 1 --cycles 1000
ok 'it was only one' test -d "$tmp/once"
BROKEN=die_once BROKEN_ONCE="$tmp/twice" "$tmp/broken" -p -r mprotect.processes.time --tasks 3 \
	--procs 1 --cycles 1000 >"$log" 2>&1 || :
says 'it is named, and not waited for' \
	'mprotect.processes.time #  one of 3 processes died or hung'

# Huge pages where base pages are claimed; only root can see page frames.
huge=/sys/kernel/mm/transparent_hugepage/hpage_pmd_size
if [ ! -e $huge ]; then
	skip 'a huge page is refused' 'this kernel has no transparent huge pages'
else
	bug collapse shared_dirty.state private_dirty.state devzero_none.state
	if grep -qx mprotect.shared_dirty.folios "$tmp/passed"; then
		bug collapse_and_split shared_dirty.folios private_none.folios
	else
		skip 'a large folio mapped by base pages is refused' 'page frames are hidden'
	fi
fi

# A hang is a failure that is named, and the child is gone.
wait "$hang" || :
cp "$tmp/hang" "$log"
says 'a hang is named, with its phase' \
	'not ok 1 mprotect.one_page.access #  died or hung in phase protect'
fails 'no child is left' pgrep -f "$tmp/broken"

# What passed on this kernel and no bug could make fail is no look. A large folio
# that did not stay whole is a SKIP: no kernel has promised it.
sort -u "$tmp/seen" >"$tmp/refused"
comm -23 "$tmp/passed" "$tmp/refused" | grep -v '\(thp_.*\|mthp_64k\|hugetlb\)\.folios' >"$log" || :
ok 'every look has failed for some bug' test ! -s "$log"
done_testing
