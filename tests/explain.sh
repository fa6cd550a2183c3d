#!/bin/sh
# vit-explain as a user meets it: its files, its refusals, and its page in a browser.
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
explain=$BUILD/bin/vit-explain
picture=$work/digit.png
number=0
check() {
    number=$((number + 1))
    name=$1
    shift
    if "$@"; then echo "ok $number - $name"; else
        echo "not ok $number - $name"
        sed 's/^/# /' "$work/out"
    fi
}
# holds TEST: an expression of Python over what was read
holds() {
    python3 - "$work" "$1" >>"$work/out" 2>&1 <<'PYTHON'
import json, pathlib, sys
import numpy as np
work = pathlib.Path(sys.argv[1])
load = lambda name: np.load(work / name)
text = (work / "json").read_text() if (work / "json").exists() else ""
lines = [json.loads(line) for line in text.splitlines()]
sys.exit(0 if eval(sys.argv[2]) else f"not true: {sys.argv[2]}")
PYTHON
}
# fails STATUS PART OPTION...: the exit status, and a part of what is said
fails() {
    want=$1 part=$2
    shift 2
    "$explain" "$@" >"$work/out" 2>&1
    [ $? = "$want" ] && grep -qF -- "$part" "$work/out"
}
"$BUILD/examples/draw_digit" "$picture" 7 >"$work/out" 2>&1

"$explain" --json --method relevance,rollout,lens "$picture" >"$work/json" 2>"$work/out"
"$BUILD/bin/vit-classify" --json --logits "$picture" >>"$work/json" 2>>"$work/out"
check "a map a line" holds \
    '[l.get("method") for l in lines] == ["relevance", "rollout", "lens", None]'
check "it is of the answer" holds \
    'lines[0]["class"] == lines[3]["predictions"][0]["index"]'
check "over the patches" holds 'lines[0]["grid"] == [4, 4] and len(lines[0]["map"]) == 16'
check "the last layer's lens is the answer" holds 'lines[2]["map"][-10:] == lines[3]["logits"]'
"$explain" --method attention --out "$work/heads.npy" "$picture" >"$work/out" 2>&1
"$explain" --method attention --head 3 --out "$work/head.npy" "$picture" >>"$work/out" 2>&1
"$explain" --method attention --head mean --query 1,2 --layer 0 --out "$work/mean.npy" \
    "$picture" >>"$work/out" 2>&1
check "arrays of heads" holds 'load("heads.npy").shape == (8, 4, 4)'
check "one head" holds \
    '(load("heads.npy")[3] == load("head.npy")).all() and load("head.npy").dtype == np.float32'
check "a patch's query" holds \
    'load("mean.npy").shape == (4, 4) and 0.5 < load("mean.npy").sum() < 1'
for method in attention rollout relevance gradcam gradient integrated occlusion random \
    similarity positions; do
    "$explain" --method $method --class 3 --out "$work/map.png" "$picture" >"$work/out" 2>&1
    check "$method as PNG" [ "$(head -c 4 "$work/map.png" | tail -c 3)" = PNG ]
    rm -f "$work/map.png"
done
check "an unknown method" fails 2 'did you mean "attention"?' --method atention --json "$picture"
check "an unknown class" fails 2 '--class "12" is neither' --class 12 --json "$picture"
check "a patch that is none" fails 2 '4 x 4 patches' --query 4,0 --method rollout --json "$picture"
check "a layer that is none" fails \
    1 'the network has 6, numbered from 0' --layer 6 --method attention --json "$picture"
check "a picture that is none" fails 1 'absent.png' --out "$work/x.png" absent.png
check "a table has no picture" fails \
    1 'a table has no picture' --method lens --out "$work/x.png" "$picture"
check "an ending that is none" fails 2 '.png, .npy, .json or .html' --out "$work/x.gif" "$picture"
check "layers of a page" fails 1 'layer 1 is asked for' --layers 1,1 --out "$work/x.html" "$picture"
check "nothing is left behind" [ ! -e "$work/x.png" ]

"$explain" --out "$work/page.html" "$picture" >"$work/out" 2>&1
check "a page" grep -q 'id="picture"' "$work/page.html"
"$explain" --threads 1 --out "$work/again.html" "$picture" >"$work/out" 2>&1
check "of the same bytes again" cmp "$work/page.html" "$work/again.html"
sum='document.querySelector("#heads canvas").toDataURL()'
python3 tests/chromium.py "$work/page.html" size=1200x900 \
    wait='document.title.includes("digit.png")' \
    "get=(window.before = $sum) && 0" hover=#picture \
    'is=document.querySelector("#say").textContent.startsWith("From patch")' \
    "wait=$sum !== window.before" \
    'click=[data-view="relevance"]' 'is=!document.querySelector("#classes").hidden' \
    'click=[data-of="1"]' \
    'is=document.querySelector("[data-of=\"1\"]").getAttribute("aria-pressed") === "true"' \
    'click=[data-view="similarity"]' 'click=[data-view="positions"]' 'click=[data-view="rollout"]' \
    'click=#model button' 'is=document.querySelector("#layer-is").textContent === "0"' \
    'click=#picture' 'get=(window.query = state.query) && 0' \
    key=ArrowRight 'is=state.query === window.query + 1' \
    key=Escape 'is=state.query === -1' size=390x844 dark \
    'is=document.documentElement.scrollWidth <= 390' hover=#picture \
    'get=(window.start = performance.now(), set({query: 3}), drawAll(), 0)' \
    'get=(window.took = performance.now() - window.start) && 0' \
    'is=window.took < 50' >"$work/out" 2>&1
status=$?
if [ $status = 77 ]; then
    echo "ok $((number + 1)) - the page in a browser # SKIP no Chromium"
    number=$((number + 1))
else
    check "the page in a browser: no error, no request" [ $status = 0 ]
fi
echo "1..$number"
