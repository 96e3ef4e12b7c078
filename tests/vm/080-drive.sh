#!/bin/sh
# A real kernel on modelled drives: a file written in a row comes at the drive's rate
# but for the file system's share, twice the same, and slow motion changes little.
. "$(dirname "$0")/lib.sh"

# rate DRIVE LEAST MOST OPTIONS...: MB/s of two boots, within these, and their spread
rate() {
	drive=$1 least=$2 most=$3
	shift 3
	iobisect bench good --drive "$drive" --runs 2 --json "$@" >"$dir/drive.json"
	tr ',{}' '\n' <"$dir/drive.json" | awk -v d="$drive" -v least="$least" \
		-v most="$most" '
		/"bytes_per_s"/ { on = 1 }
		on && /"median"/ { sub(/.*: */, ""); m = $0 / 1e6 }
		on && /"min"/ { sub(/.*: */, ""); low = $0 / 1e6 }
		on && /"max"/ { sub(/.*: */, ""); high = $0 / 1e6; on = 0 }
		END {
			printf "%s: %.1f MB/s (%.1f to %.1f)\n", d, m, low, high
			exit !(low >= least && high <= most)
		}' || fail "$drive: not from $least to $most MB/s"
}
rate ide-12g-2000 8 11.9 --device ide --workload seqwrite:total=32M
rate wd-10k-sata 70 115 --slow 4 --workload seqwrite:total=128M
rate sdhc-class10 1 12 --slow 2 --device sd --workload seqwrite:total=16M

# The drive with mechanics is the one on which small files cost seeks.
bisect drive --device ide --drive ide-12g-2000 --workload smallfiles
iobisect trace --session "$session" 1 >"$dir/trace"
grep '^# ' "$dir/trace"
[ "$(grep -c ' write ' "$dir/trace")" -gt 20 ] || fail 'next to no writes'
