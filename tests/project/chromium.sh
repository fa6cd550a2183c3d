#!/bin/sh
# The driver of pages, chromium.py: it does what it is told, and sees what a page must not do.
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
page=$work/page.html
cat >"$page" <<'PAGE'
<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>page</title><link rel="icon" href="data:,">
<button id="button" onmouseover="this.className = 'hovered'" onclick="this.textContent = 'clicked'">
no</button><input id="input"><p id="taps">0</p>
<script>
document.addEventListener('touchstart', () => { document.querySelector('#taps').textContent++; });
</script>
PAGE
drive() {
    python3 tests/support/chromium.py "$page" "$@" >"$work/out" 2>&1
    status=$?
    [ $status != 77 ] || { echo "ok 1 - chromium # SKIP no Chromium"; exit 0; }
}
number=0
# check NAME COMMAND...
check() {
    number=$((number + 1))
    name=$1
    shift
    if "$@"; then echo "ok $number - $name"; else
        echo "not ok $number - $name"
        sed 's/^/# /' "$work/out"
    fi
}

drive hover=#button 'is=document.querySelector("#button").className == "hovered"' \
    click=#button 'is=document.querySelector("#button").textContent == "clicked"' \
    key=Tab type=abc 'is=document.querySelector("#input").value == "abc"' \
    size=390x844 'is=innerWidth == 390' touch=#button \
    'is=document.querySelector("#taps").textContent == 1' \
    dark 'is=matchMedia("(prefers-color-scheme: dark)").matches' shot="$work/shot.png"
check "hover, click, keys, touch, sizes, colours" [ $status = 0 ]
check "a screenshot is a PNG" [ "$(head -c 4 "$work/shot.png" | tail -c 3)" = PNG ]

drive 'is=1 == 2' 'get=console.error("loud")' 'get=void setTimeout(() => { throw Error("late") })' \
    'get=void (new Image().src = "http://127.0.0.1:1/picture.png")' click=#nothing
check "what went wrong is a failure" [ $status = 1 ]
for line in 'not true: 1 == 2' 'console: loud' 'console: Error: late' '#nothing: no such element' \
    'request: http://127.0.0.1:1/picture.png'; do
    check "$line" grep -qF "$line" "$work/out"
done
