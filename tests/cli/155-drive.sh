#!/bin/sh
# --drive, --slow, drives and trace: a modelled drive behind the fake QEMU.
. "$(dirname "$0")/lib.sh"
new_repo repo
steps 6 3
expect 0 iobisect drives
for d in wd-10k-sata ide-12g-2000 ide-1g-1996 sdhc-class10 usb2-stick scsi-10k \
	sata-ssd none; do
	grep -q "^$d " "$T/out" || fail "no $d"
done
expect 0 iobisect drives --json
[ "$(grep -c '"name"' "$T/out")" = 8 ] || fail 'not 8 drives'
has "$T/out" '"rated_mb_per_s":115'

begin() {
	iobisect start --good v1 --bad v2 --workload seqwrite:total=1M "$@"
}
error 'there are ide-12g-2000, ide-1g-1996' begin --drive floppy
error 'name one with --drive' begin --slow 3
error '--slow' begin --drive none --slow 0
error 'the drive ide-1g-1996 has' begin --drive ide-1g-1996 --size 8G
echo '{ "kind": "flat", "colour": 1 }' >"$T/mine.json"
error 'mine.json' begin --drive "$T/mine.json"
[ ! -e .git/iobisect ] || fail 'a session is left'

expect 0 begin --drive wd-10k-sata --slow 2
expect 0 iobisect run
has "$T/out" "$culprit is the first bad commit"
expect 0 iobisect trace 1
has "$T/out" '# wd-10k-sata, slow motion 2'
error 'boot 999 has no trace' iobisect trace 999
error 'not a trace' iobisect trace ./Makefile
expect 0 iobisect trace --blktrace "$T/x.blktrace.0" 1
[ -f "$T/x.blktrace.0" ] || fail 'no blktrace'
expect 0 iobisect reset
