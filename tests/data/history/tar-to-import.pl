#!/usr/bin/perl
# tar-to-import.pl TREE DIR <ARCHIVE >BLOBS: reads a tar archive once, for git
# fast-import. Writes its files as blobs, marked from 1 on; into TREE the lines of
# a commit that puts them where they were below the archive's top directory; and
# into DIR copies of the files whose paths are found there (each an empty file).
# So a tree of 80 000 files needs no work tree.
use strict;
use warnings;

my ($tree, $dir) = @ARGV;
open my $lines, '>', $tree or die "$tree: $!\n";
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

my $mark = 0;

sub put {
	my ($path, $mode, $data) = @_;
	$mark++;
	print "blob\nmark :$mark\ndata ", length $data, "\n$data\n"
		or die "write: $!\n";
	(my $quoted = $path) =~ s/(["\\])/\\$1/g;
	print $lines "M $mode :$mark \"$quoted\"\n";
	return if $mode eq '120000' || !-e "$dir/$path";
	open my $copy, '>', "$dir/$path" or die "$dir/$path: $!\n";
	binmode $copy;
	print $copy $data;
	close $copy or die "$dir/$path: $!\n";
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
		put($path, '120000', $target);
	} elsif ($type eq '0' || $type eq "\0") {
		put($path, oct(field($mode)) & 0100 ? '100755' : '100644', $data);
	} elsif ($type ne '5' && $type ne 'g') {
		die "$path: a tar entry of type $type\n";
	}
}
1 while read STDIN, my $rest, 65536; # or xz dies of SIGPIPE
close $lines or die "$tree: $!\n";
close STDOUT or die "write: $!\n";
