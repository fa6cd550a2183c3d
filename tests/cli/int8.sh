#!/bin/sh
# Weights in 8 bits through the programs: their file, its answers, and what other libraries get.
. "$(dirname "$0")/../shell"

given_model
given_pictures

# answers FILE MODEL OPTION...
answers() {
    out=$1 model=$2
    shift 2
    vit-classify --model "$model" --json --logits "$@" a.png b.png a.png >"$out"
}

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
run 0 '"gradient"' "" vit-explain --model eight.safetensors --method gradient --json a.png
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
