# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154  # variables shared with vmtest.sh
#
# --profile: where in the kernel the instructions of the phases are. Sourced by
# vmtest.sh.
#
# A guest runs the program twice, with one cycle and with many, and counts into
# which kernel function each timer tick fell (init_profile.c). Everything that
# is not a cycle (set-up, checks, warm-up, exit) is in both runs: the difference
# is cycles only. Nothing idles while the one CPU has a cycle to run. With
# icount a tick is a fixed number of instructions, which makes of ticks
#
#	ticks * instructions per tick / pages gone through
#
# instructions per page and cycle. It is a sample: n ticks are known to about
# +-sqrt(n), and "+-" in the table is that, for the difference of two kernels.
# What set-up had in both runs adds to it, so a function that is in no cycle may
# come out a little above or below zero: all that is within three times its
# noise on both kernels is summed up as "others".

# profile_args ARG...: the program's two lists of arguments, complete, and what
# is to be sent. A later --cycles counts.
profile_args()
{
	case " $* " in
	*" --procs"*) ;;
	*) set -- "$@" --procs 1 ;;
	esac
	case " $* " in
	*" --cycles"*) ;;
	*) set -- "$@" --cycles 400 ;;
	esac
	printf '%s\0' "$@" -o /tmp/record.few --cycles 1 >"$tmp/vmtest/args"
	printf '%s\0' "$@" -o /tmp/record >"$tmp/vmtest/args.2"
	send="few.rec /tmp/record.few
ticks /tmp/profile.2
few.ticks /tmp/profile
$send"
}

# profile_one PREFIX: lines "FUNCTION INSTRUCTIONS TICKS VARIANCE SURE", the last
# one, "=", for what the clock says of protect and restore together. A line of
# ticks may name a function that another line names as well (its cold part).
profile_one()
{
	awk '
	function value(key,	i) {
		for (i = 2; i <= NF; i++)
			if (index($i, key "=") == 1)
				return substr($i, length(key) + 2)
		return 0
	}
	FNR == 1 { file++; sign = file % 2 ? 1 : -1 }
	$1 == "sample" {
		pages += sign * value("pages")
		if (sign > 0) {
			timed_pages += value("pages")
			timed += value("protect") + value("restore")
		}
	}
	$1 == "tick_ns" { tick = $2 }
	$1 ~ /^[0-9]+$/ && NF == 2 { ticks[$2] += sign * $1; all[$2] += $1 }
	END {
		if (pages <= 0 || !tick)
			exit 1
		tick /= pages
		for (name in ticks)
			print name, ticks[name] * tick, ticks[name],
				all[name] * tick * tick,
				(ticks[name] > 3 * sqrt(all[name]))
		print "=", timed / timed_pages, 0, 0, 0
	}' "$1.rec" "$1.few.rec" "$1.ticks" "$1.few.ticks"
}

# profile_table BASE HEAD FILE FILE: sorted by how much has changed.
profile_table()
{
	awk -v base="$1" -v head="$2" '
	function row(name, b, nb, h, nh, noise) {
		return sprintf("%-36s %10.1f %6d %10.1f %6d %+10.1f %6s", name,
			b, nb, h, nh, h - b, noise)
	}
	FNR == 1 { file++ }
	$1 == "=" { exact[file] = $2; next }
	{
		insn[file, $1] = $2; ticks[file, $1] = $3
		sum[file] += $2; hits[file] += $3
		noise[$1] += $4; sure[$1] += $5
	}
	END {
		sort = "sort -s -k1,1gr | cut -d \" \" -f 2-"
		printf "%-36s %10.10s %6s %10.10s %6s %10s %6s\n",
			"# instructions per page in", base, "ticks", head,
			"ticks", "change", "+-"
		for (name in noise) {
			b = insn[1, name]; h = insn[2, name]
			if (!sure[name]) {
				others++; other_noise += noise[name]
				other[1] += b; hit[1] += ticks[1, name]
				other[2] += h; hit[2] += ticks[2, name]
				continue
			}
			# The key to sort by is cut off again.
			line = row(name, b, ticks[1, name], h, ticks[2, name],
				sprintf("%.1f", sqrt(noise[name])))
			diff = h > b ? h - b : b - h
			print diff, line | sort
		}
		close(sort)
		print row(others " others", other[1], hit[1], other[2],
			hit[2], sprintf("%.1f", sqrt(other_noise)))
		print row("= all of these", sum[1], hits[1], sum[2], hits[2], "")
		print row("= protect + restore by the clock", exact[1], 0,
			exact[2], 0, "")
	}' "$3" "$4"
}

# profile_report: the first boot of each kernel against that of the first.
profile_report()
{
	_first='' _heads=''
	while read -r _name _boot _image; do
		[ "$_boot" = 1 ] || continue
		if ! profile_one "$out/$_name.1" >"$out/$_name.profile"; then
			say "$_name: no profile: was it built with CONFIG_PROFILING?"
			return 1
		fi
		if [ -n "$_first" ]; then
			_heads=1
			profile_table "$_first" "$_name" \
				"$out/$_first.profile" "$out/$_name.profile"
		fi
		: "${_first:=$_name}"
	done <"$tmp/plan"
	[ -n "$_heads" ] || profile_table "$_first" none \
		"$out/$_first.profile" /dev/null
}
