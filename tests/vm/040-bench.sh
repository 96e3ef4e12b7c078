#!/bin/sh
# The reporters' table, and what the harness itself costs: QEMU's start to the first
# workload write on plain sata, and the harness's share of a run that starts with
# nothing, neither kernels nor objects nor a compiler's cache: that is always the same
# work, whatever other tests have left. In memory, where there is room: for minutes
# after much was removed, ext4 takes ten times as long to make a file, and that is not
# what is measured here.
. "$(dirname "$0")/lib.sh"
iobisect bench good bad --workload smallfiles,seqwrite,openmany | tee "$dir/bench.out"
[ "$(grep -c '| 3$' "$dir/bench.out")" = 6 ] || fail 'not three boots a row'

where=$dir
[ "$(df -k --output=avail /dev/shm 2>/dev/null | tail -n 1)" -gt 3000000 ] &&
	where=/dev/shm
IOBISECT_CACHE=$(mktemp -d "$where/iobisect-cost.XXXXXX")
trap 'rm -rf "$IOBISECT_CACHE"' EXIT
trap 'exit 1' INT TERM HUP
CCACHE_DISABLE=1
export CCACHE_DISABLE
bisect cost --device sata --workload seqwrite
journal=$session/journal.jsonl
[ "$(grep -c '"event":"time"' "$journal")" = 1 ] || fail 'not one run'
start=$(sed -n 's/.*"to_workload_s":\([0-9.]*\).*/\1/p' "$journal" | sort -n |
	awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }')
sed -n 's/.*"event":"time".*/&/p' "$journal" | tr ',{}' '\n' |
	awk -F: '{ gsub(/"/, "", $1); v[$1] = $2 }
		END { own = v["wall_s"] - v["make_s"] - v["qemu_s"]
			own -= v["mkfs_s"] + v["wait_s"]
			print own, own / v["wall_s"] * 100 }' >"$dir/cost"
read -r own share <"$dir/cost"
echo "QEMU start to first workload write, median: $start s (at most 1.5)"
echo "harness outside make, QEMU and mkfs: $own s, $share % of the run (at most 2)"
awk -v s="$start" -v h="$share" 'BEGIN { exit !(s > 0 && s <= 1.5 && h > 0 && h <= 2) }' ||
	fail 'the harness costs too much'
