#!/bin/sh
# Data as people have them, through the programs: folders and their parts, damaged labels, arrays of
# NumPy. The files are made here; MNIST's come from $VIT_DATA.
set -u
cd "$(dirname "$0")/../.." || exit 1
case ${BUILD:=build} in
/*) ;;
*) BUILD=$PWD/$BUILD ;;
esac
PATH=$BUILD/bin:$PATH
data=$(cd "${VIT_DATA:-../shared/data}" 2>/dev/null && pwd)
picture=$(find "$PWD/tests/fixtures" -name picture.png | head -n 1)
model=$PWD/models/mnist.safetensors
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset VIT_CPU VIT_MODELS
number=0

# run NAME STATUS OUT ERR COMMAND...: exit status, a pattern on each output ("" any)
run() {
    name=$1 wanted=$2 on_out=$3 on_err=$4
    shift 4
    "$@" >out 2>err </dev/null
    status=$?
    number=$((number + 1))
    if [ $status -eq "$wanted" ] &&
        { [ -z "$on_out" ] || grep -q -e "$on_out" out; } &&
        { [ -z "$on_err" ] || grep -q -e "$on_err" err; }; then
        echo "ok $number - $name"
    else
        echo "not ok $number - $name: status $status"
        sed 's/^/#  out: /' out
        sed 's/^/#  err: /' err
    fi
}

# class DIRECTORY COUNT: as many pictures of one class
class() {
    mkdir -p "$1"
    for i in $(seq "$2"); do cp "$picture" "$1/$i.png"; done
}

fast="--steps 2 --batch 4 --threads 2"

# ---- folders ----

class pets/cat 13
class pets/dog 12
run "a folder is called by its name" 0 "" "on pets:" vit-train --data pets $fast --log log.jsonl
run "and so in the log" 0 '"data": *"pets"' "" cat log.jsonl
run "and in the recipe" 0 'data.*pets' "" vit-info pets.safetensors
run "what it held back is the test" 0 \
    "on pets, split test: 4 pictures, the sixth of each class that its training held back" "" \
    vit-evaluate --model pets.safetensors --data pets
cp -r pets copy
run "wherever the folder lies" 0 '"which": *"the sixth.*"images": *4,' "" \
    vit-evaluate --model pets.safetensors --data copy --json
class others/cat 3
class others/dog 2
run "another folder is scored whole" 0 \
    "on others, split test: 5 pictures, all of them, as the model was not trained on this folder" \
    "" vit-evaluate --model pets.safetensors --data others
(cd others && run "a folder that is here has a name, too" 0 "on others" "" \
    vit-evaluate --model ../pets.safetensors --data .)
number=$((number + 1))
run "training on two" 0 "" "on pets+others:" \
    vit-train --data pets+others $fast --out both.safetensors
run "holds back of the first" 0 "split test: 4 pictures, the sixth" "" \
    vit-evaluate --model both.safetensors --data pets

for part in train val test; do
    class parts/$part/cat 12
    class parts/$part/dog 3
done
rm parts/val/cat/1.png parts/test/cat/1.png parts/test/cat/2.png
run "three parts" 0 '"train_images": *15, *"val_images": *14,' "" \
    vit-train --data parts $fast --json
run "val is the user's" 0 "split val: 14 pictures, its val part" "" \
    vit-evaluate --model parts.safetensors --data parts --split val
run "test is test" 0 "split test: 13 pictures, its test part" "" \
    vit-evaluate --model parts.safetensors --data parts
run "train is train" 0 "split train: 15 pictures, its training part" "" \
    vit-evaluate --model parts.safetensors --data parts --split train
for name in valid validation; do
    mv parts/val* parts/$name
    run "$name is val" 0 '"which": *"its val part"' "" \
        vit-evaluate --model parts.safetensors --data parts --split val --json
done
rm -r parts/test
run "val is the test where there is no other" 0 \
    "split test: 14 pictures, its val part, as it has no test part" "val/ is the test, too" \
    vit-evaluate --model parts.safetensors --data parts
given_held=$(vit-train --data pets $fast --val 2 --out held.safetensors 2>&1) || echo "$given_held"
run "without val some are held back" 0 \
    "split val: 2 pictures, those that a training with the model's seed holds back" "" \
    vit-evaluate --model held.safetensors --data pets --split val
mkdir pets/emu
run "a class without a picture is refused" 1 "" "class emu has no picture" \
    vit-train --data pets $fast
run "unless asked for" 0 "" "" vit-train --data pets $fast --empty-classes
run "with its place in the network" 0 "emu" "" vit-info pets.safetensors

rmdir pets/emu
for names in "Train Val" "training_set test_set" "seg_train seg_test" "train test1" \
    "TRAIN testing"; do
    set -- $names
    rm -rf parted && mkdir parted && cp -r pets parted/$1 && cp -r pets parted/$2
    run "$names are parts" 0 "" "25 pictures" vit-train --data parted $fast
done
mkdir -p wrapped/images/seg_train wrapped/images/seg_test
cp -r pets wrapped/images/seg_train/seg_train && cp -r pets wrapped/images/seg_test/seg_test
run "in a folder, and in a folder each" 0 "" "25 pictures" vit-train --data wrapped $fast
mkdir flat && cp -r pets/cat flat/train && cp -r pets/dog flat/test1
run "classes called as parts are refused" 1 "" "would be called test1, as a part of data is" \
    vit-train --data flat $fast
run "unless that is said" 0 "" "" vit-train --data flat $fast --splits-are-classes
mkdir strange && cp -r pets strange/training_set && mkdir -p strange/test_set
cp -r pets/cat strange/test_set/emu && cp -r pets/dog strange/test_set/gnu
run "and parts of other classes" 1 "" "would be called test_set" vit-train --data strange $fast
cp -r pets vehicles && cp -r pets/cat vehicles/train
run "a train among vehicles is a class" 0 "" "" vit-train --data vehicles $fast
mkdir -p pets/__MACOSX/cat pets/@eaDir && cp pets/cat/1.png pets/__MACOSX/cat
echo x >pets/cat/Thumbs.db
run "what systems leave is no class" 0 "" "2 classes" vit-train --data pets $fast --overwrite
run "nor a picture" 1 "" "" grep "left out" err
rm -r pets/__MACOSX pets/@eaDir pets/cat/Thumbs.db
python3 - <<'END'
import os, struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
def png(path, seed, brighter):
    rows = b"".join(b"\0" + bytes(40 + (x // 4 * 37 + y // 4 * 61 + x * y // 16 * seed) % 170 +
                                  brighter for x in range(32)) for y in range(32))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" +
                chunk(b"IHDR", struct.pack(">IIBBBBB", 32, 32, 8, 0, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
for i in range(6):
    png(f"near/train/{'ab'[i % 2]}/{i}.png", 3 + 2 * i, 0)
png("near/test/a/0.png", 3, 20)
END
run "a picture that nearly is one of the training's" 0 "" \
    "1 test picture is nearly a training picture, such as near/test/a/0.png and near/train/a/0" \
    vit-train --data near $fast

# ---- labels ----

# idx NAME BYTES...: a file of IDX labels; pictures NAME COUNT: one of 28x28 noise
idx() {
    name=$1
    shift
    printf '\0\0\010\001\0\0\0\'"$(printf %o $#)" >"$name"
    for byte; do printf "\\$(printf %o "$byte")"; done >>"$name"
}

pictures() {
    printf '\0\0\010\003\0\0\0\'"$(printf %o "$2")"'\0\0\0\034\0\0\0\034' >"$1"
    head -c $((784 * $2)) "$model" >>"$1"
}

mkdir letters
idx letters/train-labels-idx1-ubyte 1 2 3 1 2 3 1 2 3 1 2 3
pictures letters/train-images-idx3-ubyte 12
run "labels from 1" 1 "" "labels go up to 3, but no training picture has label 0" \
    vit-train --data letters $fast
run "are taken when asked for" 0 "" "on letters:" vit-train --data letters $fast --empty-classes
run "no unnamed class is mirrored" 0 '' "" \
    vit-train --data letters $fast --empty-classes --preset folder
run "as its recipe says" 0 '"flip": false' "" vit-info letters.safetensors --json

if [ -f "$data/mnist/train-labels-idx1-ubyte.gz" ]; then
    mkdir damaged
    gunzip -c "$data/mnist/train-labels-idx1-ubyte.gz" >damaged/train-labels-idx1-ubyte
    ln -s "$data/mnist/train-images-idx3-ubyte.gz" damaged/
    printf '\207' | dd of=damaged/train-labels-idx1-ubyte bs=1 seek=4719 conv=notrunc 2>/dev/null
    run "a bit turned in MNIST's labels" 1 "" \
        "damaged: the pictures beside it are those of mnist, but label 4711 is 135" \
        vit-train --data damaged $fast
    printf '\0\0\0\0\0' | dd of=damaged/train-labels-idx1-ubyte bs=1 seek=4719 conv=notrunc \
        2>/dev/null
    run "that makes another digit" 1 "" "are those of mnist, but the labels are not" \
        vit-train --data damaged $fast
else
    number=$((number + 1))
    echo "ok $number - damaged labels # SKIP MNIST is absent: scripts/fetch-data mnist"
fi

echo "1..$number"
