#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# vmtest/fetch-kernel.sh: where its mirror is, and which of a series it takes.
# apt is replaced by one that knows a few names: nothing here reaches a network.

set -eu

cd "$(dirname "$0")/.."
# shellcheck source=tests/lib.sh
. tests/lib.sh
# Addresses of mirrors that are none.
http=http:/

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

# fake_apt NAME...: an apt whose mirror has these packages, each with an image.
fake_apt()
{
	mkdir -p "$tmp/bin" "$tmp/deb/boot"
	head -c 2000000 /dev/zero >"$tmp/deb/boot/vmlinuz-of-a-test"
	printf '%s\n' "$@" >"$tmp/names"
	cat >"$tmp/bin/apt-cache" <<-EOF
	#!/bin/sh
	cat "$tmp/names"
	EOF
	cat >"$tmp/bin/apt-get" <<-EOF
	#!/bin/sh
	for arg; do
		case \$arg in
		update) : >"$tmp/cache/apt/amd64/lists/x_Packages" ;;
		linux-*)
			grep -qx "gone \$arg" "$tmp/gone" 2>/dev/null && exit 1
			echo "\$arg" >"\$arg.deb"
			;;
		esac
	done
	EOF
	cat >"$tmp/bin/dpkg-deb" <<-EOF
	#!/bin/sh
	case \$1 in
	--fsys-tarfile) tar -c -C "$tmp/deb" . ;;
	*) echo "\$(cat "\$3") 1.0" ;;
	esac
	EOF
	chmod +x "$tmp/bin"/*
}

# takes NAME WHAT-PACKAGE ARGS...
takes()
{
	_takes=$1 _package=$2
	shift 2
	_got=$(PATH=$tmp/bin:$PATH APT_MIRROR=$http/a.invalid/debian \
		vmtest/fetch-kernel.sh --arch amd64 --cache "$tmp/cache" \
		--info "$@" 2>"$log") || :
	echo "$_got" >>"$log"
	if [ "$(echo "$_got" | cut -d ' ' -f 2)" = "$_package" ]; then
		tap_result ok "$_takes"
	else
		tap_result "not ok" "$_takes"
	fi
}

test_choice()
{
	fake_apt linux-image-6.1.0-50-cloud-amd64 linux-image-6.1.0-9-cloud-amd64 \
		linux-image-6.12.9+deb13-cloud-amd64 \
		linux-image-6.12.107+deb13-cloud-amd64 \
		linux-image-6.12.107+deb13-amd64 \
		linux-image-6.12.200+deb13-rt-amd64 \
		linux-image-6.18.3+deb13-cloud-amd64 \
		linux-image-6.19.14+deb13-cloud-amd64 \
		linux-binary-6.19.14+deb13-cloud-amd64 \
		linux-image-7.2.13+deb14-cloud-amd64-unsigned
	takes "the newest point release" \
		linux-image-6.12.107+deb13-cloud-amd64 6.12
	takes "a series is not its prefix, and 9 is before 50" \
		linux-image-6.1.0-50-cloud-amd64 6.1
	takes "another flavour, and not rt" \
		linux-image-6.12.107+deb13-amd64 6.12-amd64
	takes "the package that has the image" \
		linux-binary-6.19.14+deb13-cloud-amd64 6.19
	takes "an unsigned one if there is no other" \
		linux-image-7.2.13+deb14-cloud-amd64-unsigned 7.2
	takes "none of a series" "" 7.1
	says "it is said" "7.1-cloud-amd64: the mirror has no such kernel"
	takes "none: not the nearest unasked" "" 6.14
	takes "the nearest, over a change of the major number" \
		linux-binary-6.19.14+deb13-cloud-amd64 --nearest 7.0
	says "the nearest: it is said" "has no 7.0-cloud-amd64, taking 6.19"
	takes "the nearest: of this flavour" \
		linux-image-6.12.107+deb13-amd64 --nearest 6.14-amd64
	takes "the nearest: the older of two" \
		linux-image-6.12.107+deb13-cloud-amd64 --nearest 6.15
	: >"$tmp/names"
	takes "cached: no mirror is asked" \
		linux-image-6.12.107+deb13-cloud-amd64 6.12
	takes "a mirror without kernels" "" --nearest 6.16
	says "it says that, too" "the mirror has no such kernel"
	echo linux-image-7.3.9+deb14-cloud-amd64 >"$tmp/names"
	echo linux-image-7.3.4+deb14-cloud-amd64 >>"$tmp/names"
	echo "gone linux-image-7.3.9+deb14-cloud-amd64" >"$tmp/gone"
	takes "listed, but gone: the next" \
		linux-image-7.3.4+deb14-cloud-amd64 7.3
	says "it says which is gone" "linux-image-7.3.9+deb14-cloud-amd64: "
}

test_sources
test_choice
done_testing
