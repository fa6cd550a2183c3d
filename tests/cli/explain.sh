#!/bin/sh
# vit-explain as a user meets it: its files, its refusals, and its page in a browser.
. "$(dirname "$0")/../shell"

picture=digit.png
numpy || { skips "vit-explain" "no Python with NumPy"; exit 0; }

# holds TEST: an expression of Python over what was read
holds() {
    "$python" - "$1" <<'PYTHON'
import json, pathlib, sys
import numpy as np
load = np.load
text = pathlib.Path("json").read_text() if pathlib.Path("json").exists() else ""
lines = [json.loads(line) for line in text.splitlines()]
sys.exit(0 if eval(sys.argv[1]) else f"not true: {sys.argv[1]}")
PYTHON
}
# explains STATUS PART OPTION...: the exit status, and a part of what is said
explains() {
    want=$1 part=$2
    shift 2
    vit-explain "$@" >found 2>&1
    got=$?
    cat found
    [ $got = "$want" ] && grep -qF -- "$part" found
}
"$draw" "$picture" 7 >out 2>&1

vit-explain --json --method relevance,rollout,lens "$picture" >json 2>out
vit-classify --json --logits "$picture" >>json 2>>out
check "a map a line" holds \
    '[l.get("method") for l in lines] == ["relevance", "rollout", "lens", None]'
check "it is of the answer" holds \
    'lines[0]["class"] == lines[3]["predictions"][0]["index"]'
check "over the patches" holds 'lines[0]["grid"] == [7, 7] and len(lines[0]["map"]) == 49'
check "the last layer's lens is the answer" holds 'lines[2]["map"][-10:] == lines[3]["logits"]'
fixtures=$tree/tests/fixtures
export fixtures
check "every matrix" vit-explain --model "$fixtures/pretraining/mae" --matrices all.npz \
    "$fixtures/published/picture.png"
check "is that of PyTorch" holds \
    '(lambda a, b: sorted(a.files) == sorted(b.files + ["logits"]) and len(b.files) == 45 and
      all(np.allclose(a[k], b[k], rtol=0, atol=1e-5 * max(1, abs(b[k]).max())) for k in b.files))(
     load("all.npz"), load(__import__("os").environ["fixtures"] + "/matrices.npz"))'
check "or a table each" vit-explain --matrices tables "$picture"
check "by token" grep -q '^class,' "tables/layer0.head0.P.csv"
check "with the names of tokens above" sh -c "head -n 1 tables/layer0.head0.P.csv |
    grep -q '^,class,\"0,0\",\"0,1\"'"
vit-explain --method attention,relevance --head mean --out two.png "$picture" >out 2>&1
check "a long caption has two lines" holds \
    'int.from_bytes(open("two.png", "rb").read()[20:24], "big") == 168 + 13 + 9'
check "several pictures need a %" explains 2 "needs a %" --matrices x.npz "$picture" "$picture"
vit-explain --method attention --out heads.npy "$picture" >out 2>&1
vit-explain --method attention --head 3 --out head.npy "$picture" >>out 2>&1
vit-explain --method attention --head mean --query 1,2 --layer 0 --out mean.npy \
    "$picture" >>out 2>&1
check "arrays of heads" holds 'load("heads.npy").shape == (6, 7, 7)'
check "one head" holds \
    '(load("heads.npy")[3] == load("head.npy")).all() and load("head.npy").dtype == np.float32'
check "a patch's query" holds \
    'load("mean.npy").shape == (7, 7) and 0.5 < load("mean.npy").sum() < 1'
for method in attention rollout relevance gradcam gradient integrated occlusion random \
    similarity positions; do
    vit-explain --method $method --class 3 --out map.png "$picture" >out 2>&1
    check "$method as PNG" [ "$(head -c 4 map.png | tail -c 3)" = PNG ]
    rm -f map.png
done
check "an unknown method" explains 2 'did you mean "attention"?' --method atention --json "$picture"
check "an unknown class" explains 2 '--class "12" is neither' --class 12 --json "$picture"
check "a patch that is none" \
    explains 2 '7 x 7 patches' --query 7,0 --method rollout --json "$picture"
check "a layer that is none" explains \
    1 'the network has 6, numbered from 0' --layer 6 --method attention --json "$picture"
check "a picture that is none" explains 1 'absent.png' --out x.png absent.png
check "a table has no picture" explains \
    1 'a table has no picture' --method lens --out x.png "$picture"
check "an ending that is none" explains 2 '.png, .npy, .json or .html' --out x.gif "$picture"
check "layers of a page" explains 1 'layer 1 is asked for' --layers 1,1 --out x.html "$picture"
check "two maps to begin a page with" explains \
    2 'give --method one name' --method attention,rollout --out x.html "$picture"
check "a map that no page has" explains \
    1 'gradcam as asked for is a map of its own' --method gradcam --out x.html "$picture"
check "a layer that the page has not" explains \
    1 'layer 2 is not among' --layers 0,1 --layer 2 --out x.html "$picture"
check "discard 0 is the default" explains \
    0 '"method": "rollout"' --method rollout --discard 0 --json "$picture"
check "an option of another method" explains 2 '--steps is for other methods' \
    --method rollout --steps 5 --out x.png "$picture"
check "one head of a map of all" explains 2 'is one head, for attention' \
    --method rollout --head 1 --out x.png "$picture"
