#!/bin/sh
# The cached source tree, damaged: repaired before a failure counts. And src or obj
# made a link to elsewhere, where nothing may be written or removed.
. "$(dirname "$0")/lib.sh"
new_repo repo
mkdir -p fs/ext2
echo 'int x;' >fs/ext2/inode.c
echo fs/ext2/inode.c >needs
commit 'needs a file'
git tag v2
echo 300 >speed
commit 'slow'
bench() {
	expect "$1" iobisect bench "$2" --workload seqwrite:total=1M --runs 1
}
bench 0 v1
bench 0 v2
tree=$(echo "$IOBISECT_CACHE"/trees/*)
rm "$tree/src/fs/ext2/inode.c"
bench 0 main
has "$T/out" '0.30'
has "$T/err" 'the source tree was damaged'
[ -s "$tree/src/fs/ext2/inode.c" ] || fail 'the file is still lost'
grep -q -r '^reason' "$IOBISECT_CACHE/kernels" && fail 'a failure was remembered'

# a kernel that is broken indeed is built once, and stays broken
echo '' >broken-build
commit broken
bench 125 main
has "$T/out" 'does not build: fs/ext2/inode.c:12:3: error: broken'
bench 125 main
git rm -q broken-build
echo 250 >speed
commit mended

mkdir "$T/mine" "$T/mine2"
echo precious >"$T/mine/file"
echo precious >"$T/mine2/file"
rm -rf "$tree/src" "$tree/obj"
ln -s "$T/mine" "$tree/src"
ln -s "$T/mine2" "$tree/obj"
bench 0 main
has "$T/out" '0.25'
[ "$(cd "$T" && echo mine/* mine2/*)" = 'mine/file mine2/file' ] ||
	fail 'something was written through the link'
if [ -L "$tree/src" ] || [ -L "$tree/obj" ]; then
	fail 'the links are still there'
fi

# A tree that the repository no longer has: its files must not stay between those of
# the next kernel.
git checkout -q --detach main
echo x >left-over
echo 170 >speed
commit 'work in progress'
bench 0 HEAD
[ -f "$tree/src/left-over" ] || fail 'not the tree that is meant'
git checkout -q main
git reflog expire --expire=now --all
git gc -q --prune=now
echo 260 >speed
commit 'another kernel'
bench 0 main
[ ! -f "$tree/src/left-over" ] || fail 'files of a lost tree are still there'
