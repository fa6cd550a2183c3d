#!/bin/sh
# Searching an index over HTTP: serve_search.py, with Python's standard library alone.
set -u
cd "$(dirname "$0")/../.." || exit 1
if [ ! -x "${BUILD:-build}/bin/vit-serve" ]; then
    echo "ok 1 - search of vit-serve # SKIP it was built without libmicrohttpd"
elif ! command -v python3 >/dev/null || ! command -v curl >/dev/null; then
    echo "ok 1 - search of vit-serve # SKIP no python3 or no curl"
else
    exec python3 tests/serve/serve_search.py
fi