check "nothing is left behind" [ ! -e x.png ]

"$draw" other.png 4 >out 2>&1
vit-explain --out %.map.png "$picture" other.png >out 2>&1
check "a file for each of several pictures" [ -s digit.map.png -a -s other.map.png ]
check "several pictures, one file" explains \
    2 'maps/%.png' --out x.png "$picture" other.png
check "two pictures of one name" explains \
    2 'both be written to' --out %.npy "$picture" ./digit.jpg
check "lens has no order of patches" \
    explains 2 'lens is not' --faithfulness --method lens "$picture"

vit-explain --faithfulness --json --method relevance,attention --class 3 "$picture" "$picture" \
    >json 2>out
check "faithful: random is always compared" holds \
    '[l["method"] for l in lines] == 2 * ["relevance", "attention", "random"]'
check "faithful: of the class asked for" holds 'all(l["class"] == 3 for l in lines)'
check "faithful: from the picture to the mean picture, and back" holds \
    'all(len(l["deletion"]["curve"]) == 50 and l["patches_a_step"] == 1 and
    l["deletion"]["curve"][0] == l["insertion"]["curve"][-1] and
    l["deletion"]["curve"][-1] == l["insertion"]["curve"][0] for l in lines)'
check "faithful: trapezoids" holds \
    'all(abs(np.trapezoid(l[k]["curve"]) / 49 - l[k]["area"]) < 1e-6 if hasattr(np, "trapezoid")
    else abs(np.trapz(l[k]["curve"]) / 49 - l[k]["area"]) < 1e-6
    for l in lines for k in ("deletion", "insertion"))'
check "faithful: another random order for each picture" holds 'lines[2]["map"] != lines[5]["map"]'
vit-explain --faithfulness --method relevance,occlusion "$picture" >out 2>&1
check "faithful: which way is better" grep -qE '^better: +lower +higher$' out
check "faithful: a table" grep -qE '^occlusion +0\.[0-9]{4} +0\.[0-9]{4}$' out

# Adebayo et al., Sanity Checks for Saliency Maps: without what was learnt, a map is another.
vit-train --data digits --preset handwriting --set outlier_exposure=0 --steps 1 \
    --out untrained.safetensors >out 2>&1
for i in 0 1 2 3 4 5 6 7; do
    "$draw" "drawn$i.png" $i >/dev/null 2>&1
done
for model in mnist untrained.safetensors; do
    vit-explain --model "$model" --class 3 --method relevance,gradcam,integrated --json \
        drawn?.png
done >json 2>>out
check "maps of a class depend on what was learnt" holds \
    'len(lines) == 48 and all(np.mean([np.corrcoef(
    *[np.argsort(np.argsort(l["map"])) for l in (lines[i], lines[24 + i])])[0, 1]
    for i in range(k, 24, 3)]) < .3 for k in range(3))'

vit-explain --out page.html "$picture" >out 2>&1
check "a page" grep -q 'id="picture"' page.html
vit-explain --threads 1 --out again.html "$picture" >out 2>&1
check "of the same bytes again" cmp page.html again.html
vit-explain --method relevance --json "$picture" >json 2>>out
cat >compare.py <<'PYTHON'
import base64, json, re
import numpy as np
page = json.loads(re.search(r'id="data"[^>]*>(.*?)</script>', open("page.html").read(), re.S)[1])
want = np.array(json.load(open("json"))["map"])
got = np.frombuffer(base64.b64decode(page["relevance"][0]["map"]), np.uint8) / 255
assert np.abs(got - np.sqrt(want / want.max())).max() < .003, got
PYTHON
check "whose relevance is that of vit-explain, as shares of the largest value" \
    "$python" compare.py
sum='document.querySelector("#tiles canvas").toDataURL()'
"$python" "$tree/tests/support/chromium.py" page.html size=1200x900 \
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
    'is=document.documentElement.scrollWidth <= 390' \
    'is=document.querySelector("#outliers").hidden' >out 2>&1
status=$?
published=$tree/tests/fixtures/published
vit-explain --model "$published/timm_map" --out pooling.html "$published/picture.png" >>out 2>&1
vit-explain --model "$published/timm_map" --head mean --query pool --method attention \
    --out pool.npy "$published/picture.png" >>out 2>&1
pool=$("$python" -c 'import numpy; print(numpy.load("pool.npy").ravel().tolist())')
vit-explain --class 3 --query 1,2 --layer 2 --head 3 --out begins.html "$picture" >>out 2>&1
if [ $status = 77 ]; then
    skips "the page in a browser" "no Chromium"
else
    check "the page in a browser: no error, no request" [ $status = 0 ]
    check "a page begins with what is asked for" \
        "$python" "$tree/tests/support/chromium.py" begins.html \
        'wait=document.querySelector("#say").textContent.startsWith("For 3: ")' \
        'is=data.relevance[state.of].answer[0] === 3 && state.query === 9' \
        'is=data.layers[state.layer] === 2 && data.heads[state.head] === 3'
    check "a page of a network that pools by attention has its weights" \
        "$python" "$tree/tests/support/chromium.py" pooling.html 'click=[data-view="pooling"]' \
        "is=$pool.every((w, i) => Math.abs(w - values()[i]) < .003)"
    check "pointing at a patch of a page as large as ViT-B/16's takes less than 50 ms of work" \
        "$python" "$tree/tests/support/hover.py" page.html
fi
