#!/bin/sh
# A disk that fills up at any moment of a run: one clear line, nothing half-written
# that is taken for whole, and once there is room the next run goes on.
. "$(dirname "$0")/lib.sh"
mkdir "$T/tiny"
mount -t tmpfs -o size=64k tmpfs "$T/tiny" 2>/dev/null || exit 77
trap 'cd /; umount "$T/tiny"; rm -rf "$T"' EXIT
IOBISECT_CACHE=$T/tiny/cache
new_repo repo
steps 6 3

# check SIZE: a run with that much room for cache and session, then one with enough
full=0
check() {
	rm -rf "$T/tiny/cache" "$T/tiny/s"
	mount -o "remount,size=$1" "$T/tiny"
	code=0
	iobisect start --accel tcg --good v1 --bad v2 --workload seqwrite:total=1M \
		--session "$T/tiny/s" >/dev/null 2>&1 || return 0
	iobisect run --session "$T/tiny/s" >"$T/out" 2>"$T/err" || code=$?
	if [ $code != 0 ]; then
		full=$((full + 1))
		[ $code = 128 ] || fail "$1: exit $code: $(cat "$T/err")"
		[ "$(grep -c '^iobisect: ' "$T/err")" = 1 ] || fail "$1: $(cat "$T/err")"
		grep -q -e 'No space left' -e 'no room' "$T/err" || fail "$1: $(cat "$T/err")"
		mount -o remount,size=64m "$T/tiny"
		expect 0 iobisect run --session "$T/tiny/s"
		find "$T/tiny" -name '*.tmp.*' >"$T/left"
		[ ! -s "$T/left" ] || fail "$1: $(cat "$T/left") was left"
	fi
	has "$T/out" "$culprit is the first bad commit"
}
for size in 100k 228k 244k 260k 292k 332k 340k 1m; do
	check "$size"
done
[ $full -gt 4 ] || fail "it was full only $full times"
