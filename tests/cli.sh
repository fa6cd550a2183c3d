#!/bin/sh
# The programs as their users meet them: options, messages, exit status, a training from start to
# answer, interruption and resumption, the same bytes whatever the threads and the instructions.
set -u
cd "$(dirname "$0")/.." || exit 1
case ${BUILD:=build} in
/*) ;;
*) BUILD=$PWD/$BUILD ;;
esac
PATH=$BUILD/bin:$PATH
draw=$BUILD/examples/draw_digit
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
man=$BUILD/man
pages=$PWD/scripts/man
fixtures=$PWD/tests/fixtures
cd "$work" || exit 1
unset VIT_CPU VIT_MODELS
LC_ALL=C
export LC_ALL
count=0

# result NAME STATUS: one TAP line; on failure also what the program wrote.
result() {
    count=$((count + 1))
    if [ "$2" -eq 0 ]; then
        echo "ok $count - $1"
    else
        echo "not ok $count - $1"
        sed 's/^/#  out: /' out
        sed 's/^/#  err: /' err
    fi
}

# holds NAME COMMAND...: the command succeeds.
holds() {
    name=$1
    shift
    "$@" >check 2>&1
    result "$name" $?
}

# says FILE TEXT: the file holds the text; with TEXT "" it is empty, with "*" it may hold anything.
says() {
    case $2 in
    "*") ;;
    "") [ ! -s "$1" ] ;;
    *) grep -qF -e "$2" "$1" ;;
    esac
}

# run STATUS OUT ERR COMMAND...: exit status, a text on standard output, one on standard error
# (see says).
run() {
    want=$1 out=$2 err=$3
    shift 3
    "$@" >out 2>err </dev/null
    got=$?
    { [ "$got" -eq "$want" ] && says out "$out" && says err "$err"; }
    result "$* ($want)" $?
}

# json NAME FILE EXPRESSION: every line is strict JSON, and the expression holds for the list `r` of
# them. Without python3 only the look of the lines is checked.
json() {
    if command -v python3 >/dev/null; then
        python3 - "$2" "$3" >check 2>&1 <<'END'
import json, math, sys
def refuse(word): raise ValueError(word)
r = [json.loads(line, parse_constant=refuse) for line in open(sys.argv[1], encoding="utf-8")]
assert r and eval("(" + sys.argv[2] + ")"), r
END
    else
        ! grep -qv '^{".*}$' "$2" && ! grep -qi 'nan[,}]\|inf[,}]' "$2"
    fi
    status=$?
    cp "$2" out
    [ $status -eq 0 ] || cp check err
    result "$1" $status
}

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
    holds "$program --help is at most 80 columns wide" \
        sh -c "! $program --help | grep -q '.\{81\}'"
done

# Options of --help and of the manual page: the words after "--" at the start of an entry.
for program in vit-train vit-classify vit-evaluate vit-info vit-convert vit-report vit-bench; do
    $program --help | sed -n 's/^  --\([a-z][a-z-]*\).*/\1/p' | sort >helped
    sed -n '/^\.B[IR]* \\-\\-/{s/\\-/-/g;s/^[.BIR]* --\([a-z][a-z-]*\).*/\1/p;}' "$man/$program.1" |
        grep -v '^name$' | sort -u >manual
    holds "$program --help and $program.1 name the same options" cmp helped manual
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
run 2 "" "--resume: --checkpoint DIR" vit-train --data digits --resume
run 2 "" "did you mean \"lecture\"" vit-train --data digits --preset lectur
run 2 "" "no picture is named" vit-classify
run 2 "" "exclude each other" vit-classify a.png --files-from list
run 2 "" "--top: 0 is out of range" vit-classify --top 0 a.png
run 2 "" "--size: \"12x\" is not a size in pixels" vit-classify --size 12x a.png
run 2 "" "--size: 0 is out of range" vit-evaluate --model m --data digits --size 0
run 2 "" "--model NAME|MODEL is missing" vit-evaluate --data digits
run 2 "" "--data DATA is missing" vit-evaluate --model m.safetensors
run 2 "" "is not test, train or val" vit-evaluate --model m --data digits --split dev
run 2 "" "is not f32 or bf16" vit-evaluate --model m --data digits --precision f16
run 2 "" "slower than f32: choose f32" \
    env VIT_CPU=avx512 vit-train --data digits --precision bf16 --steps 1
