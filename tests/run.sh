#!/bin/sh
# All tests: the fast ones, then those with real kernels and QEMU.
#   sh tests/run.sh [fast|vm]
. "$(dirname "$0")/setup.sh"
which=${1:-all}
cd "$build"
status=0

if [ "$which" != vm ]; then
	say 'fast tests'
	install shellcheck libnbd-bin fio nbdkit blktrace qemu-utils jq
	(cd "$source" && shellcheck -x -P SCRIPTDIR tests/*.sh tests/*/*.sh \
		tests/fake/* .ci/run)
	ctest -L fast -j "$(nproc)" --output-on-failure || status=1
fi
if [ "$which" != fast ] && [ $status = 0 ]; then
	say 'tests with real kernels (the first kernel takes some minutes)'
	install linux-source-6.1
	IOBISECT_TEST_DIR=${IOBISECT_TEST_DIR:-$build/vm}
	export IOBISECT_TEST_DIR
	sh "$source/tests/make-history.sh" "$IOBISECT_TEST_DIR/linux"
	ctest -L vm --output-on-failure || status=1
fi
exit $status
