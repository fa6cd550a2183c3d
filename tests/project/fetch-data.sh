#!/bin/sh
# scripts/fetch-data, from file:// servers: the real MNIST files of $VIT_DATA, and archives made
# here whose checksums are put into a copy of the script.
set -u
cd "$(dirname "$0")/../.." || exit 1
data=$(cd "${VIT_DATA:-../shared/data}" 2>/dev/null && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
log=$work/log
number=0

# check NAME COMMAND...: passes when the command does
check() {
    number=$((number + 1))
    name=$1
    shift
    if "$@"; then echo "ok $number - $name"; else
        echo "not ok $number - $name"
        sed 's/^/# /' "$log"
    fi
}

skip() {
    number=$((number + 1))
    echo "ok $number - $1 # SKIP $2"
}

says() {
    grep -q -- "$1" "$log"
}

fails() {
    ! "$@"
}

fetch() {
    scripts/fetch-data "$@" >"$log" 2>&1
}

exits() {
    wanted=$1
    shift
    "$@"
    [ $? -eq "$wanted" ]
}

check "help" fetch --help
check "help names the sets" says cifar100
check "no name is a usage error" exits 2 fetch
check "unknown sets are refused" exits 2 fetch minst
check "and the known ones named" says "known are mnist fashion cifar10 cifar100"
"${BUILD:-build}/bin/vit-evaluate" --model mnist --data minst >"$log" 2>&1
check "the library looks for the same" says "(mnist, fashion, cifar10, cifar100, "
check "unknown options are refused" exits 2 fetch --fast mnist

if ! command -v curl >/dev/null 2>&1; then
    skip "downloads" "curl is not installed"
    exit 0
fi

VIT_FETCH_BASE=file://$work/nowhere
export VIT_FETCH_BASE
check "a server without the file" exits 1 fetch mnist "$work/none"
check "is named" says "could not be fetched from file://$work/nowhere"

mnist() {
    VIT_FETCH_BASE=file://$data/mnist
    images=train-images-idx3-ubyte.gz
    same() { cmp -s "$work/m/$images" "$data/mnist/$images"; }
    untouched() { [ -n "$(find "$work/m/$images" -newer "$work/mark")" ] && return 1 || return 0; }

    check "mnist" fetch mnist "$work/m"
    check "all four files" test "$(ls "$work/m" | wc -l)" -eq 4
    check "the bytes" same
    touch "$work/mark"
    check "again" fetch mnist "$work/m"
    check "downloads nothing" fails says "file://"
    check "changes nothing" untouched

    head -c 1000000 "$data/mnist/$images" >"$work/m/$images.part"
    rm "$work/m/$images"
    check "an interrupted download" fetch mnist "$work/m"
    check "goes on" same
    check "without starting over" fails says "downloading it whole"

    head -c 1000000 /dev/zero >"$work/m/$images.part"
    rm "$work/m/$images"
    check "a part of something else" fetch mnist "$work/m"
    check "is given up" says "$images: the earlier part does not fit"
    check "for the whole" same

    printf x | dd of="$work/m/$images" bs=1 seek=5000 conv=notrunc 2>/dev/null
    check "a file that is wrong" fetch mnist "$work/m"
    check "is said" says "is there, but its sha256 is not"
    check "and replaced" same

    cp -r "$data/mnist" "$work/bad"
    chmod -R u+w "$work/bad"
    printf x | dd of="$work/bad/$images" bs=1 seek=5000 conv=notrunc 2>/dev/null
    VIT_FETCH_BASE=file://$work/bad
    check "a server with a wrong file" exits 1 fetch mnist "$work/n"
    check "is said" says "$images: its sha256 is .* expected 440fcabf.*: removed"
    check "and nothing kept" test "$(ls "$work/n" | wc -l)" -eq 0
}

# A copy of the script that knows the checksum of an archive of zeros.
cifar() {
    mkdir -p "$work/src/cifar-10-batches-bin" "$work/copy/scripts" "$work/server"
    for file in data_batch_1 data_batch_2 data_batch_3 data_batch_4 data_batch_5 test_batch; do
        head -c 30730000 /dev/zero >"$work/src/cifar-10-batches-bin/$file.bin"
    done
    tar -czf "$work/server/cifar-10-binary.tar.gz" -C "$work/src" cifar-10-batches-bin
    sum=$(md5sum <"$work/server/cifar-10-binary.tar.gz" | cut -d ' ' -f 1)
    sed "s/c32a1d4ab5d03f1284b67883e8d87530/$sum/" scripts/fetch-data \
        >"$work/copy/scripts/fetch-data"
    cp scripts/fetch.sh "$work/copy/scripts"
    VIT_FETCH_BASE=file://$work/server
    fetch_copy() { sh "$work/copy/scripts/fetch-data" "$@" >"$log" 2>&1; }
    whole() { cmp -s "$work/copy/data/cifar10/cifar-10-batches-bin/test_batch.bin" \
        "$work/src/cifar-10-batches-bin/test_batch.bin"; }

    check "an archive" fetch_copy cifar10
    check "is unpacked into data/NAME" whole
    check "and removed" test "$(ls "$work/copy/data/cifar10")" = cifar-10-batches-bin
    check "again" fetch_copy cifar10
    check "does nothing" fails says "file://"
    truncate -s 1000 "$work/copy/data/cifar10/cifar-10-batches-bin/test_batch.bin"
    check "a file cut off" fetch_copy cifar10
    check "is replaced" whole
    printf x | dd of="$work/copy/data/cifar10/cifar-10-batches-bin/test_batch.bin" bs=1 seek=5000 \
        conv=notrunc 2>/dev/null
    check "a file of the right size that is wrong" fetch_copy cifar10
    check "is said" says "test_batch.bin is there, but its sha256 is not that in SHA256SUMS"
    check "and replaced" whole
    rm "$work/copy/data/cifar10/cifar-10-batches-bin/SHA256SUMS"
    check "files of unknown checksums" fetch_copy cifar10
    check "are not trusted" says "has no SHA256SUMS"
    check "another set has another archive" exits 1 fetch_copy cifar100
    check "which is named" says "cifar-100-binary.tar.gz could not be fetched"
}

if [ -n "$data" ] && [ -f "$data/mnist/train-images-idx3-ubyte.gz" ]; then
    mnist
else
    skip "mnist" "its files are absent: set VIT_DATA"
fi
cifar
echo "1..$number"
