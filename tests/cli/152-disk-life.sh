#!/bin/sh
# How a drive starts, ends, and refuses to start.
. "$(dirname "$0")/disk.sh"
needs nbdinfo fio

# refused CODE TEXT OPTIONS...
refused() {
	code=$1 text=$2
	shift 2
	expect "$code" iobisect-disk "$@"
	[ "$(wc -l <"$T/err")" = 1 ] || fail "not one line of error: $*"
	has "$T/err" "iobisect-disk: $text"
	[ ! -e "$T/d" ] || fail "a socket is left behind: $*"
}

expect 0 iobisect-disk --help
sed -n 's/^  \(--[a-z]*\).*/\1/p' "$T/out" | while read -r o; do
	has "$IOBISECT_SOURCE/docs/drives.md" "\`$o"
done
all="--size 1M --data $T/img --socket $T/d/s"
refused 2 '--size, --data and --socket are needed'
refused 2 "no option '--nonsense'" --nonsense 1
refused 2 '--size takes BYTES' --size
refused 2 '--size is bytes' --size 1000 --data x --socket y
refused 2 '--size is bytes' --size 0 --data x --socket y
refused 2 '--size is bytes' --size -1 --data x --socket y
# shellcheck disable=SC2086 # options
{
	refused 2 '--slow is a whole' $all --slow 0
	refused 2 '--depth is a whole' $all --depth 65
	refused 1 'open the data /nonexistent/x' $all --data /nonexistent/x
	refused 1 'the data /dev/null is not a file' $all --data /dev/null
	refused 1 'create the trace /nonexistent/t' $all --trace /nonexistent/t
	refused 1 "'fd:x' is no descriptor" $all --socket fd:x
	refused 1 'use the socket fd:77' $all --socket fd:77
	echo '{' >bad.json
	refused 1 '' $all --profile bad.json
	mkdir open
	chmod 755 open
	refused 1 "the socket's directory open/ is open" $all --socket open/s
	long=$(printf '%0110d' 0)
	refused 1 "the socket's path is longer" $all --socket "$T/d/$long"
	truncate -s 2M img
	refused 1 "the data $T/img is longer" $all
}

# Where the socket is seen, it listens; a second server is refused; one that was
# killed is replaced.
drive --size 4M
expect 1 iobisect-disk --size 4M --data "$T/img" --socket "$T/d/s"
has "$T/err" 'has a server already'
kill -USR1 $drive
until [ -s "$T/served" ]; do sleep 0.01; done
has "$T/served" 'requests 0'
nbdinfo --size "$uri" >"$T/out"
kill -9 $drive
wait $drive || :
[ -S "$T/d/s" ] || fail 'the test kills nothing'
mkdir -p "$T/d"
iobisect-disk --size 4M --data "$T/img" --socket "$T/d/s" >/dev/null &
drive=$!
until nbdinfo --size "$uri" >"$T/out" 2>&1; do
	kill -0 $drive || fail 'a stale socket is in the way'
	sleep 0.01
done
[ "$(cat "$T/out")" = 4194304 ] || fail 'the wrong size'
kill $drive
wait $drive
rm -rf "$T/d" # made by the one that was killed

# Descriptors handed over: a listening socket (as nbdinfo does), a connected one.
nbdinfo --size -- [ iobisect-disk --size 4M --data fd:9 --socket fd:3 ] \
	9<>"$T/img" >"$T/out"
grep -q 4194304 "$T/out" || fail 'a listening socket handed over'
perl -MSocket -MPOSIX -e '
	socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, PF_UNSPEC) or die;
	my $pid = fork;
	if (!$pid) {
		POSIX::dup2(fileno($b), 9);
		exec qw(iobisect-disk --size 4M --socket fd:9 --data), $ARGV[0];
	}
	close $b;
	sysread($a, my $greeting, 18) == 18 or die "no greeting";
	close $a;
	waitpid($pid, 0);
	exit $? >> 8' "$T/img" >"$T/out" || fail 'a connected socket handed over'
has "$T/out" 'requests 0'

# busy PID: until it has served some requests.
busy() {
	until [ "$(sed -n 's/^requests //p' served | tail -n 1)" -gt 20 ]; do
		kill -USR1 "$1" || fail 'the drive is gone'
		sleep 0.02
	done 2>/dev/null
}

# It ends when its parent is killed, and leaves a whole trace and no socket.
flat 3000
sh -c "iobisect-disk --size 4M --data img --socket '$T/d/s' --trace trace \
	--profile flat.json >served & echo \$! >pid; wait" &
parent=$!
until [ -S "$T/d/s" ]; do sleep 0.01; done
fio --name=x --ioengine=nbd --uri="$uri" --thread --rw=write --bs=4k --iodepth=16 \
	--size=4M --time_based --runtime=20 >/dev/null 2>&1 &
client=$!
busy "$(cat pid)"
kill -9 $parent
wait $parent || :
while kill -0 "$(cat pid)" 2>/dev/null; do sleep 0.01; done
wait $client || : # it sees the end of the connection
[ ! -e "$T/d" ] || fail 'the socket outlives its server'
has served 'late_worst_ns'
trace stats "$T/trace" >"$T/stats"
[ "$(stat_of torn)" = 0 ] || fail 'the trace is torn'
[ "$(stat_of writes.requests)" -gt 10 ] || fail 'an empty trace'

# A client that is killed in the middle of its requests disturbs nobody.
drive --size 4M --profile flat.json
fio --name=x --ioengine=nbd --uri="$uri" --thread --rw=randrw --bs=64k --iodepth=16 \
	--size=4M --time_based --runtime=20 >/dev/null 2>&1 &
client=$!
busy $drive
kill -9 $client
wait $client || :
nbdinfo --size "$uri" >/dev/null || fail 'a killed client took the drive along'
stop
[ "$(stat_of writes.requests)" -gt 10 ] || fail 'an empty trace'

# A trace that cannot be written is a failure, told at the end.
iobisect-disk --size 4M --data img --socket "$T/d/s" --trace /dev/full \
	>/dev/null 2>"$T/err" &
drive=$!
until [ -S "$T/d/s" ]; do sleep 0.01; done
kill $drive
code=0
wait $drive || code=$?
[ $code = 1 ] || fail "exit $code with a trace that cannot be written"
has "$T/err" 'write the trace /dev/full: No space left'

# A command of its own: connected when it starts, and the drive ends as it does.
own="--size 1M --data $T/own --client 12"
refused 2 'a command needs --client' --size 1M --data "$T/own" -- true
refused 2 'a command needs --client' --size 1M --data "$T/own" --client 12 --
# shellcheck disable=SC2086
expect 0 iobisect-disk $own --trace "$T/own.trace" -- qemu-io --image-opts \
	driver=nbd,server.type=fd,server.str=12 -c 'write -P 7 0 64k' -c flush
[ "$(head -c 65536 "$T/own" | tr -d '\007' | wc -c)" = 0 ] || fail 'not written'
trace stats "$T/own.trace" >"$T/stats"
equals flushes 2 # and one when it is closed
# shellcheck disable=SC2086
expect 3 iobisect-disk $own -- sh -c 'exit 3'
# shellcheck disable=SC2086
expect 143 iobisect-disk $own -- sh -c 'kill $$'
# shellcheck disable=SC2086
expect 1 iobisect-disk $own -- no-such-program
has "$T/err" 'run no-such-program'
