#!/bin/sh
# A culprit inside a merged branch, next to commits that do not build or boot; a
# good commit that is no ancestor.
. "$(dirname "$0")/lib.sh"
new_repo repo
steps 4 0
git checkout -q -b topic
echo x >a; commit 'topic 1'
echo oops >broken-build; commit 'topic 2 does not build'
rm broken-build; echo panic >broken-boot; commit 'topic 3 does not boot'
rm broken-boot; commit 'topic 4'
echo 300 >speed; commit 'topic 5 is slow'
culprit=$(git rev-parse HEAD)
echo y >a; commit 'topic 6'
git checkout -q main
echo m >b; commit 'main 5'
side=$(git rev-parse HEAD)
clock=$((clock + 1))
GIT_COMMITTER_DATE="$clock +0000" git merge -q --no-ff -m 'merge topic' topic
echo z >b; commit 'after the merge'
git tag -f v3 >/dev/null

expect 0 iobisect start --good v1 --bad v3 --workload seqwrite:total=1M
expect 0 iobisect run
has "$T/out" "$culprit is the first bad commit"
expect 0 iobisect reset

# the side branch's tip is good but no ancestor of the topic's
expect 0 iobisect start --good "$side" --bad topic --workload seqwrite:total=1M
expect 0 iobisect run
has "$T/err" 'merge base'
has "$T/out" "$culprit is the first bad commit"
expect 0 iobisect reset

# first-parent blames the merge
expect 0 iobisect start --good v1 --bad v3 --first-parent --workload seqwrite:total=1M
expect 0 iobisect run
has "$T/out" "$(git rev-parse v3~1) is the first bad commit"
has "$T/out" 'a merge'
