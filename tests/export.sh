#!/bin/sh
# What vit-convert writes, opened by the libraries it is for: tests/export_peers.py, where
# VIT_PYTHON (python3) has numpy; which libraries it has decides what is skipped.
set -u
cd "$(dirname "$0")/.." || exit 1
python=${VIT_PYTHON:-python3}
if "$python" -c 'import numpy' 2>/dev/null; then
    exec "$python" tests/export_peers.py "${BUILD:-build}"
fi
echo "ok 1 - exported models # SKIP $python has no numpy"
