#!/bin/sh
# Stopped in the middle of a real make, where half a compressed kernel has a fresh time:
# the verdict is the right one all the same.
. "$(dirname "$0")/lib.sh"
IOBISECT_CACHE=$dir/torn-cache
session=$dir/session-torn
rm -rf "$IOBISECT_CACHE" "$session"
iobisect start --session "$session" --good good --bad bad --workload seqwrite

# The file that gzip takes a second or two to write; $dir/torn.ref is older.
torn() {
	find "$IOBISECT_CACHE"/trees/*/obj/arch/x86/boot/compressed/vmlinux.bin.gz \
		-newer "$dir/torn.ref" 2>/dev/null | grep -q .
}
stops=0
for signal in INT KILL TERM KILL; do
	touch "$dir/torn.ref"
	iobisect run --session "$session" >"$dir/torn.out" 2>&1 &
	pid=$!
	while ! torn && kill -0 $pid 2>/dev/null; do sleep 0.05; done
	kill "-$signal" $pid 2>/dev/null && stops=$((stops + 1))
	wait $pid || :
	echo "$signal: $(tail -n 1 "$dir/torn.out")"
	sleep 1
done
[ $stops -ge 3 ] || fail "only $stops stops in the middle of make"

iobisect run --session "$session" >"$dir/torn.out" 2>&1 || {
	cat "$dir/torn.out"
	fail 'the last run failed'
}
cat "$dir/torn.out"
has "$dir/torn.out" 'the last build was cut short'
has "$dir/torn.out" "$planted is the first bad commit"
has "$dir/torn.out" 'confirmation: PASS'
rm -rf "$IOBISECT_CACHE" "$session" "$dir/torn.ref"
