#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Fetch kernel images of Debian packages, to be booted by vmtest.sh.
#
# Only the image and its config are kept, in CACHE/ARCH/RELEASE/, beside a file
# "package" that names the package and its version. A kernel that is there is
# not looked for again: the answer needs no network until --update asks for it.

set -eu

usage()
{
	cat <<-EOF
	usage: $0 [--arch amd64|arm64|ppc64el] [--info] [--update] [--nearest]
	       [--cache DIR] VERSION[-FLAVOUR]...

	Prints the path of one kernel image per line: the newest point release of
	the series VERSION (6.12), or of a version (6.12.107), that the mirror has.
	  --arch ARCH   machine, default: this one
	  --info        print "PATH PACKAGE PACKAGE-VERSION"
	  --update      look for a newer point release than the cached one
	  --nearest     when the mirror has none of a series, take the series
	                nearest to it, and say so
	  --cache DIR   default: build/kernels
	FLAVOUR: cloud-amd64 (default), amd64, ...; arm64 (default), arm64-16k or
	16k; powerpc64le (default), powerpc64le-64k or 64k.
	The mirror is that of this machine's apt; APT_MIRROR=URI names another.
	EOF
}

die()
{
	echo "fetch-kernel: $*" >&2
	exit 1
}

here=$(cd "$(dirname "$0")" && pwd)
cache=$here/../build/kernels
arch=
info=
update=
nearest=
# Where the series are: 6.1 and 6.12 in the stable releases, later ones pass
# through backports and unstable, and stay there for a while.
suites="bookworm bookworm-backports trixie trixie-backports sid experimental"

# shellcheck source=SCRIPTDIR/apt.sh
. "$here/apt.sh"

# flavour_of NAME: the package's word for it.
flavour_of()
{
	case $arch:$1 in
	amd64:) echo cloud-amd64 ;;
	amd64:cloud) echo cloud-amd64 ;;
	arm64:) echo arm64 ;;
	arm64:4k) echo arm64 ;;
	arm64:16k) echo arm64-16k ;;
	ppc64el:) echo powerpc64le ;;
	ppc64el:4k) echo powerpc64le ;;
	ppc64el:64k) echo powerpc64le-64k ;;
	*) echo "$1" ;;
	esac
}

# Releases of the series $version on stdin, the newest first. A series is a
# prefix that ends where a number ends: 6.1 is not 6.12. 6.1.0-50 is an ABI
# number of old packages; "rt" flavours are not ours ("[^-]*").
releases()
{
	_re=$(printf '%s' "$version" | sed 's/[.+]/\\&/g')
	grep -E "^$_re([.+][^-]*)?(-[0-9]+)?-$flavour\$" | sort -rV
}

# From 6.19 on linux-image-* is empty and depends on linux-binary-*. Unsigned
# packages hold the same kernel and sometimes outlive the signed ones.
candidates()
{
	apt_names >"$tmp/names"
	sed -nE 's/^linux-(image|binary)-(unsigned-)?([0-9].*)$/\3/p' \
		"$tmp/names" | sed 's/-unsigned$//' | sort -u | releases |
	while read -r _rel; do
		printf '%s\n' "linux-binary-$_rel" "linux-image-$_rel" \
			"linux-binary-unsigned-$_rel" \
			"linux-image-$_rel-unsigned" |
		grep -Fx -f - "$tmp/names" | sort -u | while read -r _pkg; do
			echo "$_rel $_pkg"
		done
	done
}

# take RELEASE PKG: one package to CACHE/ARCH/RELEASE, all or nothing.
take()
{
	rm -rf "$tmp/pkg"
	mkdir -p "$tmp/pkg/tree" "$tmp/pkg/out"
	apt_get "$2" "$tmp/pkg" || return 1
	_deb=$(find "$tmp/pkg" -name '*.deb')
	dpkg-deb --fsys-tarfile "$_deb" | tar -x -C "$tmp/pkg/tree" -f - \
		--wildcards '*/vmlinu[xz]*' '*/config*' 2>/dev/null || :
	_image=$(find "$tmp/pkg/tree" -type f -name 'vmlinu[xz]*' \
		-size +1000k | head -n 1)
	if [ -z "$_image" ]; then
		APT_ERR="no image in it"
		return 1
	fi
	mv "$_image" "$tmp/pkg/out/vmlinuz"
	_config=$(find "$tmp/pkg/tree" -type f -name 'config*' -size +20k |
		head -n 1)
	[ -z "$_config" ] || mv "$_config" "$tmp/pkg/out/config"
	# shellcheck disable=SC2016
	dpkg-deb -W --showformat='${Package} ${Version}\n' "$_deb" \
		>"$tmp/pkg/out/package"
	rm -rf "${cache:?}/$arch/$1"
	mv "$tmp/pkg/out" "$cache/$arch/$1"
}

