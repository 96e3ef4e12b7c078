#!/bin/sh
# Requests reach the drive in the order in which they were sent: none of 100 000,
# 16 deep, is before one that was sent earlier.
. "$(dirname "$0")/disk.sh"
needs fio

inversions() {
	trace table "$T/trace" | awk '$2 == "write" {
		bad += n++ && $3 < last
		last = $3
		if ($8 > deep)
			deep = $8
	} END { print n, bad + 0, deep }'
}

drive --size 64M
fio_nbd --rw=write --bs=512 --iodepth=16 --number_ios=60000 --size=64M
stop
[ "$(inversions)" = '60000 0 1' ] || fail "at no cost: $(inversions)"

flat 20
drive --size 64M --profile "$T/flat.json"
fio_nbd --rw=write --bs=512 --iodepth=16 --number_ios=40000 --size=64M
stop
case $(inversions) in
'40000 0 '*) ;;
*) fail "on a drive: $(inversions)" ;;
esac
equals writes.seeks 1

# More than the drive takes at once wait in the socket, and lose nothing.
flat 5000
for depth in 4 16; do
	drive --size 64M --profile "$T/flat.json" --depth $depth
	fio_nbd --rw=write --bs=4k --iodepth=32 --number_ios=400 --size=64M
	stop
	[ "$(inversions)" = "400 0 $depth" ] ||
		fail "at depth $depth: $(inversions)"
done
