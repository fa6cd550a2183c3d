#!/bin/sh
# vit-convert: models for other libraries, and other types of weights.
. "$(dirname "$0")/../shell"

given_model

run 0 "usage: vit-convert" "" vit-convert --help
run 2 "" "expected IN, a model, and OUT" vit-convert digits.safetensors
run 2 "" "--layout: \"keras\" is not timm, hf, torchvision, npz, onnx or pytorch" \
    vit-convert digits.safetensors refused --layout keras
run 0 "" "does not prepare pictures as digits" vit-convert digits.safetensors timm --layout timm
run 0 "" "" vit-convert digits.safetensors digits.onnx --layout onnx
check "ONNX with its metadata" grep -q 'vit\.preprocessing' digits.onnx
run 0 "" "" vit-convert digits.safetensors folder-onnx --layout onnx
check "a directory where OUT does not end in .onnx" cmp digits.onnx folder-onnx/model.onnx
run 0 "" "" vit-convert digits.safetensors digits-pytorch --layout pytorch
check "the network as a class" \
    grep -q '^class VisionTransformer(nn.Module):' digits-pytorch/model.py
run 1 "" "digits.onnx" vit-classify --model digits.onnx "$fixtures/image_grey.jpg"
run 2 "" "say the layout (--layout onnx)" vit-convert digits.safetensors named.onnx
check "and nothing is written" test ! -e named.onnx
run 2 "" "say the layout (--layout pytorch)" vit-convert digits.safetensors named.pth
run 2 "" "timm is there already" vit-convert digits.safetensors timm --layout timm --force
run 0 '"architecture": "vit_base_patch16_224"' "" cat timm/config.json
run 0 "" "" vit-convert digits.safetensors half.safetensors --dtype bf16
check "half the bytes" \
    test $(wc -c <half.safetensors) -lt $(($(wc -c <digits.safetensors) * 6 / 10))
for model in digits.safetensors timm; do
    vit-evaluate --model $model --data digits --json |
        sed 's/.*"correct": \([0-9]*\).*/\1/' >correct.${model%.*}
done
check "what timm is given answers the same" \
    sh -c 'grep -q "^[0-9]" correct.digits && cmp correct.digits correct.timm'

run 0 "" "" vit-convert "$published/timm_backbone" backbone --layout timm
run 0 '"num_classes": 0' "" cat backbone/config.json
for model in "$published/timm_backbone" backbone; do
    vit-classify --model "$model" --embed "$published/picture.png"
done >features
check "a backbone for timm has the same features" sh -c 'test "$(sort -u features | wc -l)" -eq 1'
