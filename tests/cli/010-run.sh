#!/bin/sh
# The main job on fake tools: start, run, the answer, the log, and git's replay.
. "$(dirname "$0")/lib.sh"
new_repo repo
steps 12 5

expect 0 iobisect start --good v1 --bad v2 --workload seqwrite:total=1M
has "$T/out" 'Bisecting: '
git status --porcelain | grep -q . && fail 'the work tree was touched'

expect 0 iobisect run
has "$T/out" "$culprit is the first bad commit"
has "$T/out" 'confirmation: PASS'
has "$T/out" 'a factor of 3.00'
has "$T/out" 'took '
[ "$(git rev-parse HEAD)" = "$(git rev-parse v2)" ] || fail 'HEAD moved'
git for-each-ref | grep -q bisect && fail 'refs were written'

expect 0 iobisect status --json
has "$T/out" "\"culprit\": \"$culprit\""
expect 0 iobisect log
cp "$T/out" "$T/log"
has "$T/log" "# first bad commit: [$culprit] step 5"
has "$T/log" '# iobisect: median='
git bisect replay "$T/log" >"$T/out" 2>&1 || fail 'git bisect replay refused the log'
has "$T/out" "$culprit is the first bad commit"
git bisect reset >/dev/null 2>&1

# and back: git's own log, old and new quoting, goes into iobisect
git bisect start v2 v1 >/dev/null 2>&1
git bisect run grep -q 100 speed >/dev/null 2>&1
git bisect log >"$T/gitlog"
git bisect reset >/dev/null 2>&1
expect 0 iobisect replay "$T/gitlog"
has "$T/out" "$culprit is the first bad commit"
has "$T/err" 'kept in'
sed "s/^# bad:/# 'bad':/; s/^# good:/# 'good':/; s/^# first bad/# first 'bad'/" \
	"$T/gitlog" >"$T/newlog"
expect 0 iobisect replay "$T/newlog"
has "$T/out" "$culprit is the first bad commit"

expect 0 iobisect reset
expect 0 iobisect reset
has "$T/out" 'no bisection'
