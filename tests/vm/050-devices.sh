#!/bin/sh
# Every device with ext2, and every file system on sata: built, booted, measured.
. "$(dirname "$0")/lib.sh"
w=smallfiles:files=20,spawn=0,seqwrite:total=2M
for d in sata ide sd usb scsi virtio; do
	echo "device $d"
	iobisect bench good --device $d --workload $w --runs 1 >"$dir/device.out" ||
		fail "device $d: $(cat "$dir/device.out")"
	[ "$(grep -c '| 1$' "$dir/device.out")" = 2 ] || fail "device $d: no result"
done
for f in ext3 ext4 reiserfs xfs vfat; do
	echo "file system $f"
	iobisect bench good --fs $f --workload $w --runs 1 >"$dir/fs.out" ||
		fail "file system $f: $(cat "$dir/fs.out")"
	[ "$(grep -c '| 1$' "$dir/fs.out")" = 2 ] || fail "file system $f: no result"
done

echo 'a workload of the user'"'"'s own'
cat >"$dir/my-test.sh" <<'S'
#!/bin/sh
dd if=/dev/zero of=file bs=16k count=64
S
chmod +x "$dir/my-test.sh"
iobisect bench good --workload "exec:$dir/my-test.sh" --runs 1 >"$dir/exec.out" ||
	fail "exec: $(cat "$dir/exec.out")"
grep -q '| 1$' "$dir/exec.out" || fail 'exec: no result'
