#!/bin/sh
# kill -9 at ten random moments, each followed by another run: the same culprit,
# no verdict lost, nothing left running, no half image taken for a whole one.
. "$(dirname "$0")/lib.sh"
IOBISECT_FAKE_BOOT=0.1 IOBISECT_FAKE_DELAY=0.1
export IOBISECT_FAKE_BOOT IOBISECT_FAKE_DELAY
new_repo repo
steps 16 11

expect 0 iobisect start --good v1 --bad v2 --workload seqwrite:total=1M
journal=.git/iobisect/journal.jsonl
: >"$T/before"
for i in 1 2 3 4 5 6 7 8 9 10; do
	iobisect run >"$T/run" 2>&1 &
	pid=$!
	ms=$(($(od -An -N2 -tu2 /dev/urandom) % 900))
	sleep "0.$(printf %03d $ms)"
	kill -9 $pid 2>/dev/null || :
	wait $pid 2>/dev/null || :
	# what was in the journal stays there, byte for byte, but for a torn end
	head -c "$(wc -c <"$T/before")" "$journal" | cmp -s - "$T/before" ||
		fail "round $i: the journal lost what it had"
	sed '$!b;/}$/!d' "$journal" >"$T/before"
	sleep 0.3
	for p in /proc/[0-9]*; do
		tr '\000' ' ' <"$p/cmdline" 2>/dev/null | grep -q "$T/cache" &&
			fail "round $i: ${p#/proc/} was left running"
	done
done
expect 0 iobisect run
has "$T/out" "$culprit is the first bad commit"
expect 0 iobisect log
git bisect replay "$T/out" >/dev/null 2>&1 || fail 'git refused the log'
