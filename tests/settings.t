#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Settings that are changed for a run, and put back whatever ends it. This is
# tried on the real files of this machine, whose values come back at the end;
# only SIGKILL of this script can prevent that. What real files never hold is
# tried on others that are mounted over them, for this test's eyes only.
# shellcheck disable=SC2086 # what has no quotes is a list of words
set -eu

cd "$(dirname "$0")/.."
# shellcheck source=tests/lib.sh
. tests/lib.sh
lab=lab
thp=/sys/kernel/mm/transparent_hugepage
global=$thp/enabled
mthp=$thp/hugepages-64kB/enabled
reserve=/proc/sys/vm/min_free_kbytes
prog=$tmp/prog
for tool in flock pgrep ps setpriv timeout unshare; do
	have $tool || { echo "1..0 # SKIP no $tool"; exit 0; }
done
[ -e $global ] || { echo '1..0 # SKIP no transparent huge pages'; exit 0; }
exec 8<$reserve # tests that change these files wait for one another
flock -w 600 8 || { echo "1..0 # SKIP another test holds $reserve"; exit 0; }

word()
{
	sed 's/.*\[\(.*\)\].*/\1/' "$1"
}

# A guardian that is still at work would undo this. The kernel computes the
# reserve anew when huge pages are switched.
put_all_back()
{
	pkill -KILL -f "^$prog " || :
	until_true sh -c '! pgrep -f "$1"' sh "^$prog " || :
	echo "$was_global" >$global
	[ -z "$was_mthp" ] || echo "$was_mthp" >$mthp
	[ "$(cat $reserve)" = "$was_reserve" ] || echo "$was_reserve" >$reserve
}
changing='' as=''
trap '[ -z "$changing" ] || put_all_back; rm -rf "$tmp"' EXIT

build()
{
	${CC:-cc} -std=gnu11 -O1 -g -D_GNU_SOURCE= -Wall -Wextra -Werror -I$lab "$@" \
		tests/settings_prog.c "$lab/$(sed -n 's/^ \* Sources: //p' \
		tests/settings_prog.c)" -o "$prog" && "$prog" missing 0
}

# until_true COMMAND...: within 20 s or so, and soon on an idle machine
until_true()
{
	for _try in $(seq 200); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	return 1
}

# values GLOBAL [MTHP]: these are in effect
values()
{
	[ "$(word $global)" = "$1" ] || return 1
	[ -z "${2-}" ] || [ "$(word $mthp)" = "$2" ]
}

set_values()
{
	echo "$1" >$global
	[ -z "${2-}" ] || echo "$2" >$mthp
}

check()
{
	_check=$1
	shift
	if "$@"; then
		tap_result ok "$_check"
	else
		echo "# $* is not so: $(cat $global $mthp 2>/dev/null | tr '\n' ';')"
		tap_result "not ok" "$_check"
	fi
}

# start END NEEDS: in the background, until it has changed the settings; $pid
# and $guardian, which may be none
start()
{
	: >"$log"
	$as "$prog" "$@" >"$log" 2>&1 &
	pid=$!
	until_true sh -c 'grep -q "^ready" "$1" || ! kill -0 "$2"' sh "$log" $pid || :
	guardian=$(pgrep -P "$pid" | head -n 1) || :
}

# told NAME TEXT: one line was said, but for "ready", and this is in it
told()
{
	sed -i '/^ready/d' "$log"
	says "$1" "$2"
	one_line "$1, in one line"
}

# finish NAME STATUS [SIGNAL]: let it come to its end, or kill it
finish()
{
	_status=0
	kill -"${3:-USR1}" "$pid" || :
	until_true gone "$pid" || kill -KILL "$pid" || :
	wait "$pid" 2>/dev/null || _status=$?
	check "$1: exit status $2" [ "$_status" -eq "$2" ]
}

# round NAME END NEEDS STATUS DURING AFTER [SIGNAL]: once through; "GLOBAL MTHP"
# are in effect while it runs, and when it has ended, or soon after a bad end
round()
{
	_poll=
	[ "$4" -eq 0 ] || _poll=until_true
	start "$2" "$3"
	check "$1: $5 while it runs" values $5
	finish "$1" "$4" "${7-}"
	check "$1: $6 when it has ended" $_poll values $6
	[ -z "$guardian" ] || check "$1: the guardian is gone" $_poll gone "$guardian"
}

# An orphan may wait long for an init that takes notice of its end.
gone()
{
	! ps -o state= -p "$1" | grep -qv Z
}

# The guardian holds nothing of the caller's, as 8 of this script is.
holds_only()
{
	find "/proc/$1/fd" -type l -printf '%l\n' >"$tmp/fds" && [ -s "$tmp/fds" ] &&
		! grep -vE '^(/dev/null|socket:.*|/sys/kernel/mm/.*)$' "$tmp/fds"
}

