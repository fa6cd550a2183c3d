#!/bin/sh
# vit-serve among clients that are many, slow, cut off or hostile: serve_hostile.py.
set -u
cd "$(dirname "$0")/../.." || exit 1
if [ ! -x "${BUILD:-build}/bin/vit-serve" ]; then
    echo "ok 1 - vit-serve # SKIP it was built without libmicrohttpd"
elif ! command -v python3 >/dev/null; then
    echo "ok 1 - vit-serve # SKIP no python3"
else
    exec python3 tests/serve/serve_hostile.py
fi
