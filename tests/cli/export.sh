#!/bin/sh
# What vit-convert writes, opened by the libraries it is for: tests/cli/export_peers.py, where
# there is a Python with NumPy; which libraries it has decides what is skipped.
. "$(dirname "$0")/../shell"

if numpy; then
    cd "$tree" && "$python" tests/cli/export_peers.py "$BUILD"
else
    skips "exported models" "no Python with NumPy"
fi
