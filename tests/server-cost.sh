#!/bin/sh
# What iobisect-disk costs when the drive costs nothing, side by side with nbdkit's
# memory plugin: fio's IOPS over the same kind of socket, best of some rounds each
# (ROUNDS, 5), taken in turns, and processor time a request. Fails when ours is more
# than 10 % slower anywhere.
#   sh tests/server-cost.sh [BUILD]
. "$(dirname "$0")/lib.sh"
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-${IOBISECT_BUILD:-$source/build}}
rounds=${ROUNDS:-5}
T=$(mktemp -d /dev/shm/iobisect-server.XXXXXX)
ours='' theirs=''
trap 'kill $ours $theirs 2>/dev/null; wait; rm -rf "$T"' EXIT
trap 'exit 1' INT TERM HUP
for tool in fio nbdkit jq; do
	command -v $tool >/dev/null || {
		echo "skip: no $tool"
		exit 77
	}
done
cd "$T"
"$build/bin/iobisect-disk" --size 256M --data "$T/data" --socket "$T/d/ours" \
	--trace "$T/trace" >"$T/out" &
ours=$!
nbdkit -f -U "$T/theirs" memory 256M &
theirs=$!
for _ in $(seq 100); do
	[ -S "$T/theirs" ] && [ -S "$T/d/ours" ] && break
	sleep 0.05
done

# once SOCKET PID RW SIZE DEPTH: fio's IOPS, requests, ticks of PID's processor time.
once() {
	before=$(ticks "$2")
	fio --name=x --ioengine=nbd --uri="nbd+unix:///?socket=$1" --rw="$3" \
		--bs="$4" --iodepth="$5" --size=256M --randrepeat=1 \
		--time_based --runtime="${SECONDS_EACH:-1}" \
		--output-format=json 2>/dev/null | sed -n '/^{/,$p' |
		jq -r '.jobs[0] | "\(.read.iops + .write.iops) " +
			"\(.read.total_ios + .write.total_ios)"' | tr '\n' ' '
	echo $(($(ticks "$2") - before))
}
ticks() {
	awk '{ print $14 + $15 }' "/proc/$1/stat"
}
# summary FILE: the best IOPS, microseconds of processor a request.
summary() {
	awk -v hz="$(getconf CLK_TCK)" '{
		if ($1 > best)
			best = $1
		n += $2
		ticks += $3 } END { print best, ticks / hz / n * 1e6 }' "$1"
}

once "$T/d/ours" $ours write 128k 16 >/dev/null # both have all their memory
once "$T/theirs" $theirs write 128k 16 >/dev/null
status=0
printf '%-10s %5s %6s %8s %8s %6s   %s\n' access size depth ours nbdkit ratio \
	'CPU us/request'
for test in randread:4k:1 randwrite:4k:1 randread:4k:16 randwrite:4k:16 \
	read:128k:16 write:128k:16; do
	IFS=: read -r rw size depth <<-END
		$test
	END
	: >a
	: >b
	for _ in $(seq "$rounds"); do
		once "$T/d/ours" $ours "$rw" "$size" "$depth" >>a
		once "$T/theirs" $theirs "$rw" "$size" "$depth" >>b
	done
	echo "$rw $size $depth $(summary a) $(summary b)" | awk '{
		printf "%-10s %5s %6s %8.0f %8.0f %6.2f   %.1f %.1f\n",
			$1, $2, $3, $4, $6, $4 / $6, $5, $7
		exit $4 < 0.9 * $6 }' || status=1
done
[ $status = 0 ] || fail 'more than 10 % slower than nbdkit'
