#!/bin/sh
# The Python package on this build, with a Python that has NumPy.
. "$(dirname "$0")/../shell"

if ldd "$BUILD/lib/libvit.so" | grep -q libasan; then
    skips "python" "a library with AddressSanitizer cannot be loaded into Python"
elif numpy; then
    cd "$tree" && VIT_LIBRARY=$BUILD/lib/libvit.so "$python" python/test_vit.py
else
    skips "python" "no Python with NumPy"
fi
