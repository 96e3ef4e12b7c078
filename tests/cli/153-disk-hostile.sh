#!/bin/sh
# Clients that lie, stop half-way, or never read: an error or the end of their
# connection, and the drive serves the next one.
. "$(dirname "$0")/disk.sh"
needs nbdinfo perl

cat >"$T/hostile.pl" <<'EOP'
use strict;
use Socket;
my $path = shift;
my $n = 0;
sub client {
	socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die;
	connect($s, pack_sockaddr_un($path)) or die "connect: $!";
	return $s;
}
sub all {
	my ($s, $n) = @_;
	my $got = '';
	while (length $got < $n) {
		sysread($s, $got, $n - length $got, length $got) or last;
	}
	return $got;
}
my $go = pack('N', 3) . 'IHAVEOPT' . pack('NNNn', 7, 6, 0, 0);
sub ready {
	my $s = client();
	syswrite($s, $go);
	length all($s, 18 + 20 + 12 + 20 + 14 + 20) == 104 or die 'no GO';
	return $s;
}
sub request {
	my ($type, $cookie, $offset, $len) = @_;
	return pack('NnnQ>Q>N', 0x25609513, 0, $type, $cookie, $offset, $len);
}
sub check {
	my ($what, $ok) = @_;
	$ok or die "FAIL: $what\n";
	$n++;
}
sub closed { return length all($_[0], 1) == 0 }
sub reply { # the error and cookie of the next reply
	my ($magic, $error, $cookie) = unpack 'NNQ>', all($_[0], 16);
	$magic == 0x67446698 or die "no reply\n";
	return "$error $cookie";
}
my $s;

# Garbage, in each phase.
$s = client();
all($s, 18);
syswrite($s, 'x' x 4096);
check('garbage in the handshake', closed($s));
$s = ready();
syswrite($s, 'x' x 4096);
check('garbage in transmission', closed($s));

# More half-open clients than there are seats; the next one is served.
my @half = map { my $h = client(); syswrite($h, "\0\0"); $h } 1 .. 40;
$s = ready();
check('served beside half-open clients', 1);
# Those in transmission are never thrown out: the ninth is turned away.
my @whole = ($s, map { ready() } 1 .. 7);
check('a ninth client', closed_soon(client()));
sub closed_soon { my $s = shift; all($s, 19); return 1 }
@whole = ();
@half = ();

# Cut in the middle of a request, of a payload.
$s = ready();
syswrite($s, substr request(1, 1, 0, 4096), 0, 20);
close $s;
$s = ready();
syswrite($s, request(1, 1, 0, 1 << 20) . 'y' x 1000);
close $s;

# Errors, each with the connection intact.
$s = ready();
syswrite($s, request(0, 7, 1 << 40, 512));
check('read past the end', reply($s) eq '22 7');
syswrite($s, request(1, 8, (4 << 20) - 512, 1024) . 'z' x 1024);
check('write past the end', reply($s) eq '28 8');
syswrite($s, request(0, 9, 0, 0xffffffff));
check('a huge read', reply($s) eq '75 9');
syswrite($s, request(1, 10, 0, 40 << 20));
syswrite($s, 'h' x (1 << 20)) for 1 .. 40;
check('a huge write', reply($s) eq '75 10');
syswrite($s, request(99, 11, 0, 0));
check('an unknown command', reply($s) eq '22 11');
syswrite($s, request(0, 12, 0, 512));
check('and a good one', reply($s) eq '0 12' && length all($s, 512) == 512);
syswrite($s, request(2, 13, 0, 0));
check('DISC', closed($s));

# Asks for a lot and never reads. Until the socket is full, then it gives up.
$s = ready();
$s->blocking(0);
for (1 .. 100000) {
	last unless syswrite($s, request(0, $_, 0, 4 << 20));
}
my $t = client();
$t->blocking(0);
all_now($t);
sub all_now { select undef, undef, undef, 0.05 }
for (1 .. 100000) { # options without end, and no look at the answers
	last unless syswrite($t, ($_ == 1 ? pack('N', 3) : '') .
		('IHAVEOPT' . pack('NN', 3, 0)) x 100);
}
my $u = ready();
syswrite($u, request(0, 5, 0, 512));
check('served beside one that never reads', reply($u) eq '0 5');
print "$n checks\n";
EOP
flat 100
for options in '' "--profile $T/flat.json"; do
	truncate -s 0 "$T/img"
	# shellcheck disable=SC2086
	drive --size 4M $options
	timeout 20 perl -MIO::Handle "$T/hostile.pl" "$T/d/s" >"$T/out" 2>&1 || {
		cat "$T/out" >&2
		fail "hostile clients, options '$options'"
	}
	has "$T/out" '12 checks'
	kb=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' /proc/$drive/status)
	# Eight seats of 64 MiB are the most that it may ever hold.
	[ "$kb" -lt 200000 ] || fail "$kb kB of memory"
	nbdinfo --size "$uri" >/dev/null || fail 'the drive is gone'
	stop
done
