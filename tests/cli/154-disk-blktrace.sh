#!/bin/sh
# The trace in blktrace's format, read by the real tools.
. "$(dirname "$0")/disk.sh"
needs fio blkparse btt iowatcher qemu-io

flat 500
drive --size 16M --profile flat.json
fio_nbd --rw=randread --bs=4k --iodepth=4 --number_ios=300 --size=16M
qemu-io -t writeback -f raw "$uri" -c 'write -f -P 8 64k 128k' -c 'write -z 1M 32k' \
	-c 'discard 2M 32k' -c flush >"$T/out"
stop
trace blktrace "$T/trace" >t.blktrace.0
trace table "$T/trace" >all
grep -v " idle " all >table
requests=$(wc -l <table)
[ "$requests" -ge 303 ] || fail "$requests requests"

# One line an event; those of one request have the times of our table, which begins
# at its first arrival there.
blkparse -q -i t -d t.bin -f '%a %d %S %N %T %t\n' >events 2>blkparse.err
awk 'FNR == NR { if (!n++) first = $5
		p("Q", $5)
		p("G", $5)
		p("D", $6)
		p("C", $7)
	}
	function p(what, when) {
		printf "%s %s %.0f %.0f\n", what, $3, $4 * 512, when - first
	}' table | sort >want
awk '/^[QGDC] / { printf "%s %s %s %.0f\n", $1, $3, $4, $5 * 1000000000 + $6
	}' events | sort >got
cmp want got || {
	diff want got | head >&2
	fail 'blkparse sees something else'
}
for letters in R WF D FW W; do
	grep -q "^Q $letters " events || {
		cut -d' ' -f1,2 events | sort | uniq -c >&2
		fail "no request of kind $letters"
	}
done

# btt leaves out what moves no data.
requests=$(grep -v -c ' flush ' table)
btt -i t.bin >btt.out
queued=$(awk '/Device Merge/ { on = 1 } on && /^ *\(/ { print $5; exit }' btt.out)
[ "$queued" = "$requests" ] || {
	cat btt.out >&2
	fail "btt sees $queued of $requests requests"
}
iowatcher -t t.bin -o t.svg >iowatcher.out 2>&1 || {
	cat iowatcher.out >&2
	fail iowatcher
}
has t.svg '</svg>'
