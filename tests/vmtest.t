#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# vmtest: where kernels come from, every way a guest can end, and that real
# kernels give the same record on every boot, to the last byte.
#
# Kernels come from the machine's Debian mirror (once; they stay under build/).
# VMTEST_KERNELS="ARCH:VERSION[-FLAVOUR]..." takes others than those below.
set -eu

cd "$(dirname "$0")/.."
# shellcheck source=tests/lib.sh
. tests/lib.sh
# Addresses of mirrors that are none.
http=http:/
: "${VMTEST_KERNELS:=amd64:6.12 amd64:6.16 amd64:6.17 amd64:7.3
	arm64:7.3-16k ppc64el:7.3-64k}"

vm()
{
	vmtest/vmtest.sh --out "$tmp/out" "$@"
}

# guest OPTION...: with a program that does what it is told.
guest()
{
	vm --arch amd64 --program "$tmp/guest" --settle 0 "$@"
}

# source_is NAME URI KEYRING: what apt.sh takes from $tmp/etc.
source_is()
{
	(
		. vmtest/apt.sh
		APT_ETC=$tmp/etc apt_source
	) >"$log" 2>&1 || :
	printf 'URIs: %s\nSigned-By: %s\n' "$2" "$3" >"$tmp/want"
	if cmp -s "$log" "$tmp/want"; then
		tap_result ok "$1"
	else
		tap_result "not ok" "$1"
	fi
}

