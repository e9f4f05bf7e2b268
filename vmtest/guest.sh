# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034,SC2154  # variables shared with vmtest.sh
#
# One boot of one kernel in QEMU, and what became of it. Sourced by vmtest.sh,
# which sets: arch accel smp mem timeout append tmp initrd expect_record.

# Machines are named and their CPU models fixed, since an instruction count is
# only the same everywhere if the guest sees the same machine everywhere.
#
# clock: with "-icount shift=0" virtual time advances 1 ns per instruction, and
# the guest's clock must show just that. x86: the TSC is virtual time; told
# that it runs at 1 GHz and is reliable, the kernel neither calibrates it (a
# few ppm off, another way on every version) nor watches it. arm64: the generic
# timer ticks every 16 ns unless told otherwise. ppc64el: the timebase is fixed
# at 512 MHz: each reading is exact to 2 ns.
guest_machine()
{
	clock=
	case $arch in
	amd64)
		qemu=qemu-system-x86_64 machine=q35 cpu=qemu64
		console=ttyS0 port=ttyS1
		clock="tsc=reliable clocksource=tsc tsc_early_khz=1000000"
		;;
	arm64)
		qemu=qemu-system-aarch64 machine=virt cpu=neoverse-n1
		console=ttyAMA0 port=ttyS0
		[ "$accel" != icount ] || cpu=$cpu,cntfrq=1000000000
		;;
	ppc64el)
		qemu=qemu-system-ppc64 machine=pseries cpu=power10
		console=hvc0 port=hvc1
		;;
	esac
	if [ "$accel" = kvm ]; then
		cpu=host
	elif [ "$accel" = icount ]; then
		# Two boots alike: no random addresses.
		append="nokaslr norandmaps $clock $append"
	fi
	append="console=$console quiet panic=-1 $append"
	command -v "$qemu" >/dev/null 2>&1 || die "$qemu is missing"
}

# guest_tie: sets $tie, which lets a command die with its parent, whatever ends
# that one: timeout with the shell that has started it, QEMU with timeout. Without
# setpriv (util-linux) both outlive a shell that gets SIGKILL, until --timeout.
guest_tie()
{
	tie="setpriv --pdeathsig KILL"
	$tie true 2>/dev/null || tie=
}

# guest_start IMAGE CONSOLE PORT ERRORS: QEMU in the background, sets guest_pid.
guest_start()
{
	_err=$4
	set -- -kernel "$1" -serial "file:$2" "$3"
	if [ "$arch" = arm64 ]; then
		# "virt" has one UART; the second is on the PCI bus.
		set -- "$1" "$2" "$3" "$4" -device pci-serial,chardev=port \
			-chardev "file,id=port,path=$5"
	else
		set -- "$1" "$2" "$3" "$4" -serial "file:$5"
	fi
	case $accel in
	icount)
		# A seed and a date make randomness and time repeat, too.
		set -- "$@" -accel tcg -icount shift=0,sleep=off -seed 1 \
			-rtc base=2026-01-01,clock=vm
		;;
	*) set -- "$@" -accel "$accel" ;;
	esac
	# shellcheck disable=SC2086 # words of a command
	$tie timeout -k 5 "$timeout" $tie "$qemu" "$@" \
		-machine "$machine" -cpu "$cpu" -smp "$smp" -m "$mem" \
		-initrd "$initrd" -append "$append" \
		-nodefaults -no-user-config -no-reboot -display none -nic none \
		</dev/null >"$_err" 2>&1 &
	guest_pid=$!
}

# port_unpack FILE PREFIX: what init sent through the port (see init.c), each
# file as PREFIX.NAME. Fails when anything is damaged or missing.
port_unpack()
{
	_at=1
	while :; do
		_line=$(tail -c +"$_at" "$1" | head -n 1 | tr -d '\0')
		case $_line in
		vmtest-end) return 0 ;;
		"vmtest-file "*" "*" "*) ;;
		*) return 1 ;;
		esac
		_at=$((_at + ${#_line} + 1))
		_line=${_line#vmtest-file }
		_file=${_line%% *} _line=${_line#* }
		_size=${_line%% *} _sum=${_line#* }
		tail -c +"$_at" "$1" | head -c "$_size" >"$2.part"
		_got=$(cksum <"$2.part")
		if [ "$_got" != "$_sum $_size" ]; then
			return 1
		fi
		mv "$2.part" "$2.$_file"
		_at=$((_at + _size))
	done
}

# first PATTERN FILE: the first line that has it, without a time stamp.
first()
{
	grep -m 1 -E "$1" "$2" | sed 's/^\[[ 0-9.]*\] *//'
}

# guest_judge CONSOLE QEMU-STATUS ERRORS: sets guest_exit (the program's) and
# guest_fault, empty when all is well. What comes first explains what follows.
guest_judge()
{
	guest_exit=$(sed -n 's/^vmtest: exit status \([0-9]*\)$/\1/p' "$1" |
		tail -n 1)
	if grep -q 'Kernel panic' "$1"; then
		guest_fault=$(first 'Kernel panic' "$1")
	elif [ "$2" -eq 124 ] || [ "$2" -eq 137 ]; then
		guest_fault="hang: had not come to its end"
	elif grep -q '^vmtest: cannot run' "$1"; then
		guest_fault="no program: $(first '^vmtest: cannot run' "$1")"
	elif grep -qE 'Out of memory: |oom-kill:' "$1"; then
		guest_fault=$(first 'Out of memory: |oom-kill:' "$1")
	elif grep -qE '(BUG|KASAN|KCSAN|UBSAN): |Oops' "$1"; then
		guest_fault="kernel bug: $(first 'BUG|K.SAN|UBSAN|Oops' "$1")"
	elif grep -q '^vmtest: killed by' "$1"; then
		guest_fault="program $(first '^vmtest: killed by' "$1" |
			sed 's/^vmtest: //')"
	elif [ "$2" -ne 0 ]; then
		guest_fault="QEMU failed: $(tail -n 1 "$3")"
	elif [ -z "$guest_exit" ]; then
		guest_fault="no exit line: the guest ended before its program"
	elif [ "$guest_exit" -ne 0 ] && [ "$guest_exit" -ne 4 ]; then
		guest_fault="program: exit status $guest_exit"
	else
		guest_fault=
	fi
}

# guest_boot IMAGE PREFIX: leaves PREFIX.console, PREFIX.status and the files
# the guest sent. Returns 0 if the guest did all it should.
guest_boot()
{
	_raw=$tmp/${2##*/}
	_began=$(date +%s)
	: >"$_raw.port"
	guest_start "$1" "$_raw.serial" "$_raw.port" "$_raw.err"
	_status=0
	wait "$guest_pid" || _status=$?
	guest_pid=
	guest_seconds=$(($(date +%s) - _began))
	tr -d '\r\0' <"$_raw.serial" >"$2.console" 2>/dev/null || : >"$2.console"
	guest_judge "$2.console" "$_status" "$_raw.err"
	if ! port_unpack "$_raw.port" "$2" && [ -z "$guest_fault" ]; then
		guest_fault="what came through the port is not whole"
	fi
	if [ -n "$expect_record" ] && ! [ -s "$2.rec" ] &&
	   [ -z "$guest_fault" ]; then
		guest_fault="no record"
	fi
	rm -f "$_raw.port" "$_raw.serial"
	cat >"$2.status" <<-EOF
	image=$1
	package=$(cat "$(dirname "$1")/package" 2>/dev/null || :)
	accel=$accel
	exit=$guest_exit
	seconds=$guest_seconds
	fault=$guest_fault
	EOF
	[ -z "$guest_fault" ]
}
