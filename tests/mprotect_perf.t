#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The test, run for real on this machine's kernel, as this user and as nobody,
# and with everything a user can get wrong.
set -eu

cd "$(dirname "$0")/.."
. tests/lib.sh
PROG=${PROG:-build/mprotect_perf}
# shellcheck source=tests/prog.sh
. tests/prog.sh

# ktap_of_harness: a plan that is kept, in order, and nothing that is no KTAP.
ktap_of_harness()
{
	awk '
	NR == 1 && !/^TAP version 13$/ { bad = "no version line" }
	/^1\.\.[0-9]+$/ { plan = substr($0, 4); next }
	/^(not )?ok / {
		n++
		if (!match($0, /^(not )?ok [0-9]+ mprotect[a-z_]*\.[a-z0-9_]+\.[a-z]+( # .+)?$/))
			bad = "not a result: " $0
		sub(/^not /, "")
		if ($2 != n)
			bad = "out of order: " $0
		next
	}
	/^#/ { next }
	NR > 1 { bad = "not KTAP: " $0 }
	END {
		if (n != plan) bad = n " results, " plan " planned"
		if (bad) { print "# " bad; exit 1 }
	}' "$out"
}

run 'validation passes' 0 "$prog"
ok 'it is KTAP, whole and in order' ktap_of_harness
names >"$tmp/names"
for row in shared_dirty private_dirty private_none; do
	matches "$row is checked" "^ok [0-9]+ mprotect\.$row\.access$"
done
run '-l lists' 4 "$prog" -l
ok 'the rows' grep -q 'shared_dirty' "$err"
run '-h helps' 0 "$prog" -h
matches 'and tells the exit status' '^Exit status: 0 '

wrong "--nosuch: no such option; -h helps" --nosuch
wrong "-v needs a value; -h helps" -v
wrong "rest: not an option; -h helps" rest
done_testing
