#!/bin/sh
# Options of the programs, on the way that a user takes: what they write, and what they refuse.
set -u
cd "$(dirname "$0")/.." || exit 1
case ${BUILD:=build} in
/*) ;;
*) BUILD=$PWD/$BUILD ;;
esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
log=$work/log
PATH=$BUILD/bin:$PATH
fixtures=$PWD/tests/fixtures
unset VIT_CPU VIT_MODELS
LC_ALL=C
export LC_ALL
cd "$work" || exit 1
number=0

# check NAME COMMAND...: passes when the command does
check() {
    number=$((number + 1))
    name=$1
    shift
    if "$@" >"$log" 2>&1; then echo "ok $number - $name"; else
        echo "not ok $number - $name"
        sed 's/^/# /' "$log"
    fi
}

# says TEXT COMMAND...: succeeds and writes what matches
says() {
    text=$1
    shift
    "$@" >found 2>&1 </dev/null || { cat found; return 1; }
    cat found
    grep -q -e "$text" found
}

# refuses STATUS TEXT COMMAND...: fails so, and says so
refuses() {
    expected=$1 text=$2
    shift 2
    "$@" >found 2>&1 </dev/null
    status=$?
    cat found
    [ $status = "$expected" ] && grep -q -e "$text" found
}

fails() {
    ! "$@"
}

published=$fixtures/published
picture=$published/picture.png

# ---- --labels ----

printf 'ant\nbee\ncat\ndog\nelk\n' >names.txt
check "--labels: names of a file" \
    says '"label": "bee"' vit-classify --model "$published/timm_deit3" --labels names.txt --top 5 \
    --json "$picture"
check "vit-info shows them" says 'classes.*ant, bee, cat, dog, elk' \
    vit-info --labels names.txt "$published/timm_deit3"
check "vit-convert writes them" \
    vit-convert --labels names.txt "$published/timm_deit3" named.safetensors
check "which then has them" says 'classes.*ant, bee, cat, dog, elk' vit-info named.safetensors
printf 'ant\nbee\n' >two.txt
check "too few are refused" refuses 1 'two.txt has 2 names, the model 5 classes' \
    vit-classify --model "$published/timm_deit3" --labels two.txt "$picture"
check "a file that is missing" refuses 1 'absent.txt' \
    vit-evaluate --model "$published/timm_deit3" --labels absent.txt --data digits

echo "1..$number"
