# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# TAP for tests in POSIX sh, which source this with the project's top directory
# as their own. A directory $tmp of their own is made, and removed at the end.
#
#	exits NAME N COMMAND...	the command exits with N; what it said is in $log
#	ok NAME COMMAND...	with 0
#	fails NAME COMMAND...	with 1
#	says NAME TEXT		$log has this text
#	silent NAME [REGEX]	$log has no line like this (default: no line at all)
#	skip NAME REASON	not looked at
#	done_testing		prints the plan; the last thing a test does

tap_count=0
tap_bad=0
mkdir -p build/tests
tmp=$(mktemp -d "$PWD/build/tests/$(basename "$0" .t).XXXXXX")
log=$tmp/log
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM

tap_result()
{
	tap_count=$((tap_count + 1))
	echo "$1 $tap_count - $2"
	[ "$1" = ok ] && return
	tap_bad=$((tap_bad + 1))
	# Its end is where an error is; "|| :" for a log that is not there.
	tail -n 25 "$log" | sed 's/^/#   /' || :
}

exits()
{
	_name=$1 _want=$2 _status=0
	shift 2
	"$@" >"$log" 2>&1 || _status=$?
	if [ "$_status" -eq "$_want" ]; then
		tap_result ok "$_name"
	else
		echo "# exit status $_status, not $_want: $*" | head -n 1
		tap_result "not ok" "$_name"
	fi
}

ok()
{
	_ok=$1
	shift
	exits "$_ok" 0 "$@"
}

fails()
{
	_fails=$1
	shift
	exits "$_fails" 1 "$@"
}

says()
{
	if grep -qF -- "$2" "$log"; then
		tap_result ok "$1"
	else
		echo "# not said: $2"
		tap_result "not ok" "$1"
	fi
}

# Not with ok(), which would begin the log anew.
silent()
{
	if grep -qE -- "${2:-^}" "$log"; then
		tap_result "not ok" "$1"
	else
		tap_result ok "$1"
	fi
}

# one_line NAME: what was said is one line, for people.
one_line()
{
	if [ "$(wc -l <"$log")" -eq 1 ]; then
		tap_result ok "$1"
	else
		tap_result "not ok" "$1"
	fi
}

skip()
{
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

have()
{
	command -v "$1" >/dev/null 2>&1
}

done_testing()
{
	echo "1..$tap_count"
	[ "$tap_bad" -eq 0 ]
}
