#!/bin/sh
# The same range for the first report's workload on an IDE disk.
. "$(dirname "$0")/lib.sh"
bisect ide --device ide --workload smallfiles
