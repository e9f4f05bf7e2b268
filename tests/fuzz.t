#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A short run of libFuzzer on the record reader, and on all of a comparison,
# always from the same seed: it finds what a careless change breaks.
# FUZZ_SECONDS=300 tests/fuzz.t looks for what nobody thought of, from a random
# one.
set -eu

cd "$(dirname "$0")/.."
lab=lab
out=build/tests/fuzz
cc=${FUZZ_CC:-clang}
rm -rf "$out"
mkdir -p "$out/corpus"

skip()
{
	echo "1..0 # SKIP $1"
	exit 0
}

command -v "$cc" > /dev/null || skip "no $cc"
echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return d && n < 0; }' > "$out/probe.c"
"$cc" -fsanitize=fuzzer,address,undefined "$out/probe.c" -o "$out/probe" 2> /dev/null ||
	skip "$cc has no -fsanitize=fuzzer,address,undefined"

# The seeds: a whole record, its pieces put together wrongly, and its ends.
head='mprotect_perf-record 1'
env='env unit=ns page_size=4096 model="a \x22b\x22" cmdline=root=/dev/vda'
one='sample scenario=a proc=0 cycle=0 pages=16384 calls=1 protect=229376 protect_faults=0'
two='sample scenario=a proc=0 cycle=1 pages=4 calls=1 touch=5 touch_csw=1 restore=9 new=x'
end='end samples=2'
printf '%s\n' "$head" "$env" "$one" "$two" "$end" > "$out/corpus/whole"
printf '%s\n' "$head" "$env" "$one" "$two" > "$out/corpus/cut"
printf '%s\n' "$head" "$env" "$two" "$one" "$end" > "$out/corpus/order"
printf '%s\n' "$head" "$env" "$env" "$end" "$end" > "$out/corpus/twice"
printf '%s\n' "$head" 'env unit=' "$end" > "$out/corpus/no-value"
printf '%s\n' 'mprotect_perf-record 2' > "$out/corpus/version"
printf '\177ELF\0\0' > "$out/corpus/foreign"
for release in A B; do
	printf '%s\nenv unit=ns page_size=4096 release=%s build=1\n' "$head" "$release"
	for i in 0 1 2 3 4 5; do
		echo "sample scenario=a proc=$i cycle=$i pages=4 calls=1 protect=1$i" \
			"protect_insn_k=4 restore=7 touch=5 touch_faults=$i"
	done
	printf 'end samples=6\n'
	[ $release = B ] || printf '\0'
done > "$out/corpus/two"
for release in A B; do
	printf '%s\nenv unit=ns page_size=4096 release=%s build=1\n' "$head" "$release"
	for i in 0 1 2 3; do
		echo "sample scenario=a proc=0 cycle=$i pages=1$i calls=1 protect=${i}1 touch=5"
		echo "sample scenario=a proc=0 cycle=$i pages=4 calls=2 tasks=2 task=0" \
			"start=1${i}7 protect=3 restore=4"
		echo "sample scenario=a proc=0 cycle=$i pages=4 calls=2 tasks=2 task=1" \
			"start=1${i}9 protect=3 restore=4"
	done | sed 's/=01/=1/'
	printf 'end samples=12\n'
	[ $release = B ] || printf '\0'
done > "$out/corpus/variants"
cat > "$out/words" << 'EOF'
"sample "
"env "
"end samples="
" scenario="
" proc="
" cycle="
" pages="
" calls="
" tasks="
" task="
" start="
" protect="
"\\x22"
"18446744073709551615"
EOF

# fuzz NAME RUNS WHAT SOURCE...: build and run tests/fuzz_NAME.c
n=0
fuzz()
{
	name=$1 runs=$2 what=$3
	shift 3
	bound="-runs=$runs -max_total_time=15 -seed=1"
	[ -z "${FUZZ_SECONDS:-}" ] || bound="-max_total_time=$FUZZ_SECONDS"
	if "$cc" -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
		-D_GNU_SOURCE= -Wall -Wextra -Werror -I"$lab" -Itests \
		"tests/fuzz_$name.c" "$@" -o "$out/fuzz_$name" 2> "$out/err"; then
		echo "ok $((n + 1)) - fuzz_$name compiles"
	else
		sed 's/^/# /' "$out/err"
		echo "not ok $((n + 1)) - fuzz_$name compiles"
	fi
	# shellcheck disable=SC2086 # bound is words
	if "./$out/fuzz_$name" $bound -timeout=10 -rss_limit_mb=512 -max_len=8192 \
		-dict="$out/words" -artifact_prefix="$out/" "$out/corpus" > "$out/log" 2>&1; then
		echo "ok $((n + 2)) - $what survives libFuzzer"
	else
		tail -n 40 "$out/log" | sed 's/^/# /'
		echo "not ok $((n + 2)) - $what survives libFuzzer"
	fi
	grep -E '^(#.*DONE|Done )' "$out/log" | sed 's/^/# /'
	n=$((n + 2))
}

echo 1..4
fuzz record 60000 reader "$lab"/mprotect_perf_record*.c "$lab/mprotect_perf_new_file.c"
parts='versus new_file table tsv summary caveats gate run plot plot_curve compare rows column'
parts="$parts judge boot stats rate curve fit"
# shellcheck disable=SC2046,SC2086 # names without blanks
fuzz compare 20000 comparison "$lab"/mprotect_perf_record*.c \
	$(printf "$lab/mprotect_perf_%s.c " $parts)
