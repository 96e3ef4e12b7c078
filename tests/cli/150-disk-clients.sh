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
for rw in randwrite write; do
	for bs in 4k 128k 1M; do
		fio_nbd --rw=$rw --bs=$bs --iodepth=16 --size=16M \
			--verify=crc32c --verify_fatal=1 --fsync=128
	done
done
fio_nbd --rw=randrw --bsrange=512-64k --bs_unaligned=0 --iodepth=16 --size=4M \
	--verify=crc32c --verify_fatal=1 --numjobs=2 --offset_increment=8M
stop
equals failed 0
equals profile sata-ssd
