#!/bin/sh
# The figures of README and docs that take seconds to check; scripts/claims --all has the others.
cd "$(dirname "$0")/../.." || exit 1
if ! command -v python3 >/dev/null; then
    echo "ok 1 - claims # SKIP there is no python3"
    exit 0
fi
scripts/claims | awk '
    $1 == "holds" { print "ok " NR " - " $0; next }
    $1 == "skipped" { print "ok " NR " - " $2 " # SKIP " $0; next }
    { print "not ok " NR " - " $0 }
    END { if (NR < 5) print "not ok " NR + 1 " - scripts/claims ends early" }'
