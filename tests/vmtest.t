#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# vmtest: every way a guest can end, and that real kernels give the same record
# on every boot, to the last byte.
#
# Kernels come from the machine's Debian mirror (once; they stay under build/).
# VMTEST_KERNELS="ARCH:VERSION[-FLAVOUR]..." takes others than those below.

set -eu

cd "$(dirname "$0")/.."
# shellcheck source=tests/lib.sh
. tests/lib.sh
: "${VMTEST_KERNELS:=amd64:6.12 amd64:6.16 amd64:6.17 amd64:7.3
	arm64:7.3-16k ppc64el:7.3-64k}"

vm()
{
	vmtest/vmtest.sh --out "$tmp/out" "$@"
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

# run_guest DIR ARG...: one guest in the background of others, with its log and
# exit status in DIR; small, for there are many.
run_guest()
{
	_dir=$tmp/guests/$1 _status=0
	shift
	mkdir -p "$_dir"
	vmtest/vmtest.sh --arch amd64 --settle 0 --mem 256M --out "$_dir" \
		--program "$tmp/guest" "$@" >"$_dir/log" 2>&1 || _status=$?
	echo "$_status" >"$_dir/exit"
}

# All guests, two at a time, and one that costs nothing but time beside them.
run_guests()
{
	cp /etc/passwd "$tmp/not-a-program"
	run_guest hang --timeout 30 "hang=$kernel" -- hang &
	(
		for _how in signal memory panic reboot; do
			run_guest $_how "$_how=$kernel" -- $_how
		done
	) &
	run_guest fail "fail=$kernel" -- fail
	run_guest skip "skip=$kernel" -- skip
	run_guest noprog --program "$tmp/not-a-program" "noprog=$kernel"
	run_guest norec "norec=$kernel" -- -p
	run_guest bytes --send bytes=/tmp/record "bytes=$kernel" -- \
		bytes "two words" "" "\$HOME \"'"
	wait
}

# ended NAME EXIT: how run_guest's vmtest.sh has ended; its words are in $log.
ended()
{
	cp "$tmp/guests/$1/log" "$log"
	if [ "$(cat "$tmp/guests/$1/exit")" = "$2" ]; then
		tap_result ok "guest: $1"
	else
		tap_result "not ok" "guest: $1"
	fi
}

# ends HOW FAULT: a guest whose program ends like that is named. On a busy
# machine the one that hangs may not have come to its program in its time.
ends()
{
	ended "$1" 1
	says "guest: $1: named" "FAILED: $2"
	[ "$1" = hang ] || says "guest: $1: the end of its console" "  | "
}

test_guests()
{
	run_guests
	ends signal "program killed by signal 11"
	ends hang "hang: "
	ends memory "Out of memory: "
	ends panic "Kernel panic - not syncing: sysrq"
	ends reboot "no exit line"
	ends fail "program: exit status 1"
	ended skip 0
	ends noprog "no program"
	ended norec 1
	says "guest: norec: named" "FAILED: no record"

	ended bytes 0
	awk 'BEGIN { for (i = 0; i < 256; i++) printf "\\%03o", i }' \
		>"$tmp/format"
	# shellcheck disable=SC2059
	printf "$(cat "$tmp/format")" >"$tmp/256"
	for _i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		cat "$tmp/256" "$tmp/256" >"$tmp/512"
		mv "$tmp/512" "$tmp/256"
	done
	ok "guest: bytes: unchanged" \
		cmp "$tmp/256" "$tmp/guests/bytes/bytes.1.bytes"
	ok "guest: arguments arrive as they were" grep -qxF \
		"argument [\$HOME \"']" "$tmp/guests/bytes/bytes.1.console"
}

# hang DIR [COMMAND]: a guest that hangs, with one more to come. Sets $_pid; false
# when the guest was not seen.
hang()
{
	_dir=$1 _tries=0
	shift
	mkdir "$_dir"
	TMPDIR=$_dir "$@" vmtest/vmtest.sh --arch amd64 --out "$tmp/out" \
		--program "$tmp/guest" --settle 0 --timeout 60 --boots 2 \
		--jobs 1 "hang=$kernel" -- hang >"$log" 2>&1 &
	_pid=$!
	until guests "$_dir"; do
		_tries=$((_tries + 1))
		[ "$_tries" -lt 60 ] || return
		sleep 1
	done
}

# guests DIR: some run. Not with pgrep in a pipe: it would find a shell.
guests()
{
	pgrep -f "^qemu.* -initrd $1/" >/dev/null
}

# A signal takes the guests and the temporary files along.
test_signal()
{
	_status=0
	hang "$tmp/signal" env || _status=none
	kill -TERM "$_pid"
	wait "$_pid" || _status=$_status$?
	echo "status $_status" >>"$log"
	if [ "$_status" = 0143 ]; then
		tap_result ok "signal: ends it"
	else
		tap_result "not ok" "signal: ends it"
	fi
	fails "signal: no guest left" guests "$_dir"
	ok "signal: no file left" rmdir "$_dir"
}

# killed NAME TARGET [COMMAND]: SIGKILL, to one or to all that belong together.
# No guest is left, and nobody starts the one that was to come.
killed()
{
	_name=$1 _target=$2
	shift 2
	if ! hang "$tmp/$_name" "$@"; then
		tap_result "not ok" "$_name: a guest to be left behind"
		return
	fi
	kill -s KILL -- "$_target$_pid"
	wait "$_pid" 2>/dev/null || :
	_tries=0
	while guests "$_dir" && [ "$_tries" -lt 10 ]; do
		_tries=$((_tries + 1))
		sleep 1
	done
	sleep 2
	fails "$_name: no guest left" guests "$_dir"
}

# take ARCH VERSION: adds LABEL=IMAGE to $images, or the nearest that there is.
take()
{
	if ! _info=$(vmtest/fetch-kernel.sh --nearest --info --arch "$1" \
			"$2" 2>"$log"); then
		tap_result "not ok" "$1 $2: to be had"
		return
	fi
	echo "# $1 $2 is ${_info#* }"
	[ ! -s "$log" ] || sed 's/^/# /' "$log"
	images="$images $2=${_info%% *}"
}

# good NAME LABEL.BOOT: that guest did all it should.
good()
{
	_status=$tmp/out/$2.status
	if grep -qx exit=0 "$_status" 2>/dev/null && grep -qx fault= "$_status"
	then
		tap_result ok "$1"
	else
		tail -n 20 "$tmp/out/$2.console" >"$log" 2>&1 || :
		tap_result "not ok" "$1"
	fi
}

# same ARCH VERSION...: every row of the table passes its validation once, and
# two boots that time the first row give one record, to the last byte.
same()
{
	_arch=$1 images=
	shift
	case $_arch in
	amd64) _qemu=qemu-system-x86_64 _prog=build/mprotect-lab ;;
	arm64) _qemu=qemu-system-aarch64 _prog=build/mprotect-lab-arm64 ;;
	ppc64el) _qemu=qemu-system-ppc64 _prog=build/mprotect-lab-ppc64el ;;
	esac
	if ! have "$_qemu" || ! cross "$_arch"; then
		skip "$_arch $*" "no $_qemu, or no $_prog"
		return
	fi
	for _version; do
		take "$_arch" "$_version"
	done
	# Some cycles more than two boots need: the comparison wants them.
	# shellcheck disable=SC2086 # a list
	vm --arch "$_arch" --program "$_prog" --boots 2 --settle 5 $images \
		-- -p -s shared-dirty --procs 1 --cycles 15 --warmup 2 \
		>"$tmp/compared" 2>&1 || :
	grep '^vmtest: ' "$tmp/compared" | sed 's/^/# /'
	for _image in $images; do
		_version=${_image%%=*}
		good "$_arch $_version: times shared-dirty" "$_version.1"
		ok "$_arch $_version: the same record on both boots" \
			cmp "$tmp/out/$_version.1.rec" \
			"$tmp/out/$_version.2.rec"
	done
	# The next boots remove them.
	mkdir -p "$tmp/rec"
	mv "$tmp/out/"*.rec "$tmp/rec/" || :
	# Rows of large folios want settings that a guest may well change.
	_allow=
	! grep -qa allow-settings "$_prog" || _allow=--allow-settings
	# shellcheck disable=SC2086
	vm --arch "$_arch" --program "$_prog" --settle 5 $images -- -v $_allow \
		2>&1 | sed 's/^/# /'
	for _image in $images; do
		_version=${_image%%=*}
		good "$_arch $_version: validates" "$_version.1"
		cp "$tmp/out/$_version.1.console" "$log"
		silent "$_arch $_version: no row wants another setting" \
			"SKIP.*allow-settings"
		ok "$_arch $_version: it knows a virtual machine" \
			grep -qa "env hypervisor=yes" "$tmp/out/$_version.1.console"
	done
}

