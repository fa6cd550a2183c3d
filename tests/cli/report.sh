#!/bin/sh
# A training as others see it: the page of --report and of vit-report, driven in Chromium, and the
# event files of --tensorboard, read by event_files.py.
set -u
cd "$(dirname "$0")/../.." || exit 1
case ${BUILD:=build} in
/*) ;;
*) BUILD=$PWD/$BUILD ;;
esac
PATH=$BUILD/bin:$PATH
tests=$PWD/tests
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset VIT_CPU VIT_MODELS SOURCE_DATE_EPOCH
LC_ALL=C
export LC_ALL
number=0
command -v python3 >/dev/null || { echo "ok 1 - report # SKIP no python3"; exit 0; }

# check NAME COMMAND...
check() {
    number=$((number + 1))
    name=$1
    shift
    "$@" >out 2>&1
    case $? in
    0) echo "ok $number - $name" ;;
    77) echo "ok $number - $name # SKIP no Chromium" ;;
    *)
        echo "not ok $number - $name"
        sed 's/^/# /' out
        ;;
    esac
}
not() {
    ! "$@"
}
# refuses STATUS TEXT COMMAND...
refuses() {
    want=$1 text=$2
    shift 2
    "$@" >refused 2>&1
    got=$?
    cat refused
    [ $got = "$want" ] && grep -qF -e "$text" refused
}
# data FILE.html EXPRESSION of `d`, what the page holds
data() {
    python3 - "$1" "$2" <<'PYTHON'
import json, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
text = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S).group(1)
d = json.loads(text)
assert eval("(" + sys.argv[2] + ")"), {k: v for k, v in d.items() if k != "pictures"}
PYTHON
}
# events EXPRESSION of `f`, the files in their order, `read` and `scalars`
events() {
    python3 - "$tests/support" "$1" board/* <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
from event_files import read, scalars
f = sys.argv[3:]
assert eval("(" + sys.argv[2] + ")"), [vars(e) for path in f for e in read(path, False)][:9]
PYTHON
}
# The rates are not the same; the stopped one has an epoch point more, where it stopped.
same_page() {
    python3 - "$1" "$2" <<'PYTHON'
import json, re, sys
def read(name):
    before, data, after = re.split(r'(?<=type="application/json">)(.*?)(?=</script>)',
                                   open(name, encoding="utf-8").read(), maxsplit=1, flags=re.S)
    d = json.loads(data)
    del d["points"]["rate"], d["epochs"]
    return before, json.dumps(d), after
assert read(sys.argv[1]) == read(sys.argv[2])
PYTHON
}

# A network that learns something of drawn digits in a second.
echo '{"model": {"image": [28, 28], "channels": 1, "patch": 7, "dim": 16, "depth": 1, "heads": 2,
"mlp": 32, "init": "torch"}, "train": {"batch": 64, "lr": 0.004}}' >tiny.json
train="vit-train --data digits --preset ./tiny.json"

# ---- the page ----

check "a training with everything that shows it" \
    $train --steps 450 --out a.safetensors --report a.html --tensorboard board --log a.jsonl
check "changes no byte of the model" sh -c "$train --steps 450 --threads 1 --out b.safetensors \
    >said 2>&1; cmp a.safetensors b.safetensors"
check "it holds the curves" data a.html \
    'd["title"]["state"] == "done" and d["points"]["step"][-1] == 450 and
     len(d["points"]["loss"]) == 225 and d["points"]["loss"][0] > d["points"]["loss"][-1] > 0 and
     d["epochs"]["step"] == [297, 450] and min(d["points"]["grad_norm"]) > 0'
vit-evaluate --model a.safetensors --data digits --json --confusion >evaluated
check "its confusion matrix is vit-evaluate's" data a.html \
    '[[sum(c["count"] for c in d["answers"]["cells"] if (c["truth"], c["answer"]) == (i, j))
       for j in range(10)] for i in range(10)] == json.load(open("evaluated"))["confusion"] and
     d["answers"]["right"] == json.load(open("evaluated"))["correct"]'
check "it shows pictures of every cell, and the worst first" data a.html \
    'all(len(c["pictures"]) == min(12, c["count"]) for c in d["answers"]["cells"]) and
     len(d["answers"]["worst"]) == 24 and
     (lambda w: w == sorted(w))([d["pictures"][i]["truth_probability"]
                                 for i in d["answers"]["worst"]]) and
     all(d["pictures"][i]["truth"] == c["truth"] and d["pictures"][i]["answer"] == c["answer"]
         for c in d["answers"]["cells"] for i in c["pictures"])'
check "it says what to try" data a.html 'd["advice"] and all(a["try"] for a in d["advice"])'
check "in Chromium: curves, cells, places; no error, no request" \
    python3 "$tests/cli/report_page.py" a.html

# ---- from a log ----

check "vit-report" vit-report a.jsonl -o log.html
check "a log has the curves of the page" python3 -c "
import re
pick = lambda f: re.search(r'\"points\": .*?\"rate\"', open(f).read(), re.S).group(0)
assert pick('a.html') == pick('log.html')"
check "and no pictures" data log.html \
    'd["answers"] is None and d["filters"] is None and
     d["title"]["test_top1"] > .3 and min(d["points"]["grad_norm"]) > 0'
check "with model and data" \
    vit-report a.jsonl --out full.html --model a.safetensors --data digits
check "the same pictures" python3 -c "
import re
pick = lambda f: re.search(r'\"cells\".*', open(f).read(), re.S).group(0).split('</script>')[0]
assert pick('a.html') == pick('full.html')"
check "in Chromium, a log alone" \
    python3 "$tests/support/chromium.py" log.html 'is=document.querySelector("#confusion").hidden' \
    'is=document.querySelectorAll("#curves path").length > 3' size=390x844 dark

# ---- several trainings ----

writes() {
    text=$1
    shift
    "$@" >table && cat table && grep -q -e "$text" table
}
log_of() {
    echo '{"event":"start","preset":"mnist","data":"two","step":0,"steps":40,"epochs":2}'
    echo "{\"event\":\"epoch\",\"step\":20,\"loss\":1,\"lr\":1,\"val_top1\":$1,\"val_loss\":1}"
    echo "{\"event\":\"epoch\",\"step\":40,\"loss\":1,\"lr\":1,\"val_top1\":$2,\"val_loss\":1}"
    echo "{\"event\":\"done\",\"step\":40,\"test_top1\":$3}"
}
log_of 0.8 0.7 0.90 >one.jsonl
log_of 0.6 0.6 0.92 >two.jsonl
log_of 0.6 0.6 null >three.jsonl
check "several logs are compared" writes '40 *40 *80.00 *70.00 *90.00  one.jsonl, mnist on two' \
    vit-report one.jsonl two.jsonl
check "their mean" writes 'mean *70.00 *65.00 *91.00$' vit-report one.jsonl two.jsonl
check "their deviation" writes 'deviation *14.14 *7.07 *1.41$' vit-report one.jsonl two.jsonl
check "of what all have" writes 'mean *66.67 *63.33 *-$' \
    vit-report one.jsonl two.jsonl three.jsonl
check "as JSON" sh -c 'vit-report one.jsonl two.jsonl --json >table && python3 -c "
import json
r = json.load(open(\"table\"))
assert [x[\"name\"] for x in r[\"runs\"]] == [\"one.jsonl\", \"two.jsonl\"], r
assert abs(r[\"test_top1\"][\"mean\"] - .91) < 1e-9, r
assert abs(r[\"best_val_top1\"][\"deviation\"] - .02 ** .5) < 1e-9, r"'
check "a page of several" vit-report one.jsonl two.jsonl -o several.html
check "its runs" data several.html \
    '[r["name"] for r in d["runs"]] == ["one.jsonl", "two.jsonl"] and d["groups"] == [""] and
     d["runs"][0]["best_val_top1"] == 0.8 and d["runs"][1]["val_top1"] == [0.6, 0.6]'
check "a page and a table" refuses 2 "give one" vit-report one.jsonl two.jsonl -o x.html --json
check "a page in place of a log" refuses 2 "same file" vit-report one.jsonl two.jsonl -o two.jsonl
check "a page of several with a model" refuses 2 "of one log" \
    vit-report one.jsonl two.jsonl -o x.html --model mnist
check "no page without a name" refuses 2 "second log" vit-report one.jsonl
check "a log that is none" refuses 1 "line 1" vit-report one.jsonl tiny.json

check "--seeds" writes '^deviation' sh -c "$train --steps 20 --seeds 3,1 --out s.safetensors \
    --log s.jsonl --report s.html --tensorboard seeds 2>said | sed 's/^ *//'"
