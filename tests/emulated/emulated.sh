#!/bin/sh
# The kernels of AVX-512 and AMX, whose instructions are emulated (tests/support/amx.h): products,
# layers and attention in bfloat16 and int8 against their definitions, and trainings, the same bytes
# as by plain C.
. "$(dirname "$0")/../shell"

if [ ! -x "$BUILD/emulated/vit-train" ] || ! grep -q ' avx2 ' /proc/cpuinfo 2>/dev/null; then
    skips 1 "the instructions are emulated on x86 processors that have AVX2"
    exit
fi
PATH=$BUILD/emulated:$PATH

for test in tiles "test_bf16 avx512bf16" "test_bf16 amx" test_attention_bf16 test_int8; do
    check "$test, emulated" sh -c "cd '$tree' && '$BUILD'/emulated/$test"
done
check "test_int8, without VPDPBUSD" \
    env VIT_EMULATED=no-vnni sh -c "cd '$tree' && '$BUILD/emulated/test_int8'"

cat >small.json <<'JSON'
{"model": {"image": [28, 28], "channels": 1, "patch": 14, "dim": 48, "depth": 2, "heads": 3,
           "mlp": 70, "classes": 10},
 "train": {"batch": 32, "epochs": 1}}
JSON

# train NAME OPTIONS...: a short training into NAME.safetensors, with notes in NAME.notes
steps=3
train() {
    model=$1.safetensors notes=$1.notes
    shift
    vit-train --data digits:200 --preset small.json --steps $steps --precision bf16 \
        --overwrite --out "$model" "$@" >"$notes" 2>&1 || { cat "$notes"; return 1; }
}
same() {
    cmp "$1.safetensors" "$2.safetensors"
}

check "amx, one thread" train amx --threads 1
check "amx, three threads" train amx-3 --threads 3
check "the same bytes" same amx amx-3
check "the recipe says tiles" grep -q 'arithmetic.*tiles' amx.safetensors
check "plain C" env VIT_CPU=scalar vit-train --data digits:200 --preset small.json --steps 3 \
    --precision bf16 --arithmetic tiles --out scalar.safetensors
check "the same bytes as of plain C" same amx scalar
check "pairs" train pairs --arithmetic pairs
check "pairs are other bytes" fails same amx pairs
check "the recipe says nothing of pairs" fails grep -q arithmetic pairs.safetensors
VIT_CPU=avx512bf16 check "avx512bf16" train below
check "pairs on AMX are the bytes of AVX512_BF16" same pairs below
VIT_CPU=scalar check "pairs in plain C" train plain
check "the same bytes as of plain C, pairs" same pairs plain

VIT_EMULATED=no-tiles check "where the system refuses tiles" train refused
check "it is said" grep -q "AMX is not used: this test refuses them" refused.notes
check "the next lower set is used" same refused pairs
VIT_EMULATED=no-tiles check "then tiles cannot be chosen" \
    refuses 2 "arithmetic tiles needs the instruction set amx" vit-train --data digits:200 \
    --preset small.json --steps 1 --precision bf16 --arithmetic tiles --out no.safetensors
check "f32 has no arithmetic" refuses 2 "one of bf16" vit-train --data digits:200 \
    --preset small.json --steps 1 --arithmetic tiles --out no.safetensors

# A step, then two more by a new process.
steps=1/3 check "a part" train part --checkpoint c --arithmetic tiles
check "resumed" train resumed --checkpoint c --resume --arithmetic tiles
check "the same bytes as at once" same resumed amx
rm -rf c
steps=1/3 check "a part again" train part --checkpoint c
check "resumed with the other arithmetic" train other --checkpoint c --resume --arithmetic pairs
check "it is said" grep -q "in bf16 by tiles, the next ones by pairs" other.notes