ends()
{
	set_values never
	fails 'never is missing' "$prog" missing 1
	start restore 1
	check 'the guardian keeps no file of the caller' holds_only "$guardian"
	check 'it has a session of its own' [ "$(ps -o sid= -p "$guardian")" -eq "$guardian" ]
	finish 'watched' 0
	round 'normal end' restore 1 0 madvise never
	round 'exit(1)' leave 1 1 madvise never
	round 'twice, one after the other' again 1 0 madvise never
	round 'twice at once' twice 1 1 madvise never
	told 'that is told' 'changed already'
	round SIGHUP restore 1 129 madvise never HUP
	round SIGINT restore 1 130 madvise never INT
	round SIGKILL restore 1 137 madvise never KILL
	round SIGTERM restore 1 143 madvise never TERM
}

# Signals that are for everyone reach the guardian, too.
guardians()
{
	start restore 1
	for _signal in INT TERM HUP PIPE QUIT ALRM; do
		kill -$_signal "$guardian"
	done
	sleep 0.2
	check 'the guardian stands signals' [ "$(ps -o state= -p "$guardian")" = S ]
	finish 'it still works then' 0
	check 'and has put back' values never
	start restore 1
	kill -KILL "$guardian"
	finish 'the guardian alone is killed' 0
	check 'the main process puts back itself' values never

	start child 1
	_child=$(sed -n 's/^ready //p' "$log")
	check 'a child: changed meanwhile' values madvise
	finish 'its parent is killed' 137 KILL
	check 'a child lives on: put back' until_true values never
	check 'it does live on' kill -0 "$_child"
	kill -KILL "$_child"

	# Its descriptors are where others have stdin, stdout and stderr.
	"$prog" restore 1 <&- >&- 2>&- &
	pid=$!
	check 'without descriptors: changed' until_true values madvise
	finish 'without descriptors' 0
	check 'without descriptors: put back' values never
}

others()
{
	start restore 1
	echo always >$global
	finish 'somebody else changes it' 1
	check 'it is left alone' values always
	told 'that is told' "$global: somebody else made it 'always': left alone; it was 'never'"
	set_values never
	start restore 1
	echo never >$global
	finish 'somebody else puts it back' 0
	check 'it stays so' values never
	start restore 1
	second 'a second run' 1
	check 'the first keeps its setting' values madvise
	echo never >$global
	second 'a second run that would change it' 1
	check 'it changes nothing' values never
	echo madvise >$global
	finish 'the first' 0
	check 'the first puts back' values never
	round 'now another' restore 1 0 madvise never
}

# second NAME NEEDS: another run is refused
second()
{
	fails "$1 is refused" timeout 20 "$prog" restore "$2"
	told "$1: it is told why" "$global: another run with --allow-settings holds it"
}

# Before it has changed anything, and when it has, but has not said so.
killed_early()
{
	strace -o /dev/null true 2>/dev/null ||
		{ skip 'a guardian that is killed early' 'no strace, or it may not'; return; }
	for _call in setsid sendto; do
		fails "killed at $_call()" traced $_call KILL
		told 'that is told' 'the guardian of the settings was killed'
		check "killed at $_call(): nothing is changed" values never
	done

	# It can read no earlier than it goes on.
	traced setsid STOP >"$log" 2>&1 &
	pid=$!
	until_true sh -c '[ "$(pgrep -cf "^$1 ")" = 2 ]' sh "$prog" || :
	echo always >$global
	until_true sh -c 'pkill -CONT -f "^$1 "; ! pgrep -f "^$1 "' sh "$prog" || :
	wait $pid || :
	told 'a change at the last moment is seen' 'somebody else changes it just now; try again'
	check 'and left alone' values always
}

# traced CALL SIGNAL: what the guardian gets there; leaks cannot be looked for then
traced()
{
	ASAN_OPTIONS=detect_leaks=0 timeout 60 strace -f -qq -o /dev/null \
		-e "inject=$1:signal=$2" "$prog" restore 1
}

already()
{
	for _word in madvise always; do
		set_values $_word
		ok "$_word is not missing" "$prog" missing 1
		round "$_word is right already" restore 1 0 $_word $_word
		check "$_word is right already: no guardian" [ -z "$guardian" ]
	done
	set_values never
	round 'no needs' restore 0 0 never never
	check 'no needs: no guardian' [ -z "$guardian" ]
}

sizes()
{
	[ -e $mthp ] || { skip 'folios of 64 KiB' "there is no $mthp"; return; }
	set_values never never
	fails 'a size that is never is missing' "$prog" missing 2
	told 'its file and the mend are named' \
		"$mthp is 'never': give --allow-settings as root, or: echo madvise > $mthp"
	round 'the size alone' restore 2 0 'never madvise' 'never never'
	round 'both' restore 3 0 'madvise madvise' 'never never'
	round 'both, SIGKILL' restore 3 137 'madvise madvise' 'never never' KILL
	start restore 3
	set_values always inherit
	finish 'both changed by others' 1
	told 'the one is told' "$global: somebody else made it 'always'"
	told 'the other is told' "$mthp: somebody else made it 'inherit'"
	set_values madvise inherit
	ok 'inherit of madvise is not missing' "$prog" missing 2
	set_values never inherit
	fails 'inherit of never is' "$prog" missing 2
	round 'inherit' restore 2 0 'never madvise' 'never inherit'
	round 'inherit, both' restore 3 0 'madvise inherit' 'never inherit'
	start restore 3
	second 'a run that would inherit it' 2
	finish 'inherited' 0
}

