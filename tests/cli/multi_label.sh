#!/bin/sh
# Pictures of any number of classes: trained, evaluated, answered and written for transformers.
. "$(dirname "$0")/../shell"

python=$(command -v python3) || { skips "several classes a picture" "there is no Python"; exit 0; }

# 48 pictures: number i is red if i is odd, blue if i % 3 is 0. Three tables of the same classes.
"$python" - <<'END'
import json, os, struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
rows = []
for i in range(48):
    pixel = bytes([200 * (i % 2), i, 200 * (i % 3 == 0)])
    raw = (b"\0" + pixel * 16) * 16
    for name in ("semicolons", "columns", "lists"):
        os.makedirs(name, exist_ok=True)
        with open(f"{name}/{i}.png", "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n"
                       + chunk(b"IHDR", struct.pack(">IIBBBBB", 16, 16, 8, 2, 0, 0, 0))
                       + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))
    rows.append((f"{i}.png", (["red"] if i % 2 else []) + (["blue"] if i % 3 == 0 else [])))
with open("semicolons/metadata.csv", "w") as file:
    file.write("file,labels\n" + "".join(f"{f},{';'.join(c)}\n" for f, c in rows))
with open("columns/train.csv", "w") as file:
    file.write("file,red,blue\n")
    file.writelines(f"{f},{int('red' in c)},{int('blue' in c)}\n" for f, c in rows)
with open("lists/metadata.jsonl", "w") as file:
    file.writelines(json.dumps({"file_name": f, "labels": c}) + "\n" for f, c in rows)
END

same_figures() {
    "$python" - "$1" "$2" <<'PY'
import json, sys
a, b = (json.load(open(name)) for name in sys.argv[1:])
for name in ("data", "seconds", "images_per_second"):
    a.pop(name), b.pop(name)
assert a == b, (a, b)
PY
}

# The checksums of the sets are equal, so the files differ in their names alone.
same_weights() {
    vit-info --json --tensors a | sed 's/.*"tensors"//' >a.tensors
    vit-info --json --tensors b | sed 's/.*"tensors"//' >b.tensors
    cmp a.tensors b.tensors
}

short="--seed 0 --batch 16 --steps 40 --set dim=32 --set depth=1 --set heads=1 --set mlp=32"
given vit-train --data semicolons --multi-label $short --out a
given vit-train --data columns --set multi_label=true $short --out b
check "a column of classes and a column a class train the same weights" same_weights
run 0 "sigmoid of each logit" "" vit-info a
run 0 "*" "" vit-info --json a
mv out answer
json "the recipe says so" answer 'r[0]["recipe"]["train"]["multi_label"] is True'
for data in semicolons columns lists; do
    run 0 "*" "classes: " vit-evaluate --model a --data $data --split train --json
    mv out $data.json
done
json "both classes are learnt" semicolons.json \
    '[c["label"] for c in r[0]["per_class"]] == ["blue", "red"] and
     r[0]["mean_average_precision"] > .9 and r[0]["loss"] < .69'
json "pictures are counted by class" semicolons.json \
    'r[0]["images"] == 41 and all(0 <= c["right"] <= min(c["answered"], c["images"])
                                  for c in r[0]["per_class"])'
for data in columns lists; do
    check "$data: the same figures" same_figures semicolons.json $data.json
done
run 0 "mean average precision" "classes: column labels (lists) of metadata.jsonl" \
    vit-evaluate --model a --data lists
run 1 "" "any number of classes a picture: --report" \
    vit-evaluate --model a --data lists --confusion
run 0 "*" "" vit-classify --model a --json lists/3.png
mv out answer
json "scores do not add up to 1" answer \
    'abs(sum(p["probability"] for p in r[0]["predictions"]) - 1) > 1e-3'
run 2 "" "\"balance\" is for one class a picture" \
    vit-train --data lists --multi-label --balance $short --out c
run 2 "" "a report is for pictures of one class each" \
    vit-train --data lists --multi-label --report r.html $short --out c
run 2 "" "digits was read with one class a picture" \
    vit-train --data digits --multi-label --steps 1 --out c
run 1 "" "line 5: \"red;blue\" in column labels is several classes: --multi-label" \
    vit-train --data semicolons $short --out c

# python_agrees: the package's figures are those of vit-evaluate.
python_agrees() {
    PYTHONPATH=$tree/python VIT_LIBRARY=$BUILD/lib/libvit.so "$python" - <<'END'
import json, vit
r = json.load(open("semicolons.json"))
e = vit.evaluate_labels(vit.Model("a"), "semicolons", split="train")
assert e.images == r["images"] and e.average_precision.keys() == {"red", "blue"}, e
assert abs(e.mean_average_precision - r["mean_average_precision"]) < 1e-9, e
END
}
if ldd "$BUILD/lib/libvit.so" | grep -q libasan || ! numpy; then
    skips "Python: the same figures" "no Python with NumPy, or the library is instrumented"
else
    check "Python: the same figures" python_agrees
fi
