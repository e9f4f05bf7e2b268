# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Running the program. Sourced after lib.sh; with no program, the test is skipped.
#
#	run NAME STATUS COMMAND...	stdout is in $out, stderr in $err, both in $log
#	matches NAME REGEX		a line of $out is like this
#	wrong TEXT ARGUMENTS...		one line on stderr, which has this text; exit 1
: "${tmp:?}" "${log:?}"
prog=$(realpath -m "${PROG:-build/mprotect-lab}")
if [ ! -x "$prog" ]; then
	echo "1..0 # SKIP no $prog: run make first"
	exit 0
fi
out=$tmp/out
err=$tmp/err

# status WANT COMMAND...: runs it, leaves stdout in $out and stderr in $err
status()
{
	_want=$1
	_got=0
	shift
	"$@" >"$out" 2>"$err" || _got=$?
	cat "$out" "$err" >"$log"
	[ "$_got" = "$_want" ] || echo "exit status $_got, not $_want" >>"$log"
	[ "$_got" = "$_want" ]
}

# run NAME WANT COMMAND...
run()
{
	_name=$1
	shift
	if status "$@"; then
		tap_result ok "$_name"
	else
		tap_result "not ok" "$_name"
	fi
}

matches()
{
	if grep -qE "$2" "$out"; then
		tap_result ok "$1"
	else
		cp "$out" "$log"
		echo "# no line matches $2"
		tap_result "not ok" "$1"
	fi
}

# Only KTAP on stdout, nothing on stderr, the plan kept, numbers in order.
ktap()
{
	awk '
	NR == 1 && !/^TAP version 13$/ { bad = "no version line" }
	/^1\.\.[0-9]+$/ { plan = substr($0, 4); next }
	/^(not )?ok / {
		n++
		if (!match($0, /^(not )?ok [0-9]+ [a-z]+\.[a-z0-9-]+\.[a-z-]+( #  ?.+)?$/))
			bad = "not a result: " $0
		sub(/^not /, "")
		if ($2 != n)
			bad = "out of order: " $0
		next
	}
	/^# / { if (/ok [0-9]/) bad = "looks like a result: " $0; next }
	NR > 1 { bad = "not KTAP: " $0 }
	END {
		if (n != plan) bad = n " results, " plan " planned"
		if (bad) { print "# " bad; exit 1 }
	}' "$out" && [ ! -s "$err" ]
}

names()
{
	sed -nE 's/^(not )?ok [0-9]+ ([^ ]+).*/\2/p' "$out"
}

wrong()
{
	_text=$1
	shift
	if status 1 "$prog" "$@" && [ ! -s "$out" ] && [ "$(wc -l <"$err")" = 1 ] &&
	   grep -qF -- "$_text" "$err"; then
		tap_result ok "$* is refused"
	else
		tap_result "not ok" "$* is refused"
	fi
}
