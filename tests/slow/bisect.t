#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# bisect.sh on a real tree: a small history with harmless commits, one that does
# not build, and one that makes mprotect() of base pages dearer, which is what
# "git bisect run" has to find. Builds a kernel several times: a quarter of an
# hour the first time. KTREE=/path/to/linux (7.3, whole) saves a download; the
# tree and the build stay in BISECT_DIR, default build/bisect, for the next time.

set -eu

cd "$(dirname "$0")/../.."
# shellcheck source=tests/lib.sh
. tests/lib.sh
# shellcheck source=vmtest/apt.sh
. vmtest/apt.sh

dir=${BISECT_DIR:-$PWD/build/bisect}
tree=$dir/tree
bad="mm/mprotect: look at base pages for longer"
GIT_AUTHOR_NAME=vmtest GIT_AUTHOR_EMAIL=vmtest@localhost
GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
GIT_CONFIG_GLOBAL=/dev/null
export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
export GIT_CONFIG_GLOBAL

# unpack DEB: its tree, as a new directory $tree.new. A pipe ends like its last
# command, and tar may be content with half of a file.
unpack()
{
	rm -rf "$tree.new"
	mkdir "$tree.new" &&
		dpkg-deb --fsys-tarfile "$1" |
		tar -xO ./usr/src/linux-source-7.3.tar.xz >"$dir/source.tar.xz" &&
		xz -t "$dir/source.tar.xz" &&
		tar -xJ -C "$tree.new" --strip-components=1 -f "$dir/source.tar.xz"
}

# A copy of KTREE, or Debian's source unpacked; $tree when it is whole. "set -e"
# does not count below "ok", hence the "&&" here and in what follows.
get_tree()
{
	[ ! -f "$tree/mm/mprotect.c" ] || return 0
	mkdir -p "$dir" || return 1
	if [ -n "${KTREE-}" ]; then
		rm -rf "$tree.new"
		cp -a "$KTREE/." "$tree.new/" && mv "$tree.new" "$tree"
		return
	fi
	rm -rf "$dir/deb"
	if ! { mkdir "$dir/deb" && apt_init "$dir/apt" amd64 \
			trixie trixie-backports sid && apt_refresh &&
	       apt_get linux-source-7.3 "$dir/deb"; }; then
		echo "${APT_ERR-}" >&2
		return 1
	fi
	unpack "$dir"/deb/linux-source-7.3_*.deb && mv "$tree.new" "$tree" &&
		rm -r "$dir/deb" "$dir/apt" "$dir/source.tar.xz"
}

commit()
{
	git -C "$tree" commit -q -a -m "$1"
}

# harmless FILE TEXT: figures must not move by what a compiler does not see.
harmless()
{
	echo "/* $2 */" >>"$tree/mm/$1"
	commit "mm/$1: $2"
}

# Only mm/ is in it: the rest of the tree is the same for all. The commit that
# does not build is where a bisection of this range looks first.
make_history()
{
	rm -rf "$tree/.git"
	git -C "$tree" init -q &&
		git -C "$tree" add -f mm &&
		commit "the tree as it is" &&
		git -C "$tree" tag good &&
		harmless mmap.c "a remark" &&
		harmless mprotect.c "a remark" &&
		echo "#error not today" >>"$tree/mm/mprotect.c" &&
		commit "mm/mprotect: does not build" &&
		git -C "$tree" show HEAD~1:mm/mprotect.c \
			>"$tree/mm/mprotect.c" &&
		commit "mm/mprotect: builds again" &&
		sed -i 's/^\(\t*\)if (likely(nr_ptes == 1)) {$/&\n\1\tfor (int i = 0; i < 40; i++)\n\1\t\tbarrier();/' \
			"$tree/mm/mprotect.c" &&
		commit "$bad" &&
		harmless madvise.c "a remark" &&
		git -C "$tree" tag bad
}

# in_tree COMMAND...
in_tree()
{
	(cd "$tree" && "$@")
}

bisect()
{
	in_tree git bisect start bad good &&
		in_tree git bisect run "$top/vmtest/bisect.sh" \
			--output "$dir/linux" --record "$dir/good.rec"
}

top=$PWD
for tool in flex bison bc git qemu-system-x86_64; do
	if ! have $tool; then
		skip bisect "no $tool"
		done_testing
		exit
	fi
done
began=$(date +%s)
ok "a tree" get_tree
echo "# after $(($(date +%s) - began)) s"
[ ! -d "$tree/.git" ] || in_tree git checkout -q -f good
[ ! -d "$tree/.git" ] || in_tree git checkout -q good -- mm
ok "a history" make_history
in_tree git checkout -q good
exits "bisect without a good record ends git bisect" 128 in_tree \
	"$top/vmtest/bisect.sh" --record "$tmp/none" --output "$dir/linux"
ok "the good one" in_tree "$top/vmtest/bisect.sh" --good \
	--output "$dir/linux" --record "$dir/good.rec"
exits "a record that is none ends git bisect" 128 in_tree \
	"$top/vmtest/bisect.sh" --record COPYING --output "$dir/linux"
ok "git bisect run" bisect
cp "$log" "$dir/log"
in_tree git bisect log >>"$dir/log"
says "it has found the commit" "    $bad"
says "it has skipped the one that does not build" "does not build: skipped"
says "it was sure of it" "is the first bad commit"
in_tree git bisect reset >"$log" 2>&1
done_testing
