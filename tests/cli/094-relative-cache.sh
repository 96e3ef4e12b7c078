#!/bin/sh
# A relative cache directory is where the user is, whoever works where.
. "$(dirname "$0")/lib.sh"
new_repo repo
mkdir sub
cd sub
for name in here ./there/deep; do
	export IOBISECT_CACHE="$name"
	expect 0 iobisect bench v1 --workload seqwrite:total=1M --runs 1
	has "$T/out" '0.10'
	[ -d "$name/kernels" ] || fail "nothing in $name"
done
echo panic >../broken-boot
git add -A
commit 'does not boot'
IOBISECT_CACHE=here expect 125 iobisect bench HEAD --workload seqwrite:total=1M
has "$T/err" "logs are in $PWD/here/alone/"

unset IOBISECT_CACHE
XDG_CACHE_HOME=xdg expect 0 iobisect bench v1 --workload seqwrite:total=1M --runs 1
[ -d xdg/iobisect/kernels ] || fail 'nothing in xdg'