# The series nearest to $version that the mirror has, the older of two. What
# lies between them is counted in releases: 5.19 and 6.19 were the last of theirs.
nearest_series()
{
	_series='([0-9]+\.[0-9]+)([.+][^-]*)?(-[0-9]+)?'
	sed -nE "s/^linux-(image|binary)-(unsigned-)?$_series-$flavour(-unsigned)?\$/\3/p" \
		"$tmp/names" | sort -uV | awk -v want="$version" '
	function place(v,	n) { split(v, n, "."); return 20 * n[1] + n[2] }
	{
		far = place($1) - place(want)
		if (far < 0) far = -far
		if (NR == 1 || far < least) { least = far; best = $1 }
	}
	END { print best }'
}

# download: sets release. The newest may be listed but gone from the mirror:
# then the nearest older one, and we say so.
download()
{
	# apt's lists and our directories are shared: one download at a time.
	exec 9>"$cache/.lock"
	flock 9
	apt_init "$cache/apt/$arch" "$arch" "$suites" || die "$APT_ERR"
	apt_refresh || die "$APT_ERR"
	candidates >"$tmp/candidates"
	_wanted=$version
	if [ ! -s "$tmp/candidates" ] && [ -n "$nearest" ]; then
		version=$(nearest_series)
		[ -z "$version" ] || candidates >"$tmp/candidates"
	fi
	[ -s "$tmp/candidates" ] ||
		die "$_wanted-$flavour: the mirror has no such kernel"
	[ "$version" = "$_wanted" ] ||
		echo "fetch-kernel: the mirror has no $_wanted-$flavour, taking $version" >&2
	_tries=0
	while read -r release _pkg; do
		if [ -f "$cache/$arch/$release/vmlinuz" ] ||
		   take "$release" "$_pkg"; then
			return
		fi
		echo "fetch-kernel: $_pkg: $APT_ERR" >&2
		_tries=$((_tries + 1))
		[ "$_tries" -lt 8 ] || break
	done <"$tmp/candidates"
	die "$version-$flavour: none of its packages could be fetched"
}

fetch()
{
	version=$(printf '%s\n' "$1" |
		sed -nE 's/^([0-9][0-9.]*([+][^-]*)?(-[0-9]+)?)(-.*)?$/\1/p')
	[ -n "$version" ] || die "$1: not VERSION[-FLAVOUR]"
	flavour=${1#"$version"}
	flavour=$(flavour_of "${flavour#-}")
	release=
	if [ -z "$update" ] && [ -d "$cache/$arch" ]; then
		for release in $(cd "$cache/$arch" && printf '%s\n' * |
				releases); do
			break
		done
	fi
	[ -n "$release" ] || download
	if [ -n "$info" ]; then
		echo "$cache/$arch/$release/vmlinuz" \
			"$(cat "$cache/$arch/$release/package")"
	else
		echo "$cache/$arch/$release/vmlinuz"
	fi
}

while [ $# -gt 0 ]; do
	case $1 in
	--arch) arch=${2:?--arch needs a machine}; shift ;;
	--cache) cache=${2:?--cache needs a directory}; shift ;;
	--info) info=1 ;;
	--update) update=1 ;;
	--nearest) nearest=1 ;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; exit 1 ;;
	*) break ;;
	esac
	shift
done
[ $# -gt 0 ] || { usage >&2; exit 1; }
case ${arch:=$(dpkg --print-architecture 2>/dev/null || echo unknown)} in
amd64 | arm64 | ppc64el) ;;
*) die "$arch: not an architecture we know (--arch)" ;;
esac

mkdir -p "$cache/$arch"
cache=$(cd "$cache" && pwd)
tmp=$(mktemp -d "$cache/.fetch.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
for spec; do
	fetch "$spec"
done
