# shellcheck shell=sh
# For the tests of the whole program on fake tools: a small history whose kernels
# are a few text files, tests/fake/ first in PATH, and a cache of its own.
set -eu
. "$(dirname "$0")/../lib.sh"
: "${IOBISECT_BUILD:?}" "${IOBISECT_SOURCE:?}"
PATH=$IOBISECT_SOURCE/tests/fake:$IOBISECT_BUILD/bin:$PATH
T=$(mktemp -d "${TMPDIR:-/tmp}/iobisect-cli.XXXXXX")
trap 'cd /; rm -rf "$T"' EXIT
trap 'exit 1' INT TERM HUP
IOBISECT_CACHE=$T/cache
HOME=$T
GIT_CONFIG_NOSYSTEM=1
GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org
GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org
IOBISECT_PRESSURE= # the fake QEMU is a crowd of small processes
export IOBISECT_PRESSURE
export PATH IOBISECT_CACHE HOME GIT_CONFIG_NOSYSTEM GIT_AUTHOR_NAME
export GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
unset IOBISECT_FAKE_NOISE IOBISECT_FAKE_BOOT IOBISECT_FAKE_DELAY
cd "$T"

# commit MESSAGE: commits the tree, one second after the one before.
culprit=''
export culprit
clock=1700000000
commit() {
	clock=$((clock + 1))
	git add -A
	GIT_AUTHOR_DATE="$clock +0000" GIT_COMMITTER_DATE="$clock +0000" \
		git commit -q --allow-empty -m "$1"
}

# new_repo DIR: a repository with one commit that is a kernel of speed 100.
new_repo() {
	git init -q -b main "$1"
	cd "$1"
	mkdir -p scripts/kconfig init
	printf 'VERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 0\n# KBUILD\n' >Makefile
	echo 'mainmenu "fake"' >Kconfig
	touch Kbuild
	touch scripts/Makefile.build scripts/kconfig/Makefile init/main.c
	echo 100 >speed
	commit 'a kernel'
	git tag v1
}

# steps N SLOW: N commits, the SLOW-th with speed 300; tag v2 at the end, culprit in
# $culprit.
steps() {
	for i in $(seq "$1"); do
		echo "$i" >notes
		[ "$i" = "$2" ] && echo 300 >speed
		commit "step $i"
		[ "$i" = "$2" ] && culprit=$(git rev-parse HEAD)
	done
	git tag v2
}

# expect CODE COMMAND...: runs it, output in $T/out and $T/err.
expect() {
	want=$1
	shift
	code=0
	"$@" >"$T/out" 2>"$T/err" || code=$?
	[ "$code" = "$want" ] || {
		sed 's/^/out: /' "$T/out" >&2
		sed 's/^/err: /' "$T/err" >&2
		fail "$*: exit $code, want $want"
	}
}

# error TEXT COMMAND...: fails as a harness, with exactly one line that holds TEXT.
error() {
	text=$1
	shift
	expect 128 "$@"
	[ "$(grep -c '^iobisect: ' "$T/err")" = 1 ] || {
		cat "$T/err" >&2
		fail "$*: not one line of error"
	}
	has "$T/err" "$text"
}
