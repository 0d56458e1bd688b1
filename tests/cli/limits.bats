#!/usr/bin/env bats
# Limits of the system during a repair: the exit code, what is said, the input, and that nothing is left.
load helper

# limited LIMIT VALUE ARGUMENTS...: the program under a limit that is set when all files of the shell are open.
limited() {
	bash -c 'ulimit "$1" "$2" && shift 2 && exec "$@"' bash "$1" "$2" "$TRACEMEND" "${@:3}"
}

# under LIMIT VALUE CODES: repairs what is in "in" with a manifest, under that limit of the shell.
under() {
	local before code=0
	before=$(cd in && find . -type f -exec sha256sum {} + | sort)
	rm -rf to temporary && mkdir to temporary
	TMPDIR=$PWD/temporary limited "$1" "$2" repair -q in/* -o to/out --manifest to/m.json 2> talk || code=$?
	echo "limit $1 $2: exit $code"
	head -3 talk
	[[ " $3 " == *" $code "* ]]
	case $code in
	0|3) [ "$(ls -A to | tr '\n' ' ')" = "m.json out " ] ;;
	*) [ -s talk ] && [ -z "$(ls -A to)" ] ;;
	esac
	[ -z "$(ls -A temporary)" ]
	[ "$before" = "$(cd in && find . -type f -exec sha256sum {} + | sort)" ]
	ended=$code
}

# each_kind COMMAND...: with a capture as "in": one of a file, one of a folder, and that one in an archive which is compressed.
each_kind() {
	"$TRACEMEND" gen -q -f fxt -o file --rule fxt/dangling-string-ref --size 300K > /dev/null
	"$TRACEMEND" gen -q -f lttng -o folder --rule lttng/eventdefs-missing > /dev/null
	rm file/labels.jsonl folder/labels.jsonl
	mkdir archive
	tar -C folder -czf archive/trace.tar.gz "$(ls folder)"
	for kind in file folder archive; do
		rm -rf in
		cp -r $kind in
		"$@"
	done
}

few_descriptors() {
	local most failed=0
	for most in 5 6 7 8 9 10 11 12 14 16 24; do
		# Below some number the program's own libraries cannot be opened.
		limited -n $most --version > version 2>&1 || continue
		under -n $most "0 3 5"
		[ "$ended" != 5 ] || failed=1
	done
	[ "$ended" != 5 ] && [ $failed = 1 ]
}

@test "files that cannot be opened, as too many are, leave nothing" {
	each_kind few_descriptors
}

small_files() {
	local blocks
	for blocks in 0 1 2; do under -f $blocks "5"; done
	under -f 20000 "0 3"
}

@test "files that may not grow leave nothing" {
	each_kind small_files
}

little_memory() {
	local kilobytes
	for kilobytes in $(seq 44000 100 46000) 48000 52000 56000 64000 80000 120000; do
		# From where the program starts at all; libseccomp, which it asks first, must not fail on its way.
		limited -v $kilobytes --version > version 2>&1 || continue
		under -v $kilobytes "0 3 6"
	done
}

@test "address space that is not there leaves nothing" {
	each_kind little_memory
}

# repairs_into_little ROOM MOUNT UNSHARE...: repairs what is in "in" into the folder "disk", which the shell command MOUNT mounted with
# that much room in a mount namespace of its own. refusal: what was said where the room was too little.
repairs_into_little() {
	local room=$1 mount=$2 before code=0
	shift 2
	before=$(find in -type f -exec sha256sum {} + | sort)
	mkdir -p disk
	"$@" sh -c "$mount"' || exit 99; shift
		code=0; "$@" 2> talk || code=$?
		ls -A disk > left; exit "$code"' sh "$room" "$TRACEMEND" repair -q in/* -o disk/out --manifest disk/m.json || code=$?
	echo "room for $room: exit $code"
	[ $code != 99 ] || skip "no file system can be mounted here"
	case $code in
	0|3) [ "$(tr '\n' ' ' < left)" = "m.json out " ] ;;
	*) [ $code = 5 ] && [ -s talk ] && [ ! -s left ] ;;
	esac
	[ "$(find in -type f -exec sha256sum {} + | sort)" = "$before" ]
	[ $code != 5 ] || cp talk refusal
}

full_disk() {
	local room
	for room in 4k 16k 64k 160k 320k 448k; do
		repairs_into_little $room 'mount -t tmpfs -o size="$1" none disk' unshare -rm
	done
}

@test "a file system that is full leaves nothing" {
	unshare -rm true 2> /dev/null || skip "no namespace can be made here"
	each_kind full_disk
}

used_up_quota() {
	local room
	for room in 32k 160k 320k 2m; do
		rm -f image
		truncate -s 120M image
		mkfs.btrfs -q image 2> notes
		repairs_into_little $room '{ mount -o loop image disk && btrfs -q quota enable disk && btrfs -q subvolume create disk/own &&
			btrfs -q qgroup limit "$1" disk/own && mount --bind disk/own disk; }' unshare -m
	done
}

@test "a quota that is used up leaves nothing" {
	[ "$(id -u)" = 0 ] && command -v mkfs.btrfs && unshare -m true || skip "only root can mount a file system with a quota"
	each_kind used_up_quota
	grep "Disk quota exceeded" refusal
}
