#!/bin/sh
# vit-verify: whether this machine computes the bytes of the release.
. "$(dirname "$0")/../shell"

export VIT_MODELS="$tree/models"
run 0 "usage: vit-verify" "" vit-verify --help
run 2 "" "takes only options" vit-verify mnist
run 2 "" "choose one" vit-verify --json --hashes
run 0 "computes here what it computes elsewhere" "" vit-verify --threads 1
check "every line is" sh -c "! grep -q OTHER out"
check "with the scalar kernels, too" grep -q 'answers cifar10 f32 *scalar *the same bytes' out
check "bfloat16, too" grep -q 'training lecture bf16 .*the same bytes' out

# ---- a model that was changed ----
mkdir changed && cp "$tree"/models/*.safetensors changed
size=$(wc -c <changed/mnist.safetensors)
printf "\\100" | dd of=changed/mnist.safetensors bs=1 seek=$((size - 1)) conv=notrunc 2>/dev/null
run 1 '"other": ' "" env VIT_MODELS=changed VIT_CPU=scalar vit-verify --json --threads 1
mv out verified
json "its answers differ, those of others and trainings do not" verified \
    'all(c["same"] == ("answers mnist " not in c["name"]) for c in r[0]["checks"])'
