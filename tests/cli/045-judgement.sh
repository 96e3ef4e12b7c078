#!/bin/sh
# What may be believed: the confirmation, marks by hand, kernels that boot only
# sometimes, thresholds that nothing can be told from.
. "$(dirname "$0")/lib.sh"
new_repo repo
steps 8 4
journal=.git/iobisect/journal.jsonl
W='--workload seqwrite:total=1M'

# The culprit and its parent are booted three times more, and only these count.
# shellcheck disable=SC2086
expect 0 iobisect start --good v1 --bad v2 $W
expect 0 iobisect run
has "$T/out" 'confirmation: PASS (0.3 s in 3 boots is bad; its parent'
has "$T/out" '0.1 s -> 0.3 s with this commit, a factor of 3.00'
n=$(sed '1,/"event":"confirm"/d' $journal | grep -c '"event":"trial"')
[ "$n" = 6 ] || fail "$n boots after the confirm event, want 6"
before=$(cksum <$journal)
expect 0 iobisect run
n=$(sed '1,/"event":"confirm"/d' $journal | grep -c '"event":"trial"')
[ "$n" = 6 ] || fail 'a finished run boots again'

# Marks that cannot be are refused, and leave no trace.
before=$(cksum <$journal)
error 'that would leave no good commit' iobisect bad v1
error 'that would leave no bad commit' iobisect good v2
error 'that would leave no bad commit' iobisect skip v2
error 'that would leave no good commit' iobisect skip v1
git checkout -q --orphan lone
commit lone
error 'no common history' iobisect good v1 lone
git checkout -q main
echo late >notes
commit late
error 'swapped' iobisect good HEAD
git tag -f v3 HEAD >/dev/null
[ "$(cksum <$journal)" = "$before" ] || fail 'a refused mark was kept'
expect 0 iobisect status
expect 0 iobisect log

# A journal that contradicts itself can be looked at and mended.
echo '{"event":"mark","time":1,"commit":"'"$(git rev-parse v3)"'","mark":"good"}' \
	>>$journal
expect 0 iobisect log
expect 0 iobisect status
has "$T/out" 'the two are swapped'
expect 0 iobisect status --json
has "$T/out" '"state": "conflict"'
error 'swapped' iobisect run
expect 0 iobisect skip v3
expect 0 iobisect log
expect 0 iobisect reset

# A good end that was marked by mistake: what it measures says so.
# shellcheck disable=SC2086
expect 0 iobisect start --bad v2 --good v1 --good "$culprit" $W
expect 2 iobisect run
has "$T/out" 'confirmation: FAIL'
has "$T/out" 'is bad, but marked good by hand'
expect 0 iobisect status
has "$T/out" 'its confirmation failed: '
expect 0 iobisect status --json
has "$T/out" '"verdict": "unconfirmed"'
expect 0 iobisect next
has "$T/out" 'confirmation: FAIL'
expect 0 iobisect log
has "$T/out" '# iobisect: confirmation: FAIL'
expect 0 iobisect reset

# skip takes a good back; the log says what is in force.
# shellcheck disable=SC2086
expect 0 iobisect start --bad v2 --good v1 --good "$culprit" $W
expect 0 iobisect skip "$culprit"
expect 0 iobisect log
has "$T/out" "git bisect skip $culprit"
[ "$(grep -c "bisect.*$culprit" "$T/out")" = 1 ] || fail 'good and skip'
expect 0 iobisect reset

# A threshold that no kernel like good stays clear of.
# shellcheck disable=SC2086
expect 0 iobisect start --good v1 --bad v2 $W --threshold +1%
error "too near the good kernel's 0.1 s" iobisect run
expect 0 iobisect reset

# A kernel that boots once and then no more does not hold up the search.
git checkout -q -b sometimes v1
echo after 1 >broken-boot
echo 171 >speed
commit 'boots once'
rm broken-boot
echo 300 >speed
commit 'slow'
slow=$(git rev-parse HEAD)
# shellcheck disable=SC2086
expect 0 iobisect start --good v1 --bad HEAD $W
expect 2 timeout 60 iobisect run
has "$T/out" 'only untestable commits are left'
has "$T/out" 'boots only sometimes (1 of 3)'
has "$T/out" "$(git rev-parse --short=12 "$slow")"
expect 0 iobisect reset

# ... nor the confirmation, which such a parent does not pass.
git checkout -q -b fickle v1
rm "$HOME/booted"
echo after 2 >broken-boot
commit 'boots twice'
rm broken-boot
echo 300 >speed
commit 'slow'
# shellcheck disable=SC2086
expect 0 iobisect start --good v1 --bad HEAD $W
expect 2 timeout 60 iobisect run
has "$T/out" 'confirmation: FAIL'
has "$T/out" 'boots only sometimes (1 of 3)'
expect 0 iobisect reset

