#!/bin/sh
# shellcheck disable=SC2016 # the $ are sed's
# Makes a kernel history for the demo and the tests:
#   sh tests/make-history.sh DIR
# DIR becomes a bare git repository: Debian's linux-source-6.1 as one commit (tag
# good), and 26 commits on top (tag bad) by invented people. A topic branch of ext2
# is merged; on it one commit does not build, one does not boot, and one, kept in
# refs/iobisect-test/planted, makes writes slower: it writes the inode out whenever a
# write makes the file longer. The same package gives the same commits.
#
# When DIR already holds that history, nothing is done. It is made in DIR.tmp and
# renamed, so half a history is never taken for a whole one.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?usage: make-history.sh DIR}
tarball=${LINUX_SOURCE:-/usr/src/linux-source-6.1.tar.xz}
[ -f "$tarball" ] || {
	echo "make-history: $tarball is missing: apt-get install linux-source-6.1" >&2
	exit 1
}
stamp=$(cat "$0" "$here/data/history/tar-to-import.pl" "$tarball" | sha256sum)
if [ -f "$dir/iobisect-stamp" ] && [ "$(cat "$dir/iobisect-stamp")" = "$stamp" ]; then
	echo "the history in $dir is there already"
	exit 0
fi
tmp=$dir.tmp
edit=$tmp/edit
rm -rf "$dir" "$tmp"
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM HUP
mkdir -p "$edit"

ext2='fs/ext2/inode.c fs/ext2/super.c fs/ext2/balloc.c fs/ext2/namei.c'
others='Makefile Documentation/filesystems/ext2.rst
Documentation/block/deadline-iosched.rst Documentation/admin-guide/iostats.rst
fs/ext2/Kconfig fs/ext2/ext2.h mm/page-writeback.c mm/vmscan.c
block/mq-deadline.c block/blk-merge.c drivers/ata/ata_piix.c drivers/scsi/sd.c
drivers/mmc/core/block.c drivers/net/ethernet/realtek/8139too.c sound/core/pcm.c'

echo "unpacking the files to edit"
top=$(tar -tf "$tarball" 2>/dev/null | head -n 1 | cut -d/ -f1) || :
# shellcheck disable=SC2086,SC2046
(cd "$edit" && tar -xf "$tarball" --strip-components=1 \
	$(printf "$top/%s " $ext2 $others))
version=$(sed -n 's/^\(VERSION\|PATCHLEVEL\|SUBLEVEL\) = //p' "$edit/Makefile" |
	paste -sd.)

git init -q --bare -b main "$tmp/git"
git -C "$tmp/git" config core.compression 1
git -C "$tmp/git" config gc.auto 0
mkfifo "$tmp/stream"
git -C "$tmp/git" fast-import --quiet <"$tmp/stream" &
import=$!
exec 3>"$tmp/stream"

mark=0
clock=1735689600 # 2025-01-01

# begin BRANCH PARENT AUTHOR SUBJECT BODY: a commit's head; its changes follow. PARENT
# and what comes before the changes are fast-import's own lines.
begin() {
	mark=$((mark + 1))
	clock=$((clock + 7200))
	message="$4

$5

Signed-off-by: $3
"
	printf 'commit %s\nmark :%d\nauthor %s %d +0000\ncommitter %s %d +0000\n' \
		"$1" $mark "$3" $clock "$3" $clock >&3
	printf 'data %d\n%s\n' "$(printf %s "$message" | wc -c)" "$message" >&3
	[ -z "$2" ] || printf '%s\n' "$2" >&3
}

put() {
	for f in "$@"; do
		printf 'M 100644 inline %s\ndata %d\n' "$f" \
			"$(wc -c <"$edit/$f")" >&3
		cat "$edit/$f" >&3
		echo >&3
	done
}

# change FILE SED...: edits a file, and fails when nothing in it matched.
change() {
	file=$1
	shift
	cp "$edit/$file" "$tmp/before"
	sed -i "$@" "$edit/$file"
	if cmp -s "$tmp/before" "$edit/$file"; then
		echo "make-history: $file of Linux $version is not as expected: $*" >&2
		exit 1
	fi
}

