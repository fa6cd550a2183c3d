#!/bin/sh
# Weights in 8 bits through the programs: their file, its answers, and what other libraries get.
. "$(dirname "$0")/../shell"

given_model
given_pictures

run 0 "" "" vit-convert --dtype int8 digits.safetensors eight.safetensors
check "the file is less than half" \
    test $(($(wc -c <eight.safetensors) * 2)) -lt "$(wc -c <digits.safetensors)"
answers float digits.safetensors
answers want digits.safetensors --precision int8
answers got eight.safetensors
check "it answers as the floats do in int8" cmp got want
check "which is not float32" sh -c '! cmp -s float want'
for cpu in scalar avx2 avx512; do
    export VIT_CPU=$cpu
    answers got eight.safetensors --threads 1
    unset VIT_CPU
    check "the same bytes with $cpu" cmp got want
done
answers got eight.safetensors --threads 3
check "the same bytes on three threads" cmp got want
vit-classify --model eight.safetensors --json --logits b.png >alone
sed -n 2p want >second
check "the same bytes alone" cmp alone second
run 0 "" "" vit-convert --dtype int8 eight.safetensors again.safetensors
check "the integers and scales stay" cmp eight.safetensors again.safetensors
run 0 "" "" vit-convert eight.safetensors wide.safetensors
run 0 "" "" vit-convert --dtype int8 wide.safetensors again.safetensors
answers got again.safetensors
check "they are found again in floats" cmp got want
run 0 '"gradient"' "weights are in int8: maps and their probabilities are those" \
    vit-explain --model eight.safetensors --method gradient --json a.png
mv out eight.map
run 0 '"gradient"' "" vit-explain --model wide.safetensors --method gradient --json a.png
check "a map is that of the rounded weights as floats" cmp out eight.map
run 0 "in int8, as the weights of the blocks are stored" "" vit-info eight.safetensors
classify="vit-classify --json --logits a.png b.png a.png --model"
run 0 "*" "8 bits: its answers are those of int8, not of f32" \
    $classify eight.safetensors --precision f32
check "which they are" cmp out want
run 0 "*" "cannot compute in bf16: the answers of eight.safetensors are those of int8" \
    env VIT_CPU=avx2 $classify eight.safetensors --precision bf16
check "which they are, too" cmp out want
run 0 "*" "cannot compute in bf16: the answers of digits.safetensors are those of f32" \
    env VIT_CPU=avx2 $classify digits.safetensors --precision bf16
check "and these" cmp out float
run 0 "*" "" env VIT_CPU=scalar $classify eight.safetensors --precision bf16
check "a processor with bf16 answers in it of 8 bits" sh -c '! cmp -s out want'
run 0 "*" "are those of int8, not of f32" \
    vit-evaluate --model eight.safetensors --precision f32 --data digits
for what in --embed "--embed tokens"; do
    vit-classify --model digits.safetensors --precision int8 $what --out want.npy a.png b.png
    VIT_CPU=scalar vit-classify --model eight.safetensors $what --threads 1 --out got.npy \
        a.png b.png
    check "the same from $what" cmp got.npy want.npy
done
run 2 "" "nothing reads weights in 8 bits in the layout \"timm\"" \
    vit-convert --dtype int8 --layout timm digits.safetensors timm

# ---- compressed-tensors: tests/fixtures/make_int8_theirs.py ----

run 0 "" "" vit-convert --dtype int8 --layout hf "$fixtures/published/hf_5" hf
answers ours hf
answers theirs "$fixtures/int8_theirs"
check "its file answers as ours" cmp ours theirs
check "its file has the same tensors, to the byte" python3 - "$fixtures/int8_theirs" hf <<'END'
import json, struct, sys

def tensors(directory):
    data = open(directory + "/model.safetensors", "rb").read()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    entries = json.loads(data[8:start])
    entries.pop("__metadata__", None)
    return {name: (e["dtype"], e["shape"], data[start:][slice(*e["data_offsets"])])
            for name, e in entries.items()}

theirs, ours = map(tensors, sys.argv[1:])
assert theirs == ours, set(theirs) ^ set(ours)
assert sum(t[0] == "I8" for t in ours.values()) == 12
both = [json.load(open(d + "/config.json"))["quantization_config"] for d in sys.argv[1:]]
for key in ("quant_method", "format", "quantization_status", "ignore"):
    assert both[0][key] == both[1][key], key
