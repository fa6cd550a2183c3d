#!/bin/sh
# vit-serve --teach, its routes and its page: serve_teach.py.
set -u
cd "$(dirname "$0")/../.." || exit 1
if [ ! -x "${BUILD:-build}/bin/vit-serve" ]; then
    echo "ok 1 - teaching # SKIP vit-serve was built without libmicrohttpd"
elif ! command -v python3 >/dev/null; then
    echo "ok 1 - teaching # SKIP no python3"
else
    exec python3 tests/serve/serve_teach.py
fi
