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

# ---- vit-evaluate: files ----

vit-train --data digits --steps 40 --batch 32 --out digits.safetensors >/dev/null 2>&1
evaluate="vit-evaluate --model digits.safetensors --data digits"
check "--predictions, --confusion-csv, --json" sh -c "$evaluate --predictions answers.csv \
    --confusion-csv confusion.csv --json --confusion >evaluation.json"
# What the two files say must be what the program says of itself.
check "both files agree with the figures" python3 - <<'END'
import csv, json
e = json.load(open("evaluation.json"))
rows = list(csv.DictReader(open("answers.csv")))
assert len(rows) == e["images"] == 2000
assert [int(r["index"]) for r in rows] == list(range(2000)) and not any(r["file"] for r in rows)
assert sum(int(r["right"]) for r in rows) == e["correct"]
assert all((r["label"] == r["answer"]) == (r["right"] == "1") for r in rows)
assert all(0 < float(r["label_probability"]) <= float(r["probability"]) <= 1 for r in rows)
table = list(csv.reader(open("confusion.csv")))
assert table[0] == ["label/answer"] + [c["label"] for c in e["per_class"]]
counts = [[int(x) for x in row[1:]] for row in table[1:]]
assert counts == e["confusion"]
classes = range(10)
assert all(counts[i][j] == sum(r["label"] == str(i) and r["answer"] == str(j) for r in rows)
           for i in classes for j in classes)
row = [sum(counts[i]) for i in classes]
column = [sum(counts[i][j] for i in classes) for j in classes]
precision = [counts[i][i] / column[i] if column[i] else None for i in classes]
recall = [counts[i][i] / row[i] for i in classes]
f1 = [2 * counts[i][i] / (row[i] + column[i]) for i in classes]
near = lambda a, b: (a is None and b is None) or abs(a - b) < 1e-12
mean = lambda xs: sum(x or 0 for x in xs) / 10
for i, c in enumerate(e["per_class"]):
    assert near(c["precision"], precision[i]) and near(c["recall"], recall[i]), (i, c)
    assert near(c["f1"], f1[i]) and near(c["accuracy"], recall[i])
assert near(e["balanced_accuracy"], mean(recall)) and near(e["macro_recall"], mean(recall))
assert near(e["macro_precision"], mean(precision)) and near(e["macro_f1"], mean(f1))
END
cp answers.csv before.csv
check "written again, it is the same" sh -c "$evaluate --predictions answers.csv --threads 1 &&
    cmp answers.csv before.csv"
check "text has them, too" says 'balanced .*recall' $evaluate
check "class by class" says 'recall precision  *f1' $evaluate
printf 'my notes\n' >notes.csv
check "a file of another kind is not replaced" refuses 1 'notes.csv exists and is no file of this' \
    $evaluate --predictions notes.csv
check "and is as it was" test "$(cat notes.csv)" = "my notes"
check "nor a model" refuses 1 'digits.safetensors exists and is no file' \
    $evaluate --confusion-csv digits.safetensors
check "a place that cannot be written is found before the work" refuses 1 'absent/a.csv' \
    $evaluate --predictions absent/a.csv
check "one file for both is refused" refuses 2 'name the same file' \
    $evaluate --predictions a.csv --confusion-csv a.csv

# A folder: names of files, and one of them with a comma.
mkdir -p "pets/cat, a" pets/dog
for i in 1 2 3 4 5 6; do
    cp "$picture" "pets/cat, a/$i.png"
    cp "$picture" "pets/dog/d\"$i.png"
done
vit-train --data pets --steps 2 --batch 4 --out pets.safetensors >/dev/null 2>&1
check "a folder's pictures have their names" sh -c "vit-evaluate --model pets.safetensors \
    --data pets --split train --predictions pets.csv"
check "which CSV quotes" python3 -c '
import csv
rows = list(csv.DictReader(open("pets.csv")))
assert len(rows) == 10, len(rows)
assert {r["label"] for r in rows} == {"cat, a", "dog"}
import os
assert all(os.path.exists(r["file"]) for r in rows), rows'

echo "1..$number"
