#!/usr/bin/perl
# Reads a tar archive and writes the files below its top directory as the changes of
# a git fast-import commit: a tree of 80 000 files needs no work tree that way.
use strict;
use warnings;

binmode STDIN;
binmode STDOUT;

sub take {
	my ($n) = @_;
	my $data = '';
	while ($n > length $data) {
		read(STDIN, $data, $n - length $data, length $data)
			or die "the archive is cut off\n";
	}
	return $data;
}

sub field {
	my ($text) = @_;
	$text =~ s/\0.*//s;
	return $text;
}

sub quoted {
	my ($path) = @_;
	$path =~ s/(["\\])/\\$1/g;
	return "\"$path\"";
}

my ($long_name, $long_link);
for (;;) {
	my $header = take(512);
	last if $header eq "\0" x 512;
	my ($name, $mode, undef, undef, $size, undef, undef, $type, $link, $magic,
		undef, undef, undef, undef, undef, $prefix)
		= unpack 'a100 a8 a8 a8 a12 a12 a8 a1 a100 a6 a2 a32 a32 a8 a8 a155',
		$header;
	$size = oct field($size);
	my $data = take($size);
	take((512 - $size % 512) % 512);
	if ($type eq 'L') { $long_name = field($data); next }
	if ($type eq 'K') { $long_link = field($data); next }
	if ($type eq 'x') {
		$long_name = $1 if $data =~ /^\d+ path=(.*)$/m;
		$long_link = $1 if $data =~ /^\d+ linkpath=(.*)$/m;
		next;
	}
	my $path = $long_name // (field($magic) eq 'ustar' && field($prefix) ne ''
		? field($prefix) . '/' . field($name) : field($name));
	my $target = $long_link // field($link);
	undef $long_name;
	undef $long_link;
	$path =~ s{^(?:\./)?[^/]+/}{} or next;
	if ($type eq '2') {
		print "M 120000 inline ", quoted($path), "\ndata ", length $target,
			"\n$target\n";
	} elsif ($type eq '0' || $type eq "\0") {
		my $bits = oct(field($mode)) & 0100 ? 100755 : 100644;
		print "M $bits inline ", quoted($path), "\ndata $size\n", $data, "\n";
	}
}