for part in ("weights", "input_activations"):
    a, b = (config["config_groups"]["group_0"][part] for config in both)
    assert all(a[key] == b[key] for key in b), part
END

# ---- calibration ----

run 0 "" "pictures of digits: scales are in the norms" \
    vit-convert --dtype int8 --calibrate digits digits.safetensors calibrated.safetensors
check "its file is as large" \
    test "$(wc -c <calibrated.safetensors)" -eq "$(wc -c <eight.safetensors)"
check "its weights are others" sh -c '! cmp -s calibrated.safetensors eight.safetensors'
for how in "VIT_CPU=scalar OMP_NUM_THREADS=1" "VIT_CPU=avx2 OMP_NUM_THREADS=3"; do
    env $how vit-convert --dtype int8 --calibrate digits digits.safetensors again.safetensors \
        2>/dev/null
    check "the same bytes with $how" cmp again.safetensors calibrated.safetensors
done
mkdir folder nothing && cp a.png folder && cp b.png folder/c.png && echo no >folder/notes.txt
run 0 "" "calibrated with 2 of the 2 pictures of folder" \
    vit-convert --dtype int8 --calibrate folder digits.safetensors again.safetensors
run 0 "" "calibrated with 1 of the 2 pictures of folder" \
    vit-convert --dtype int8 --calibrate folder --calibrate-pictures 1 --layout hf \
    "$fixtures/published/hf_5" calibrated-hf
answers got calibrated-hf
check "Hugging Face's layout has it, too" sh -c '! cmp -s got ours'
refuse() {
    want=$1 text=$2
    shift 2
    run "$want" "" "$text" vit-convert "$@" refused.safetensors
}
refuse 2 "is for weights in 8 bits, not for bf16" --dtype bf16 --calibrate digits digits.safetensors
refuse 2 "is for --calibrate DIR" --dtype int8 --calibrate-pictures 5 digits.safetensors
refuse 1 "there are no pictures to calibrate with: nothing: holds no data set that is known" \
    --dtype int8 --calibrate nothing digits.safetensors
refuse 1 "absent" --dtype int8 --calibrate absent digits.safetensors
refuse 1 "the norms of its blocks come after the sums or branches" \
    --dtype int8 --calibrate folder "$fixtures/published/timm_res_post"
refuse 2 "its weights are in 8 bits already" --dtype int8 --calibrate digits eight.safetensors
refuse 1 "the model takes 28 x 28 x 1" --dtype int8 --calibrate drawn-strips digits.safetensors
echo no >folder/broken.png
refuse 1 "folder/broken.png" --dtype int8 --calibrate folder digits.safetensors
check "nothing was written" test ! -e refused.safetensors

# ---- models that write texts ----

for i in one two three; do
    for j in four five six; do printf '%s and %s\t%s und %s\n' $i $j $j $i; done
done >pairs.tsv
mkdir pairs && mv pairs.tsv pairs
run 0 "*" "*" vit-train --data pairs --steps 12 --set dim=32 --set depth=2 --set mlp=32 --batch 8 \
    --out pairs.safetensors
run 0 "" "" vit-convert --dtype int8 pairs.safetensors pairs8.safetensors
# reads OUT OPTION...
reads() {
    out=$1
    shift
    vit-read --json --length 6 --beams 2 "$@" >"$out"
}
refuse 1 "a calibration is for networks that answer pictures" \
    --dtype int8 --calibrate digits pairs.safetensors
text="two and five"
texts="--text two.and.five --length 6 --beams 2"
reads float --text "$text" --model pairs.safetensors
reads want --text "$text" --model pairs.safetensors --precision int8
VIT_CPU=scalar reads got --text "$text" --model pairs8.safetensors --threads 1
check "a decoder's file answers as its floats in int8" cmp got want
check "which is not float32, either" sh -c '! cmp -s float want'

# A published directory of 8-bit weights, as compressed-tensors names them.
cp -r "$fixtures/readers/trocr_base" reader
if numpy; then
    "$python" - reader/model.safetensors <<'END'
import json, struct, sys
import numpy as np

