#!/bin/sh
# Several clones of a repository build the same kernels into one cache at once, and
# make the same file system.
. "$(dirname "$0")/lib.sh"
new_repo repo
steps 3 2
cd "$T"
pids=''
for i in 1 2 3 4 5; do
	git clone -q repo "clone$i"
	IOBISECT_FAKE_DELAY=0.2 iobisect bench v1 v2 --repo "clone$i" --runs 1 \
		--workload seqwrite:total=1M >"$T/out$i" 2>"$T/err$i" &
	pids="$pids $!"
done
for pid in $pids; do
	wait "$pid" || {
		cat "$T"/err?
		fail "$pid: exit $?"
	}
done
for i in 1 2 3 4 5; do
	has "$T/out$i" '0.30 '
done
[ "$(find cache/kernels -mindepth 1 -maxdepth 1 -type d | wc -l)" = 2 ] ||
	fail 'not one entry for each kernel'
[ "$(find cache/images -name '*.img*' | wc -l)" = 1 ] || fail 'not one image'
