#!/bin/sh
# What is asked is checked when the session is made, and again when it is read.
. "$(dirname "$0")/lib.sh"
new_repo repo
steps 6 3
begin() {
	iobisect start --accel tcg --good v1 --bad v2 "$@"
}

# options that would fail only after a build, or much later
for o in '--size 16T' '--size 2T' '--size 9999999T' '--size 1025k' \
	'--machine ../x' '--machine none' '--cc /no/such/gcc' \
	'--cc nothing-like-gcc' '--workload exec:/' '--workload exec:/dev/null' \
	'--threshold 0.000000001' '--threshold +0.0001%' \
	'--threshold 99999999999s' '--runs 1000000' '--runs 0' '--mem 1' \
	'--mem 65537' '--jobs 0' '--config /' '--fragment /' '--fragment /no/such' \
	'--accel xen' '--fs fat99' '--term-old start' '--term-new good' '--term-old a..b' '--term-old view' \
	'--workload seqwrite:total=1T'; do
	# shellcheck disable=SC2086
	error "" begin $o
	# shellcheck disable=SC2086
	set -- $o
	value=${2#*:}
	case $o in
	*total* | *1025k | *T | *--term-new* | *--config* | *--fragment*) ;;
	*) has "$T/err" "${value%s}" ;;
	esac
	[ ! -e .git/iobisect ] || fail "$o left a session"
done
error 'no command' begin --cc ' '
error 'multiple of 512' begin --size 1048577

# the same on question.json: the file and the member are named
expect 0 begin --workload seqwrite:total=1M
cp .git/iobisect/question.json "$T/good"
edit() {
	sed "s|$2|$3|" "$T/good" >.git/iobisect/question.json
	cmp -s "$T/good" .git/iobisect/question.json && fail "$2 is not there"
	for verb in status run log 'good v1'; do
		# shellcheck disable=SC2086
		error "question.json: " iobisect $verb
		has "$T/err" "$1"
	done
}
edit workloads '"seqwrite:total=1M"' ''
edit workloads 'seqwrite:total=1M' 'seqwrite:total=1M","seqwrite:total=1M'
edit workloads 'seqwrite:total=1M' 'seqwrite:colour=1'
edit runs '"runs": 3' '"runs": 0'
edit runs '"runs": 3' '"runs": -3'
edit runs '"runs": 3' '"runs": 4294967299'
edit runs '"runs": 3' '"runs": "3"'
edit mem_mb '"mem_mb": 128' '"mem_mb": 1'
edit jobs '"jobs": 0' '"jobs": -1'
edit accel '"accel": "tcg"' '"accel": "xen"'
edit term_new '"term_new": "bad"' '"term_new": "good"'
edit term_old '"term_old": "good"' '"term_old": "run"'
edit term_old '"term_old": "good"' '"term_old": "two words"'
edit fs '"fs": "ext2"' '"fs": "fat99"'
edit drive_bytes '"drive_bytes": 536870912' '"drive_bytes": 536870913'
edit threshold '"runs": 3' '"runs": 3, "threshold": "soon"'
edit paths '"paths": \[\]' '"paths": ["../x"]'
edit cc '"runs": 3' '"runs": 3, "cc": "  "'
sed 's|"device": "sata"|"device": "floppy"|' "$T/good" >.git/iobisect/question.json
error 'unknown device "floppy"' iobisect run
sed 's|"machine": "pc"|"machine": "../x"|' "$T/good" >.git/iobisect/question.json
error 'unknown machine "../x"' iobisect run
head -c 99 "$T/good" >.git/iobisect/question.json
error 'corrupt' iobisect status
# one of an older iobisect, without sums
tr -d '\n' <"$T/good" | sed 's/, *"sums": *\[\]//' >.git/iobisect/question.json
expect 0 iobisect status
cp "$T/good" .git/iobisect/question.json
expect 0 iobisect reset

# files that are part of the question
printf '#!/bin/sh\ntrue\n' >"$T/script"
echo CONFIG_EXT2_FS=y >"$T/fragment"
expect 0 begin --workload "exec:$T/script" --fragment "$T/fragment"
for f in script fragment; do
	cp "$T/$f" "$T/kept"
	echo '# more' >>"$T/$f"
	error "$T/$f is not what it was at start" iobisect run
	expect 0 iobisect status
	cp "$T/kept" "$T/$f"
done
rm "$T/script"
error "$T/script" iobisect run