# verdict NAME ROW VERDICT: it is in the comparison in $log.
verdict()
{
	if grep -qE "^(not )?ok [0-9]+ compare\.$2 #( SKIP)? +$3 " "$log"; then
		tap_result ok "$1"
	else
		tap_result "not ok" "$1"
	fi
}

# The commit that all this is about, between two neighbours.
test_gate()
{
	for _version in 6.16 6.17; do
		case " $images" in
		*" $_version="*"/$_version"*) ;;
		*) skip "gate" "no $_version"; return ;;
		esac
	done
	fails "gate: 6.17 after 6.16" build/mprotect-lab -c \
		"$tmp/rec/6.16.1.rec" "$tmp/rec/6.17.1.rec"
	verdict "gate: protect" shared-dirty.protect REGRESSED
	verdict "gate: restore" shared-dirty.restore REGRESSED
	verdict "gate: touch is unmoved" shared-dirty.touch OK
	ok "gate: 6.17 after itself" build/mprotect-lab -c \
		"$tmp/rec/6.17.1.rec" "$tmp/rec/6.17.2.rec"
	verdict "gate: itself: protect" shared-dirty.protect OK
	says "gate: itself: no difference" "+0.00%"
	cp "$tmp/compared" "$log"
	says "vmtest ends with the comparison of its kernels" \
		"compare.shared-dirty.protect"
}

# cross ARCH: the program for it, made if there is a compiler.
cross()
{
	[ "$1" != amd64 ] || return 0
	scripts/build.sh "$1" >"$log" 2>&1 && return
	sed 's/^/# /' "$log"
	return 1
}

# versions ARCH: those that VMTEST_KERNELS has of it.
versions()
{
	for _pair in $VMTEST_KERNELS; do
		[ "${_pair%%:*}" != "$1" ] || echo "${_pair#*:}"
	done
}

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
	killed killed "" env
	if have setpriv && have setsid; then
		killed killed-group - setsid
	else
		skip killed-group "no setpriv, or no setsid"
	fi
	images=
	for arch in amd64 arm64 ppc64el; do
		list=$(versions $arch)
		# shellcheck disable=SC2086 # a list
		[ -z "$list" ] || same $arch $list
		[ $arch != amd64 ] || test_gate
	done
fi
done_testing
