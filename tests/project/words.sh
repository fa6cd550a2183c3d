#!/bin/sh
# Each of the field's words finds its place within two steps from README.md by a search for text:
# it stands there, or in a document that README links.
. "$(dirname "$0")/../shell"

cd "$tree"
documents="README.md $(grep -oE '\]\(docs/[a-z0-9-]+\.md' README.md | sed 's/^](//' | sort -u)"
cat $documents | tr '\n' ' ' | tr -s ' ' >"$OLDPWD/texts"
cd "$OLDPWD"

# As Ctrl-F would be given them: in any case.
for word in zero-shot few-shot "linear probe" k-NN validation calibration out-of-distribution \
    quantization quantisation embeddings near-duplicates "attention map" saliency EXIF \
    "knowledge distillation" "gradient accumulation" "activation checkpointing" \
    "gradient checkpointing" "data parallel" data-parallel throughput latency OCR ONNX \
    "text encoder" "data augmentation" "early stopping" "confidence threshold" \
    "temperature scaling" "cosine similarity"; do
    check "$word" grep -qi -e "$word" texts
done
# What has a document of its own is in a heading of it.
for word in zero-shot few-shot "linear probe" k-NN validation calibration out-of-distribution \
    quantization near-duplicates "attention map" saliency "knowledge distillation" data-parallel \
    throughput latency OCR; do
    check "a heading has: $word" \
        sh -c "cd '$tree' && cat $(echo $documents) | grep '^#' | grep -qi -e '$word'"
done
# The other spelling stands once, where a search finds it.
check "quantisation stands in one document" \
    test "$(cd "$tree" && grep -lri quantisation docs --include=*.md | wc -l)" -eq 1
