# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What the experiments of this directory share. Sourced with $here set to it;
# sets $build, $cpu (the one that the program takes) and $tmp, which is removed
# at the end.
: "${here:?}"
build=${BUILD:-$here/../build}
lab=$here/../lab
die()
{
	echo "$(basename "$0" .sh): $*" >&2
	exit 1
}

[ -x "$build/mprotect-lab" ] || die "no $build/mprotect-lab: run make first"
mkdir -p "$build/bench"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM HUP

# The last CPU that is allowed.
# shellcheck disable=SC2034
cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')

# compile FILE.c: with the parts of the program that its "Sources:" lines name.
compile()
{
	_source=$1
	# shellcheck disable=SC2046 # names without blanks
	set -- $(sed -n 's/^ \* Sources: //p' "$_source")
	for _part; do
		set -- "$@" "$lab/$_part"
		shift
	done
	gcc -O2 -std=gnu11 -Wall -Wextra -D_GNU_SOURCE= -I"$lab" \
		-o "$build/bench/$(basename "$_source" .c)" "$_source" "$@" -lm ||
		die "$_source does not compile"
}

# What else the machine was doing.
load()
{
	echo "$(date '+%Y-%m-%d %H:%M:%S'), load $(cut -d' ' -f1-4 /proc/loadavg)"
}
