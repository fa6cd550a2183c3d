#!/bin/sh
# What the page of the lecture says of formulas of attention: formulas.js, in node.
set -u
cd "$(dirname "$0")/../.." || exit 1
if ! command -v node >/dev/null; then
    echo "ok 1 - formulas of attention # SKIP no node"
else
    exec node tests/web/formulas.js
fi
