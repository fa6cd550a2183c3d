#!/bin/sh
# vit-train --init: trainings that begin with the weights of a model.
. "$(dirname "$0")/../shell"

mkdir -p pets/cat pets/dog
for i in 1 2 3 4; do cp "$published/picture.png" pets/cat/$i.png; done
for i in 1 2 3 4; do cp "$published/picture.png" pets/dog/$i.png; done
run 0 "pets.safetensors" "the head is a new one: the data have 2 classes, the weights 6" \
    vit-train --data pets --init "$published/hf_4" --steps 2 --batch 2
run 0 "tuned.safetensors" "*" \
    vit-train --data pets --init "$published/hf_4" --steps 2 --batch 2 \
    --freeze 1 --layer-decay 0.75 --out tuned.safetensors
check "the recipe says what was frozen" \
    grep -qa 'freeze.*: 1, .*layer_decay.*: 0.75' tuned.safetensors
check "and says nothing where nothing was" sh -c '! grep -qa freeze pets.safetensors'
frozen="vit-train --data pets --init $published/hf_4 --batch 2 --freeze 1"
run 0 "*" "resuming after step 2" \
    sh -c "$frozen --steps 2/4 --out thawed --checkpoint frozen &&
        $frozen --steps 4 --out thawed --checkpoint frozen --resume &&
        $frozen --steps 4 --out cold"
check "what is frozen can be resumed" cmp thawed cold
last=frozen/checkpoint-000000000004.safetensors
check "and has no moments" sh -c "! grep -qa adamw.m.blocks.0 $last"
check "but the rest has" grep -qa adamw.m.blocks.1 $last
run 0 "headed.safetensors" "the head is a new one: the weights are a backbone's" \
    vit-train --data pets --init "$published/timm_backbone" --steps 2 --out headed.safetensors
run 0 "cat" "" vit-classify --model headed.safetensors "$published/picture.png"
# grey records for a network of colours are prepared like grey pictures
grey_records() {
    python3 - <<'EOF'
import os, struct
os.makedirs("grey", exist_ok=True)
for part, count in (("train", 40), ("t10k", 10)):
    labels = bytes(i % 2 for i in range(count))
    pixels = bytes((i % 2 * 200 + x * y) % 256 for i in range(count)
                   for y in range(28) for x in range(28))
    with open(f"grey/{part}-labels-idx1-ubyte", "wb") as f:
        f.write(struct.pack(">II", 2049, count) + labels)
    with open(f"grey/{part}-images-idx3-ubyte", "wb") as f:
        f.write(struct.pack(">IIII", 2051, count, 28, 28) + pixels)
EOF
}
grey_records
run 0 "grey.safetensors" \
    "the grey records of grey, 28 x 28, are prepared as grey pictures are: 24 x 40 x 3" \
    vit-train --data grey --init "$published/timm_13_wide" --steps 4 --batch 8 \
    --out grey.safetensors
run 0 "10 pictures" "*" vit-evaluate --model grey.safetensors --data grey
run 0 "0" "" vit-classify --model grey.safetensors "$published/picture.png"
run 2 "" "the network has 2 blocks" \
    vit-train --data pets --init "$published/hf_4" --steps 2 --freeze 3
run 2 "" "--config: --init MODEL, whose config it is, is missing" \
    vit-train --data pets --config "$published/hf_4/config.json" --steps 2
run 2 "" "give a model to start from" vit-train --data pets --steps 2 --freeze 3
run 2 "" "--layer-decay" vit-train --data pets --steps 2 --layer-decay 1.5
run 0 "cat" "" vit-classify --model pets.safetensors "$published/picture.png"

one_step="vit-train --data pets --init $published/hf_4 --steps 1 --batch 2"
echo '{"train": {"lr": 0.01}}' >mine.json
check "the recipe is that of finetune" \
    sh -c "$one_step --out plain && vit-info --json plain | grep -q '\"preset\": \"finetune\"'"
check "or the one that is named" \
    sh -c "$one_step --preset ./mine.json --out own && vit-info --json own | grep -q '\"mine\"'"
