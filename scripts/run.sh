#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What "make run" runs: validation, then ten seconds of timing of the headline
# workload, kept in a record file of its own. A failed validation is no reason
# not to time; the exit status speaks of both.

set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${BUILD:-$here/../build}" && pwd)
record=$build/records/$(uname -r)-$(date +%Y%m%d-%H%M%S).rec
mkdir -p "$build/records"

status=0
"$build/mprotect-lab" || status=$?
"$build/mprotect-lab" -p -s shared-dirty --time 10 -o "$record" || status=$?
exit "$status"
