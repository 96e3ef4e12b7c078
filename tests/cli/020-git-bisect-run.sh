#!/bin/sh
# git bisect run iobisect test: the same culprit, with and without a session.
. "$(dirname "$0")/lib.sh"
new_repo repo
steps 12 7
echo oops >broken-build
commit 'does not build'
rm broken-build
git tag v3

expect 0 iobisect start --good v1 --bad v2 --workload seqwrite:total=1M
git bisect start v2 v1 >/dev/null 2>&1
git bisect run iobisect test >"$T/out" 2>&1 || fail 'git bisect run failed'
has "$T/out" "$culprit is the first bad commit"
git bisect reset >/dev/null 2>&1

expect 125 iobisect test main
has "$T/out" 'does not build: '
expect 0 iobisect test v1
expect 1 iobisect test v2
expect 1 iobisect test --json v2
has "$T/out" '"verdict": "bad"'
expect 0 iobisect reset

git bisect start v2 v1 >/dev/null 2>&1
git bisect run iobisect test --workload seqwrite:total=1M --threshold 200ms \
	>"$T/out" 2>&1 || fail 'git bisect run with a threshold failed'
has "$T/out" "$culprit is the first bad commit"
git bisect reset >/dev/null 2>&1
error 'needs --threshold' iobisect test v1
