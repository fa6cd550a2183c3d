#!/bin/sh
# vit-bench: what a program that reads its --json may count on.
set -u
cd "$(dirname "$0")/../.." || exit 1
bench=${BUILD:-build}/bin/vit-bench
lines=$(mktemp) || exit 1
trap 'rm -f "$lines"' EXIT
small='--image 8 --channels 1 --patch 4 --dim 16 --depth 1 --heads 2 --mlp 16 --classes 3
    --threads 1'
count=0

# check NAME EXPRESSION: of r, the objects printed, in Python.
check() {
    count=$((count + 1))
    if python3 - "$lines" "$2" <<'END_OF_PYTHON'
import json, sys
r = [json.loads(line) for line in open(sys.argv[1])]
sys.exit(0 if eval("(" + sys.argv[2] + ")") else 1)
END_OF_PYTHON
    then echo "ok $count - $1"; else echo "not ok $count - $1"; sed 's/^/# /' "$lines"; fi
}

command -v python3 >/dev/null || { echo "ok 1 - bench # SKIP there is no python3"; exit 0; }
keys='{"what", "model", "shape", "batch", "precision", "threads", "cpu", "processor", "ms",
    "images_per_second", "gflops", "peak_gflops", "bytes", "gbytes_per_second", "loader_ms",
    "loader_share", "answers", "resident_mib"}'

for mode in train infer explain gemm ops resize; do
    pictures=2
    [ $mode = explain ] && pictures=1
    $bench $mode $small --batch $pictures --json >"$lines"
    check "$mode: every object has every key" "r and all(set(o) == $keys for o in r)"
    check "$mode: every object has a time and a peak" \
        'all(o["ms"] > 0 and o["peak_gflops"] > 0 and o["precision"] == "f32" for o in r)'
done

VIT_CPU=avx2 $bench peak $small --json >"$lines"
check "peak: one of every precision with every instruction set" \
    'r[-1]["cpu"] == "scalar" and len({(o["cpu"], o["precision"]) for o in r}) == len(r) > 1 and
    {"f32", "int8"} <= {o["precision"] for o in r} and all(o["peak_gflops"] > 0 for o in r)'

$bench infer $small --model mnist >/dev/null 2>&1
echo "{\"status\": $?}" >"$lines"
check "sizes beside a model are refused" 'r == [{"status": 2}]'

# Its model file is in a directory of its own: what others put beside it is not written to.
place=$(mktemp -d) || exit 1
trap 'rm -rf "$lines" "$place"' EXIT
echo untouched >"$place/other"
mkdir "$place/tmp"
TMPDIR=$place/tmp sh -c 'ln -s ../other "$TMPDIR/vit-bench-$$.safetensors" && exec "$@"' sh \
    $bench infer $small --batch 2 --json >"$lines"
check "infer: follows no link in TMPDIR" \
    "len(r) == 1 and open('$place/other').read() == 'untouched\\n'"
check "infer: leaves nothing there" "len(__import__('os').listdir('$place/tmp')) <= 1"

# Of one picture: 4 x 16 x 16 + 5 x 16 x (48 + 16 + 2 x 16) + 2 x 5 x 5 x 16 + 16 x 3.
flop=$((2 * 2 * (1024 + 7680 + 800 + 48)))
$bench infer $small --batch 2 --json >"$lines"
check "infer: GFLOP are two a multiply-add" \
    "abs(r[0]['gflops'] * r[0]['ms'] * 1e6 / $flop - 1) < .01"
check "infer: pictures are counted, and nothing is loaded" \
    'abs(r[0]["images_per_second"] * r[0]["ms"] / 2000 - 1) < .01 and
    r[0]["loader_ms"] is None'
model=$lines.safetensors
trap 'rm -f "$lines" "$model"' EXIT
$bench model $small --model "$model"
$bench infer --model "$model" --threads 1 --batch 2 --json >"$lines"
check "infer --model: the network of a file that model wrote" \
    "abs(r[0]['gflops'] * r[0]['ms'] * 1e6 / $flop - 1) < .01"
$bench train $small --batch 2 --json >"$lines"
check "train: GFLOP are three times those" \
    "abs(r[0]['gflops'] * r[0]['ms'] * 1e6 / $flop - 3) < .03"
check "train: one object, with what of it is the loader" \
    'len(r) == 1 and abs(r[0]["loader_ms"] / r[0]["ms"] / r[0]["loader_share"] - 1) < .02'
$bench ops $small --json >"$lines"
check "ops: forward and backward" '{"patch embedding", "tokens", "qkv", "proj", "fc1", "fc2",
    "head", "attention", "layernorm", "gelu"} == {o["what"][:-9] for o in r
    if o["what"].endswith(" backward")} & {o["what"] for o in r}'
check "ops: every operator moves bytes" \
    'all(abs(o["bytes"] / o["gbytes_per_second"] / o["ms"] / 1e6 - 1) < .02 for o in r
     if o["what"] not in {"attention, one picture", "its heads on two threads",
                          "work handed over"})'
check "ops: one thread" 'all(o["threads"] == 1 for o in r)'

# refuses MESSAGE ARGUMENTS...: wrong usage, and this is said.
refuses() {
    expected=$1
    shift
    count=$((count + 1))
    message=$($bench "$@" $small 2>&1)
    case "$?: $message" in
    2:*"$expected"*) echo "ok $count - $* is refused" ;;
    *) echo "not ok $count - $* is refused"; echo "# $message" ;;
    esac
}

refuses "f32 only" ops --precision bf16
refuses "f32 or bf16: infer, read, anomaly have it" train --precision int8
refuses "resize or peak; or model"
refuses "measures every precision" peak --precision bf16
refuses "only train keeps" infer --activation-checkpointing
refuses "only infer, read, explain and anomaly" train --model x
refuses "needs --model" model
$bench explain --model "$model" --threads 1 --json >"$lines"
check "explain: what maps cost beside an answer of the same run" '
    [o["what"] for o in r] == ["answer", "attention", "rollout", "relevance"] and
    r[0]["answers"] == 1 and all(o["answers"] > 0 and o["model"].endswith(".safetensors")
        for o in r)'
refuses "f32 only" explain --precision bf16
refuses "go together" anomaly --model x
refuses "go together" infer --bank x
refuses "one picture" explain --batch 2
deep='--image 32 --channels 1 --patch 4 --dim 64 --depth 16 --heads 2 --mlp 256 --threads 1'
$bench train $deep --batch 8 --json >"$lines"
$bench train $deep --batch 8 --activation-checkpointing --json >>"$lines"
check "train: --activation-checkpointing takes less memory" \
    'r[1]["resident_mib"] < r[0]["resident_mib"] - 2'
exit 0
