#!/bin/sh
# The interface of the library is the one that is kept for its soname (scripts/abi).
. "$(dirname "$0")/../shell"

library=$BUILD/lib/libvit.so
for tool in abidiff xz; do
    command -v $tool >/dev/null && continue
    skips "abi" "no $tool: apt-get install abigail-tools xz-utils (abidiff)"
    exit 0
done
if [ "$(uname -m)" != x86_64 ] || ! [ -e "$library" ] ||
    ! readelf -p .comment "$library" | grep -q GCC || nm "$library" | grep -q __asan_init; then
    skips "abi" "abidiff: what is kept is of gcc on x86-64"
    exit 0
fi
check "the interface is the one of its soname" env BUILD="$BUILD" "$tree/scripts/abi"

# A structure of another size is told.
xz -dc "$tree/vit/libvit.abi.xz" >kept
sed "s/\(name='vit_answer' size-in-bits=\)'[0-9]*'/\1'999'/" kept | xz >grown.abi.xz
check "a structure of another size" refuses 1 "vit_answer" \
    env BUILD="$BUILD" "$tree/scripts/abi" "$work/grown.abi.xz"
