#!/bin/sh
# Options of the programs, on the way that a user takes: what they write, and what they refuse.
. "$(dirname "$0")/../shell"

picture=$published/picture.png

# ---- --labels ----

printf 'ant\nbee\ncat\ndog\nelk\n' >names.txt
check "--labels: names of a file" \
    writes '"label": "bee"' vit-classify --model "$published/timm_deit3" --labels names.txt \
    --top 5 --json "$picture"
check "vit-info shows them" writes 'classes.*ant, bee, cat, dog, elk' \
    vit-info --labels names.txt "$published/timm_deit3"
check "vit-convert writes them" \
    vit-convert --labels names.txt "$published/timm_deit3" named.safetensors
check "which then has them" writes 'classes.*ant, bee, cat, dog, elk' vit-info named.safetensors
printf 'ant\nbee\n' >two.txt
check "too few are refused" refuses 1 'two.txt has 2 names, the model 5 classes' \
    vit-classify --model "$published/timm_deit3" --labels two.txt "$picture"
check "a file that is missing" refuses 1 'absent.txt' \
    vit-evaluate --model "$published/timm_deit3" --labels absent.txt --data digits

# ---- VIT_PARALLEL ----

logits="vit-classify --model $published/timm_deit3 --logits --threads 2"
check "VIT_PARALLEL=always: the same logits" \
    sh -c "$logits '$picture' >one; VIT_PARALLEL=always $logits '$picture' >two; cmp one two"
check "another word is refused" refuses 2 'VIT_PARALLEL is "never", expected always' \
    env VIT_PARALLEL=never vit-classify "$picture"

# ---- vit-evaluate: files ----

vit-train --data digits --steps 40 --batch 32 --out digits.safetensors >/dev/null 2>&1
evaluate="vit-evaluate --model digits.safetensors --data digits"
check "--predictions, --confusion-csv, --json" sh -c "$evaluate --predictions answers.csv \
    --confusion-csv confusion.csv --json --confusion >evaluation.json"
# What the two files say must be what the program writes of itself.
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
check "--confusion-svg" sh -c "$evaluate --confusion-svg confusion.svg"
check "has the names and the counts" python3 -c '
import json, xml.etree.ElementTree as tree
counts = [n for row in json.load(open("evaluation.json"))["confusion"] for n in row]
shown = [t.text for t in tree.parse("confusion.svg").iter("{http://www.w3.org/2000/svg}text")]
assert shown[0] == "rows: true classes; columns: answers"
assert sorted(shown[1:]) == sorted([str(n) for n in counts if n] + 2 * [str(i) for i in range(10)])
'
cp answers.csv before.csv
check "written again, it is the same" sh -c "$evaluate --predictions answers.csv --threads 1 &&
    cmp answers.csv before.csv"
check "text has them, too" writes 'balanced .*recall' $evaluate
check "class by class" writes 'recall precision  *f1' $evaluate
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

# ---- vit-train ----

