# shellcheck shell=sh
# Sourced by demo.sh and run.sh: installs what is missing (Debian 12) and builds.
# Leaves $source and $build.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD_DIR:-$source/build}

packages="gcc libc6-dev make cmake pkg-config git musl-tools
libgit2-dev libjansson-dev libext2fs-dev comerr-dev libcurl4-openssl-dev
flex bison bc perl libelf-dev libssl-dev ccache xz-utils gzip
qemu-system-x86 e2fsprogs xfsprogs reiserfsprogs dosfstools faketime
busybox-static man-db"

say() {
	printf '\n== %s\n' "$*"
}

install() {
	missing=
	for p in "$@"; do
		dpkg-query -W -f='${Status}' "$p" 2>/dev/null |
			grep -q 'ok installed' || missing="$missing $p"
	done
	[ -n "$missing" ] || return 0
	say "installing$missing"
	sudo=
	[ "$(id -u)" = 0 ] || sudo=sudo
	$sudo apt-get update -qq
	# shellcheck disable=SC2086
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
		--no-install-recommends $missing >/dev/null
}

# shellcheck disable=SC2086
install $packages
say 'building iobisect'
cmake -S "$source" -B "$build" -DWERROR=ON >/dev/null
cmake --build "$build" -j "$(nproc)" | grep -v -e '^\[' -e '^gmake' || :
cmake --build "$build" >/dev/null