echo '{"model": {"patch": 14, "dim": 8, "depth": 1, "heads": 1, "mlp": 8},
       "train": {"precision": "bf16"}}' >bf16.json
run 2 "" "slower than f32: choose f32" \
    env VIT_CPU=scalar vit-train --data digits --preset ./bf16.json --steps 1 --out f32.safetensors
run 0 "the model is f32.safetensors" "training bf16 on digits" \
    env VIT_CPU=scalar vit-train --data digits --preset ./bf16.json --precision f32 --steps 1 \
    --out f32.safetensors
run 2 "" "\"sse9\", expected scalar, neon, avx2, avx512 or avx512bf16" \
    env VIT_CPU=sse9 vit-train --data digits

# ---- drawn digits, from training to answer ----

run 0 "% of the test pictures right; the model is digits.safetensors" "digits.safetensors" \
    vit-train --data digits --steps 40 --batch 64 --log log.jsonl
holds "progress that is no terminal's has no carriage returns" \
    sh -c '! grep -q "$(printf "\r")" err'
holds "a plain line for the epoch" grep -q '^epoch 0.13 of 0.13   loss [0-9.]*   held back ' err
json "the log" log.jsonl '[e["event"] for e in r] == ["start", "epoch", "done"]
    and all({"epoch", "step", "loss", "lr", "images_per_second", "seconds"} <= set(e) for e in r)
    and r[0]["steps"] == 40 and r[0]["train_images"] == 19000 and r[0]["loss"] is None
    and r[2]["loss"] == r[1]["loss"] > 0
    and r[-1]["model"] == "digits.safetensors" and 0 <= r[-1]["test_top1"] <= 1'

# ---- what is in a file ----

run 0 "usage: vit-info" "" vit-info --help
run 2 "" "no file is named" vit-info
run 2 "" "unknown option --tensor" vit-info --tensor digits.safetensors
run 0 "28x28x1, patches of 7x7" "" vit-info digits.safetensors
run 0 "preset digits, data digits, seed 0, steps 40" "" vit-info digits.safetensors
run 0 "head.bias                  F32   10 " "" vit-info --tensors digits.safetensors
run 1 "" "absent.safetensors" vit-info absent.safetensors
run 0 '"kind": "safetensors"' "" vit-info --json --tensors digits.safetensors
mv out info
json "vit-info --json" info 'r[0]["config"]["dim"] == 64 and r[0]["labels"] == list("0123456789")
    and r[0]["parameters"] == sum(math.prod(t["shape"]) for t in r[0]["tensors"])
    and r[0]["preprocessing"][-1]["op"] == "normalize" and r[0]["recipe"]["steps"] == 40
    and all(t["min"] <= t["mean"] <= t["max"] and t["std"] >= 0 and t["not_finite"] == 0
            and t["type"] == "F32" for t in r[0]["tensors"])'
run 1 "npz, 9 tensors" "stored.npz" vit-info --tensors "$fixtures/weights/stored.npz"
holds "tensors of what is no model" grep -q '^  brain  *BF16  2x4  *-1  *0.75  *-0.125' out
run 1 '"type": "I64", "shape": [3]}' "" vit-info --tensors --json "$fixtures/weights/state.pth"
run 1 "" "asks for posix.system" vit-info "$fixtures/weights/runs.pth"

# ---- conversion ----

run 0 "usage: vit-convert" "" vit-convert --help
run 2 "" "expected IN, a model, and OUT" vit-convert digits.safetensors
run 2 "" "--layout: \"keras\" is not timm, hf, torchvision, npz, onnx or pytorch" \
    vit-convert digits.safetensors refused --layout keras