data = open(sys.argv[1], "rb").read()
start = 8 + struct.unpack("<Q", data[:8])[0]
header, out = json.loads(data[8:start]), {}
for name, e in header.items():
    if name == "__metadata__":
        continue
    x = np.frombuffer(data[start:][slice(*e["data_offsets"])], np.float32).reshape(e["shape"])
    if ".layer" in name and x.ndim == 2:
        scale = (abs(x).max(1, keepdims=True) / np.float32(127)).astype(np.float32)
        out[name], out[name + "_scale"] = np.rint(x / scale).astype(np.int8), scale
    else:
        out[name] = x
assert sum(x.dtype == np.int8 for x in out.values()) > 12
header, rest = {}, b""
for name, x in out.items():
    header[name] = {"dtype": "I8" if x.dtype == np.int8 else "F32", "shape": list(x.shape),
                    "data_offsets": [len(rest), len(rest) + x.nbytes]}
    rest += x.tobytes()
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
open(sys.argv[1], "wb").write(struct.pack("<Q", len(text)) + text + rest)
END
    reads want --model "$fixtures/readers/trocr_base" --precision int8 reader/picture.png
    reads got --model reader reader/picture.png
    check "TrOCR's weights in 8 bits read as its floats in int8" cmp got want
else
    skips "TrOCR's weights in 8 bits read as its floats in int8" "no NumPy"
fi

# ---- ONNX ----

run 0 "" "" vit-convert --dtype int8 --layout onnx eight.safetensors eight.onnx
run 0 "" "" vit-convert --layout onnx wide.safetensors wide.onnx
check "the graph is less than half" \
    test $(($(wc -c <eight.onnx) * 2)) -lt "$(wc -c <wide.onnx)"
if numpy && "$python" -c 'import onnxruntime' 2>/dev/null; then
    check "ONNX Runtime has the same weights from both" "$python" - <<'END'
import numpy, onnxruntime

options = onnxruntime.SessionOptions()  # with all optimisations it rounds activations, too
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
sessions = [onnxruntime.InferenceSession(name, options, providers=["CPUExecutionProvider"])
            for name in ("eight.onnx", "wide.onnx")]
shape = [d if isinstance(d, int) else 3 for d in sessions[0].get_inputs()[0].shape]
pixels = numpy.random.default_rng(1).standard_normal(shape).astype(numpy.float32)
eight, wide = (s.run(None, {"pixel_values": pixels})[0] for s in sessions)
assert abs(eight - wide).max() <= 2e-5 * abs(wide).max(), abs(eight - wide).max()
END
else
    skips "ONNX Runtime has the same weights from both" "no onnxruntime"
fi

# ---- readers: the directory again, with other weights ----

for reader in trocr_base trocr_small gpt2; do
    from=$fixtures/readers/$reader
    for type in int8 bf16; do
        given vit-convert --dtype $type --layout hf "$from" read-$type
        given vit-convert --dtype f32 --layout hf read-$type read-$type-wide
    done
    vit-read --model "$from" --precision int8 --json "$from/picture.png" >want
    vit-read --model read-int8 --json "$from/picture.png" >got
    check "$reader reads in int8 as its floats do" cmp got want
    vit-read --model read-bf16-wide --json "$from/picture.png" >want
    vit-read --model read-bf16 --json "$from/picture.png" >got
    check "$reader reads in bfloat16 as the same numbers do" cmp got want
    rm -rf read-*
done
run 1 "" "name the directory that holds all of them" \
    vit-convert --layout hf "$fixtures/readers/trocr_base/model.safetensors" some

# ---- what is damaged ----

python3 - eight.safetensors <<'END'
import json, struct, sys

data = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", data[:8])[0]
header, rest = json.loads(data[8:8 + size]), data[8 + size:]
name = next(n for n in header if n.endswith("_scale"))

def write(path, header, rest):
    text = json.dumps(header).encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + rest)

begin = header[name]["data_offsets"][0]
write("nan.safetensors", header, rest[:begin] + b"\xff" * 4 + rest[begin + 4:])
other = dict(header)
other["x" + name] = other.pop(name)
write("lost.safetensors", other, rest)
END
run 1 "" "_scale: scale 0 is" vit-classify --model nan.safetensors a.png
run 1 "" "_scale" vit-classify --model lost.safetensors a.png
