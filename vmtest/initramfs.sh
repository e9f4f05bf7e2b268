# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The initramfs of a guest, and the static init in it. Sourced by vmtest.sh.
#
# The archive (cpio, "newc") is written here in a few lines, since cpio(1) is
# not everywhere, and no device node is in it, so that nobody needs to be root.

# This machine in Debian's words, which are ours.
host_arch()
{
	case $(uname -m) in
	x86_64) echo amd64 ;;
	aarch64) echo arm64 ;;
	ppc64le) echo ppc64el ;;
	*) uname -m ;;
	esac
}

# cc_for ARCH: the compiler for static programs of that machine.
cc_for()
{
	if [ "$1" = "$(host_arch)" ]; then
		echo "${CC:-cc}"
		return
	fi
	case $1 in
	amd64) echo x86_64-linux-gnu-gcc ;;
	arm64) echo aarch64-linux-gnu-gcc ;;
	ppc64el) echo powerpc64le-linux-gnu-gcc ;;
	esac
}

# build_init DIR ARCH OUT: from the sources in DIR, again when one is newer;
# complete or not there at all, since several of us may be at it.
build_init()
{
	[ ! -e "$3" ] || [ -n "$(find "$1" -name 'init*.[ch]' -newer "$3")" ] ||
		return 0
	_cc=$(cc_for "$2")
	command -v "$_cc" >/dev/null 2>&1 ||
		die "$_cc is missing: cannot build init for $2"
	mkdir -p "$(dirname "$3")"
	"$_cc" -static -O2 -Wall -o "$3.$$" "$1"/init*.c || {
		rm -f "$3.$$"
		die "$1/init.c does not build with $_cc -static"
	}
	mv "$3.$$" "$3"
}

cpio_pad()
{
	head -c $(((4 - $1 % 4) % 4)) /dev/zero
}

# cpio_entry NAME MODE [FILE]: one member, with the bytes of FILE.
cpio_entry()
{
	_size=0
	[ -z "${3-}" ] || _size=$(($(wc -c <"$3")))
	cpio_ino=$((${cpio_ino:-0} + 1))
	# ino mode uid gid nlink mtime size dev(2) rdev(2) namesize check
	printf '070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X' \
		"$cpio_ino" "$(($2))" 0 0 1 0 "$_size" 0 0 0 0 $((${#1} + 1)) 0
	printf '%s\0' "$1"
	cpio_pad $((110 + ${#1} + 1))
	[ -z "${3-}" ] || cat "$3"
	cpio_pad "$_size"
}

# make_initramfs INIT PROGRAM DIR: what is in DIR goes to /vmtest.
make_initramfs()
{
	cpio_entry init 0100755 "$1"
	cpio_entry mprotect_perf 0100755 "$2"
	cpio_entry vmtest 040755
	for _file in "$3"/*; do
		cpio_entry "vmtest/${_file##*/}" 0100644 "$_file"
	done
	cpio_entry 'TRAILER!!!' 0
}