test_sources()
{
	_list=$tmp/etc/sources.list.d
	_key=/usr/share/keyrings/debian-archive-keyring.gpg
	mkdir -p "$_list"
	cat >"$_list/a.sources" <<-EOF
	# a comment
	Types: deb
	URIs: $http/other.invalid/debian
	Suites: stable
	Components: main
	Signed-By: /etc/apt/keyrings/other.gpg

	Types: deb
	URIs: $http/off.invalid/debian
	Suites: stable
	Components: main
	Enabled: no
	EOF
	source_is "deb822: another archive if there is none but that" \
		$http/other.invalid/debian /etc/apt/keyrings/other.gpg
	cat >"$_list/b.sources" <<-EOF
	Types: deb deb-src
	URIs: $http/sec.invalid/debian-security
	Suites: stable-security
	Components: main
	Signed-By: $_key

	Types: deb deb-src
	URIs: $http/main.invalid/debian
	Suites: stable stable-updates
	Components: main contrib
	Signed-By: $_key
	EOF
	source_is "deb822: Debian's own, not security" \
		$http/main.invalid/debian "$_key"
	rm "$_list"/*
	cat >"$tmp/etc/sources.list" <<-EOF
	# deb $http/comment.invalid/debian stable main
	deb-src $http/src.invalid/debian stable main
	deb [arch=amd64 signed-by=$_key] $http/line.invalid/debian stable main
	EOF
	source_is "one-line format" $http/line.invalid/debian "$_key"
	: >"$tmp/etc/sources.list"
	fails "no mirror is said" env "APT_ETC=$tmp/etc" \
		vmtest/fetch-kernel.sh --cache "$tmp/cache" 6.12
	one_line "in one line"
}

# Nothing here may need a kernel, or reach the network.
test_usage()
{
	for _args in "" "--boots 2" "--boots x k" "--arch vax k" "--accel qemu k" \
			"--nonsense k" "/no/such/kernel" "--mem"; do
		# shellcheck disable=SC2086
		fails "usage error: $_args" vm $_args
	done
	fails "no program" vm --program /no/such/program debian:6.12
	one_line "no program: in one line"
	mkdir "$tmp/tree"
	fails "a tree that is not built" vm --program /bin/sh "$tmp/tree"
	says "it says what is not there" "is it built?"
	if [ ! -e /dev/kvm ]; then
		fails "kvm is never replaced" vm --accel kvm \
			--program /bin/sh /bin/sh
		says "it says that there is no kvm" "no usable /dev/kvm"
	fi
}

# ends HOW FAULT [OPTION...]: a guest whose program ends like that.
ends()
{
	_how=$1 _fault=$2
	shift 2
	fails "guest: $_how" guest "$@" "$_how=$kernel" -- "$_how"
	says "guest: $_how: named" "FAILED: $_fault"
	says "guest: $_how: the end of its console" "  | "
}

test_guests()
{
	ends signal "program killed by signal 11"
	ends hang "hang: " --timeout 30
	ends memory "Out of memory: "
	ends panic "Kernel panic - not syncing: sysrq"
	ends reboot "no exit line"
	ends fail "program: exit status 1"
	ok "guest: all skipped is no failure" guest "skip=$kernel" -- skip
	cp /etc/passwd "$tmp/not-a-program"
	fails "guest: no program" guest --program "$tmp/not-a-program" \
		"noprog=$kernel"
	says "guest: no program: named" "FAILED: no program"
	fails "guest: no record" guest "norec=$kernel" -- -p
	says "guest: no record: named" "FAILED: no record"

	ok "guest: a file of all bytes comes through" guest \
		--send bytes=/tmp/record "bytes=$kernel" -- \
		bytes "two words" "" "\$HOME \"'"
	awk 'BEGIN { for (i = 0; i < 256; i++) printf "\\%03o", i }' \
		>"$tmp/format"
	# shellcheck disable=SC2059
	printf "$(cat "$tmp/format")" >"$tmp/256"
	for _i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		cat "$tmp/256" "$tmp/256" >"$tmp/512"
		mv "$tmp/512" "$tmp/256"
	done
	ok "guest: unchanged" cmp "$tmp/256" "$tmp/out/bytes.1.bytes"
	ok "guest: arguments arrive as they were" \
		grep -qxF "argument [\$HOME \"']" "$tmp/out/bytes.1.console"
}

# A signal takes the guests and the temporary files along.
test_signal()
{
	_dir=$tmp/signal
	mkdir "$_dir"
	TMPDIR=$_dir vmtest/vmtest.sh --arch amd64 --out "$tmp/out" \
		--program "$tmp/guest" --settle 0 --timeout 60 "hang=$kernel" -- hang >"$log" 2>&1 &
	_pid=$!
	sleep 4
	_before=$(pgrep -fc "initrd $_dir" || :)
	kill -TERM "$_pid"
	_status=0
	wait "$_pid" || _status=$?
	sleep 1
	echo "before $_before, status $_status" >>"$log"
	if [ "$_before" -gt 0 ] && [ "$_status" -eq 143 ]; then
		tap_result ok "signal: ends it"
	else
		tap_result "not ok" "signal: ends it"
	fi
	fails "signal: no guest left" pgrep -f "initrd $_dir"
	ok "signal: no file left" rmdir "$_dir"
}

# same ARCH KERNEL: validation passes, and two boots give one record.
same()
{
	_arch=$1 _version=$2
	case $_arch in
	amd64) _qemu=qemu-system-x86_64 _prog=build/mprotect_perf ;;
	arm64) _qemu=qemu-system-aarch64 _prog=build/mprotect_perf-arm64 ;;
	ppc64el) _qemu=qemu-system-ppc64 _prog=build/mprotect_perf-ppc64el ;;
	esac
	if ! have "$_qemu" || [ ! -x "$_prog" ]; then
		skip "$_arch $_version" "no $_qemu or no $_prog"
		return
	fi
	if ! _info=$(vmtest/fetch-kernel.sh --info --arch "$_arch" \
			"$_version" 2>"$log"); then
		tap_result "not ok" "$_arch $_version: to be had"
		return
	fi
	echo "# $_arch $_version is ${_info#* }"
	ok "$_arch $_version: validates and measures" vm --arch "$_arch" \
		--program "$_prog" --boots 2 "k=${_info%% *}" -- \
		-p -s shared-dirty --time 1
	ok "$_arch $_version: the same record on both boots" \
		cmp "$tmp/out/k.1.rec" "$tmp/out/k.2.rec"
}

test_sources
test_usage
if ! have qemu-system-x86_64; then
	skip guests "no qemu-system-x86_64"
elif ! kernel=$(vmtest/fetch-kernel.sh --arch amd64 6.12 2>"$log"); then
	tap_result "not ok" "a kernel to test with"
else
	ok "build" "${CC:-cc}" -O2 -Wall -static -o "$tmp/guest" \
		tests/vmtest_guest.c
	test_guests
	test_signal
	for pair in $VMTEST_KERNELS; do
		same "${pair%%:*}" "${pair#*:}"
	done
fi
done_testing