ana='Ana Ruiz <ana@example.org>'
ben='Ben Okafor <ben@example.org>'
cho='Cho Min-ji <cho@example.org>'
dag='Dag Nilsen <dag@example.org>'
main=refs/heads/main
topic=refs/heads/ext2-robust

echo "importing Linux $version"
begin $main '' "$ana" "Linux $version" 'As Debian ships it.'
xz -dc "$tarball" | perl "$here/data/history/tar-to-import.pl" >&3
git_good=$mark

echo "adding commits"
begin $main '' "$ben" 'Documentation: ext2: say what a reserved block is' \
	'The term was used before it was explained.'
change Documentation/filesystems/ext2.rst \
	'1,40s/^Specification$/&/;$a\\nReserved blocks are those that only root may use.'
put Documentation/filesystems/ext2.rst

begin $main '' "$ana" 'ext2: mention the mount option in a comment' \
	'No change of the code.'
change fs/ext2/super.c '0,/^static void ext2_put_super/s//\/* Called by umount. *\/\n&/'
put fs/ext2/super.c

begin $main '' "$cho" '8139too: name the chip in the version' 'Easier to find in a log.'
change drivers/net/ethernet/realtek/8139too.c 's/^#define DRV_VERSION.*/#define DRV_VERSION	"0.9.29"/'
put drivers/net/ethernet/realtek/8139too.c

begin $main '' "$dag" 'writeback: balance after 40 pages, not 32' \
	'The bound of pages that a task may dirty before it is asked to balance was chosen
when pages were dirtied one by one.'
change mm/page-writeback.c 's/^static long ratelimit_pages = 32;/static long ratelimit_pages = 40;/'
put mm/page-writeback.c

begin $main '' "$cho" 'ata_piix: bump the version' 'For the fixes since.'
change drivers/ata/ata_piix.c 's/^#define DRV_VERSION.*/#define DRV_VERSION	"2.14"/'
put drivers/ata/ata_piix.c

begin $main '' "$ben" 'ext2: Kconfig: a clearer help text' 'Say who needs it.'
change fs/ext2/Kconfig '0,/Ext2 is a standard Linux/s//Ext2 is a simple, standard Linux/'
put fs/ext2/Kconfig
fork=$mark

# the topic branch

begin $topic "from :$fork" "$dag" 'ext2: balloc: a comment on the goal' \
	'The reader wonders where it comes from.'
change fs/ext2/balloc.c '0,/^static int ext2_has_free_blocks/s//\/* root may take the reserve *\/\n&/'
put fs/ext2/balloc.c

begin $topic '' "$dag" 'Documentation: iostats: fix a word' 'Noticed while reading.'
change Documentation/admin-guide/iostats.rst '$a\\nThe counters are never reset.'
put Documentation/admin-guide/iostats.rst

begin $topic '' "$dag" 'ext2: remember the size before a write' \
	'Preparation: the end of a write will need it.'
change fs/ext2/inode.c '/^static int ext2_write_end/,/^}/{s/^	int ret;$/	loff_t old_size = i_size_read(inode);\n	int ret;/;s/^	return ret;/	return ret < 0 ? ret : old_size ? ret : ret;/}'
put fs/ext2/inode.c

begin $topic '' "$ben" 'ext2: fix the build of ext2_write_end' \
	'The inode was never looked up.'
change fs/ext2/inode.c '/^static int ext2_write_end/,/^}/s/^	loff_t old_size = i_size_read(inode);/	struct inode *inode = mapping->host;\n&/'
put fs/ext2/inode.c

begin $topic '' "$dag" 'ext2: check the layout of the inode at start' \
	'The structure on disk must never move.'
change fs/ext2/super.c '/^static int __init init_ext2_fs/,/^}/s/^	int err;$/&\n\n	BUG_ON(offsetof(struct ext2_inode, i_dir_acl) != 112);/'
put fs/ext2/super.c

begin $topic '' "$cho" 'ext2: the ACL of a directory is at byte 108' \
	'Machines with ext2 built in no longer booted.'
change fs/ext2/super.c 's/i_dir_acl) != 112/i_dir_acl) != 108/'
put fs/ext2/super.c

begin $topic '' "$dag" 'ext2: never show a stale size after a crash' \
	'When a write makes a file longer, the new size stays in memory until the inode is
