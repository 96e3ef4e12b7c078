# shellcheck shell=sh
# For the tests on real kernels: the history of tests/make-history.sh, and one cache
# for all of them, so that a kernel is built once.
set -eu
. "$(dirname "$0")/../lib.sh"
: "${IOBISECT_BUILD:?}"
dir=${IOBISECT_TEST_DIR:-$IOBISECT_BUILD/vm}
[ -d "$dir/linux" ] || {
	echo "no history in $dir/linux: run tests/make-history.sh" >&2
	exit 77
}
PATH=$IOBISECT_BUILD/bin:$PATH
IOBISECT_CACHE=$dir/cache
# Of their own: what the harness costs is measured against a first build.
CCACHE_DIR=$dir/ccache
export PATH IOBISECT_CACHE CCACHE_DIR
cd "$dir/linux"
planted=$(git rev-parse refs/iobisect-test/planted)

# bisect NAME OPTIONS...: the whole run in a session of that name.
bisect() {
	name=$1
	shift
	session=$dir/session-$name
	rm -rf "$session"
	iobisect start --session "$session" --good good --bad bad "$@"
	iobisect run --session "$session" >"$dir/$name.out"
	cat "$dir/$name.out"
	has "$dir/$name.out" "$planted is the first bad commit"
	has "$dir/$name.out" 'confirmation: PASS'
}
