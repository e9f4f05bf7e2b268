#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Put mprotect_perf into a kernel tree, bring an older version of it there up
# to date, or take it out again.
#
# Every line that we add to a file of the kernel's names mprotect_perf or its
# wrapper: that is how an earlier version's lines are found and taken out,
# without a record in the tree of what it looked like before; of a line that we
# change, the old one is in a comment that names us. Everything is
# made and checked on copies; then each file is moved into place. The kernel's
# Makefile, which says that the other files are ours, comes first and goes last.

set -eu

usage()
{
	cat <<-EOF
	usage: $0 [-r] KTREE
	  KTREE  top of a kernel tree; known are 6.12, 7.2 and 7.3
	  -r     take it out: the tree is byte for byte what it was
	EOF
}

die()
{
	echo "integrate: $ktree: $*" >&2
	exit 1
}

# take_out FILE: the file without our lines. The blank line that closed a block
# of ours goes too: blank lines on both sides mean that one of them is ours. In
# a config, where a line has no room for a name, a comment owns the next line.
take_out()
{
	awk '
	sub(/^# mprotect_perf: was /, "") { print; getline; next }
	/mprotect_perf|MPROTECT_PERF|ksft_mprotect\.sh/ || /^- mprotect$/ {
		cut = 1
		owner = /^# mprotect_perf/
		next
	}
	owner && /^(CONFIG_|timeout=)/ { owner = 0; next }
	cut && /^$/ && blank { cut = owner = 0; next }
	{ print; cut = owner = 0; blank = /^$/ }' "$1"
}

# put_in FRAGMENT FILE: the file with the sections of the fragment at their
# anchors. An anchor that is not there exactly once is no anchor.
put_in()
{
	awk '
	function fail(what) { print what > "/dev/stderr"; bad = 1; exit 1 }
	NR == FNR && /^#@ unless / { n++; unless[n] = substr($0, 11); open = 1 }
	NR == FNR && /^#@ (before|after|end)/ {
		if (!open) n++
		open = 1
		anchors[n] = anchors[n] substr($0, 4) "\n"
	}
	NR == FNR && /^#@/ { next }
	NR == FNR { open = 0; if (n) body[n] = body[n] $0 "\n"; next }
	{ line[FNR] = $0; last = FNR }
	END {
		if (bad) exit 1
		for (s = 1; s <= n; s++) place(s)
		for (i = 1; i <= last; i++)
			printf "%s%s\n%s", before[i], line[i], after[i]
	}
	function count(re,   i, hits) {
		for (i = 1; i <= last; i++)
			if (line[i] ~ re) { hits++; at = i }
		return hits + 0
	}
	function place(s,   a, i, k, how, re) {
		if (unless[s] != "" && count(unless[s])) return
		k = split(anchors[s], a, "\n") - 1
		for (i = 1; i <= k; i++) {
			how = a[i]; sub(/ .*/, "", how)
			re = substr(a[i], length(how) + 2)
			if (how == "end") at = last
			else if (count(re) != 1) continue
			if (how == "before") before[at] = before[at] body[s]
			else after[at] = after[at] body[s]
			return
		}
		fail("no line, or several, matching " re)
	}' "$1" "$2"
}

# raise FRAGMENT FILE: settings with no less time than the fragment's.
raise()
{
	awk -F= '
	NR == FNR { if ($1 == "timeout") least = $2; next }
	$1 == "timeout" && $2 && $2 < least {
		print "# mprotect_perf: was " $0
		$0 = "timeout=" least
	}
	$1 == "timeout" { found = 1 }
	{ print }
	END {
		if (!found)
			print "# mprotect_perf: more than the default\ntimeout=" least
	}' "$1" "$2"
}

# ours_in DIR: the files there that are named like ours.
ours_in()
{
	for _file in "$1"/mprotect_perf.c "$1"/mprotect_perf_*.[ch] \
		     "$1"/ksft_mprotect.sh; do
		[ ! -e "$_file" ] || basename "$_file"
	done
}

