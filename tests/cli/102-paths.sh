#!/bin/sh
# Path limits from a subdirectory, and ones that nothing touches; shallow clones.
. "$(dirname "$0")/lib.sh"
new_repo repo
steps 6 3
begin() {
	iobisect start --accel tcg --good v1 --bad v2 --workload seqwrite:total=1M "$@"
}
limits() {
	sed -n '/"paths"/,/]/p' .git/iobisect/question.json | tr -d ' \n'
}

for paths in spede 'fs/ext9 mm'; do
	# shellcheck disable=SC2086
	error "path limits: $paths" begin -- $paths
	[ ! -e .git/iobisect ] || fail "a session with nothing to look at: $paths"
done
# one that is right is enough, as in git
expect 0 begin -- spede speed
expect 0 iobisect reset
cd init
error 'outside the repository' begin -- ../../speed
error 'path limits: init/speed' begin -- speed
expect 0 begin -- ../speed main.c
cd ..
[ "$(limits)" = '"paths":["speed","init/main.c"]' ] || [ "$(limits)" = '"paths":["speed","init/main.c"],' ] ||
	fail "the paths are $(limits)"
(cd init && expect 0 iobisect run && has "$T/out" "$culprit is the first bad commit") || exit 1
expect 0 iobisect reset
# from elsewhere, as with git -C
(cd / && expect 0 begin -C "$T/repo/init" -- ../speed) || exit 1
expect 0 iobisect reset
(cd / && error 'path limits: init/speed' begin -C "$T/repo/init" -- speed) || exit 1

# good at the boundary: all that is asked for is here
git clone -q --depth=7 "file://$T/repo" "$T/shallow" 2>/dev/null
cd "$T/shallow"
first=$(git rev-list HEAD | tail -n 1)
[ "$first" = "$(git -C "$T/repo" rev-parse v1)" ] || fail 'a test on another commit'
expect 0 iobisect start --accel tcg --good "$first" --bad HEAD --workload seqwrite:total=1M
expect 0 iobisect run
has "$T/out" "$culprit is the first bad commit"
expect 0 iobisect reset
error 'swapped' iobisect start --accel tcg --good HEAD --bad "$first"

# good is here, and what lies between is not
git clone -q --depth=2 "file://$T/repo" "$T/cut" 2>/dev/null
cd "$T/cut"
git fetch -q --depth=1 origin tag v1
error 'git fetch --unshallow' iobisect start --accel tcg --good v1 --bad HEAD
[ ! -e .git/iobisect ] || fail 'a session without its history'
git fetch -q --unshallow
expect 0 iobisect start --accel tcg --good v1 --bad HEAD

if git init -q --object-format=sha256 "$T/sha256" 2>/dev/null; then
	error 'a SHA-256 repository' iobisect start -C "$T/sha256" --good x --bad y
fi

expect 0 iobisect reset
cd "$T/repo"

# A limit that misses the culprit: that is said, and the search ends there.
git checkout -q -b elsewhere v1
for i in 1 2 3; do
	echo "$i" >aside
	commit "aside $i"
	[ "$i" = 1 ] && echo 300 >speed && commit 'slower'
done
expect 0 iobisect start --accel tcg --good v1 --bad HEAD --workload seqwrite:total=1M -- aside
expect 2 iobisect run
has "$T/out" 'confirmation: FAIL'
has "$T/out" 'may not be in the paths'
expect 0 iobisect status
has "$T/out" 'its confirmation failed'
expect 0 iobisect reset