run 0 "" "does not prepare pictures as digits" vit-convert digits.safetensors timm --layout timm
run 0 "" "" vit-convert digits.safetensors digits.onnx --layout onnx
holds "ONNX with its metadata" grep -q 'vit\.preprocessing' digits.onnx
run 0 "" "" vit-convert digits.safetensors folder-onnx --layout onnx
holds "a directory where OUT does not end in .onnx" cmp digits.onnx folder-onnx/model.onnx
run 0 "" "" vit-convert digits.safetensors digits-pytorch --layout pytorch
holds "the network as a class" \
    grep -q '^class VisionTransformer(nn.Module):' digits-pytorch/model.py
run 1 "" "digits.onnx" vit-classify --model digits.onnx "$fixtures/image_grey.jpg"
run 2 "" "timm is there already" vit-convert digits.safetensors timm --layout timm --force
run 0 '"architecture": "vit_base_patch16_224"' "" cat timm/config.json
run 0 "" "" vit-convert digits.safetensors half.safetensors --dtype bf16
holds "half the bytes" \
    test $(wc -c <half.safetensors) -lt $(($(wc -c <digits.safetensors) * 6 / 10))
for model in digits.safetensors timm; do
    vit-evaluate --model $model --data digits --json |
        sed 's/.*"correct": \([0-9]*\).*/\1/' >correct.${model%.*}
done
holds "what timm is given answers the same" \
    sh -c 'grep -q "^[0-9]" correct.digits && cmp correct.digits correct.timm'

run 0 '"per_class"' "" vit-evaluate --model digits.safetensors --data digits --json --confusion
mv out evaluation
json "vit-evaluate --json" evaluation 'r[0]["images"] == 2000
    and r[0]["top1"] == r[0]["correct"] / 2000 and r[0]["top1"] <= r[0]["top5"] <= 1
    and r[0]["loss"] > 0 and r[0]["seconds"] > 0 and r[0]["images_per_second"] > 0
    and [c["label"] for c in r[0]["per_class"]] == [str(i) for i in range(10)]
    and 0 < r[0]["ece"] < 1 and 0 < r[0]["brier"] < 2 and r[0]["temperature"] > 0
    and sum(b["images"] for b in r[0]["reliability"]) == 2000 and len(r[0]["reliability"]) == 15
    and sum(c["images"] for c in r[0]["per_class"]) == 2000
    and sum(c["correct"] for c in r[0]["per_class"]) == r[0]["correct"]
    and [sum(row) for row in r[0]["confusion"]] == [c["images"] for c in r[0]["per_class"]]'
if command -v python3 >/dev/null; then
    cat log.jsonl evaluation >both
    json "vit-train and vit-evaluate agree" both 'r[2]["test_top1"] == r[3]["top1"]'
fi
run 0 "digits.safetensors on digits, split test: 2,000 pictures" "" \
    vit-evaluate --model digits.safetensors --data digits --confusion --batch 7 --threads 1
holds "the table has a row for each class" grep -q '^  9  *200 ' out
run 0 "split val: 1,000 pictures" "" \
    vit-evaluate --model digits.safetensors --data digits --split val

"$draw" a.png 18 >/dev/null
"$draw" b.png 19 >/dev/null
echo "no picture" >bad.png
classify="vit-classify --model digits.safetensors"
run 0 "a.png" "" $classify a.png
holds "three classes, without --top" test "$(grep -c ' %$' out)" -eq 3
run 0 "b.png" "" $classify --top 99 a.png b.png
holds "all classes of two pictures, with --top 99" test "$(grep -c ' %$' out)" -eq 20
run 0 "  logits " "" $classify --logits a.png
run 1 "b.png" "bad.png: " $classify a.png bad.png b.png
run 1 "" "absent.png: No such file" $classify absent.png
run 1 "" "standard input: the file is empty" $classify -
run 1 '"error": ' "1 of 3 pictures could not be read" \
    $classify --json --logits --top 2 a.png bad.png b.png
