#!/bin/sh
# The core and its guests (the list `guests`), asked of the objects: the core uses no function of a
# guest, and a guest only those of the guests that it needs. So the core links with each guest and
# those that it needs, and with none; and here it does with none.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
number=0
check() {
    number=$((number + 1))
    if [ "$2" = yes ]; then echo "ok $number - $1"; else echo "not ok $number - $1"; fi
}

[ -z "$(make -s BUILD="$build" FLAGS=kept print-LESS)" ] ||
    { echo "ok 1 - guests # SKIP the build has no guests"; exit; }

# The programs are one file: those of the core are built apart here, the others are
# not looked at.
core_programs="vit-train vit-classify vit-evaluate vit-info"
for program in $core_programs; do echo "$build/obj/vit/cli/$program.o"; done >"$tmp/programs"
xargs make -s BUILD="$build" FLAGS=kept <"$tmp/programs"
make -s BUILD="$build" FLAGS=kept print-ALL_OBJ print-LIBS >"$tmp/made"
sed 1q "$tmp/made" | tr ' ' '\n' |
    grep -vE "^$build/guests(_cli)?\.o$|/cli/(.*/)?vit-[a-z]*\.o$|/cli/bench/" |
    cat - "$tmp/programs" >"$tmp/all"
libraries=$(sed 1d "$tmp/made")

{
    scripts/guests files | sed -n 's/\.c$//; s/^/file /p'
    sed -n 's/^guest */guest /p; s/^data */data /p' guests
    scripts/guests needs | sed 's/^/need /'
    xargs nm -A <"$tmp/all"
} | awk -v build="$build/obj/" '
$1 == "file" { guest[$3] = $2; next }
$1 == "guest" { now = $2; next }
$1 == "data" { for (i = 2; i <= NF; i++) guest[$i] = now; next }
$1 == "need" { need[$2, $3] = 1; next }
{
    object = $1
    sub(/\.o:.*/, "", object)
    if (index(object, build) == 1) object = substr(object, length(build) + 1)
    symbol = $NF
    if (symbol == "main") next
    if ($(NF - 1) == "U") uses[++count] = object " " symbol
    else if ($(NF - 1) ~ /^[TDBR]$/) owner[symbol] = object
}
END {
    for (i = 1; i <= count; i++) {
        split(uses[i], part, " ")
        if (!(part[2] in owner)) continue
        its = guest[owner[part[2]]]
        mine = guest[part[1]]
        if (its != "" && its != mine && !((mine, its) in need))
            print (mine == "" ? "the core" : "the guest " mine) ": " part[1] " uses " part[2] \
                  " of the guest " its
    }
}' >"$tmp/found"
cat "$tmp/found" >&2
check "the core uses no guest, and guests those that they need" \
    "$([ -s "$tmp/found" ] || echo yes)"

# The core alone, from the objects that are there.
scripts/guests build "$tmp" $(scripts/guests names)
scripts/guests files | sed -n "s|^[^ ]* \(.*\)\.c$|$build/obj/\1.o|p" >"$tmp/absent"
sed -n 's/^data *//p' guests | tr ' ' '\n' | sed "s|.*|$build/obj/&.o|" >>"$tmp/absent"
core=$(grep -vxFf "$tmp/absent" "$tmp/all" | grep -v '/cli/vit-[a-z]*\.o$')
cc=${CC:-cc}
$cc -std=c17 -D_POSIX_C_SOURCE=200809L -I. -c -o "$tmp/guests.o" "$tmp/guests.c" &&
    $cc -std=c17 -D_POSIX_C_SOURCE=200809L -I. -c -o "$tmp/guests_cli.o" "$tmp/guests_cli.c"
for program in $core_programs; do
    $cc ${LDFLAGS:-} -fopenmp -o "$tmp/$program" "$build/obj/vit/cli/$program.o" $core \
        "$tmp/guests.o" "$tmp/guests_cli.o" $libraries
    check "$program links without guests" "$([ -x "$tmp/$program" ] && echo yes)"
done
"$tmp/vit-info" --version >"$tmp/said"
check "--version names what is missing" \
    "$(grep -q '^guests: none; without: .*search' "$tmp/said" && echo yes)"
"$tmp/vit-train" --data digits --report page.html 2>"$tmp/said"
check "an option of a guest says whose it is" \
    "$(grep -q -- '--report is of the guest report .*WITHOUT=report' "$tmp/said" && echo yes)"
"$tmp/vit-train" --help >"$tmp/said"
check "and is not in --help" "$(grep -q -- '--report' "$tmp/said" || echo yes)"
"$tmp/vit-classify" --stream /dev/null 2>"$tmp/said"
check "so say streams" \
    "$(grep -q -- '--stream is of the guest stream .*WITHOUT=stream' "$tmp/said" && echo yes)"
"$tmp/vit-evaluate" --data . --labels-from tags 2>"$tmp/said"
check "and tags" "$(grep -q -- '--labels-from is of the guest photos ' "$tmp/said" && echo yes)"
"$tmp/vit-classify" --help >"$tmp/said"
check "nor are their headings in --help" \
    "$(grep -qE '^A (stream|photo library)' "$tmp/said" || echo yes)"
"$tmp/vit-train" --data numbers:en-de --out "$tmp/x" 2>"$tmp/said"
check "so does data of a guest" "$(grep -q 'without .*texts' "$tmp/said" && echo yes)"
echo "1..$number"
