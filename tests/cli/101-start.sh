#!/bin/sh
# start makes a whole session or none: on a full disk, killed, beside other files.
. "$(dirname "$0")/lib.sh"
new_repo repo
steps 6 3
set -- --accel tcg --good v1 --bad v2 --workload seqwrite:total=1M

# whole SESSION: a session in which everything is
whole() {
	[ "$(wc -l <"$1/journal.jsonl")" = 3 ] || fail "$2: half a journal"
	iobisect status --session "$1" >/dev/null || fail "$2: no session"
}

# no file may have a byte
{
	(ulimit -f 0 && exec iobisect start "$@" --session "$T/s" 2>&1) || echo "exit $?"
} | cat >"$T/err"
has "$T/err" 'File too large'
has "$T/err" 'exit 128'
[ ! -e "$T/s" ] || fail "$(ls "$T/s") was left"
expect 0 iobisect start "$@" --session "$T/s"
whole "$T/s" 'after a limit'

# small file systems, where we may make them, with less and less room on them
mkdir "$T/tiny"
if mount -t tmpfs -o size=64k tmpfs "$T/tiny" 2>/dev/null; then
	trap 'cd /; umount "$T/tiny"; rm -rf "$T"' EXIT
	failed=0
	for pages in $(seq 9 16); do
		head -c $((pages * 4096)) /dev/zero >"$T/tiny/filler"
		code=0
		iobisect start "$@" --session "$T/tiny/s" >"$T/out" 2>"$T/err" || code=$?
		case $code in
		0) whole "$T/tiny/s" "$pages pages" ;;
		128)
			failed=$((failed + 1))
			has "$T/err" 'No space left on device'
			[ ! -e "$T/tiny/s" ] || fail "$(ls "$T/tiny/s") was left at $pages" ;;
		*) fail "exit $code at $pages pages" ;;
		esac
		rm -rf "$T/tiny/s"
	done
	[ $failed -gt 2 ] || fail 'it was never full'
	# a full disk does not stand in reset's way
	rm "$T/tiny/filler"
	expect 0 iobisect start "$@" --session "$T/tiny/s"
	head -c 65536 /dev/zero >"$T/tiny/filler" 2>/dev/null || :
	expect 0 iobisect reset --session "$T/tiny/s"
fi

# kill -9 at any moment: the next start works, or names the way out
killed=0
for i in $(seq 12); do
	rm -rf "$T/s"
	iobisect start "$@" --session "$T/s" >/dev/null 2>&1 &
	pid=$!
	sleep "0.0$(printf %02d $((i % 20)))"
	kill -9 $pid 2>/dev/null || :
	code=0
	wait $pid 2>/dev/null || code=$?
	[ $code = 0 ] || killed=$((killed + 1))
	code=0
	iobisect start "$@" --session "$T/s" >/dev/null 2>"$T/err" || code=$?
	if [ $code != 0 ]; then
		has "$T/err" 'a bisection is under way'
		has "$T/err" 'iobisect reset'
		expect 0 iobisect reset --session "$T/s"
		expect 0 iobisect start "$@" --session "$T/s"
	fi
	whole "$T/s" "kill $i"
done
[ $killed -gt 0 ] || fail 'no start was killed'

# what others keep in a directory is not ours to remove
mkdir "$T/mine"
touch "$T/mine/notes"
error 'directory of its own' iobisect start "$@" --session "$T/mine"
error 'not an ancestor' iobisect start --good v2 --bad "$(git commit-tree -m x 'v1^{tree}')" --session "$T/new"
[ -e "$T/mine/notes" ] || fail 'notes were removed'
expect 0 iobisect start --session "$T/later"
touch "$T/later/notes"
expect 0 iobisect reset --session "$T/later"
has "$T/out" 'kept in'
rm -rf "$T/s"
expect 0 iobisect start "$@" --session "$T/s"
rm "$T/s/question.json"
error 'put that back' iobisect start "$@" --session "$T/s"
[ -s "$T/s/journal.jsonl" ] || fail 'the journal was written over'
