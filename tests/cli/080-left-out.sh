#!/bin/sh
# What no kernel here is built from is not written out, until one needs it; and a file
# that nobody has is a kernel that does not build.
. "$(dirname "$0")/lib.sh"
new_repo repo
mkdir -p sound Documentation
touch sound/Kconfig sound/pcm.h Documentation/x
commit 'more files'
git tag v2
src() {
	echo "$IOBISECT_CACHE"/trees/*/src
}
expect 0 iobisect bench v2 --workload seqwrite:total=1M --runs 1
[ -f "$(src)/sound/Kconfig" ] || fail 'no sound/Kconfig'
[ ! -e "$(src)/sound/pcm.h" ] || fail 'sound/pcm.h was written'
[ ! -e "$(src)/Documentation" ] || fail 'Documentation was written'

echo sound/pcm.h >needs
commit 'needs sound/pcm.h'
expect 0 iobisect bench HEAD --workload seqwrite:total=1M --runs 1
has "$T/err" 'once more with the whole source tree'
[ -f "$(src)/sound/pcm.h" ] || fail 'sound/pcm.h was not written'
[ -f "$(src)/Documentation/x" ] || fail 'Documentation was not written'

echo sound/none.h >needs
commit 'needs what is not there'
expect 125 iobisect bench HEAD --workload seqwrite:total=1M --runs 1
has "$T/out" 'sound/none.h: No such file or directory'
