#!/bin/sh
# Sets, unknown pictures and drift over HTTP: serve_reliance.py, with Python's standard library
# alone.
set -u
cd "$(dirname "$0")/../.." || exit 1
if [ ! -x "${BUILD:-build}/bin/vit-serve" ]; then
    echo "ok 1 - calibrations of vit-serve # SKIP it was built without libmicrohttpd"
elif ! command -v python3 >/dev/null; then
    echo "ok 1 - calibrations of vit-serve # SKIP no python3"
else
    exec python3 tests/serve/serve_reliance.py
fi
