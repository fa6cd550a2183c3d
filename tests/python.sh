#!/bin/sh
# The Python package on this build, with a Python that has NumPy: $VIT_PYTHON, or the system's.
cd "$(dirname "$0")/.." || exit 1
library=$PWD/${BUILD:-build}/lib/libvit.so
if ldd "$library" | grep -q libasan; then
    echo "ok 1 - python # SKIP a library with AddressSanitizer cannot be loaded into Python"
    exit 0
fi
for python in "${VIT_PYTHON:-python3}" /usr/bin/python3; do
    if "$python" -c 'import numpy' 2>/dev/null; then
        VIT_LIBRARY=$library exec "$python" python/test_vit.py
    fi
done
echo "ok 1 - python # SKIP no Python with NumPy"