# A folder of striped pictures: 60, 20 and 12 of three classes; the last has none for the test.
python3 - <<'END'
import os, struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
def png(path, shade):
    rows = b"".join(b"\0" + bytes([(shade + 7 * x + 3 * y) % 256 for x in range(32)])
                    for y in range(32))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" +
                chunk(b"IHDR", struct.pack(">IIBBBBB", 32, 32, 8, 0, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
for part, counts in (("train", (60, 20, 12)), ("test", (6, 4, 0))):
    for name, shade, count in zip(("ant", "bee", "cat"), (0, 80, 160), counts):
        for i in range(count):
            png(f"classes/{part}/{name}/{i:02}.png", shade + i)
END
small="--set dim=16 --set depth=1 --set heads=2 --set mlp=16"

# train OUT OPTION...: a small network on that folder
train() {
    out=$1
    shift
    # shellcheck disable=SC2086 # a list of words
    vit-train --data classes $small --batch 8 --out "$out" "$@"
}
check "--gradient-accumulation" \
    train accumulated.safetensors --steps 6 --gradient-accumulation 3 --threads 2
check "is a batch of three times as many pictures, with one thread, too" sh -c "
    vit-train --data classes $small --steps 6 --batch 24 --threads 1 --out one.safetensors &&
    cmp one.safetensors accumulated.safetensors"
interrupted() {
    train "$1" --steps 3/6 --gradient-accumulation 3 --checkpoint halves && rm "$1" &&
        train "$1" --steps 6 --gradient-accumulation 3 --checkpoint halves --resume
}
check "and the same when it is gone on with" interrupted resumed.safetensors
check "to the byte" cmp resumed.safetensors accumulated.safetensors
check "--weight-decay, --drop-path, --balance" train set.safetensors --steps 4 \
    --weight-decay 0.25 --drop-path 0.125 --balance --log set.jsonl
check "are in the recipe" writes '"weight_decay": 0.25.*"drop_path": 0.125.*"balance": true' \
    vit-info --json set.safetensors
check "--weight-decay 0" train none.safetensors --steps 1 --weight-decay 0
check "is none" writes '"weight_decay": 0,' vit-info --json none.safetensors
check "less than nothing is refused" refuses 2 'weight-decay: -0.5 is out of range' \
    train x.safetensors --weight-decay -0.5
check "the log begins with the start, and has the notes" python3 -c '
import json
events = [json.loads(line) for line in open("set.jsonl")]
assert events[0]["event"] == "start" and events[-1]["event"] == "done"
notes = " ".join(e["text"] for e in events if e["event"] == "note")
assert "unbalanced" in notes and "each class weighs the same" in notes, notes
assert "too few to learn from" in notes, notes
assert "class cat has no test picture" in notes, notes'
check "unbalanced classes are told of" writes 'unbalanced: .* of ant, .* of cat; --balance' \
    train plain.safetensors --steps 4 --weight-decay 0.25 --drop-path 0.125
mkdir -p mostly/test && cp -r classes/train mostly/ && cp -r classes/test/ant mostly/test/
check "so is a test that the largest class would pass as well" writes \
    '100.00 % of the test pictures are ant, so that .* as good; --balance' \
    vit-train --data mostly --size 16 --set patch=8 --set depth=1 --steps 1 --out m.safetensors
check "--balance makes another model" python3 -c '
weights = lambda f: open(f, "rb").read()[-4000:]
assert weights("plain.safetensors") != weights("set.safetensors")'
check "--size" train sized.safetensors --steps 2 --size 48
check "is the network's" writes '"image": \[48, 48\]' vit-info --json sized.safetensors
check "HxW, too" train wide.safetensors --steps 2 --size 16x48
check "and the pictures are prepared so" writes '"height": 16, "width": 48' vit-info --json \
    wide.safetensors
check "with --init positions are resampled" writes 'positions are resampled: .* 48 x 48' \
    vit-train --data classes --out again.safetensors --init sized.safetensors --size 96 --steps 1
check "a size that is no multiple of the patch" refuses 2 'multiple of 4, or another "patch"' \
    vit-train --data classes --size 50 --steps 1 --out x.safetensors
check "a size beyond reason" refuses 2 'at most 2048 a side' \
    vit-train --data classes --size 30000 --steps 1 --out x.safetensors
check "records have the size they have" refuses 1 'records of 28 x 28' \
    vit-train --data digits --size 32 --steps 1 --out x.safetensors

# A longer schedule.
check "--resume with more steps" writes 'schedule becomes longer, 12 steps instead of 6' \
    train resumed.safetensors --steps 12 --gradient-accumulation 3 --checkpoint halves --resume
check "is in the recipe" \
    writes '"extended": {"at_step": 6, "from_steps": 6}.*"schedule_steps": 12' \
    vit-info --json resumed.safetensors
check "given again, it is the same" writes 'resuming after step 12 of 12' \
    train resumed.safetensors --steps 12 --gradient-accumulation 3 --checkpoint halves --resume
check "with fewer it is another training" refuses 1 'number of steps' \
    train resumed.safetensors --steps 9 --gradient-accumulation 3 --checkpoint halves --resume

# A checkpoint is a model.
answer() {
    vit-classify --model "$1" --top 3 --json classes/test/ant/00.png
}
evaluate_it() {
    vit-evaluate --model "$1" --data classes --json |
        sed 's/.*"images": \([0-9]*\).*"loss": \([0-9.]*\).*/\1 \2/'
}
newest=$(ls halves/checkpoint-*.safetensors | tail -1)
evaluate_it resumed.safetensors >expected.txt
check "vit-classify --model DIRECTORY" writes '"label": "ant"' answer halves
check "vit-evaluate --model DIRECTORY has the model's loss" sh -c "test -s expected.txt"
evaluate_it halves >found.txt 2>&1
check "to the digit" cmp found.txt expected.txt
evaluate_it "$newest" >found.txt 2>&1
check "vit-evaluate --model FILE, too" cmp found.txt expected.txt
cp "$newest" bad.safetensors
printf 'x' | dd of=bad.safetensors bs=1 seek=20000 conv=notrunc 2>/dev/null
check "a damaged one is refused" refuses 1 'bad.safetensors is damaged' answer bad.safetensors

# Files that cannot be read.
mkdir more && cp -r classes/train/ant classes/train/bee more
for i in 1 2 3 4 5; do echo nothing >"more/ant/bad$i.png"; done
count_bad() {
    grep -c 'bad[1-5].png' "$1"
}
vit-train --data more $small --steps 2 --out more.safetensors --log more.jsonl 2>few >/dev/null
check "three files that cannot be read are named" test "$(count_bad few)" = 3
check "and all counted" grep -q '5 files in all' few
check "all are in the log" test "$(count_bad more.jsonl)" = 5
vit-train --data more $small --steps 2 --out more.safetensors --list-unreadable 2>all >/dev/null
check "--list-unreadable names all" test "$(count_bad all)" = 5
vit-evaluate --model more.safetensors --data more --split train --list-unreadable 2>all >/dev/null
check "vit-evaluate --list-unreadable, too" test "$(count_bad all)" = 5
vit-train --data more $small --steps 2 --out more.safetensors --list-unreadable --json \
    2>all >/dev/null
check "with --json" test "$(count_bad all)" = 5
mkdir none strips && cp -r classes/train/ant none && mkdir none/bee
for i in 1 2 3 4 5; do
    echo nothing >"none/bee/bad$i.png"
    echo nothing >"strips/bad$i.png"
    printf 'bad%d.png\t12\n' $i >>strips/labels.tsv
done
named() {
    ! vit-train "$@" --out none.safetensors --list-unreadable 2>all >/dev/null &&
        test "$(grep -o 'bad[1-5].png' all | sort -u | wc -l)" = 5
}
check "where a class has no other files" named --data none
check "where a table has no others" named --data ./strips
vit-evaluate --model more.safetensors --data more --split train --list-unreadable 2>all >/dev/null
check "in the same words" test "$(grep -c 'left out: .*bad[1-5].png' all)" = 5
check "--keep best with nothing to choose by is said" \
    writes 'there is no validation set, by which' \
    train unchosen.safetensors --steps 2 --val 0 --keep best
check "so is --patience" writes 'there is no validation set, by which' \
    train unchosen.safetensors --steps 2 --val 0 --patience 3 --overwrite

# ---- -0 ----

odd=$(printf 'two\nlines.png')
cp classes/test/ant/00.png "$odd"
find . -maxdepth 1 -name '*lines.png' -print0 >names0
cat >check0.py <<'END'
import json, sys
answers = [json.loads(line) for line in open(sys.argv[1])]
assert len(answers) == 1 and answers[0]["file"].endswith("two\nlines.png"), answers
assert answers[0]["predictions"], answers
END
check "-0: a name of two lines" sh -c "vit-classify --model resumed.safetensors --json -0 \
    --files-from names0 >null.jsonl && python3 check0.py null.jsonl"
check "--null, from standard input" sh -c "vit-classify --model resumed.safetensors --json --null \
    --files-from - <names0 >null.jsonl && python3 check0.py null.jsonl"
check "without -0 that is said" refuses 1 'zero byte (a list of find -print0 is read with -0)' \
    vit-classify --model resumed.safetensors --files-from names0
check "-0 without a list is refused" refuses 2 'is for the names of --files-from' \
    vit-classify --model resumed.safetensors -0 classes/test/ant/00.png
check "-0 twice is refused" refuses 2 '--null is given twice' \
    vit-classify -0 -0 --files-from names0
check "-1 is no option" refuses 2 'unknown option -1' vit-classify -1 --files-from names0

