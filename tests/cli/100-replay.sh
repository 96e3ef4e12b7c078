#!/bin/sh
# Long logs, interrupted ones and broken ones.
. "$(dirname "$0")/lib.sh"
new_repo repo
steps 6 3
bad=$(git rev-parse v2) good=$(git rev-parse v1)
expect 0 iobisect start --accel tcg --good v1 --bad v2 --workload seqwrite:total=2M
cp .git/iobisect/question.json "$T/question"

# binary junk is not handed on to the terminal
printf 'git bisect start\nx\033]0;title\007 \302\233m \377\n' >"$T/junk"
error 'junk: line 2' iobisect replay "$T/junk"
LC_ALL=C tr -d '\n -~' <"$T/err" >"$T/odd"
[ ! -s "$T/odd" ] || fail 'the error holds odd bytes'
printf 'git bisect start\ngit bisect bad \000\n' >"$T/zero"
error 'zero bytes' iobisect replay "$T/zero"

# a long log: an fsync for each mark took minutes
{
	echo "git bisect start '$bad' '$good'"
	for c in $(git rev-list v1..v2~1); do
		echo "git bisect skip $c"
	done
} >"$T/log"
for i in $(seq 300); do
	tail -n 5 "$T/log"
done >"$T/more"
cat "$T/more" >>"$T/log"
n=$(grep -c skip "$T/log")
if command -v strace >/dev/null; then
	strace -f -c -e trace=fdatasync -o "$T/calls" \
		iobisect replay "$T/log" >/dev/null 2>&1 || [ $? = 2 ] || fail 'replay'
	calls=$(awk '$NF == "fdatasync" { print $4 }' "$T/calls")
	[ "${calls:-9}" -le 3 ] || fail "$calls fdatasyncs for $n marks"
else
	iobisect replay "$T/log" >/dev/null 2>&1 || [ $? = 2 ] || fail 'replay'
fi
[ "$(grep -c '"mark":"skip"' .git/iobisect/journal.jsonl)" = "$n" ] || fail 'marks are missing'
cmp -s "$T/question" .git/iobisect/question.json || fail 'the question is another one'

# a replay that cannot be leaves the session as it was
cp -r .git/iobisect "$T/before"
sed 1q "$T/log" >"$T/wrong"
echo "git bisect good $bad" >>"$T/wrong"
echo "git bisect bad $good" >>"$T/wrong"
code=0
iobisect replay "$T/wrong" >/dev/null 2>&1 || code=$?
[ $code -ge 128 ] || fail "swapped ends were replayed: $code"
diff -r -x lock .git/iobisect "$T/before" || fail 'the session before is gone'

# one that is stopped as well; it reads a pipe that does not end
mkfifo "$T/pipe"
iobisect replay "$T/pipe" >"$T/out" 2>"$T/err" &
pid=$!
exec 9>"$T/pipe"
cat "$T/log" >&9
kill -TERM $pid
code=0
wait $pid || code=$?
exec 9>&-
[ $code = 130 ] || fail "exit $code after SIGTERM"
diff -r -x lock .git/iobisect "$T/before" || fail 'the session before is gone'
