/* What the host and the guest say to each other. The prose is docs/protocol.md.
 *
 * Host -> guest: the file /job in the initramfs, one `key value` a line:
 *   protocol 1
 *   fs ext2                 mount type
 *   options noatime         mount options, may be absent
 *   bytes 1073741824        the drive's exact size
 *   ram 134217728           the machine's memory: what "2xRAM" is a multiple of, so
 *                           that every kernel is given the same work
 *   id 1128 00112233...     offset and hex of bytes that only our drive has
 *   wait 20                 seconds to wait for the drive to appear
 *   workload TEXT           as spec_format prints it; may be repeated
 *   slow 6                  slow motion: the drive takes that many times as long.
 *                           The kernel's writeback timers are scaled with it, and
 *                           all times below are divided by it. 1, or absent: no
 *   probe 1                 run the responsiveness probe (0: not)
 *
 * Guest -> host, second serial port, `key value` lines:
 *   iobisect-begin 1        the protocol's version
 *   guest.release 6.1.0     uname -r
 *   guest.clock tsc-early   the clock of these times: the kernel's clocksource,
 *                           "unknown" before sysfs had it; "tsc, kernel hpet"
 *                           when the command line gave the counter's rate
 *   guest.clock_res_ns 1
 *   guest.mem_bytes 123
 *   drive.path /dev/sda     found by size and id
 *   drive.ready_ms 830      from /init's start
 *   workload.begin TEXT     before the first write; flushed at once
 *   elapsed_us N            the timed part, sync included
 *   user_us N  sys_us N     CPU of the workload's processes (never the probe's)
 *   sync_us N               the part of elapsed in sync or fsync
 *   written_bytes N
 *   probe_n N  probe_median_us N  probe_p99_us N  probe_worst_us N
 *   settle_us N             from the end of the timed part to no more writeback
 *   workload.end TEXT
 *   iobisect-end LINES CRC  lines from begin to the one before this one, both
 *                           included, and the CRC-32 (IEEE, zlib's) of their
 *                           bytes with a \n each, as 8 lower-case hex digits
 * A guest that cannot go on says `error TEXT` and still ends the frame. */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#define PROTOCOL_VERSION 1
#define PROTOCOL_BEGIN   "iobisect-begin"
#define PROTOCOL_END     "iobisect-end"

#endif
