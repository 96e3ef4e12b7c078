#!/bin/sh
# Every command and option is in --help and in the man page.
. "$(dirname "$0")/lib.sh"
man=$IOBISECT_SOURCE/docs/iobisect.1
expect 0 iobisect --help
cp "$T/out" "$T/help"
commands=$(sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p' "$T/help" | grep -v '^iobisect$')
[ "$(echo "$commands" | wc -l)" = 15 ] || fail "not 15 commands: $commands"
for c in $commands; do
	expect 0 iobisect "$c" --help
	has "$T/out" "usage: iobisect $c"
	grep -q "^\.It Cm $c" "$man" || fail "the man page lacks $c"
	sed -n 's/^  --\([a-z-]*\).*/\1/p' "$T/out" | while read -r o; do
		grep -q -e "Fl -$o" "$man" || fail "the man page lacks --$o"
	done
done
expect 129 iobisect
expect 129 iobisect run --nonsense
expect 129 iobisect status too many
error 'no command of iobisect' iobisect frobnicate
[ -x "$IOBISECT_BUILD/bin/git-iobisect" ] || fail 'no git-iobisect'
(cd "$T" && git init -q r && cd r && expect 128 git iobisect status)
has "$T/err" 'no bisection is under way'
