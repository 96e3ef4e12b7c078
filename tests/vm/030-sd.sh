#!/bin/sh
# And on an SD card, which takes 512 bytes a request.
. "$(dirname "$0")/lib.sh"
bisect sd --device sd --workload smallfiles
