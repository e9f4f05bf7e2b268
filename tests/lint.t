#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What can be said of the sources without running them: compilers' and sparse's
# warnings, checkpatch, shellcheck, and the rules of the house.

set -eu

cd "$(dirname "$0")/.."
# shellcheck source=tests/lib.sh
. tests/lib.sh
# shellcheck source=tests/tree.sh
. tests/tree.sh

mm=tools/testing/selftests/mm
lab=lab

# quiet NAME COMMAND...: succeeds and prints nothing.
quiet()
{
	_quiet=$1 _status=0
	shift
	"$@" >"$log" 2>&1 || _status=$?
	if [ "$_status" -eq 0 ] && [ ! -s "$log" ]; then
		tap_result ok "$_quiet"
	else
		tap_result "not ok" "$_quiet"
	fi
}

# compile COMMAND...: every file of ours. The kernel's headers are not ours.
compile()
{
	set -- "$@" -std=gnu11 -D_GNU_SOURCE= \
		-isystem "$tree/tools/testing/selftests" \
		-isystem "$tree/tools/testing/selftests/mm" \
		-isystem "$tree/tools/include/uapi"
	"$@" "$mm/mprotect_perf.c"
	for _file in "$lab"/*.c; do
		"$@" "$_file"
	done
}

# sparse_ours ARGUMENT...: what sparse has to say, but for the kernel's headers.
# It does not know one of the compiler's functions.
sparse_ours()
{
	sparse '-D__builtin___clear_cache(from, to)=((void)0)' "$@" 2>&1 | grep -vE 'note: in included file|/selftests/kselftest' || :
}

# What is made only when somebody asks for it: experiments.
experiments()
{
	for _file in bench/*.c tests/power.c; do
		# shellcheck disable=SC2046 # names without blanks
		set -- $(sed -n 's/^ \* Sources: //p' "$_file")
		for _part; do
			set -- "$@" "$lab/$_part"
			shift
		done
		${CC:-cc} -std=gnu11 -O2 -Wall -Wextra -D_GNU_SOURCE= -I"$lab" \
			-o "$tmp/experiment" "$_file" "$@" -lm
	done
}

compilers()
{
	quiet "experiments compile and link" experiments
	for cc in gcc clang; do
		if have "$cc"; then
			quiet "$cc -Wall -Wextra" compile "$cc" -Wall -Wextra \
				-O2 -c -o /dev/null
		else
			skip "$cc -Wall -Wextra" "no $cc"
		fi
	done
	if have sparse; then
		quiet "sparse" compile sparse_ours
	else
		skip "sparse" "no sparse"
	fi
}

# What of checkpatch's advice is not for us:
# kernel helpers that a program, or a part without kselftest.h, does not have
ignore=BIT_MACRO,PREFER_DEFINED_ATTRIBUTE_MACRO,STRCPY,PREFER_KERNEL_TYPES
ignore=$ignore,ARRAY_SIZE
# strings that are pasted together have no side effects
ignore=$ignore,MACRO_ARG_REUSE
# memory that is touched on purpose; inttypes.h; a message is kept in one piece,
# and may have a word in it that is a function too
ignore=$ignore,VOLATILE,CAMELCASE,LONG_LINE_STRING,EMBEDDED_FUNCTION_NAME
# code that is to be executed is another one on each architecture
ignore=$ignore,ARCH_DEFINES
# tests: their names are their own, 1e-9 is a number, strings are whole files
test_ignore=AVOID_EXTERNS,AVOID_BUG,SPACING,SPLIT_STRING
test_ignore=$test_ignore,QUOTED_WHITESPACE_BEFORE_NEWLINE
# a list of words in a script may well have one twice
script_ignore=REPEATED_WORD

# It leaves a cache file in the working directory, for names that it looks for
# in a tree, which it complains of not having.
checkpatch()
{
	for _file; do
		case $_file in
		*.sh | *.t) _more=,$script_ignore ;;
		tests/*) _more=,$test_ignore ;;
		*) _more= ;;
		esac
		(cd "$tmp" && perl "$ksrc/scripts/checkpatch.pl" --no-tree \
			--strict --terse --show-types --no-summary \
			--ignore "$ignore$_more" --file "$top/$_file") || :
	done 2>&1 | grep -vE '^Use of uninitialized value \$root|/include.: No such' |
		sed "s#^$top/##"
}

# Fragments of the kernel's files are no scripts of ours.
scripts()
{
	find scripts tests vmtest "$mm" -name '*.sh' -o -name '*.t' |
		grep -v "^$mm/run_vmtests.sh$" | sort
	echo .ci/run
}

c_files()
{
	find "$mm" "$lab" scripts tests vmtest -name '*.[ch]' | sort
}

# long_functions FILE...: from a brace in the first column to its end.
long_functions()
{
	awk 'FNR == 1 { start = 0 }
	/^[{]/ { start = FNR }
	/^[}]/ {
		if (start && FNR - start > 60)
			print FILENAME ":" start ": " FNR - start " lines"
		start = 0
	}' "$@"
}

# long_files LINES FILE...
long_files()
{
	_most=$1
	shift
	wc -l "$@" | awk -v most="$_most" '$2 != "total" && $1 > most'
}

# only NAME REGEX FILE-REGEX: found in no file of the lab but these. Names
# in comments are not meant: they are cut off, or begin with " *".
only()
{
	quiet "$1" sh -c 'grep -nE "$1" "$3"/mprotect_perf*.[ch] |
		grep -vE "^[^:]*:[0-9]+:[[:space:]]*(/?\*|//)" |
		grep -vE "/mprotect_perf($2)\.[ch]:" || :' sh "$2" "$3" "$lab"
}

house()
{
	only "results are reported by one file" 'ksft_(test_result|print)' ''
	only "one file reads the clock" '(clock_gettime|perf_event_open) *\(' \
		'_measure|_counters'
	only "exit() in main and in children" '\b_?exit *\(' '|_child|_tasks|_settings'
	only "nothing else prints" \
		'\b(printf|puts|putchar|perror|vprintf) *\(|stdout|stderr' ''
	only "no page size is written down" '\b4096\b' ''
	quiet "nor in the test" sh -c '! grep -n "\b4096\b" "$1"' sh \
		"$mm/mprotect_perf.c"
	# shellcheck disable=SC2046 # names without blanks
	quiet "functions have at most 60 lines" long_functions $(c_files) \
		$(scripts)
	# Tables of test vectors may be longer.
	# shellcheck disable=SC2046
	quiet "files have at most 400" long_files 400 "$lab"/*.[ch] $(scripts)
	quiet "the test is one file of at most 2000" \
		long_files 2000 "$mm/mprotect_perf.c"
	ok "and no other is beside it" \
		[ "$(find "$mm" -name '*.[ch]' | wc -l)" = 1 ]
	# shellcheck disable=SC2046
	quiet "every file says its licence" grep -L SPDX-License-Identifier \
		$(c_files) $(scripts) Makefile
	quiet "no address of a package mirror" sh -c 'grep -rnE \
		"(https?|ftp)://[^ ]*(debian|mirror|proxy|artifact)" \
		Makefile .ci bench lab scripts tests vmtest tools | grep -v "\.invalid/" || :'
}

top=$PWD
v=${KSRC:+KSRC}
v=${v:-7.3}
tree=$tmp/tree
if tree_copy "$v" "$tree"; then
	ksrc=$(scripts/fetch-ksrc.sh)
	compilers
	if have perl; then
		# shellcheck disable=SC2046 # names without blanks
		quiet "checkpatch --strict" checkpatch $(c_files) $(scripts)
	else
		skip "checkpatch --strict" "no perl"
	fi
else
	skip "compilers and checkpatch" "$(tail -n 1 "$log")"
fi
if have shellcheck; then
	# SC2016 doubts every text for an inner shell, for awk or for make.
	# shellcheck disable=SC2046 # names without blanks
	quiet "shellcheck" shellcheck -x -e SC2016 $(scripts)
else
	skip "shellcheck" "no shellcheck"
fi
house
done_testing
