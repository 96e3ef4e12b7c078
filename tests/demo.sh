#!/bin/sh
# The main job, whole: a kernel history in which one commit made ext2 writes
# slower, and iobisect finding it.
#   sh tests/demo.sh
. "$(dirname "$0")/setup.sh"
install linux-source-6.1
dir=${IOBISECT_TEST_DIR:-$build/vm}
PATH=$build/bin:$PATH
IOBISECT_CACHE=${IOBISECT_CACHE:-$dir/cache}
export PATH IOBISECT_CACHE

say 'making a kernel history'
sh "$source/tests/make-history.sh" "$dir/linux"
cd "$dir/linux"
planted=$(git rev-parse refs/iobisect-test/planted)

say 'iobisect doctor'
iobisect doctor
iobisect reset >/dev/null

say 'iobisect start --good good --bad bad --workload seqwrite'
iobisect start --good good --bad bad --workload seqwrite
say 'iobisect run'
iobisect run
say 'iobisect log'
iobisect log | tee "$dir/bisect.log"

grep -q "^# first bad commit: \[$planted\]" "$dir/bisect.log" || {
	echo "the planted commit $planted was not named" >&2
	exit 1
}
printf '\nThe planted commit was found.\n'
