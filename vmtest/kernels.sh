# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154  # variables shared with vmtest.sh
#
# From words for a kernel to an image of it. Sourced by vmtest.sh.

# find_image KERNEL: prints its image.
find_image()
{
	case $1 in
	debian:*)
		"$here/fetch-kernel.sh" --arch "$arch" "${1#debian:}"
		return
		;;
	esac
	[ -e "$1" ] || die "$1: no such kernel"
	if [ -d "$1" ]; then
		case $arch in
		amd64) set -- "$1" arch/x86/boot/bzImage ;;
		arm64) set -- "$1" arch/arm64/boot/Image ;;
		ppc64el) set -- "$1" vmlinux ;;
		esac
		[ -f "$1/$2" ] || die "$1: no $2 in it, is it built?"
		set -- "$1/$2"
	fi
	(cd "$(dirname "$1")" && printf '%s/%s\n' "$PWD" "${1##*/}")
}

# add_kernel SPEC: a line "LABEL IMAGE" more in $kernels, the label unique.
add_kernel()
{
	_label=$(printf '%s\n' "$1" | sed -nE 's/^([A-Za-z0-9._+-]+)=.*/\1/p')
	_spec=${1#"$_label"}
	[ -z "$_label" ] || _spec=${_spec#=}
	_image=$(find_image "$_spec") || exit 1
	if [ -z "$_label" ]; then
		_label=${_spec%/}
		_label=$(printf '%s' "${_label##*[/:]}" | tr -c 'A-Za-z0-9._+-' _)
	fi
	_n=1 _base=$_label
	while :; do
		case $kernels in
		*"$newline$_label "*) ;;
		*) break ;;
		esac
		_n=$((_n + 1))
		_label=$_base~$_n
	done
	kernels="${kernels:-$newline}$_label $_image$newline"
}
