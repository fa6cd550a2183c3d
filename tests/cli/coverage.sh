#!/bin/sh
# Prediction sets and the reject option, as a user asks for them.
. "$(dirname "$0")/../shell"

vit-train --data digits --steps 60 --batch 64 --out m.safetensors >/dev/null 2>&1 || exit 1
picture=picture.png
"$draw" "$picture" >/dev/null || exit 1

run 1 "" "not calibrated" vit-classify --model m.safetensors --coverage 0.9 "$picture"
run 2 "" "not --split train" \
    vit-evaluate --model m.safetensors --calibrate digits --split train
run 2 "" "--data DATA is missing" vit-evaluate --model m.safetensors
run 2 "" "exclude each other" \
    vit-classify --abstain-below .5 --answered-right .9 "$picture"
run 2 "" "is for --coverage" vit-classify --by-class "$picture"
for program in vit-serve "vit-classify --stream" "vit-evaluate --data digits"; do
    # shellcheck disable=SC2086 # a program and its options
    run 2 "" "is for --coverage" $program --model mnist --calibration absent
done
run 2 "" "below 1" vit-classify --coverage 1 "$picture"
run 0 "2,000 pictures of digits" "" vit-evaluate --model m.safetensors --calibrate digits
check "beside the model" test -f m.calibration

vit-evaluate --model m.safetensors --data digits --coverage 0.9 --answered-right 0.8 --json \
    >measured.json 2>notes
check "the same pictures are named" grep -q "says nothing of others" notes
check "which threshold" grep -q "abstains below a confidence of" notes
check "coverage as asked" python3 - <<'END'
import json
found = json.load(open("measured.json"))
sets, answered = found["coverage"], found["answered"]
assert .9 <= sets["measured"] < .93, sets
assert len(sets["per_class"]) == 10 and sets["low"] < sets["measured"] < sets["high"]
assert .8 <= answered["top1"] < .82 and answered["share"] < 1, answered
assert answered["correct"] / answered["images"] == answered["top1"]
END
vit-evaluate --model m.safetensors --data digits --answered-right 0.8 --predictions all.csv --json \
    >measured.json 2>notes
check "abstains in --predictions as measured" python3 - <<'END'
import csv, json
answered = json.load(open("measured.json"))["answered"]
rows = [row for row in csv.DictReader(open("all.csv")) if row["abstains"] == "0"]
assert len(rows) == answered["images"], answered
assert sum(row["right"] == "1" for row in rows) == answered["correct"], answered
END
vit-classify --model m.safetensors --coverage 0.9 --abstain-below 1 --json "$picture" >answer.json
check "a set and abstaining in JSON" \
    grep -q '"abstains": true, "coverage": 0.9, "set": \[' answer.json
vit-classify --model m.safetensors --coverage 0.9 --abstain-below 0 --format csv "$picture" \
    >answer.csv
check "in CSV" grep -q '^file,label,.*,abstains,set,error$' answer.csv
check "abstains never below 0" grep -q ',0,[0-9|]*,$' answer.csv
vit-classify --model m.safetensors --unknown 0.05 --json "$picture" >answer.json
check "a p-value in JSON" grep -q '"p_value": [0-9.]*, "unknown": false' answer.json
vit-classify --model m.safetensors --unknown 0.05 --format csv "$picture" absent.png \
    >answer.csv 2>&1
check "in CSV" grep -q '^file,label,.*,p_value,unknown,error$' answer.csv
check "of a picture that is known" grep -q ',0,$' answer.csv
run 1 "" "at least 9999 calibration pictures" \
    vit-classify --model m.safetensors --unknown 0.0001 "$picture"
run 0 " % of these classes' pictures look as unusual (p = 0." "" \
    vit-classify --model m.safetensors --unknown 0.05 "$picture"
mkdir -p lessons/a lessons/b
for i in 1 2 3 4 5 6; do
    cp "$fixtures/image_exif_$i.png" lessons/a && cp "$fixtures/image_exif_$i.jpg" lessons/b
done
run 0 "*" "calibrated by 12 pictures" \
    vit-train --data lessons --init m.safetensors --head ridge --calibrate --out head.safetensors
check "a few-shot head compares with its pictures" grep -aq '"chosen": "knn"' head.calibration
run 2 "" "is below 1" vit-classify --unknown 1 "$picture"
run 2 "" "is for --calibrate" vit-evaluate --model m.safetensors --data digits --training digits
run 2 "" "--calibration FILE is for" \
    vit-evaluate --model m.safetensors --data digits --calibration m.calibration
for option in "--near-duplicates n.csv" "--predictions p.csv" "--coverage 0.9" "--knn 5"; do
    run 2 "" "${option%% *} has no meaning with --calibrate" \
        vit-evaluate --model m.safetensors --calibrate digits $option
    run 2 "" "${option%% *} has no meaning with --unknown" \
        vit-evaluate --model m.safetensors --data digits --unknown 0.05 $option
done
run 0 "false alarms of 5 %" "says nothing of others" \
    vit-evaluate --model m.safetensors --data digits --unknown 0.05
vit-train --data digits --steps 61 --batch 64 --out other.safetensors >/dev/null 2>&1
run 1 "" "answers otherwise" \
    vit-classify --model other.safetensors --calibration m.calibration --coverage 0.9 "$picture"
