#!/bin/sh
# Real clients of every kind: what they write is what they read.
. "$(dirname "$0")/disk.sh"
needs nbdinfo nbdcopy fio qemu-io qemu-img

drive --size 32M
nbdinfo "$uri" >"$T/info"
has "$T/info" 'export-size: 33554432'
has "$T/info" 'can_fua: true'
has "$T/info" 'block_size_minimum: 512'
nbdinfo --list "$uri" >"$T/info"
has "$T/info" 'export=""'

# nbdcopy both ways; the data ends up in the file.
head -c 20M /dev/urandom >"$T/in"
truncate -s 32M "$T/in"
nbdcopy "$T/in" "$uri"
nbdcopy "$uri" "$T/back"
cmp "$T/in" "$T/back" || fail 'nbdcopy reads something else'
cmp "$T/in" "$T/img" || fail 'the file has something else'

# QEMU's client, with unaligned edges, zeroes, holes, FUA and flushes.
qemu-io -f raw "$uri" -c 'write -P 7 1000 10000' -c 'read -P 7 1000 10000' \
	-c 'write -f -P 8 64k 128k' -c 'write -z 96k 32k' \
	-c 'read -P 0 96k 32k' -c 'read -P 8 64k 32k' -c 'discard 64k 32k' \
	-c 'read -P 0 64k 32k' -c flush >"$T/qemu"
! grep -i -e fail -e error "$T/qemu" || fail 'qemu-io'
qemu-img convert -n -f raw -O raw "$T/in" "$uri"
qemu-img compare -f raw -F raw "$T/in" "$uri" >"$T/qemu" || fail 'qemu-img'
stop
[ "$(stat_of flushes)" -ge 1 ] || fail 'no flush in the trace'
[ "$(stat_of fuas)" -ge 1 ] || fail 'no FUA in the trace'
[ "$(stat_of trims)" -ge 1 ] || fail 'no trim in the trace'

# fio's own checksums, on a drive that takes its time and reorders.
drive --size 32M --profile "$IOBISECT_SOURCE/qemu/drives/sata-ssd.json"
verify='--verify=crc32c --verify_fatal=1 --iodepth=16 --thread'
# shellcheck disable=SC2086 # options
{
	fio_nbd --rw=randwrite --bs=4k --size=8M --fsync=128 $verify
	fio_nbd --rw=write --bs=128k --size=32M $verify
	fio_nbd --rw=randrw --bsrange=512-1M --size=8M --numjobs=2 \
		--offset_increment=16M $verify
}
stop
equals failed 0
equals profile sata-ssd
