#!/bin/sh
# A real block device, as far as a loop device is one: confirmed, measured, refused
# while it is mounted.
. "$(dirname "$0")/lib.sh"
truncate -s 1G "$dir/loop.img"
loop=$(losetup -f --show "$dir/loop.img" 2>/dev/null) || {
	echo 'no loop device can be set up here'
	exit 77
}
trap 'umount "$dir/mnt" 2>/dev/null; losetup -d "$loop"; rm -rf "$dir/loop.img" "$dir/mnt"' EXIT
bench() {
	code=0
	iobisect bench good --device "$loop" --workload seqwrite:total=32M --runs 1 \
		"$@" >"$dir/real.out" 2>&1 || code=$?
}
bench
has "$dir/real.out" 'confirm with --erase'
bench --erase 5
has "$dir/real.out" 'not 5'
bench --erase 1073741824
[ $code = 0 ] || fail "exit $code: $(cat "$dir/real.out")"
has "$dir/real.out" '| 1'

mkfs.ext2 -q "$loop"
mkdir -p "$dir/mnt"
if mount "$loop" "$dir/mnt" 2>/dev/null; then
	echo precious >"$dir/mnt/file"
	bench --erase 1073741824
	[ $code = 128 ] || fail "a mounted device: exit $code"
	has "$dir/real.out" 'is mounted on'
	has "$dir/mnt/file" precious
fi