# A guest that leaves out what it was asked is a failed boot.
git checkout -q -b mute v1
echo mute >broken-boot
commit 'says too little'
rm broken-boot
echo 300 >speed
commit 'slow'
# shellcheck disable=SC2086
expect 0 iobisect start --good v1 --bad HEAD --workload smallfiles,seqwrite:total=1M
expect 2 timeout 60 iobisect run
has "$T/out" 'the guest says nothing of seqwrite:total=1M'
expect 0 iobisect reset

# What was tested beside the search is in the log, and does not widen git's range.
# shellcheck disable=SC2086
expect 0 iobisect start --good v1 --bad v2 $W
expect 0 iobisect run
expect 1 iobisect test v2~1
expect 0 iobisect log
cp "$T/out" "$T/log"
has "$T/log" "# bad: [$(git rev-parse v2~1)]"
git bisect replay "$T/log" >"$T/replay" 2>&1 || fail 'git refused the log'
has "$T/replay" "$culprit is the first bad commit"
git bisect reset >/dev/null 2>&1
# What a log is replayed with is what was said, or what was before.
expect 0 iobisect replay --runs 5 "$T/log"
has .git/iobisect/question.json '"runs": 5'
expect 0 iobisect replay "$T/log"
has .git/iobisect/question.json '"runs": 5'
expect 0 iobisect reset

# A range that is skipped leaves its ends good and bad, as git's does.
# shellcheck disable=SC2086
expect 0 iobisect start --good v1 --bad v2 $W
expect 0 iobisect skip "$culprit..v2"
expect 0 iobisect run
has "$T/out" "$culprit is the first bad commit"
expect 0 iobisect reset

# A commit that was tested and is gone.
# shellcheck disable=SC2086
expect 0 iobisect start --good v1 --bad v2 $W
git checkout -q --detach v2
echo 99 >notes
commit 'gone soon'
expect 1 iobisect test HEAD
git checkout -q main
git reflog expire --expire=now --all
git gc -q --prune=now
expect 0 iobisect status
expect 0 iobisect log
expect 0 iobisect run
expect 0 iobisect reset

# By hand, too, a merge base must be tested first, and can tell that the range is
# not what it seems.
git checkout -q -b base v1
echo 300 >speed
commit 'slow already'
git checkout -q -b fixed
echo 100 >speed
commit 'mended'
git checkout -q -b on base
for i in 1 2 3; do
	echo "$i" >on
	commit "on $i"
done
expect 0 iobisect start --good fixed --bad on --workload seqwrite:total=1M
has "$T/out" 'a merge base must be tested'
has "$T/out" "[$(git rev-parse base)]"
expect 0 iobisect status
has "$T/out" "next $(git rev-parse base)"
before=$(cksum <$journal)
error 'mended in between' iobisect bad
[ "$(cksum <$journal)" = "$before" ] || fail 'a refused mark was kept'
expect 0 iobisect good
has "$T/out" 'Bisecting: '
expect 0 iobisect reset
git checkout -q main

# Journals that were edited.
# shellcheck disable=SC2086
expect 0 iobisect start --good v1 --bad v2 $W
cp $journal "$T/journal"
for line in '"event":"mark","mark":"skip","commit":"v2~1"' \
	'"event":"mark","mark":"good"' \
	'"event":"mark","mark":"weak","commit":"'"$culprit"'"' \
	'"event":"rule","workload":"x","threshold_s":1,"sigma":0.1,"good_s":1,"bad_s":2,"min_bad":2,"max":9'; do
	cp "$T/journal" $journal
	echo "{\"time\":1,$line}" >>$journal
	error 'journal.jsonl:4: corrupt' iobisect status
done
expect 0 iobisect reset

# A guest that never stops talking.
git checkout -q -b chatter v1
echo chatter >broken-boot
commit 'talks without end'
rm broken-boot
echo 300 >speed
commit 'slow'
# shellcheck disable=SC2086
expect 0 iobisect start --good v1 --bad HEAD $W
expect 2 timeout 60 iobisect run
has "$T/out" 'the guest sent results without end'
expect 0 iobisect reset

# Equal kernels and much noise: no commit is named.
git checkout -q -b same v1
for i in 1 2 3; do
	printf '100\n\n%s\n' "$i" >speed.all
	head -n 1 speed.all >speed
	rm speed.all
	commit "same $i"
done
expect 0 iobisect start --good v1 --bad HEAD
IOBISECT_FAKE_NOISE=20 error 'good and bad cannot be told apart' iobisect run
