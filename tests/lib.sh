# shellcheck shell=sh
# For every test script.

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

# has FILE TEXT
has() {
	grep -q -F -e "$2" "$1" || {
		sed 's/^/  /' "$1" >&2
		fail "$1 lacks: $2"
	}
}
