#!/bin/sh
# scripts/fetch-weights, from a server with the paths, redirects and answers of the hub:
# fetch_weights.py, with Python's standard library alone.
set -u
cd "$(dirname "$0")/../.." || exit 1
if ! command -v python3 >/dev/null || ! command -v curl >/dev/null; then
    echo "ok 1 - scripts/fetch-weights # SKIP no python3 or no curl"
else
    exec python3 tests/project/fetch_weights.py
fi