# stage: our files as this tree is to have them. One older than 7.3 lacks some
# of the helpers: a header of ours stands in for them.
stage()
{
	mkdir "$tmp/ours"
	cp -p "$ours/mprotect_perf.c" "$ours/ksft_mprotect.sh" "$tmp/ours/"
	! grep -qs gather_folio_orders "$mm/vm_util.h" || return 0
	cp -p "$here/compat/mprotect_perf_compat.h" "$tmp/ours/"
	sed 's|"kselftest_harness.h"|"../kselftest_harness.h"|
	     s|"hugepage_settings.h"|"mprotect_perf_compat.h"|' \
		"$ours/mprotect_perf.c" >"$tmp/ours/mprotect_perf.c"
}

check_tree()
{
	[ -d "$ktree" ] || die "no such directory"
	if [ ! -f "$ktree/Makefile" ] ||
	   ! grep -q '^PATCHLEVEL = ' "$ktree/Makefile" ||
	   [ ! -f "$ktree/tools/testing/selftests/lib.mk" ]; then
		die "not a kernel tree"
	fi
	[ -d "$mm" ] || [ ! -d "$ktree/tools/testing/selftests/vm" ] ||
		die "its selftests are in vm/ (before 6.2), which is not" \
			"supported; the static binary built from a newer" \
			"tree runs on that kernel"
	for file in $edited; do
		[ ! -L "$mm/$file" ] || die "mm/$file is a symbolic link"
		[ -f "$mm/$file" ] || die "no tools/testing/selftests/mm/$file"
	done
}

# A tree that we have not been in must not have files of our names, unless
# they are ours to the byte: an integration that was cut short.
check_names()
{
	if grep -q mprotect_perf "$mm/Makefile"; then
		return
	fi
	for file in $(ours_in "$mm"); do
		cmp -s "$mm/$file" "$tmp/ours/$file" ||
			die "mm/$file is there and is not ours"
	done
	for file in $edited; do
		take_out "$mm/$file" | cmp -s - "$mm/$file" ||
			die "mm/$file already speaks of mprotect_perf"
	done
}

# What every file is to become, as copies that keep owner and mode.
prepare()
{
	for file in $edited; do
		cp -p "$mm/$file" "$tmp/$file"
		take_out "$mm/$file" >"$tmp/$file.out"
		if [ -n "$remove" ]; then
			cat "$tmp/$file.out" >"$tmp/$file"
			continue
		fi
		case $file in
		settings) edit=raise ;;
		*) edit=put_in ;;
		esac
		"$edit" "$ours/$file" "$tmp/$file.out" >"$tmp/$file" \
			2>"$tmp/why" || die "mm/$file: $(cat "$tmp/why")"
		take_out "$tmp/$file" | cmp -s - "$tmp/$file.out" ||
			die "mm/$file: cannot be undone"
	done
	[ -n "$remove" ] || mv "$tmp/ours"/* "$tmp/"
}

# Files that do not change are not touched: nothing is rebuilt for them.
move()
{
	if [ -e "$tmp/$1" ] && ! cmp -s "$tmp/$1" "$mm/$1"; then
		mv "$tmp/$1" "$mm/$1"
	fi
}

# From here on nothing is left to be found wrong, and no signal may part it.
commit()
{
	trap '' HUP INT TERM
	[ -n "$remove" ] || move Makefile
	for file in $(ours_in "$mm"); do
		[ -e "$tmp/$file" ] || rm -f "$mm/$file"
	done
	if [ -n "$remove" ]; then
		rm -f "$mm/mprotect_perf"
	else
		for file in $(ours_in "$tmp"); do
			move "$file"
		done
	fi
	for file in $edited; do
		move "$file"
	done
}

remove=
case ${1-} in
-r) remove=1; shift ;;
-h | --help) usage; exit ;;
esac
[ $# -eq 1 ] || { usage >&2; exit 1; }
here=$(cd "$(dirname "$0")" && pwd)
ours=$(cd "$here/../tools/testing/selftests/mm" && pwd)
ktree=$1
mm=$ktree/tools/testing/selftests/mm
# The Makefile last: see above. Some source archives have no dot files.
edited="config settings run_vmtests.sh Makefile"
[ ! -e "$mm/.gitignore" ] || edited=".gitignore $edited"

check_tree
tmp=$(mktemp -d "$mm/.mprotect_perf.XXXXXX" 2>/dev/null) ||
	die "mm/ cannot be written to"
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM
stage
check_names
prepare
commit
