#!/bin/sh
# The kernels of AArch64 under qemu: the bytes of this processor's scalar C. scripts/test-aarch64
# runs whole tests there.
. "$(dirname "$0")/../shell"

compiler=aarch64-linux-gnu-gcc emulator=qemu-aarch64
for tool in $compiler $emulator; do
    command -v $tool >/dev/null && continue
    skips "aarch64" \
        "no $tool: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
    exit 0
done
if nm "$BUILD/lib/libvit.a" 2>/dev/null | grep -q __asan_init; then
    skips "aarch64" "a library with AddressSanitizer needs its flags"
    exit 0
fi

flags="-std=c17 -D_POSIX_C_SOURCE=200809L -I$tree -fno-math-errno -ffp-contract=off"
kernels=$tree/vit/kernels/kernels
libraries=$(pkg-config --libs libjpeg jansson zlib)
# shellcheck disable=SC2086 # words
check "a program here" ${CC:-cc} $flags -fopenmp -o here "$tree/tests/kernels/sums.c" \
    "$BUILD/lib/libvit.a" $libraries -lm
# shellcheck disable=SC2086
check "and for AArch64" $compiler $flags -static -march=armv8.2-a+dotprod -o there \
    "$tree/tests/kernels/sums.c" "${kernels}_neon.c" "${kernels}_int8_neon.c" \
    "${kernels}_int8_neondot.c" -lm
./here scalar >scalar
for cpu in neon neondot; do
    check "runs under qemu: $cpu" sh -c "$emulator ./there $cpu >$cpu"
    check "the same bytes" diff scalar $cpu
done
