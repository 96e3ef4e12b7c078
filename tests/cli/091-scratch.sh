#!/bin/sh
# Logs outside of a session: a killed process's go at the next start, those that were
# said to be kept stay for a week, and nobody's who still runs are touched.
. "$(dirname "$0")/lib.sh"
new_repo repo
echo panic >broken-boot
commit 'does not boot'
alone=$IOBISECT_CACHE/alone
count() {
	find "$alone" -mindepth 1 -maxdepth 1 -type d | wc -l
}
IOBISECT_FAKE_BOOT=30 iobisect bench v1 --runs 1 --workload seqwrite:total=1M \
	>"$T/run" 2>&1 &
pid=$!
until [ -d "$alone" ] && [ "$(count)" = 1 ]; do sleep 0.05; done
expect 0 iobisect bench v1 --runs 1 --workload seqwrite:total=1M
[ "$(count)" = 1 ] || fail 'the logs of one that runs were removed'
kill -9 $pid
wait $pid 2>/dev/null || :
flock -w 20 "$(echo "$alone"/*/running)" true || fail 'somebody still runs'
expect 0 iobisect bench v1 --runs 1 --workload seqwrite:total=1M
[ "$(count)" = 0 ] || fail 'the logs of a killed one stay'

expect 125 iobisect bench HEAD --runs 1 --workload seqwrite:total=1M
kept=$(sed -n 's/^logs are in //p' "$T/err")
expect 0 iobisect bench v1 --runs 1 --workload seqwrite:total=1M
[ -d "$kept/trials" ] || fail 'logs that were named are gone'
touch -d '8 days ago' "$kept"
expect 0 iobisect bench v1 --runs 1 --workload seqwrite:total=1M
[ -d "$kept" ] && fail 'logs of last week stay'
exit 0
