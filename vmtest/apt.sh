# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034  # APT_ERR is for whoever sources this
#
# Packages of another suite or another architecture, with apt's own tools but
# lists of our own: the machine's package state is read for nothing but the
# address of its mirror, and never written. Works without root. Sourced.
#
#	apt_init DIR ARCH SUITE...	lists under DIR; APT_ERR says what failed
#	apt_refresh			(re)read the lists, if older than a day
#	apt_names			names of all packages
#	apt_get PKG DESTDIR		download one .deb into DESTDIR
#
# A mirror other than the machine's: APT_MIRROR=URI [APT_KEYRING=FILE].

# apt_source_deb822 FILE: URI and Signed-By of the first enabled binary source
# that has component main and is not a security or third-party archive.
apt_source_deb822()
{
	awk '
	function flush() {
		if (type ~ /(^| )deb( |$)/ && comp ~ /(^| )main( |$)/ &&
		    enabled != "no" && uri != "" && !found &&
		    suite !~ /(-security|\/)/ && uri ~ /debian/) {
			printf "URIs: %s\n%s", uri, signed
			found = 1
		}
		type = uri = suite = comp = signed = enabled = field = ""
	}
	/^#/ { next }
	/^[ \t]*$/ { flush(); next }
	/^[ \t]/ {
		if (field == "signed-by")
			signed = signed $0 "\n"
		next
	}
	{
		field = tolower($0); sub(/:.*/, "", field)
		value = $0; sub(/^[^:]*:[ \t]*/, "", value)
		if (field == "types") type = value
		if (field == "uris") { split(value, u, " "); uri = u[1] }
		if (field == "suites") suite = value
		if (field == "components") comp = value
		if (field == "enabled") enabled = tolower(value)
		if (field == "signed-by") signed = "Signed-By: " value "\n"
	}
	END { flush() }' "$1"
}

# apt_source_list FILE: the same for the one-line format,
# "deb [signed-by=FILE ...] URI SUITE COMPONENT...".
apt_source_list()
{
	awk '
	$1 != "deb" || found { next }
	{
		opts = ""; line = $0; sub(/^deb[ \t]+/, "", line)
		if (line ~ /^\[/) {
			opts = line; sub(/^\[/, "", opts); sub(/\].*/, "", opts)
			sub(/^[^]]*\][ \t]*/, "", line)
		}
		n = split(line, word, /[ \t]+/)
		if (n < 3 || word[1] !~ /debian/ ||
		    word[2] ~ /(-security|\/)/ || line !~ /[ \t]main([ \t]|$)/)
			next
		printf "URIs: %s\n", word[1]
		n = split(opts, opt, /[ \t]+/)
		for (i = 1; i <= n; i++)
			if (sub(/^signed-by=/, "", opt[i])) {
				gsub(/,/, " ", opt[i])
				printf "Signed-By: %s\n", opt[i]
			}
		found = 1
	}' "$1"
}

# The machine's own Debian mirror as the middle of a deb822 paragraph.
apt_source()
{
	if [ -n "${APT_MIRROR-}" ]; then
		printf 'URIs: %s\n' "$APT_MIRROR"
		[ -z "${APT_KEYRING-}" ] ||
			printf 'Signed-By: %s\n' "$APT_KEYRING"
		return
	fi
	_dir=${APT_ETC:-/etc/apt}
	_first=
	for _file in "$_dir"/sources.list "$_dir"/sources.list.d/*; do
		[ -f "$_file" ] || continue
		case $_file in
		*.list) _found=$(apt_source_list "$_file") ;;
		*.sources) _found=$(apt_source_deb822 "$_file") ;;
		*) continue ;;
		esac
		# Other archives have "debian" in their address, too.
		case $_found in
		*debian-archive*) _first=$_found; break ;;
		*) _first=${_first:-$_found} ;;
		esac
	done
	[ -n "$_first" ] || return 1
	printf '%s\n' "$_first"
}

# As root, with a sandbox user,
# apt would hand the download to one that cannot write into our directories.
apt_run()
{
	_tool=$1
	shift
	"$_tool" -qq \
		-o "Dir::Etc::sourcelist=$apt_dir/debian.sources" \
		-o Dir::Etc::sourceparts=- \
		-o "Dir::State::Lists=$apt_dir/lists" \
		-o "Dir::Cache::archives=$apt_dir/archives" \
		-o "Dir::Cache::pkgcache=$apt_dir/pkgcache.bin" \
		-o Dir::Cache::srcpkgcache= \
		-o "APT::Architecture=$apt_arch" \
		-o "APT::Architectures=$apt_arch" \
		-o APT::Sandbox::User= -o Acquire::Languages=none \
		-o Acquire::Retries=3 "$@"
}

apt_init()
{
	apt_dir=$1 apt_arch=$2
	shift 2
	for _tool in apt-get apt-cache dpkg-deb; do
		if ! command -v "$_tool" >/dev/null 2>&1; then
			APT_ERR="$_tool is missing: packages need a Debian host"
			return 1
		fi
	done
	if ! _source=$(apt_source); then
		APT_ERR="no Debian mirror in ${APT_ETC:-/etc/apt}; set APT_MIRROR"
		return 1
	fi
	mkdir -p "$apt_dir/lists/partial" "$apt_dir/archives/partial"
	_source=$(printf 'Types: deb\nSuites: %s\nComponents: main\n%s\n' \
		"$*" "$_source")
	# Other suites than last time: the lists are not those.
	if [ "$_source" != "$(cat "$apt_dir/debian.sources" 2>/dev/null)" ]; then
		printf '%s\n' "$_source" >"$apt_dir/debian.sources"
		rm -f "$apt_dir/stamp"
	fi
}

# A suite that the mirror lacks makes apt fail although it has read the others:
# only having read nothing at all is an error here.
apt_refresh()
{
	[ -z "$(find "$apt_dir/stamp" -mmin -1440 2>/dev/null)" ] || return 0
	apt_run apt-get update >"$apt_dir/update.log" 2>&1 || :
	if ! ls "$apt_dir"/lists/*_Packages* >/dev/null 2>&1; then
		APT_ERR=$(grep -m 1 '^E:' "$apt_dir/update.log" ||
			echo "E: no package lists")
		return 1
	fi
	: >"$apt_dir/stamp"
}

apt_names()
{
	apt_run apt-cache pkgnames
}

apt_get()
{
	if ! (cd "$2" && apt_run apt-get download "$1") >"$apt_dir/get.log" 2>&1
	then
		APT_ERR=$(grep -m 1 '^E:' "$apt_dir/get.log" ||
			echo "E: download of $1 failed")
		return 1
	fi
}