mv out answers
json "vit-classify --json" answers '[a["file"] for a in r] == ["a.png", "bad.png", "b.png"]
    and set(r[1]) == {"file", "error"} and "bad.png" in r[1]["error"]
    and all(set(p) == {"index", "label", "probability"} for p in r[0]["predictions"])
    and len(r[2]["predictions"]) == 2 and len(r[2]["logits"]) == 10
    and r[0]["predictions"][0]["index"] == r[0]["logits"].index(max(r[0]["logits"]))
    and r[0]["predictions"][0]["probability"] >= r[0]["predictions"][1]["probability"]'
$classify - <a.png >out 2>err
holds "a picture on standard input" grep -q ' %$' out
printf 'a.png\r\n\nabsent.png\nb.png' | $classify --json --files-from - >answers 2>err
holds "--files-from - with a bad picture exits with 1" test $? -eq 1
holds "the failed ones are counted" grep -q '^vit-classify: 1 of 3 pictures could not be read$' err
json "--files-from - goes on after a bad picture" answers \
    '["error" in a for a in r] == [False, True, False] and r[0]["file"] == "a.png"'
printf 'a.png\nb.png\n' >list
run 0 "b.png" "" $classify --files-from list
run 1 "" "cannot open absent" $classify --files-from absent
printf '\n\r\n' >list
run 1 "" "list names no picture" $classify --files-from list
run 1 "" "standard input names no picture" $classify --json --files-from - </dev/null
printf 'a.png\n-\nb.png\n' | $classify --files-from - >out 2>err
holds "a list does not read itself as a picture" grep -q '^vit-classify: -: standard input' err
mkdir 'two words' && cp a.png 'two words/zwölf é.png'
printf 'two words/zwölf é.png\r\na.png' >list
run 0 'two words/zwölf é.png' "" $classify --json --files-from list

# ---- directories, formats, embeddings ----

mkdir -p scans/b.d
cp a.png scans/2.png
cp b.png scans/b.d/1.PNG
cp bad.png scans/b.d/z.jpeg
echo "no picture" >scans/notes.txt
cp a.png scans/.hidden.png
ln -s . scans/loop
run 1 "a.png" "scans is a directory: with --recursive" $classify a.png scans
run 1 '"file": "scans/2.png"' "left out in directories: 2 that are not" \
    $classify --json --recursive scans/ a.png
mv out answers
json "--recursive goes through a directory in order" answers '
    [a["file"] for a in r] == ["scans/2.png", "scans/b.d/1.PNG", "scans/b.d/z.jpeg", "a.png"]
    and ["error" in a for a in r] == [False, False, True, False]'
mkdir nothing
run 1 "" "nothing holds no file named" $classify --recursive nothing
printf 'a.png\nscans\n' >list
run 1 "*" "1 of 4 pictures could not be read" $classify --json --recursive --files-from list
cp a.png 'a,"b".png'
run 1 "*" "1 of 3 pictures" $classify --format csv --top 2 'a,"b".png' absent.png b.png
mv out answers.csv
holds "--format csv has a line for each picture" test "$(wc -l <answers.csv)" -eq 4
holds "its head names the columns" \
    sh -c "head -1 answers.csv | grep -qx 'file,label,probability,label2,probability2,error'"