nobody()
{
	set_values never
	chmod 755 "$tmp" "$prog"
	as='setpriv --reuid=65534 --regid=65534 --clear-groups'
	fails 'not root: it is refused' $as timeout 20 "$prog" restore 1
	told 'the file and the mend are named' \
		"$global: cannot change it: Permission denied; root and a writable /sys"
	check 'nothing is changed' values never
	set_values madvise
	round 'what is right already needs no root' restore 1 0 madvise madvise
	as=
	set_values never
}

# mounted SCRIPT ARGUMENT...: with mounts of its own; what waits is ended
mounted()
{
	timeout 20 unshare -mr sh -c "$@"
}

# over TEXT COMMAND...: with a file of this text over the global setting
over()
{
	printf '%s' "$1" >"$tmp/over"
	shift
	mounted 'mount --bind "$1" "$2" || exit 99; shift 2; exec "$@"' sh \
		"$tmp/over" $global "$@"
}

# reads NAME TEXT ANSWER: what is said of a file with this text
reads()
{
	for _mode in missing restore; do
		fails "$1 is no value ($_mode)" over "$2" "$prog" $_mode 1
		told "$1: that is told ($_mode)" "$global: unreadable: $3"
	done
}

files()
{
	ok 'a word in brackets is found' over 'always [madvise] never' "$prog" missing 1
	ok 'without others' over '[always]' "$prog" missing 1
	fails 'another word is not right' over '[sometimes]' "$prog" missing 1
	told 'its word is told' "$global is 'sometimes'"
	_long=$(printf '%0300d' 0)
	no_word='no word of it is in brackets'
	reads 'an empty file' '' 'it is empty'
	reads 'a file without brackets' 'always madvise never' "$no_word"
	reads 'an open bracket' 'always [madvise never' "$no_word"
	reads 'a closed bracket' 'always madvise] never' "$no_word"
	reads 'brackets the wrong way' 'always ]madvise[ never' "$no_word"
	reads 'nothing in brackets' 'always [] never' "$no_word"
	reads 'a word without an end' "[$(printf '%0200d' 0)]" "$no_word"
	reads 'a long line' "[madvise] $_long" 'its line is too long'
	reads 'a very long line' "$_long$_long$_long$_long$_long [madvise]" 'its line is too long'
	fails 'a value that does not take' over 'always madvise [never]' "$prog" restore 1
	told 'that is told' "$global: 'madvise' was written, but it is 'never'"
	fails 'no huge pages at all' mounted 'mount -t tmpfs none "$1"; "$2" missing 1' \
		sh $thp "$prog"
	told 'that is told' "$global: cannot read: No such file"
	fails 'no folios of 64 KiB' mounted 'mount -t tmpfs none "$1"; "$2" missing 2' \
		sh $thp "$prog"
	told 'this is told' 'Linux 6.8 and base pages under 64 KiB are needed'
}

# Files that are mounted over the real ones, and need them to be changed.
half()
{
	mounted true || { skip 'files that cannot be changed' 'no mounts here'; return; }
	fails '/sys is read-only' mounted 'mount -o bind,remount,ro /sys && "$1" restore 1' \
		sh "$prog"
	told 'that is told' 'Read-only file system; root and a writable /sys are needed'
	[ -n "$was_mthp" ] || return 0
	echo '[never]' >"$tmp/over"
	fails 'the second of two fails' mounted 'mount --bind "$1" "$2"; "$3" restore 3' \
		sh "$tmp/over" $mthp "$prog"
	check 'the first is put back' values never
}

# with sanitizers where they are to be had
flags='-fsanitize=address,undefined -fno-sanitize-recover=all'
build $flags >"$log" 2>&1 || flags=
ok 'it compiles' build $flags
was_global=$(word $global)
was_reserve=$(cat $reserve)
was_mthp=$([ ! -e $mthp ] || word $mthp)
if over '[madvise]' true 2>"$log"; then
	files
else
	skip 'files that make no sense' "cannot mount here: $(tail -n 1 "$log")"
fi
if [ "$(id -u)" != 0 ] || ! echo "$was_global" 2>"$log" >$global; then
	skip 'real settings are changed and put back' "$global: not to be written by $(id -un)"
else
	changing=yes
	ends
	guardians
	others
	killed_early
	already
	sizes
	nobody
	half
	put_all_back
	check 'what was there before is there again' values "$was_global" "$was_mthp"
	check 'the reserve, too' [ "$(cat $reserve)" = "$was_reserve" ]
fi
done_testing
