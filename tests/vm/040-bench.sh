#!/bin/sh
# The reporters' table, and what the harness itself costs: QEMU's start to the first
# workload write on plain sata, and the harness's share of the run in
# 010-sata-seqwrite.
. "$(dirname "$0")/lib.sh"
iobisect bench good bad --workload smallfiles,seqwrite,openmany | tee "$dir/bench.out"
[ "$(grep -c '| 3$' "$dir/bench.out")" = 6 ] || fail 'not three boots a row'

journal=$dir/session-sata/journal.jsonl
start=$(sed -n 's/.*"to_workload_s":\([0-9.]*\).*/\1/p' "$journal" | sort -n |
	awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }')
share=$(sed -n 's/.*"event":"time".*/&/p' "$journal" | tr ',{}' '\n' |
	awk -F: '{ gsub(/"/, "", $1); v[$1] = $2 }
		END { own = v["wall_s"] - v["make_s"] - v["qemu_s"]
			own -= v["mkfs_s"] + v["wait_s"]
			printf "%.2f", own / v["wall_s"] * 100 }')
echo "QEMU start to first workload write, median: $start s (at most 1.5)"
echo "harness outside make, QEMU and mkfs: $share % of the run (at most 2)"
awk -v s="$start" -v h="$share" 'BEGIN { exit !(s > 0 && s <= 1.5 && h <= 2) }' ||
	fail 'the harness costs too much'