holds "it quotes what needs it" grep -q '^"a,""b"".png",[0-9],' answers.csv
holds "it has the errors" grep -q '^absent.png,,,,,.*No such file' answers.csv
run 0 "a.png" "" $classify --format text a.png
run 0 '"predictions"' "" $classify --format json a.png
run 2 "" "exclude each other" $classify --format csv --json a.png
run 2 "" "--logits are written as text or JSON" $classify --format csv --logits a.png
run 2 "" "leave --top and --logits out" $classify --embed --top 2 a.png
run 2 "" "leave --format out" $classify --embed --format csv a.png
run 2 "" "--out is for the matrix of --embed" $classify --out e.npy a.png
run 2 "" "--list writes text or JSON" vit-classify --list --format csv
run 1 "" "cannot write absent/e.npy" $classify --embed --out absent/e.npy a.png
run 1 '"embedding"' "1 of 3 pictures" $classify --embed a.png bad.png b.png
mv out embedded
run 1 '{"file": "bad.png", "error": ' "vit-classify: bad.png: " \
    $classify --embed --out e.npy a.png bad.png b.png
mv out rows
json "--embed writes features" embedded '[set(a) for a in r] ==
    [{"file", "embedding"}, {"file", "error"}, {"file", "embedding"}]
    and r[0]["embedding"] != r[2]["embedding"]'
json "--embed --out tells the rows" rows '[a["row"] for a in r] == [0, 1, 2]'
if command -v python3 >/dev/null; then
    holds "the matrix holds the same, and NaN for a picture that failed" python3 -c '
import array, ast, json
data = open("e.npy", "rb").read()
assert data[:10] == b"\x93NUMPY\1\0\x76\0" and data[127:128] == b"\n"
head = ast.literal_eval(data[10:128].decode())
rows = [json.loads(line) for line in open("embedded")]
width = len(rows[0]["embedding"])
assert head == {"descr": "<f4", "fortran_order": False, "shape": (3, width)}
values = array.array("f", data[128:])
assert len(values) == 3 * width
assert all(v != v for v in values[width:2 * width])
for i in 0, 2:
    assert values[i * width:(i + 1) * width] == array.array("f", rows[i]["embedding"])'
fi

# Many pictures: the order and the bytes are those of one by one.
for i in $(seq 70); do
    [ $((i % 9)) -eq 0 ] && echo bad.png || echo $([ $((i % 2)) -eq 0 ] && echo a.png || echo b.png)
done >list
for name in $(cat list); do $classify --json --logits "$name" 2>/dev/null; done >single
for threads in 1 2 5; do
    $classify --json --logits --threads $threads --files-from list >many 2>err
    holds "many at a time, one by one: the same bytes, with --threads $threads" cmp single many
done

# Whoever writes the names may wait for an answer before the next one.
mkfifo names
$classify --json --files-from names >answers 2>err &
process=$!
exec 9>names
printf 'a.png\n\nb.p' >&9
for _ in $(seq 100); do
    grep -q '"a.png"' answers && break
    sleep 0.1
done
holds "a name is answered before the next one comes" grep -q '"a.png"' answers
printf 'ng\n' >&9
exec 9>&-
wait $process
holds "and then the next" grep -q '"b.png"' answers

# One grey pixel.
{
    printf '\211PNG\015\012\032\012\000\000\000\015IHDR\000\000\000\001\000\000\000\001\010\000'
    printf '\000\000\000\072\176\233U\000\000\000\012IDATx\332c8\001\000\000\312\000\3114'
    printf 'B\047\363\000\000\000\000IEND\256B\140\202'
} >blank.png
run 0 "blank.png" "vit-classify: blank.png: warning: no ink" $classify blank.png
run 0 '"warning": "no ink' "blank.png: warning: " $classify --json a.png blank.png
mv out answers
json "only the picture without ink has a warning" answers \
    '["warning" in a for a in r] == [False, True]'

# ---- names of models ----

