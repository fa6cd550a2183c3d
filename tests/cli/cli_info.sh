#!/bin/sh
# vit-info: what is in a file.
. "$(dirname "$0")/../shell"

given_model

run 0 "usage: vit-info" "" vit-info --help
run 2 "" "no file is named" vit-info
run 2 "" "unknown option --tensor" vit-info --tensor digits.safetensors
run 0 "28x28x1, patches of 7x7" "" vit-info digits.safetensors
run 0 "3,615,104 a picture" "" vit-info digits.safetensors
run 0 "preset digits, data digits, seed 0, steps 20" "" vit-info digits.safetensors
check "the temperature is that of the file" \
    grep -q '^  probabilities softmax(logits / [0-9.]*)' out
check "multiply-adds are those of a picture" grep -q '^  multiply-adds *[0-9,]* a picture$' out
run 0 "head.bias                  F32   10 " "" vit-info --tensors digits.safetensors
run 1 "" "absent.safetensors" vit-info absent.safetensors
run 0 '"kind": "safetensors"' "" vit-info --json --tensors digits.safetensors
mv out info
json "vit-info --json" info 'r[0]["config"]["dim"] == 64 and r[0]["labels"] == list("0123456789")
    and r[0]["parameters"] == sum(math.prod(t["shape"]) for t in r[0]["tensors"])
    and r[0]["preprocessing"][-1]["op"] == "normalize" and r[0]["recipe"]["steps"] == 20
    and r[0]["temperature"] > 0 and 0 <= r[0]["threshold"] < 1
    and all(t["min"] <= t["mean"] <= t["max"] and t["std"] >= 0 and t["not_finite"] == 0
            and t["type"] == "F32" for t in r[0]["tensors"])'
run 1 "npz, 9 tensors" "stored.npz" vit-info --tensors "$fixtures/weights/stored.npz"
check "tensors of what is no model" grep -q '^  brain  *BF16  2x4  *-1  *0.75  *-0.125' out
run 1 '"type": "I64", "shape": [3]}' "" vit-info --tensors --json "$fixtures/weights/state.pth"
run 1 "" "asks for posix.system" vit-info "$fixtures/weights/runs.pth"

check "of several sets the names, not their checksums" \
    sh -c "vit-info '$tree/models/mnist-cct.safetensors' >shipped && grep -q mnist+digits shipped &&
        ! grep -q sha256 shipped"
check "and the confidence threshold" \
    grep -q '^  probabilities softmax(logits / 0[.][0-9]*), below [0-9.]* % an ans' shipped

# ---- published weights ----

cp "$published/timm_13_wide/model.safetensors" alone.safetensors
run 1 "*" "name one with --config" vit-info alone.safetensors
run 0 "  network" "" vit-info --config "$published/timm_13_wide/config.json" alone.safetensors
run 1 "*" "which has its config in it" \
    vit-info --config "$published/timm_13_wide/config.json" "$tree/models/mnist.safetensors"
run 0 "none: a backbone of 20 features" "" vit-info "$published/timm_backbone"
# A recipe that is no JSON, of as many bytes.
LC_ALL=C sed 's/"vit.recipe":"{/"vit.recipe":"[/' digits.safetensors >crafted.safetensors
run 1 '"error": "crafted.safetensors: vit.recipe: ' "" vit-info --json crafted.safetensors
