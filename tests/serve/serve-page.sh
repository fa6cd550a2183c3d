#!/bin/sh
# The page of vit-serve in real Chromium: serve_page.py, with tests/support/chromium.py.
set -u
cd "$(dirname "$0")/../.." || exit 1
if [ ! -x "${BUILD:-build}/bin/vit-serve" ]; then
    echo "ok 1 - the page of vit-serve # SKIP it was built without libmicrohttpd"
elif ! command -v python3 >/dev/null; then
    echo "ok 1 - the page of vit-serve # SKIP no python3"
else
    exec python3 tests/serve/serve_page.py
fi
