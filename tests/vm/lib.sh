# shellcheck shell=sh
# For the tests on real kernels: the history of tests/make-history.sh, and one cache
# for all of them, so that a kernel is built once.
set -eu
: "${IOBISECT_BUILD:?}"
dir=${IOBISECT_TEST_DIR:-$IOBISECT_BUILD/vm}
[ -d "$dir/linux" ] || {
	echo "no history in $dir/linux: run tests/make-history.sh" >&2
	exit 77
}
PATH=$IOBISECT_BUILD/bin:$PATH
IOBISECT_CACHE=$dir/cache
export PATH IOBISECT_CACHE
cd "$dir/linux"
planted=$(git rev-parse refs/iobisect-test/planted)

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

has() {
	grep -q -F -e "$2" "$1" || {
		sed 's/^/  /' "$1" >&2
		fail "$1 lacks: $2"
	}
}

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
