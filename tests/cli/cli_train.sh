#!/bin/sh
# vit-train: progress, and the same bytes whatever the threads, the instructions and the stops.
. "$(dirname "$0")/../shell"

# ---- drawn digits, from training to answer ----

run 0 "% of the test pictures right; the model is digits.safetensors" "digits.safetensors" \
    vit-train --data digits --steps 40 --batch 64 --log log.jsonl
check "progress that is no terminal's has no carriage returns" \
    sh -c '! grep -q "$(printf "\r")" err'
check "a plain line for the epoch" grep -q '^epoch 0.13 of 0.13   loss [0-9.]*   validation ' err
json "the log" log.jsonl '[e["event"] for e in r] == ["start"] + 40 * ["step"] + ["epoch", "done"]
    and all({"epoch", "step", "loss", "lr", "images_per_second", "seconds"} <= set(e) for e in r)
    and r[0]["steps"] == 40 and r[0]["train_images"] == 19000 and r[0]["loss"] is None
    and r[-1]["loss"] == r[-2]["loss"] > 0
    and abs(sum(e["loss"] for e in r[1:41]) / 40 - r[-2]["loss"]) < 1e-9
    and [e["step"] for e in r[1:41]] == list(range(1, 41)) and r[1]["mean_over"] == 1
    and all(e["grad_norm"] > 0 for e in r[1:41])
    and r[0]["recipe"]["seed"] == 0 and r[0]["recipe"]["train"]["batch"] == 64
    and r[0]["recipe"]["steps"] == 40 and r[0]["network"]["patch"] > 0
    and r[0]["arguments"][1:3] == ["--data", "digits"]
    and r[-1]["model"] == "digits.safetensors" and 0 <= r[-1]["test_top1"] <= 1'
vit-evaluate --model digits.safetensors --data digits --json >evaluation 2>err
cat log.jsonl evaluation >both
json "vit-train and vit-evaluate agree" both 'r[-2]["test_top1"] == r[-1]["top1"]'

# ---- failures that are no wrong usage ----

run 1 "" "./absent: " vit-train --data ./absent
run 1 "" "cannot write absent/m.safetensors" vit-train --data digits --out absent/m.safetensors
check "and says how to make the directory" says err "mkdir -p absent"
mkdir folder
run 1 "" "is a directory" vit-train --data digits --out folder
echo file >a.png
run 1 "" "a.png" vit-train --data digits --checkpoint a.png
run 1 "" "--log: cannot write absent/log" vit-train --data digits --log absent/log
check "and says it, too" says err "mkdir -p absent/"
run 1 "" "digits.safetensors" vit-train --data digits --preset lecture --init digits.safetensors

# ---- sizes of the network ----

for key in patch dim depth heads mlp; do
    run 2 "" "\"$key\" is 0, expected at least 1" vit-train --data digits --set $key=0
done

mkdir -p pets/a pets/b
for i in 0 1 2 3 4 5 6 7; do
    given "$draw" pets/a/$i.png $i
    given "$draw" pets/b/$i.png 9$i
done
run 0 "*" "the data choose pictures of 224 x 224, patch 16, dim 96, depth 3" \
    vit-train --data ./pets --steps 1 --out pets.safetensors
check "and what others would cost" says err "times as long with --set patch=8, "

# ---- a small data set: the same bytes in every way ----

given_grey
any_seed="vit-train --data grey --batch 16 --set depth=2"
train="$any_seed --seed 3"
given $train --steps 12 --out one
run 0 "the model is grey.safetensors" "*" $train --steps 12
check "the same command writes the same bytes" cmp one grey.safetensors
for threads in 1 2 3 8; do
    check "--threads $threads writes the same bytes" \
        sh -c "$train --steps 12 --threads $threads --out t && cmp one t"
done
check "--activation-checkpointing writes the same bytes" \
    sh -c "$train --steps 12 --activation-checkpointing --out t && cmp one t"
# has_cpu SET: whether this machine has the instruction set
has_cpu() {
    case $1 in
    scalar) ;;
    sse41) grep -qw sse4_1 /proc/cpuinfo ;;
    neon) [ "$(uname -m)" = aarch64 ] ;;
    avx512) grep -qw avx512bw /proc/cpuinfo ;;
    avx512bf16) grep -qw avx512_bf16 /proc/cpuinfo ;;
    *) grep -qw "$1" /proc/cpuinfo ;;
    esac
}
for cpu in scalar sse41 neon avx2 avx512 avx512bf16; do
    has_cpu $cpu || { skips "VIT_CPU=$cpu" "this machine does not have it"; continue; }
    check "VIT_CPU=$cpu writes the same bytes" \
        sh -c "VIT_CPU=$cpu $train --steps 12 --out c && cmp one c"
    VIT_CPU=$cpu vit-evaluate --model one --data grey --json --threads 1 >"e.$cpu" 2>err
    sed -i 's/"seconds.*"per_class/"per_class/' "e.$cpu"
    check "VIT_CPU=$cpu measures the same figures" cmp e.scalar "e.$cpu"
done
check "another seed writes other bytes" \
    sh -c "$any_seed --seed 4 --steps 12 --out s && ! cmp one s"

# ---- stopped, and gone on with ----

# given_part DIRECTORY: a training of 12 steps that stopped after the fifth
given_part() {
    given $train --steps 5/12 --out part --checkpoint "$1"
}
check "n/N stops at step n of the schedule of N" \
    sh -c "$train --steps 5/12 --out part --checkpoint c0 --json >part.json"
json "n/N tells so" part.json '(r[-1]["step"], r[-1]["steps"]) == (5, 12)
    and [e["event"] for e in r] == ["start", "checkpoint", "epoch", "done"]'
given_part c1
check "--resume ends in the same bytes" \
    sh -c "$train --steps 12 --out whole --checkpoint c1 --resume --threads 3 \\
        --activation-checkpointing &&
        cmp one whole"
given $train --steps 12 --out done --checkpoint c2
check "--resume of a finished training writes the model again" \
    sh -c "rm done && $train --steps 12 --out done --checkpoint c2 --resume && cmp one done"
given $train --steps 5/12 --out left.safetensors --checkpoint left.checkpoint
check "--resume alone finds what an interrupted training left beside the model" \
    sh -c "$train --steps 12 --out left.safetensors --resume && cmp one left.safetensors"
run 0 "*" "starting afresh" $train --steps 12 --out fresh --checkpoint c3 --resume
check "--resume without a checkpoint ends in the same bytes" cmp one fresh
given_part c4
run 1 "" "seed" $any_seed --seed 4 --steps 12 --checkpoint c4 --resume
echo '{"model": {"patch": 14, "dim": 32, "depth": 1, "heads": 2, "mlp": 9}}' >mine.json
run 0 "the model is mine.safetensors" "training mine on grey" \
    vit-train --data grey --preset ./mine.json --steps 2
given vit-train --data grey --batch 16 --steps 1 --out full
run 0 "mnist.safetensors" "*" \
    vit-train --data grey --batch 16 --preset mnist --init full --steps 1
run 0 "grey.safetensors" "*" $train --minutes 0.02