mkdir shipped folder
cp digits.safetensors shipped/mnist.safetensors
cp digits.safetensors folder/model.safetensors
run 0 "a.png" "" env VIT_MODELS=shipped vit-classify a.png
run 0 "a.png" "" env VIT_MODELS=shipped vit-classify --model=mnist a.png
run 0 "a.png" "" vit-classify --model folder a.png
run 1 "" "no model \"nothing\"" vit-classify --model nothing a.png
run 1 "" "a.png is a picture, not weights" vit-classify --model a.png a.png
sized="--model $fixtures/sizes.safetensors"
run 0 "logits" "" vit-classify $sized --size 16x40 --logits a.png
run 1 "" "does not divide the picture, 25 x 25" vit-classify $sized --size 25 a.png
run 1 "" "takes no other size" vit-classify --model digits.safetensors --size 56 a.png
run 1 "" "the model takes 40 x 40 x 3" vit-evaluate $sized --size 40 --data digits
run 1 "" "cannot open ./absent" vit-evaluate --model ./absent --data digits

# ---- failures that are no wrong usage ----

run 1 "" "./absent: " vit-train --data ./absent
run 1 "" "cannot write absent/m.safetensors" vit-train --data digits --out absent/m.safetensors
run 1 "" "is a directory" vit-train --data digits --out folder
run 1 "" "a.png" vit-train --data digits --checkpoint a.png
run 1 "" "--log: cannot write absent/log" vit-train --data digits --log absent/log
run 1 "" "digits.safetensors" vit-train --data digits --preset lecture --init digits.safetensors

# ---- a small data set: the same bytes in every way ----

