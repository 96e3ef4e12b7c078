#!/bin/sh
# Marking by hand, renamed terms, skip, path limits, mixed with run.
. "$(dirname "$0")/lib.sh"
new_repo repo
steps 10 4

expect 0 iobisect start --term-old fast --term-new slow --workload seqwrite:total=1M
has "$T/out" 'waiting for fast and slow commits'
expect 0 iobisect slow v2
expect 0 iobisect fast v1
error "'bad' is no term" iobisect bad
expect 0 iobisect next
has "$T/out" 'Bisecting: '
while :; do
	next=$(sed -n 's/^\[\([0-9a-f]*\)\].*/\1/p' "$T/out")
	[ -n "$next" ] || break
	if [ "$(git show "$next:speed")" = 300 ]; then
		expect 0 iobisect slow
	else
		expect 0 iobisect fast
	fi
done
has "$T/out" "$culprit is the first slow commit"
expect 0 iobisect log
has "$T/out" "git bisect start '--term-old' 'fast' '--term-new' 'slow'"
git bisect replay "$T/out" >"$T/replay" 2>&1 || fail 'git refused the log'
git bisect reset >/dev/null 2>&1
expect 0 iobisect reset

# the culprit and its neighbours skipped by hand: a range, exit 2
expect 0 iobisect start v2 v1
expect 0 iobisect skip "$culprit~2..$culprit"
expect 2 iobisect run
has "$T/out" 'only untestable commits are left'
has "$T/out" "$(git rev-parse --short=12 "$culprit")"
expect 0 iobisect reset

# a path limit leaves one commit
expect 0 iobisect start --good v1 --bad v2 --workload seqwrite:total=1M -- speed
expect 0 iobisect run
has "$T/out" "$culprit is the first bad commit"
