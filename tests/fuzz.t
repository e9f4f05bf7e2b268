#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A short run of libFuzzer on the record reader, always from the same seed: it
# finds what a careless change breaks. FUZZ_SECONDS=300 tests/fuzz.t looks for
# what nobody thought of, from a random one.
set -eu

cd "$(dirname "$0")/.."
mm=tools/testing/selftests/mm
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

if [ -n "${FUZZ_SECONDS:-}" ]; then
	bound="-max_total_time=$FUZZ_SECONDS"
else
	bound='-runs=60000 -max_total_time=15 -seed=1'
fi

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
cat > "$out/words" << 'EOF'
"sample "
"env "
"end samples="
" scenario="
" proc="
" cycle="
" pages="
" calls="
" protect="
"\\x22"
"18446744073709551615"
EOF

echo 1..2
if "$cc" -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	-Wall -Wextra -Werror -I"$mm" tests/fuzz_record.c "$mm"/mprotect_perf_record*.c \
	-o "$out/fuzz_record" 2> "$out/err"; then
	echo 'ok 1 - fuzz_record compiles'
else
	sed 's/^/# /' "$out/err"
	echo 'not ok 1 - fuzz_record compiles'
	echo 'not ok 2 - reader survives libFuzzer'
	exit 1
fi
# shellcheck disable=SC2086 # bound is words
if "./$out/fuzz_record" $bound -timeout=10 -rss_limit_mb=512 -max_len=4096 \
	-dict="$out/words" -artifact_prefix="$out/" "$out/corpus" > "$out/log" 2>&1; then
	echo 'ok 2 - reader survives libFuzzer'
else
	tail -n 40 "$out/log" | sed 's/^/# /'
	echo 'not ok 2 - reader survives libFuzzer'
fi
grep -E '^(#.*DONE|Done )' "$out/log" | sed 's/^/# /'
