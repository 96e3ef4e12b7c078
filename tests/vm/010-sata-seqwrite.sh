#!/bin/sh
# The planted commit on a real history: by iobisect run, by git bisect run, and in a
# log that git replays.
. "$(dirname "$0")/lib.sh"
bisect sata --device sata --workload seqwrite
iobisect log --session "$session" | tee "$dir/sata.log"
git bisect reset >/dev/null 2>&1 || :
git bisect start --no-checkout >/dev/null 2>&1
git bisect replay "$dir/sata.log" >"$dir/replay.out" 2>&1 || {
	cat "$dir/replay.out"
	fail 'git bisect replay refused the log'
}
has "$dir/replay.out" "$planted is the first bad commit"
git bisect reset >/dev/null 2>&1

git bisect start --no-checkout bad good >/dev/null 2>&1
git bisect run iobisect test --session "$session" >"$dir/git-run.out" 2>&1 || {
	cat "$dir/git-run.out"
	fail 'git bisect run failed'
}
has "$dir/git-run.out" "$planted is the first bad commit"
git bisect log >"$dir/git.log"
git bisect reset >/dev/null 2>&1
iobisect replay --session "$dir/session-replay" "$dir/git.log" --workload seqwrite |
	tee "$dir/replay.out"
has "$dir/replay.out" "$planted is the first bad commit"
rm -rf "$dir"/session-replay*
