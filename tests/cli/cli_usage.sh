#!/bin/sh
# Options of all programs: help, manual pages, and what they refuse.
. "$(dirname "$0")/../shell"

# ---- usage ----

for program in vit-train vit-classify vit-evaluate vit-bench; do
    run 0 "usage: $program" "" $program --help
    run 0 "usage: $program" "" $program -h
    run 0 "$program 0." "" $program --version
    run 2 "" "did you mean --threads?" $program --thraeds 3
    run 2 "" "try '$program --help'" $program --thraeds 3
    run 2 "" "unknown option --precise" $program --precise bf16
    run 2 "" "--threads: \"two\" is not a whole number" $program --threads two
    run 2 "" "--threads: 0 is out of range" $program --threads=0
    run 2 "" "--threads is given twice" $program --threads 1 --threads=2
    run 2 "" "--threads: the value is missing" $program --threads
    run 2 "" "--json takes no value" $program --json=1
    run 2 "" "options begin with two dashes" $program -x
    check "$program --help is at most 80 columns wide" \
        sh -c "! $program --help | grep -q '.\{81\}'"
done

# What is a key of presets, another program's option, or called otherwise elsewhere.
run 2 "" "did you mean --set heads=4" vit-train --data digits --heads 4
run 2 "" "did you mean --set heads=4" vit-train --data digits --num-heads=4
run 2 "" "did you mean --lr?" vit-train --data digits --learning-rate 0.1
run 2 "" "did you mean --set label_smoothing=0.2" vit-train --data digits --label-smothing 0.2
run 2 "" "it is an option of vit-explain" vit-train --data digits --method lens
run 2 "" "did you mean --confusion of vit-evaluate?" vit-train --data digits --confuson
run 2 "" "an option: --seed=1" vit-train --data digits --set seed=1
for pair in time:minutes workers:threads val-split:val pretrained:init output-dir:out; do
    run 2 "" "did you mean --${pair#*:}?" vit-train --data digits "--${pair%:*}" 1
done
run 2 "" "all runs on the processor" vit-train --data digits --device cpu
run 2 "" "did you mean --abstain-below?" vit-classify --confidence .5
run 2 "" "did you mean --layout?" vit-convert --format onnx
run 2 "" "did you mean --host?" vit-serve --bind 0.0.0.0
run 2 "" 'did you mean "positions"?' vit-train --data digits --set pos=sincos
run 2 "" 'did you mean "activation"?' vit-train --data digits --set act=gelu
run 2 "" "unknown option --dropout" vit-train --data digits --dropout 0.1
check "nothing far-fetched is proposed" fails grep -q "did you mean" err
run 2 "" 'did you mean the key "rms_norm"' vit-train --data digits --set norm=rms
run 2 "" 'did you mean the key "rms_norm"' vit-train --data digits --set norm=RMSNorm
# The names come from the tables.
"$tree/scripts/option-names" "$tree"/vit/cli/*/*.h "$tree"/vit/cli/vit-*.c \
    "$tree"/vit/cli/*/vit-*.c >names
for program in vit-train vit-classify vit-read vit-evaluate vit-info vit-convert vit-report \
    vit-bench vit-search vit-anomaly vit-pack vit-verify vit-explain; do
    $program --help | sed -n 's/^  --\([a-z][a-z-]*\).*/\1/p' |
        grep -vx -e help -e version | sort >helped
    sed -n "s/^$program //p" names | sort >named
    check "$program's options are known to the others" cmp helped named
done

# Options of --help and of the manual page: the words after "--" at the start of an entry.
for program in vit-train vit-classify vit-read vit-evaluate vit-info vit-convert vit-report \
    vit-bench vit-search vit-anomaly vit-pack vit-verify; do
    $program --help | sed -n 's/^  --\([a-z][a-z-]*\).*/\1/p' | sort >helped
    sed -n '/^\.B[IR]* \\-\\-/{s/\\-/-/g;s/^[.BIR]* --\([a-z][a-z-]*\).*/\1/p;}' "$man/$program.1" |
        grep -v '^name$' | sort -u >manual
    check "$program --help and $program.1 name the same options" cmp helped manual
done
# What a page adds is about options that there are.
printf '.TH X 1\n.SH OPTIONS\n.\\" options\n.\\" --thraeds\nMore of it.\n' >page.1
vit-train --help >helped
run 1 "" "--thraeds is no option" sh -c "'$pages' page.1 <helped"
run 2 "" "--data DATA is missing" vit-train
run 2 "" "unexpected argument \"digits\"" vit-train --data digits digits
run 2 "" "--epochs and --minutes exclude each other" vit-train --data digits --epochs 1 --minutes 1
run 2 "" "--steps: \"12x\" is not a whole number" vit-train --data digits --steps 12x
run 2 "" "--steps: 5/4 is out of range" vit-train --data digits --steps 5/4
run 2 "" "--lr: \"nan\" is not a number" vit-train --data digits --lr nan
run 2 "" "--lr: 101 is out of range" vit-train --data digits --lr 101
run 2 "" "--minutes: 0 is out of range" vit-train --data digits --minutes 0
run 2 "" "--resume: there is no digits.checkpoint to go on from" vit-train --data digits --resume
run 2 "" "did you mean \"lecture\"" vit-train --data digits --preset lectur
run 2 "" "no picture is named" vit-classify
run 2 "" "exclude each other" vit-classify a.png --files-from list
run 2 "" "--top: 0 is out of range" vit-classify --top 0 a.png
run 2 "" "--size: \"12x\" is not a size in pixels" vit-classify --size 12x a.png
run 2 "" "--size: 0 is out of range" vit-evaluate --model m --data digits --size 0
run 2 "" "--model NAME|MODEL is missing" vit-evaluate --data digits
run 2 "" "--data DATA is missing" vit-evaluate --model m.safetensors
run 2 "" "is not test, train or val" vit-evaluate --model m --data digits --split dev
run 2 "" "is not f32, bf16 or int8" vit-evaluate --model m --data digits --precision f16
run 2 "" "slower than f32: choose f32" \
    env VIT_CPU=avx512 vit-train --data digits --precision bf16 --steps 1
photo=$tree/examples/photographed-nine.jpg
run 0 "99.79 %" "cannot compute in bf16: the answers of mnist are those of f32" \
    env VIT_CPU=avx2 vit-classify --precision bf16 "$photo"
run 2 "" "\"12\", expected the size of a core's second-level cache" \
    env VIT_CACHE=12 vit-classify "$photo"
VIT_CACHE=64K vit-classify --logits --json "$photo" >small
VIT_CACHE=1M vit-classify --logits --json "$photo" >large
check "a size of caches changes no answer" cmp small large
echo '{"model": {"patch": 14, "dim": 8, "depth": 1, "heads": 1, "mlp": 8},
       "train": {"precision": "bf16"}}' >bf16.json
run 2 "" "slower than f32: choose f32" \
    env VIT_CPU=avx2 vit-train --data digits --preset ./bf16.json --steps 1 --out f32.safetensors
run 0 "the model is f32.safetensors" "training bf16 on digits" \
    env VIT_CPU=scalar vit-train --data digits --preset ./bf16.json --precision f32 --steps 1 \
    --out f32.safetensors
run 2 "" "\"sse9\", expected scalar, sse41, neon, simd128, avx2, avx512, avx512bf16 or amx" \
    env VIT_CPU=sse9 vit-train --data digits
