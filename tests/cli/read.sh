#!/bin/sh
# vit-read as a user meets it: models of tables of one's own, and the pages of what they looked at,
# in a browser.
cd "$(dirname "$0")/../.." || exit 1
case ${BUILD:=build} in
/*) ;;
*) BUILD=$PWD/$BUILD ;;
esac
driver=$PWD/tests/support/chromium.py
readers=$PWD/tests/fixtures/readers
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
number=0
check() {
    number=$((number + 1))
    name=$1
    shift
    if "$@" >>out 2>&1; then echo "ok $number - $name"; else
        echo "not ok $number - $name"
        sed 's/^/# /' out
    fi
}
read=$BUILD/bin/vit-read
mkdir pairs pictures
for i in one two three four five six; do
    for j in one two three four five six; do printf '%s and %s\t%s und %s\n' $i $j $j $i; done
done >pairs/pairs.tsv
for n in 0 1 2 3 4 5 6 7 8 9; do
    "$BUILD/examples/draw_digit" pictures/$n.png $n >/dev/null
    printf '%s.png\t%s%s\n' $n $n $n
done >pictures/labels.tsv
for data in pairs pictures; do
    check "a model of $data" "$BUILD/bin/vit-train" --data $data --steps 12 --set dim=32 \
        --set depth=2 --set mlp=32 --batch 8 --out $data.safetensors
done
check "what is given and what is written are called texts or pictures" sh -c \
    'grep -q "of 8 texts" out && grep -q "of 8 pictures" out &&
     grep -q "of the test texts right" out && ! grep -q "of the test pictures" out'
check "a text is read" "$read" --model pairs.safetensors --text "two and six" --length 6 \
    --explain text.html
check "a picture is read" "$read" --model pictures.safetensors --length 4 --explain picture.html \
    pictures/3.png
# png OPTION...: a PNG of what was looked at
png() {
    "$read" --length 4 --explain sight.png "$@" && [ "$(head -c 4 sight.png | tail -c 3)" = PNG ]
}
check "a text's matrix as PNG" png --model pairs.safetensors --text "two and six"
check "maps of a picture as PNG" png --model pictures.safetensors pictures/3.png
# A tokenizer of fewer tokens than the network has ids is allowed, but what it lacks is said.
cp -r "$readers/gpt2" foreign && rm foreign/tokenizer.json &&
    cp "$readers/trocr_small/sentencepiece.bpe.model" foreign
warned() {
    "$read" --model foreign "$@" 2>said && cat said &&
        grep -q "^vit-read: pictures/3.png: warning: the tokenizer has no token for an id" said
}
check "ids that the tokenizer lacks are said" warned pictures/3.png
check "and so of several, in JSON, too" warned --json pictures/2.png pictures/3.png
# refused PART OPTION...: wrong usage, and what is said
refused() {
    part=$1
    shift
    "$read" --model pairs.safetensors "$@" >said 2>&1
    [ $? = 2 ] && grep -qF -- "$part" said
}
check "a page of two" refused "one picture" --text one --text two --explain two.html
check "a temperature of nothing" refused "are for sampling" --temperature 2 --text one
check "a length penalty of one beam" refused "2 beams or more" --length-penalty 2 --text one
check "several texts for one" refused "for language models" --count 2 --text one
check "an orientation of texts" refused "reads no pictures" --exif-orientation exif --text one
check "another ending" refused ".html or .png" --text one --explain one.pdf

# drive PAGE STEP...
drive() {
    python3 "$driver" "$@" >out 2>&1
    status=$?
    [ $status != 77 ] || { echo "ok $number - a browser # SKIP no Chromium"; exit 0; }
}
ones='data.written.every((unused, i) => Math.abs(
    weights(state.view, state.layer, state.head, i).reduce((a, b) => a + b, 0) - 1) < 0.03)'
drive text.html size=1200x900 "is=$ones" \
    'is=data.source.join("") == "two and six" && data.given[0] == "START"' \
    'is=document.querySelectorAll("#lines [data-to]").length == 11' \
    'is=data.written.length == data.given.length && data.answer == (data.written.at(-1) == "END" ?
        data.written.slice(0, -1) : data.written).join("")' \
    'click=#lines [data-from="1"]' 'is=state.held && state.query == 1' \
    'is=[...document.querySelectorAll("#lines line")].every(
        l => (l.dataset.from == 1) == (l.style.opacity > 0))' \
    key=Escape 'is=state.query == -1' key=ArrowDown key=ArrowDown 'is=state.query == 1' \
    'click=[data-view="self"]' "is=$ones" \
    'is=[...document.querySelectorAll("#lines line")].every(
        l => Number(l.getAttribute("y2")) <= Number(l.getAttribute("y1")))' \
    'click=[data-view="encoder"]' 'is=views.encoder.from.length == 11' \
    'click=#model [data-layer="0"][data-head="1"]' 'is=state.layer == 0 && state.head == 1' \
    dark size=390x844 'is=document.documentElement.scrollWidth <= 390'
check "lines between the words, by mouse and keys" [ $status = 0 ]
drive picture.html size=1200x900 'is=!document.querySelector("#picture").hidden' "is=$ones" \
    'is=document.querySelectorAll("#tiles canvas").length == data.written.length' \
    'click=#words [data-query="1"]' 'is=state.query == 1' \
    'click=[data-view="self"]' 'is=document.querySelectorAll("#lines line").length > 0' \
    size=390x844 'is=document.documentElement.scrollWidth <= 390'
check "maps over a picture" [ $status = 0 ]
echo "1..$number"
