#!/bin/sh
# Bad input: one clear line each, exit 128, and nothing left behind.
. "$(dirname "$0")/lib.sh"
new_repo repo
steps 6 3
w='--workload seqwrite:total=1M'
begin() {
	# shellcheck disable=SC2086
	expect 0 iobisect start --accel tcg --good v1 --bad v2 $w "$@"
}
# nothing: no session was made
nothing() {
	[ ! -e .git/iobisect ] || fail "$1 left a session"
}

(cd "$T" && error 'not a git repository' iobisect start --good v1 --bad v2)
git init -q "$T/other"
(cd "$T/other" && echo x >x && commit x && git tag v1 &&
	error 'not a kernel tree' iobisect start --good v1 --bad v1)
error "unknown revision nothing" iobisect start --good nothing --bad v2
nothing 'an unknown revision'
git checkout -q --orphan lone && commit 'no common history' && git tag lone
git checkout -q main
error 'not an ancestor' iobisect start --good lone --bad v2
nothing 'unrelated ends'
error 'swapped' iobisect start --good v2 --bad v1
nothing 'swapped ends'
error 'is both good and bad' iobisect start --good v1 --bad v1
nothing 'equal ends'
error 'no workload "nothing"' iobisect start --good v1 --bad v2 --workload nothing
error 'speed' iobisect start --good v1 --bad v2 --workload seqwrite:speed=1
for t in 0 0s -1 fast +x% ''; do
	code=0
	iobisect start --good v1 --bad v2 --threshold "$t" >/dev/null 2>"$T/err" || code=$?
	[ $code -ge 128 ] || fail "threshold '$t' was accepted"
	has "$T/err" 'threshold'
	nothing "threshold '$t'"
done
error 'too small' iobisect start --good v1 --bad v2 --size 8M
error 'unknown file system' iobisect start --good v1 --bad v2 --fs fat99
error 'floppy' iobisect start --good v1 --bad v2 --device floppy
error 'confirm with --erase' iobisect start --good v1 --bad v2 --device /dev/null
error '/dev/null' iobisect start --good v1 --bad v2 --device /dev/null --erase x
root=$(findmnt -n -o SOURCE / 2>/dev/null || :)
if [ -b "$root" ]; then
	error 'mounted' iobisect start --good v1 --bad v2 --device "$root" \
		--erase "$(blockdev --getsize64 "$root" 2>/dev/null || echo 1)"
fi
nothing 'bad options'

# broken fragment
echo 'CONFIG_OOPS' >"$T/fragment"
begin --fragment "$T/fragment"
error "$T/fragment:1" iobisect run
expect 0 iobisect reset

# a missing tool, by a PATH without it
mkdir "$T/bin"
for tool in sh cat make gcc bison bc perl gzip ld qemu-system-x86_64 mke2fs git sed; do
	ln -s "$(command -v $tool)" "$T/bin/$tool"
done
begin
error 'flex is missing: apt-get install flex' \
	env PATH="$IOBISECT_BUILD/bin:$T/bin" iobisect run
ln -s "$(command -v flex)" "$T/bin/flex"
rm "$T/bin/qemu-system-x86_64"
error 'qemu-system-x86' env PATH="$IOBISECT_BUILD/bin:$T/bin" iobisect run

# a cache that cannot be written
touch "$T/file"
error "$T/file" env IOBISECT_CACHE="$T/file/cache" iobisect run

# another iobisect on the session
env IOBISECT_FAKE_BOOT=2 iobisect run >/dev/null 2>&1 &
pid=$!
sleep 1
error "pid $pid" iobisect run
error "pid $pid" iobisect good v1
kill $pid
wait $pid || :

# a corrupt journal: named, not touched, and reset gets out of it
cp .git/iobisect/journal.jsonl "$T/journal"
echo 'junk' >>.git/iobisect/journal.jsonl
error 'corrupt' iobisect run
error 'corrupt' iobisect status
[ "$(tail -n 1 .git/iobisect/journal.jsonl)" = junk ] || fail 'the journal was touched'
expect 0 iobisect reset
has "$T/out" 'kept in'

# a slowdown that is none, and ends the wrong way round by their times
git checkout -q v1 && commit 'the same' && git tag same
expect 0 iobisect start --accel tcg --good v1 --bad same --workload seqwrite:total=1M
error 'do not differ' iobisect run
expect 0 iobisect reset
git checkout -q v2 && echo 100 >speed && commit 'faster' && git tag faster
expect 0 iobisect start --accel tcg --good v2 --bad faster --workload seqwrite:total=1M
error 'swapped' iobisect run
expect 0 iobisect reset

# a full disk: the cache on a tiny file system, where we may make one
mkdir "$T/tiny"
if mount -t tmpfs -o size=64k tmpfs "$T/tiny" 2>/dev/null; then
	trap 'cd /; umount "$T/tiny"; rm -rf "$T"' EXIT
	begin
	error 'No space left on device' env IOBISECT_CACHE="$T/tiny" iobisect run
	expect 0 iobisect run
	has "$T/out" "$culprit is the first bad commit"
fi
