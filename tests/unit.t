#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Compile every tests/unit_*.c with the sources named in its "Sources:" line,
# with sanitizers that stop at the first complaint, run it, and merge what they
# say into one TAP stream. A test that dies or stops short of its plan is one
# more "not ok".
set -eu

cd "$(dirname "$0")/.."
lab=lab
out=build/tests
cc=${UNIT_CC:-gcc}
flags='-std=gnu11 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all'
flags="$flags -D_GNU_SOURCE= -fno-omit-frame-pointer -Wall -Wextra -Werror"
mkdir -p "$out"

skip()
{
	echo "1..0 # SKIP $1"
	exit 0
}

command -v "$cc" > /dev/null || skip "no $cc"
echo 'int main(void) { return 0; }' > "$out/probe.c"
# shellcheck disable=SC2086 # flags are words
if ! "$cc" $flags "$out/probe.c" -o "$out/probe" 2> /dev/null || ! "$out/probe"; then
	skip "$cc cannot build or run with -fsanitize=address,undefined"
fi

n=0
say()
{
	n=$((n + 1))
	echo "$1 $n - $2"
}

for src in tests/unit_*.c; do
	name=$(basename "$src" .c)
	files=$src
	sources=$(sed -n 's/^ \* Sources: //p' "$src")
	libs=$(sed -n 's/^ \* Libraries: //p' "$src")
	for f in $sources; do
		files="$files $lab/$f"
	done
	# shellcheck disable=SC2086 # flags and files are words
	if ! "$cc" $flags -I"$lab" -Itests $files -o "$out/$name" -lm $libs 2> "$out/$name.err"; then
		sed 's/^/# /' "$out/$name.err"
		say "not ok" "$name compiles"
		continue
	fi
	status=0
	"./$out/$name" > "$out/$name.tap" 2> "$out/$name.err" || status=$?
	awk -v n="$n" -v name="$name" '
		/^(not )?ok [0-9]+ - / {
			n++
			sub(/ok [0-9]+ - /, "ok " n " - " name ": ")
		}
		/^1\.\.[0-9]+$/ { next }
		{ print }' "$out/$name.tap"
	sed 's/^/# /' "$out/$name.err"
	ran=$(grep -cE '^(not )?ok ' "$out/$name.tap") || true
	bad=$(grep -c '^not ok ' "$out/$name.tap") || true
	n=$((n + ran))
	# 1 is what done_testing() gives for failed checks; they are told already.
	if ! grep -qx "1..$ran" "$out/$name.tap" || [ "$status" -gt 1 ] ||
	   { [ "$status" -eq 1 ] && [ "$bad" -eq 0 ]; }; then
		say "not ok" "$name: ran to its end (status $status)"
	else
		say "ok" "$name: ran to its end"
	fi
done
echo "1..$n"
