#!/bin/sh
# A build that is stopped while make has half a file in the object directory, whose
# time is right: the next run must not build on it.
. "$(dirname "$0")/lib.sh"
new_repo repo

# stop SIGNAL REV: ends iobisect while make is in the middle.
stop() {
	IOBISECT_FAKE_TORN=30 iobisect bench "$2" --workload seqwrite:total=1M \
		--runs 1 >"$T/run" 2>&1 &
	pid=$!
	n=0
	until grep -q broken "$T"/cache/trees/*/obj/part 2>/dev/null; do
		n=$((n + 1))
		[ $n -lt 200 ] || fail "$1: make was never in the middle"
		sleep 0.05
	done
	kill "-$1" $pid
	wait $pid || :
}

# one that is whole, and then the next one torn
expect 0 iobisect bench HEAD --workload seqwrite:total=1M --runs 1
speed=200
for signal in INT TERM KILL; do
	echo $speed >speed
	commit "speed $speed"
	stop $signal HEAD
	expect 0 iobisect bench HEAD --workload seqwrite:total=1M --runs 1
	has "$T/err" 'the last build was cut short: a clean object directory'
	has "$T/out" "0.$((speed / 10)) "
	grep -q panic "$T/out" && fail "$signal: half a kernel was booted"
	speed=$((speed + 50))
done
exit 0