written back, which can take half a minute. A crash in between leaves a file that
is shorter than what its writer was told. Write the inode out at once.'
change fs/ext2/inode.c '/^static int ext2_write_end/,/^}/s/^	return ret < 0.*/	if (ret > 0 \&\& i_size_read(inode) > old_size)\n		sync_inode_metadata(inode, 1);\n	return ret;/'
put fs/ext2/inode.c
planted=$mark

begin $topic '' "$ben" 'Documentation: deadline: fix a heading' 'It was too short.'
change Documentation/block/deadline-iosched.rst '$a\\nThe defaults suit a disk that turns.'
put Documentation/block/deadline-iosched.rst

begin $topic '' "$dag" 'ext2: namei: a comment on the parent' 'No change of the code.'
change fs/ext2/namei.c '0,/^struct dentry \*ext2_get_parent/s//\/* for NFS *\/\n&/'
put fs/ext2/namei.c
tip=$mark

# meanwhile on main

begin $main "from :$fork" "$cho" 'mq-deadline: dispatch up to 20 requests a batch' \
	'A batch of 16 was chosen for slower disks.'
change block/mq-deadline.c 's/^static const int fifo_batch = 16;/static const int fifo_batch = 20;/'
put block/mq-deadline.c

begin $main '' "$ben" 'ALSA: pcm: fix a comment' 'A word was missing.'
change sound/core/pcm.c '1s/^/\/* PCM core *\/\n/'
put sound/core/pcm.c

begin $main '' "$ana" 'vmscan: fix a comment' 'A word was missing.'
change mm/vmscan.c '$a/* The end of reclaim. */'
put mm/vmscan.c

begin $main '' "$cho" 'mmc: block: a longer timeout for a busy card' \
	'Some cards need more than ten seconds to recover.'
change drivers/mmc/core/block.c 's/^#define MMC_BLK_TIMEOUT_MS  (10 \* 1000)/#define MMC_BLK_TIMEOUT_MS  (12 * 1000)/'
put drivers/mmc/core/block.c

begin $main '' "$ana" 'Documentation: ext2: one more sentence' 'On crashes.'
change Documentation/filesystems/ext2.rst '$aAfter a crash e2fsck must run.'
put Documentation/filesystems/ext2.rst

begin $main "merge :$tip" "$ana" "Merge branch 'ext2-robust'" \
	'Robustness fixes for ext2, from Dag.'
# shellcheck disable=SC2086
put $ext2 Documentation/admin-guide/iostats.rst Documentation/block/deadline-iosched.rst

begin $main '' "$ben" 'Documentation: iostats: a second sentence' 'On overflow.'
change Documentation/admin-guide/iostats.rst '$aThey wrap round.'
put Documentation/admin-guide/iostats.rst

begin $main '' "$dag" 'ext2: a comment in ext2.h' 'No change of the code.'
change fs/ext2/ext2.h '$a/* The end of ext2.h. */'
put fs/ext2/ext2.h

begin $main '' "$cho" 'block: a comment on merging' 'No change of the code.'
change block/blk-merge.c '$a/* The end of merging. */'
put block/blk-merge.c

begin $main '' "$cho" 'sd: wait a little longer for a disk that spins up' \
	'Large disks need it.'
change drivers/scsi/sd.c 's/spintime_expire = jiffies + 100 \* HZ;/spintime_expire = jiffies + 110 * HZ;/'
put drivers/scsi/sd.c

begin $main '' "$ana" 'Documentation: ext2: the last word' 'On limits.'
change Documentation/filesystems/ext2.rst '$aThe limits depend on the block size.'
put Documentation/filesystems/ext2.rst

printf 'reset refs/tags/good\nfrom :%d\n\n' "$git_good" >&3
printf 'reset refs/tags/bad\nfrom :%d\n\n' "$mark" >&3
printf 'reset refs/iobisect-test/planted\nfrom :%d\n\n' "$planted" >&3
echo 'done' >&3
exec 3>&-
wait $import

git -C "$tmp/git" rev-list --count good..bad | sed 's/$/ commits between good and bad/'
printf '%s\n' "$stamp" >"$tmp/git/iobisect-stamp"
mkdir -p "$(dirname "$dir")"
mv "$tmp/git" "$dir"
