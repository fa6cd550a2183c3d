#!/bin/sh
# vit-evaluate: how well a model answers.
. "$(dirname "$0")/../shell"

given_model

run 0 '"per_class"' "" vit-evaluate --model digits.safetensors --data digits --json --confusion
mv out evaluation
json "vit-evaluate --json" evaluation 'r[0]["images"] == 2000
    and r[0]["top1"] == r[0]["correct"] / 2000 and r[0]["top1"] <= r[0]["top5"] <= 1
    and r[0]["loss"] > 0 and r[0]["seconds"] > 0 and r[0]["images_per_second"] > 0
    and [c["label"] for c in r[0]["per_class"]] == [str(i) for i in range(10)]
    and 0 < r[0]["ece"] < 1 and 0 < r[0]["brier"] < 2 and r[0]["temperature"] > 0
    and sum(b["images"] for b in r[0]["reliability"]) == 2000 and len(r[0]["reliability"]) == 15
    and sum(c["images"] for c in r[0]["per_class"]) == 2000
    and sum(c["correct"] for c in r[0]["per_class"]) == r[0]["correct"]
    and [sum(row) for row in r[0]["confusion"]] == [c["images"] for c in r[0]["per_class"]]'
run 0 "digits.safetensors on digits, split test: 2,000 pictures" "" \
    vit-evaluate --model digits.safetensors --data digits --confusion --batch 7 --threads 1
check "the table has a row for each class" grep -q '^  9  *200 ' out
run 0 "split val: 1,000 pictures" "" \
    vit-evaluate --model digits.safetensors --data digits --split val

sized="--model $fixtures/sizes.safetensors"
run 0 "on digits" "digits, 28 x 28, are prepared as grey pictures are: 40 x 40 x 3" \
    vit-evaluate $sized --size 40 --data digits
if [ -d "${VIT_DATA:-$tree/../shared/data}/cifar10" ]; then
    run 1 "" "of cifar10 are 32 x 32 x 3, the model takes 28 x 28 x 1" \
        vit-evaluate --model digits.safetensors --data cifar10
fi
run 1 "" "cannot open ./absent" vit-evaluate --model ./absent --data digits

# ---- logits, and a training that is taught by them ----

run 0 "split train: 20,000" "" \
    vit-evaluate --model digits.safetensors --data digits --split train --logits d.npy
run 0 "the model is taught.safetensors" "2 steps" vit-train --data digits --teacher d.npy \
    --steps 2 --batch 2 --out taught.safetensors
run 0 "teacher_sha256" "" vit-info taught.safetensors
run 2 "" "--logits: the file is an array of NumPy" \
    vit-evaluate --model digits.safetensors --data digits --logits d.csv

# ---- folders ----

# given_pets: a folder of two classes, and a model of them
given_pets() {
    mkdir -p pets/cat pets/dog
    for i in 1 2 3 4; do
        cp "$published/picture.png" pets/cat/$i.png
        cp "$published/picture.png" pets/dog/$i.png
    done
    given vit-train --data pets --init "$published/hf_4" --steps 2 --batch 2 --out pets.safetensors
}
given_pets
run 1 "" "the model is a backbone without a head" \
    vit-evaluate --model "$published/timm_backbone" --data pets
run 0 "*" "" vit-evaluate --model pets.safetensors --data pets --split train
echo text >pets/dog/5.png
run 1 "" "the 9 files of 2 classes give none that can be read: put pictures into pets/test/CLASS" \
    vit-evaluate --model pets.safetensors --data pets
check "and what cannot be read is named" grep -q 'left out: pets/dog/5.png: the file is text' err
