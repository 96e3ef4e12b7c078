# shellcheck shell=sh
# For the tests of iobisect-disk with real clients.
. "$(dirname "$0")/lib.sh"
needs() {
	for tool in "$@"; do
		command -v "$tool" >/dev/null || {
			echo "skip: no $tool (tests/setup.sh installs it)"
			exit 77
		}
	done
}

# drive OPTIONS...: starts one with its data in $T/img and its trace in $T/trace; its
# pid in $drive.
uri="nbd+unix:///?socket=$T/d/s"
drive=''
drive() {
	iobisect-disk --data "$T/img" --socket "$T/d/s" --trace "$T/trace" "$@" \
		>"$T/served" 2>"$T/drive.err" &
	drive=$!
	until [ -S "$T/d/s" ]; do
		kill -0 $drive 2>/dev/null || fail "$(cat "$T/drive.err")"
		sleep 0.01
	done
}

# stop: ends it, as a harness would; its exit code must be 0.
stop() {
	kill "$drive"
	wait "$drive" || fail "the drive ended with $?: $(cat "$T/drive.err")"
	[ ! -e "$T/d" ] || fail 'the socket is left behind'
	trace stats "$T/trace" >"$T/stats"
	[ "$(stat_of torn)" = 0 ] || fail 'the trace is torn'
}

trace() {
	"$IOBISECT_BUILD/tests/trace" "$@"
}

stat_of() {
	sed -n "s/^$1 //p" "$T/stats"
}

# equals NAME VALUE: of the last drive's statistics.
equals() {
	[ "$(stat_of "$1")" = "$2" ] || {
		cat "$T/stats" >&2
		fail "$1 is $(stat_of "$1"), want $2"
	}
}

# A flat drive: latency in microseconds, as its file.
flat() {
	cat >"$T/flat.json" <<-END
		{ "kind": "flat", "description": "for a test", "sources": [ "none" ],
		  "flat": { "us_per_sector": 0.01, "latency_us": $1, "flush_us": 3000 } }
	END
}

fio_nbd() {
	fio --name=x --ioengine=nbd --uri="$uri" "$@" >"$T/fio" 2>&1 || {
		cat "$T/fio" >&2
		fail "fio $*"
	}
}
