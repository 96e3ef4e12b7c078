#!/bin/sh
# bench: the reporters' table, JSON, prebuilt images, and a kernel that fails.
. "$(dirname "$0")/lib.sh"
new_repo repo
steps 3 2
echo panic >broken-boot
commit 'does not boot'
git tag v3

expect 0 iobisect bench v1 v2 --workload smallfiles,seqwrite:total=1M
has "$T/out" 'user s'
has "$T/out" 'v1     |      0.01 +-0% |      0.02 +-0% |      0.10 +-0% |    30 |   50'
has "$T/out" '0.30 +-0%'
[ "$(grep -c '| 3$' "$T/out")" = 4 ] || fail 'not three boots a row'
expect 0 iobisect bench --json v1 v2 --workload seqwrite:total=1M --runs 5
has "$T/out" '"boots": 5'

expect 125 iobisect bench v1 v3 --workload seqwrite:total=1M
has "$T/out" 'Kernel panic - not syncing: fake'

cp "$(find "$T/cache/kernels" -name bzImage -exec grep -L broken-boot {} + |
	head -n 1)" "$T/image"
cd "$T"
expect 0 iobisect bench ./image --workload seqwrite:total=1M
has "$T/out" './image'
expect 0 iobisect test --threshold 10s --workload seqwrite:total=1M ./image
has "$T/out" 'is good'