$train --steps 20 --seed 1 --out t.safetensors >said 2>&1
check "each is the training of its seed" cmp s-seed1.safetensors t.safetensors
check "with files of its own" test -s s-seed3.safetensors -a -s s-seed3.jsonl -a -s s-seed1.html \
    -a -d seeds/seed3
check "the table is that of their logs" sh -c "vit-report s-seed3.jsonl s-seed1.jsonl |
    sed 's/jsonl/safetensors/' >logs && tail -n 5 table >last && vit-report s-seed3.jsonl \
    s-seed1.jsonl | grep -c '^ *20 *20' | grep -qx 2 && grep -o 'mean.*' table >a &&
    grep -o 'mean.*' logs >b && cmp a b"
$train --steps 20 --seed 2 --lr 0.01 --out u.safetensors --log u.jsonl >said 2>&1
check "two recipes are not one" writes '^lr 0.01$' vit-report s-seed3.jsonl s-seed1.jsonl u.jsonl
check "nor have one mean" sh -c "test \$(grep -c mean table) = 1 && vit-report s-seed3.jsonl \
    s-seed1.jsonl u.jsonl --json >table && python3 -c '
import json
r = json.load(open(\"table\"))
assert [x[\"runs\"] for x in r[\"groups\"]] == [2, 1] and \"test_top1\" not in r, r
assert [x[\"seed\"] for x in r[\"runs\"]] == [3, 1, 2], r'"
vit-report s-seed3.jsonl s-seed1.jsonl u.jsonl -o groups.html
check "in Chromium: a page of two recipes" \
    python3 "$tests/support/chromium.py" groups.html \
    'is=document.querySelectorAll(".runs .summary").length == 2' \
    'is=document.querySelectorAll("#curves path").length > 5' size=390x844 dark
check "a training that is there twice" \
    sh -c "vit-report u.jsonl u.jsonl 2>&1 | grep -q 'one training twice'"
check "as JSON, with --minutes for both" sh -c "$train --minutes .1 --seeds 0,1 --json \
    --out m.safetensors 2>said | tail -n 1 >table && python3 -c '
import json
r = json.load(open(\"table\"))
assert r[\"event\"] == \"seeds\" and len({x[\"step\"] for x in r[\"runs\"]}) == 1, r
assert r[\"runs\"][1][\"name\"] == \"m-seed1.safetensors\", r
values = [x[\"test_top1\"] for x in r[\"runs\"]]
assert abs(r[\"test_top1\"][\"mean\"] - sum(values) / 2) < 1e-9, r'"
for seeds in 1 1,1 1, a,b -1,2 1,2,99999999999999999999; do
    check "--seeds $seeds" refuses 2 "expected 2 to 64 whole numbers" $train --seeds $seeds
done
check "--seeds and --seed" refuses 2 "--seed" $train --seeds 1,2 --seed 3
check "--seeds and --resume" refuses 2 "--checkpoint" $train --seeds 1,2 --resume
check "checkpoints of each" sh -c "$train --steps 5/10 --seeds 1,2 --checkpoint both \
    --out c.safetensors >said 2>&1 && $train --steps 10 --seeds 1,2 --checkpoint both --resume \
    --out c.safetensors >said 2>&1 && $train --steps 10 --seed 2 --out e.safetensors >said 2>&1 &&
    cmp e.safetensors c-seed2.safetensors"
rm -f e.safetensors

check "no log" refuses 1 "line 1" vit-report tiny.json -o x.html
check "no page for a file of another kind" \
    refuses 1 "no report of this program" vit-report a.jsonl -o a.safetensors
check "nor for the log" refuses 2 "same file" vit-report a.jsonl -o a.jsonl
check "data without a model" refuses 2 "--model" vit-report a.jsonl -o x.html --data digits
for option in "--split val" "--class-column x" "--config x"; do
    # shellcheck disable=SC2086 # an option and its value
    check "$option of nothing" refuses 2 "for --" vit-report a.jsonl -o x.html $option
done
head -c -9 a.jsonl >cut.jsonl
check "a log that is cut off" vit-report cut.jsonl -o cut.html
check "and has not ended" data cut.html 'd["title"]["state"] == "log"'
echo "{}" >page.html
check "a training refuses it, too, before it begins" \
    refuses 1 "no report of this program" $train --steps 1 --out x.safetensors --report page.html
check "and that two names are one" \
    refuses 2 "same file" $train --steps 1 --out x.safetensors --report x.safetensors

# ---- labels that are no good for HTML ----

mkdir -p 'pets/<script>alert(1)' pets/dog
i=0
while [ $i -lt 12 ]; do
    "$BUILD/examples/draw_digit" "pets/dog/$i.png" $i >/dev/null
    i=$((i + 1))
done
cp pets/dog/*.png 'pets/<script>alert(1)/'
check "a class that is called a script" vit-train --data pets --steps 3 --out pets.safetensors \
    --report pets.html
check "stays a name" data pets.html 'd["labels"] == ["<script>alert(1)", "dog"]'
check "in Chromium" python3 "$tests/support/chromium.py" pets.html \
    'is=document.querySelector(".matrix th[scope=row]").textContent == "<script>alert(1)"'

# ---- event files ----

check "the events, strictly" events 'len(f) == 1 and len(read(f[0])) > 200 and
    max(e.step for e in read(f[0])) == 450 and
    all(abs(e.time - __import__("time").time()) < 600 for e in read(f[0]))'
check "scalars" events '{k: len(v) for k, v in scalars(f).items()} == {"loss/train": 225, "lr": 225,
    "gradient_norm": 225, "images_per_second": 225, "loss/val": 2, "accuracy/val": 2,
    "accuracy/train": 2, "loss/test": 1, "accuracy/test": 1}'
check "pictures" events '[(e.step, e.images) for e in read(f[0]) if e.images][-2:] ==
    [(450, {"filters": (127, 7, 1)}), (450, {"most_wrong": (231, 86, 1)})]'
rm -r board
$train --steps 200/450 --out d.safetensors --checkpoint state --tensorboard board --report d.html \
    >said 2>&1
check "a training stopped on its way" data d.html \
    'd["title"]["state"] == "stopped" and d["points"]["step"][-1] == 200'
for file in board/*; do head -c -5 "$file" >short && cp short "$file"; done
check "goes on" env SOURCE_DATE_EPOCH=4102444800 $train --steps 450 --out d.safetensors \
    --checkpoint state --resume --tensorboard board --report d.html
check "behind a record that was cut off" events \
    'len(f) == 2 and len(scalars(f)["loss/train"]) == 225 and
     {e.time for e in read(f[1])} == {4102444800.0} and [e.step for e in read(f[1]) if e.started] ==
     [201] and max(e.step for e in read(f[0], False)) == 200'
check "and has the page of one that was not stopped" same_page a.html d.html
check "a time that is none" refuses 2 "SOURCE_DATE_EPOCH" \
    env SOURCE_DATE_EPOCH=yesterday $train --steps 1 --out e.safetensors --tensorboard board

# ---- which learning rate ----

check "--find-lr" sh -c "$train --find-lr --seed 3 --threads 1 >one &&
    grep -q '^suggested: --lr 0.0' one"
for option in "--report x.html" "--checkpoint c" "--seeds 0,1" "--keep best"; do
    check "and makes no model: $option" \
        refuses 2 "${option%% *} has no meaning with --find-lr" $train --find-lr $option
done
check "is a function of the seed" sh -c "$train --find-lr --seed 3 >two && cmp one two &&
    $train --find-lr --seed 4 >two && ! cmp -s one two"
check "as JSON" sh -c "$train --find-lr --seed 3 --json >json && python3 -c '
import json
r = json.load(open(\"json\"))
least = r[\"lr\"][r[\"loss\"].index(min(r[\"loss\"]))]
assert abs(r[\"suggested\"] / (least / 5) - 1) < .06 and r[\"preset\"] == .004, r
assert r[\"lr\"][0] == 1e-5 and len(r[\"lr\"]) == len(r[\"loss\"]) > 100, r'"
check "and writes nothing" not ls tiny.safetensors

# ---- interrupted ----

$train --steps 100000 --out i.safetensors --report i.html >said 2>&1 &
pid=$!
while [ ! -s i.html ] && kill -0 $pid 2>/dev/null; do sleep 0.1; done
kill -TERM $pid
wait $pid
check "an interrupted training leaves the report so far" data i.html \
    'd["title"]["state"] == "stopped" and d["answers"]["count"] == 1000 and
     "validation" in d["answers"]["which"]'