mkdir grey
# idx FILE MAGIC COUNT MORE: the header of an IDX file of COUNT < 256 things.
idx() {
    printf "\000\000\010\00$2\000\000\000\\$(printf %03o "$3")$4" >"grey/$1"
}
# labels COUNT: 0 to 9 in turn, COUNT a multiple of 10.
labels() {
    for _ in $(seq $(($1 / 10))); do printf '\000\001\002\003\004\005\006\007\010\011'; done
}
side='\000\000\000\034\000\000\000\034'
# Any bytes are pictures: here, the program's own.
for set in train:200 t10k:50; do
    name=${set%:*} pictures=${set#*:}
    idx "$name-labels-idx1-ubyte" 1 "$pictures" ""
    labels "$pictures" >>"grey/$name-labels-idx1-ubyte"
    idx "$name-images-idx3-ubyte" 3 "$pictures" "$side"
    cat "$BUILD"/bin/vit-* | head -c $((784 * pictures)) >>"grey/$name-images-idx3-ubyte"
done
train="vit-train --data grey --batch 16 --seed 3"

run 0 "the model is grey.safetensors" "*" $train --steps 12
holds "the same command writes the same bytes" \
    sh -c "cp grey.safetensors one && $train --steps 12 && cmp one grey.safetensors"
for threads in 1 2 3 8; do
    holds "--threads $threads writes the same bytes" \
        sh -c "$train --steps 12 --threads $threads --out t && cmp one t"
done
holds "--recompute writes the same bytes" \
    sh -c "$train --steps 12 --recompute --out t && cmp one t"
for cpu in scalar neon avx2 avx512 avx512bf16; do
    holds "VIT_CPU=$cpu writes the same bytes" \
        sh -c "VIT_CPU=$cpu $train --steps 12 --out c && cmp one c"
    VIT_CPU=$cpu vit-evaluate --model one --data grey --json --threads 1 >"e.$cpu" 2>err
    sed -i 's/"seconds.*"per_class/"per_class/' "e.$cpu"
    holds "VIT_CPU=$cpu measures the same figures" cmp e.scalar "e.$cpu"
done
holds "another seed writes other bytes" \
    sh -c "vit-train --data grey --batch 16 --seed 4 --steps 12 --out s && ! cmp one s"

holds "n/N stops at step n of the schedule of N" \
    sh -c "$train --steps 5/12 --out part --checkpoint c1 --json >part.json"
json "n/N tells so" part.json '(r[-1]["step"], r[-1]["steps"]) == (5, 12)
    and [e["event"] for e in r] == ["start", "epoch", "checkpoint", "done"]'
holds "--resume ends in the same bytes" \
    sh -c "$train --steps 12 --out whole --checkpoint c1 --resume --threads 3 --recompute &&
        cmp one whole"
holds "--resume of a finished training writes the model again" \
    sh -c "rm whole && $train --steps 12 --out whole --checkpoint c1 --resume && cmp one whole"
run 0 "*" "starting afresh" $train --steps 12 --out whole --checkpoint c2 --resume
holds "--resume without a checkpoint ends in the same bytes" cmp one whole
run 1 "" "seed" vit-train --data grey --batch 16 --seed 4 --steps 12 --checkpoint c1 --resume
echo '{"model": {"patch": 14, "dim": 32, "depth": 1, "heads": 2, "mlp": 9}}' >mine.json
run 0 "the model is mine.safetensors" "training mine on grey" \
    vit-train --data grey --preset ./mine.json --steps 2
run 0 "mnist.safetensors" "*" $train --preset mnist --init one --steps 1
run 0 "grey.safetensors" "*" $train --minutes 0.02

# ---- published weights ----

published=$fixtures/published
run 0 "thing " "" vit-classify --model "$published/timm_registers" "$published/picture.png"
cp "$published/timm_13_wide/model.safetensors" alone.safetensors
run 1 "" "put a config.json beside the file" \
    vit-classify --model alone.safetensors "$published/picture.png"
run 0 "thing " "" vit-classify --model alone.safetensors \
    --config "$published/timm_13_wide/config.json" "$published/picture.png"
run 1 "*" "name one with --config" vit-info alone.safetensors
run 0 "  network" "" vit-info --config "$published/timm_13_wide/config.json" alone.safetensors
# A recipe that is no JSON, of as many bytes.
LC_ALL=C sed 's/"vit.recipe":"{/"vit.recipe":"[/' digits.safetensors >crafted.safetensors
run 1 '"error": "crafted.safetensors: vit.recipe: ' "" vit-info --json crafted.safetensors
run 0 "thing " "" vit-classify --model "$published/timm_gap" --size 32x48 "$published/picture.png"
mkdir -p pets/cat pets/dog
for i in 1 2 3 4; do cp "$published/picture.png" pets/cat/$i.png; done
for i in 1 2 3 4; do cp "$published/picture.png" pets/dog/$i.png; done
run 0 "pets.safetensors" "the head is a new one: the data have 2 classes, the weights 6" \
    vit-train --data pets --init "$published/hf_4" --steps 2 --batch 2
run 0 "tuned.safetensors" "*" \
    vit-train --data pets --init "$published/hf_4" --steps 2 --batch 2 \
    --freeze 1 --layer-decay 0.75 --out tuned.safetensors
holds "the recipe says what was frozen" \
    grep -qa 'freeze.*: 1, .*layer_decay.*: 0.75' tuned.safetensors
holds "and says nothing where nothing was" sh -c '! grep -qa freeze pets.safetensors'
frozen="vit-train --data pets --init $published/hf_4 --batch 2 --freeze 1"
run 0 "*" "resuming after step 2" \
    sh -c "$frozen --steps 2/4 --out thawed --checkpoint frozen &&
        $frozen --steps 4 --out thawed --checkpoint frozen --resume &&
        $frozen --steps 4 --out cold"
holds "what is frozen can be resumed" cmp thawed cold
last=frozen/checkpoint-000000000004.safetensors
holds "and has no moments" sh -c "! grep -qa adamw.m.blocks.0 $last"
holds "but the rest has" grep -qa adamw.m.blocks.1 $last
run 1 "" "timm_backbone is a backbone without a head" \
    vit-classify --model "$published/timm_backbone" "$published/picture.png"
run 0 '"embedding"' "" \
    vit-classify --model "$published/timm_backbone" --embed "$published/picture.png"
run 1 "" "the model is a backbone without a head" \
    vit-evaluate --model "$published/timm_backbone" --data pets
run 0 "none: a backbone of 20 features" "" vit-info "$published/timm_backbone"
run 0 "headed.safetensors" "the head is a new one: the weights are a backbone's" \
    vit-train --data pets --init "$published/timm_backbone" --steps 2 --out headed.safetensors
run 0 "cat" "" vit-classify --model headed.safetensors "$published/picture.png"
run 2 "" "the network has 2 blocks" \
    vit-train --data pets --init "$published/hf_4" --steps 2 --freeze 3
run 2 "" "give a model to start from" vit-train --data pets --steps 2 --freeze 3
run 2 "" "--layer-decay" vit-train --data pets --steps 2 --layer-decay 1.5
run 0 "cat" "" vit-classify --model pets.safetensors "$published/picture.png"
run 0 "*" "" vit-evaluate --model pets.safetensors --data pets --split train
echo text >pets/dog/5.png
run 1 "" "the 9 files of 2 classes give none that can be read: put pictures into pets/test/CLASS" \
    vit-evaluate --model pets.safetensors --data pets
holds "and what cannot be read is named" grep -q 'left out: pets/dog/5.png: the file is text' err
rm pets/dog/5.png

# ---- interruption ----

# A shell starts a job in the background with SIGINT ignored, and a training leaves it so: those
# that are to be interrupted start with it as it is in a terminal.
terminal="env --default-signal=INT"

# await TEXT FILE: at most half a minute, until the file has the text
await() {
    for _ in $(seq 300); do
        grep -q "$1" "$2" 2>/dev/null && break
        sleep 0.1
    done
}

# interrupt SIGNAL STATUS: a training gets the signal after its first epoch.
interrupt() {
    rm -rf c3 log
    $terminal $train --steps 100000 --out never --checkpoint c3 --log log >out 2>err &
    process=$!
    await '"event": "checkpoint"' log
    kill "-$1" $process
    wait $process
    [ $? -eq "$2" ] && says err "the same command with --resume goes on" && [ ! -e never ]
    result "SIG$1: exit status $2, and how to go on" $?
}
interrupt TERM 143
interrupt INT 130

step=$(sed -n 's/.*interrupted after step \([0-9]*\) of.*/\1/p' err)
end=$((step + 10))
holds "an interrupted training resumes where it was, to the same bytes" sh -c "
    $train --steps $end/100000 --out resumed --checkpoint c3 --resume --log log 2>err &&
    grep -q 'resuming after step $step of 100000' err &&
    $train --steps $end/100000 --out straight && cmp resumed straight"
holds "--resume goes on with the log" test "$(grep -c '"event": "start"' log)" -eq 2

rm -f err
$train --steps 60 --out ignored >out 2>err &
process=$!
await "60 steps" err
kill -INT $process
wait $process
[ $? -eq 0 ] && [ -e ignored ]
result "a SIGINT that is ignored from the start stays ignored" $?

# Both signals wait while the program is stopped, so the second comes with the first.
rm -f log
$terminal $train --steps 100000 --out never --log log >out 2>err &
process=$!
await '"event": "epoch"' log
kill -STOP $process
kill -INT $process
kill -TERM $process
kill -CONT $process
wait $process
status=$?
{ [ $status -eq 130 ] || [ $status -eq 143 ]; } && ! grep -q interrupted err
result "a second signal ends at once" $?

# ---- streams ----

if [ -e /dev/full ]; then
    for program in "vit-train --help" "vit-classify --model one a.png" \
        "vit-evaluate --model one --data grey --json" "$train --steps 1 --out full --json"; do
        $program >/dev/full 2>err
        status=$?
        [ $status -eq 1 ] && says err "cannot write standard output"
        result "$program: an answer that cannot be written is a failure" $?
    done
    run 1 "the model is" "the log could not be written" $train --steps 1 --out full --log /dev/full
fi
$train --steps 1 --out closed >&- 2>err
[ $? -eq 1 ] && vit-evaluate --model closed --data grey >out 2>>err
result "a closed standard output does not end up in the model" $?
$classify - <&- >out 2>err
[ $? -eq 1 ] && says err "cannot read standard input"
result "a closed standard input is said" $?

exit 0
