#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# libcap for another architecture, for a static cross build: Debian's package
# unpacked under build/, because installing it would want that architecture's
# whole C library too. Prints the directory.
#
#	fetch-libcap.sh arm64|ppc64el

set -eu

die()
{
	echo "fetch-libcap: $*" >&2
	exit 1
}

here=$(cd "$(dirname "$0")" && pwd)
arch=${1:?"arm64 or ppc64el"}
mkdir -p "${BUILD:-$here/../build}/libcap"
dir=$(cd "${BUILD:-$here/../build}/libcap" && pwd)

# shellcheck source=vmtest/apt.sh
. "$here/../vmtest/apt.sh"

# The release that this machine is, whose cross C library it is linked to.
suite()
{
	sed -n 's/^VERSION_CODENAME=//p' /etc/os-release
}

if [ ! -d "$dir/$arch" ]; then
	exec 9>"$dir/.lock"
	flock 9
fi
if [ ! -d "$dir/$arch" ]; then
	rm -rf "$dir"/.tmp.*
	tmp=$(mktemp -d "$dir/.tmp.XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' HUP TERM
	echo "fetch-libcap: fetching libcap-dev of $arch" >&2
	apt_init "$dir/apt-$arch" "$arch" "$(suite)" || die "$APT_ERR"
	apt_refresh || die "$APT_ERR"
	apt_get libcap-dev "$tmp" || die "$APT_ERR"
	dpkg-deb -x "$tmp"/*.deb "$tmp/tree"
	mv "$tmp/tree" "$dir/$arch"
fi
echo "$dir/$arch"
