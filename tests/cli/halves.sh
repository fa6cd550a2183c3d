#!/bin/sh
# Files of bfloat16 and float16 answer as the same numbers do in float32, though their weights stay
# in 16 bits in memory.
. "$(dirname "$0")/../shell"

given_model
given_pictures

# same NAME COMMAND...: it writes the same of `half` and of `wide`, which take the place of MODEL.
same() {
    name=$1
    shift
    for model in half wide; do
        "$@" --model $model.safetensors >$model.out 2>&1 || { cat $model.out; return 1; }
    done
    check "$name" cmp half.out wide.out
}

for type in bf16 f16; do
    given vit-convert --dtype $type digits.safetensors half.safetensors
    given vit-convert --dtype f32 half.safetensors wide.safetensors
    answers want wide.safetensors
    for how in "--threads 1" "--threads 3" "--precision int8" "--size 56"; do
        same "$type, $how: the same bytes" vit-classify --json --logits $how a.png b.png
    done
    VIT_CPU=scalar answers got half.safetensors
    check "$type, scalar: the same bytes" cmp got want
    VIT_CPU=scalar answers want wide.safetensors --precision bf16
    VIT_CPU=scalar answers got half.safetensors --precision bf16
    check "$type, --precision bf16: the same bytes" cmp got want
    same "$type: the same map" vit-explain --method relevance --json a.png
    same "$type: the same states of tokens" vit-classify --embed tokens --out - a.png
    for layout in timm npz; do
        given vit-convert --dtype $type --layout $layout --force half.safetensors dir-$layout
        answers got dir-$layout
        given vit-convert --layout $layout --force wide.safetensors wide-$layout
        answers want wide-$layout
        check "$type, as $layout: the same bytes" cmp got want
    done
    rm -rf dir-* wide-* half.safetensors wide.safetensors
done
