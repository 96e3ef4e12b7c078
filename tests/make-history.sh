#!/bin/sh
# Makes a kernel history for the demo and the tests:
#   sh tests/make-history.sh DIR
# DIR becomes a bare git repository: Debian's linux-source-6.1, whatever 6.1.y that
# is, as one commit (tag good), and the commits of data/history/series on top of it
# (branch main, tag bad). On its merged topic branch one commit makes ext2's writes
# slower; two near it can't be tested. The tests find them by refs/iobisect-test/
# planted, no-build and no-boot, which name no commit for anyone else. The same
# package gives the same commit ids.
#
# When DIR holds that history already, nothing is done. It is made in DIR.tmp and
# renamed, so half a history is never taken for a whole one. An older one is replaced.
#
# LINUX_SOURCE: another archive than /usr/src/linux-source-6.1.tar.xz.
set -eu
# Nothing of the user's may change what git does here.
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_COMMON_DIR \
	GIT_DEFAULT_HASH
export LC_ALL=C GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1

die() {
	echo "make-history: $*" >&2
	exit 1
}

data=$(cd "$(dirname "$0")/data/history" && pwd)
[ $# = 1 ] || die 'usage: make-history.sh DIR'
dir=${1%/}
case $dir in
/*) ;;
*) dir=$PWD/$dir ;;
esac
archive=${LINUX_SOURCE:-/usr/src/linux-source-6.1.tar.xz}
[ -f "$archive" ] ||
	die "$archive is missing: apt-get install linux-source-6.1"

# The archive by its size and time: reading it would take longer than all the rest.
stamp=$({
	cat "$0" "$data"/*
	stat -L -c '%s %Y' "$archive"
} | sha256sum | cut -d' ' -f1)
if [ "$(cat "$dir/iobisect-stamp" 2>/dev/null)" = "$stamp" ]; then
	echo "the history in $dir is there already"
	exit 0
fi
[ ! -e "$dir" ] || [ -f "$dir/iobisect-stamp" ] ||
	die "$dir is there, and is no history of mine: remove it, or name another"

tmp=$dir.tmp
edit=$tmp/edit
import=
finish() {
	[ -z "$import" ] || kill "$import" 2>/dev/null || :
	rm -rf "$tmp"
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
trap '' PIPE # when fast-import gives up, writing to it fails, and we say so
rm -rf "$tmp"
mkdir -p "$edit" "$tmp/branch"

# Only the files that some patch touches are ever unpacked.
sed -n 's,^+++ b/,,p' "$data"/*.patch | sort -u >"$tmp/edited"
(echo Makefile && cat "$tmp/edited") | while read -r path; do
	mkdir -p "$edit/$(dirname "$path")"
	: >"$edit/$path"
done

git init -q --bare --template= -b main "$tmp/git"
git -C "$tmp/git" config core.compression 1
git -C "$tmp/git" config gc.auto 0
mkfifo "$tmp/stream"
# No deltas: neighbours in an archive are not alike, and looking costs half the time.
git -C "$tmp/git" fast-import --quiet --done --depth=0 --date-format=rfc2822 \
	<"$tmp/stream" &
import=$!
exec 3>"$tmp/stream"

echo "importing $archive"
# A pipe's failure is its last command's only, so xz says by a file that it's well.
{
	xz -T0 -dc "$archive" && : >"$tmp/unpacked"
} | perl "$data/tar-to-import.pl" "$tmp/tree" "$edit" >&3 ||
	die "$archive: cannot be imported"
[ -f "$tmp/unpacked" ] || die "$archive: cannot be unpacked"
version=$(sed -n -E 's/^(VERSION|PATCHLEVEL|SUBLEVEL) = //p' "$edit/Makefile" |
	paste -sd. -)
while read -r path; do
	[ -s "$edit/$path" ] || die "Linux $version has no $path"
done <"$tmp/edited"

# For each branch: branch/NAME.tip, the mark of its last commit; .from, fast-import's
# line that a branch's first commit needs; .paths, what it changed since it forked.
maintainer='Ana Ruiz <ana.ruiz@example.org>'
mark=1000000 # the blobs' own marks come before

# begin BRANCH AUTHOR DATE MESSAGE: a commit's head, with the message from a file. What
# it merges and changes follows.
begin() {
	mark=$((mark + 1))
	printf 'commit refs/heads/%s\nmark :%d\nauthor %s %s\ncommitter %s %s\n' \
		"$1" $mark "$2" "$3" "$maintainer" "$3" >&3
	printf 'data %d\n' "$(wc -c <"$4")" >&3
	cat "$4" >&3
	echo >&3
	if [ -f "$tmp/branch/$1.from" ]; then
		cat "$tmp/branch/$1.from" >&3
		rm "$tmp/branch/$1.from"
	fi
	echo $mark >"$tmp/branch/$1.tip"
}

# put: the files whose paths are read from stdin, as they are now.
put() {
	while read -r path; do
		printf 'M 100644 inline %s\ndata %d\n' "$path" \
			"$(wc -c <"$edit/$path")" >&3
		cat "$edit/$path" >&3
		echo >&3
	done
}

tip() {
	cat "$tmp/branch/$1.tip"
}

base() {
	printf 'Linux %s\n\nAs Debian ships it in linux-source-6.1.\n' "$version" \
		>"$tmp/message"
	begin main "$maintainer" 'Sat, 01 Mar 2025 12:00:00 +0000' "$tmp/message"
	cat "$tmp/tree" >&3
}

# commit BRANCH PATCH
commit() {
	patch=$data/$2.patch
	[ -f "$patch" ] || die "no $patch"
	# One line of context must do, for other stable releases have moved the rest.
	# The ceiling keeps git from taking a repository around us for its own.
	GIT_CEILING_DIRECTORIES=$tmp git -C "$edit" apply -C1 "$patch" ||
		die "$2.patch does not apply to Linux $version"
	sed -n '/^---$/q;s/^Subject: //;/^From: /d;/^Date: /d;p' "$patch" \
		>"$tmp/message"
	begin "$1" "$(sed -n '1,/^$/s/^From: //p' "$patch")" \
		"$(sed -n '1,/^$/s/^Date: //p' "$patch")" "$tmp/message"
	sed -n 's,^+++ b/,,p' "$patch" >"$tmp/touched"
	put <"$tmp/touched"
	cat "$tmp/touched" >>"$tmp/branch/$1.paths"
}

# fork NEW BRANCH
fork() {
	echo "from :$(tip "$2")" >"$tmp/branch/$1.from"
	cp "$tmp/branch/$2.tip" "$tmp/branch/$1.tip"
	: >"$tmp/branch/$1.paths"
	: >"$tmp/branch/$2.paths"
}

# merge BRANCH FROM: all of FROM's files are already as FROM left them in $edit.
merge() {
	for branch in "$1" "$2"; do
		sort -u "$tmp/branch/$branch.paths" >"$tmp/paths.$branch"
	done
	both=$(comm -12 "$tmp/paths.$1" "$tmp/paths.$2")
	[ -z "$both" ] || die "both $1 and $2 change $both"
	begin "$1" "$maintainer" 'Wed, 12 Mar 2025 10:30:00 +0000' "$data/merge-$2"
	echo "merge :$(tip "$2")" >&3
	put <"$tmp/paths.$2"
}

reset() {
	printf 'reset %s\nfrom :%d\n\n' "$1" "$2" >&3
}

echo "adding commits to Linux $version"
base
reset refs/tags/good "$(tip main)"
while read -r verb branch argument; do
	case $verb in
	'' | \#*) ;;
	commit | fork | merge) $verb "$branch" "$argument" ;;
	ref) reset "refs/iobisect-test/$branch" "$(tip "$argument")" ;;
	*) die "series: $verb: no such verb" ;;
	esac
done <"$data/series"
reset refs/tags/bad "$(tip main)"
echo 'done' >&3
exec 3>&-
wait $import || die 'git fast-import failed'
import=

count=$(git -C "$tmp/git" rev-list --count good..bad)
echo "$stamp" >"$tmp/git/iobisect-stamp"
rm -rf "$dir"
mv "$tmp/git" "$dir"
echo "$count commits between good and bad in $dir"
