#!/bin/sh
# Two lists of classes meet by name: of data and a model that is evaluated, trained further, taught
# by, resumed, or named; and of data that are joined.
. "$(dirname "$0")/../shell"

numpy || { skips "classes meet by name" "there is no NumPy"; echo "1..$count"; exit 0; }

# Folders whose pictures have a shade for each name, wherever the name stands: c is white.
"$python" - <<'END'
import struct, zlib, os
def png(path, shade, i):
    raw = b"".join(b"\0" + bytes([shade, (i * 5) % 256, 128] * 16) for _ in range(16))
    def chunk(t, d):
        return struct.pack(">I", len(d)) + t + d + struct.pack(">I", zlib.crc32(t + d))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    header = struct.pack(">IIBBBBB", 16, 16, 8, 2, 0, 0, 0)
    open(path, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
                           + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))
shades = {"a": 0, "b": 120, "c": 250, "d": 60}
roots = ("abc", "abc", 0), ("bcd", "bcd", 50), ("only", "c", 70), ("two", "bc", 70)
for root, names, first in roots:
    for name in names:
        for i in range(24):
            png(f"{root}/{name}/{i}.png", shades[name], first + i)
for name, number in (("a", "0"), ("b", "1"), ("c", "2")):
    for i in range(8):
        png(f"numbers/{number}/{i}.png", shades[name], 90 + i)
        png(f"from-one/{int(number) + 1}/{i}.png", shades[name], 90 + i)
        png(f"others/{name}{name}/{i}.png", shades[name], 90 + i)
        for text in ("caf\u00e9" if name == "a" else name,):
            png(f"composed/{text}/{i}.png", shades[name], i)
        for text in ("cafe\u0301" if name == "a" else name,):
            png(f"apart/{text}/{i}.png", shades[name], 90 + i)
END
given vit-train --data abc --steps 60 --lr 0.003 --out abc.safetensors

# The same model with its classes in another order: rows of the head and labels.
cat >turn.py <<'END'
import json, struct, sys
import numpy
data = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", data[:8])[0]
head, body = json.loads(data[8:8 + size]), bytearray(data[8 + size:])
labels = json.loads(head["__metadata__"]["vit.labels"])
order = [2, 0, 1]
for name in ("head.weight", "head.bias"):
    begin, end = head[name]["data_offsets"]
    rows = numpy.frombuffer(bytes(body[begin:end]), "<f4").reshape(head[name]["shape"])
    body[begin:end] = rows[order].tobytes()
named = [labels[i] for i in order]
if len(sys.argv) > 3:
    named = json.loads(sys.argv[3])
if named:
    head["__metadata__"]["vit.labels"] = json.dumps(named)
else:
    del head["__metadata__"]["vit.labels"]
head["__metadata__"].pop("vit.checksum", None)
text = json.dumps(head).encode()
text += b" " * (-len(text) % 8)
open(sys.argv[2], "wb").write(struct.pack("<Q", len(text)) + text + bytes(body))
END
"$python" turn.py abc.safetensors turned.safetensors
"$python" turn.py abc.safetensors nameless.safetensors null
for model in abc turned; do
    run 0 "*" "" vit-evaluate --model $model.safetensors --data abc --split train --json
    mv out answer
    json "$model: 72 of 72 in whatever order" answer 'r[0]["top1"] == 1
        and r[0]["classes_matched_by"] == "name" and r[0]["unknown_images"] == 0'
done

# ---- vit-evaluate ----

run 0 "*" "24 pictures are of 1 class that the model does not know, d: they are counted apart" \
    vit-evaluate --model abc.safetensors --data bcd --json --predictions bcd.csv
mv out answer
json "what has a partner is right, what has none is counted apart" answer \
    'r[0]["images"] == 48 and r[0]["top1"] == 1 and r[0]["unknown_images"] == 24
    and r[0]["unknown_classes"] == {"d": 24}'
check "and has no line" fails grep -q /d/ bcd.csv
run 0 "  unknown        24 " "" sh -c 'vit-evaluate --model abc.safetensors --data bcd 2>/dev/null'
run 1 "" "others has aa, bb, cc, the model a, b, c" \
    vit-evaluate --model abc.safetensors --data others
run 0 "24 pictures" "indices, from 0 on, of the classes of the model" \
    vit-evaluate --model abc.safetensors --data numbers
run 0 '"classes_matched_by": "number"' "*" \
    vit-evaluate --model abc.safetensors --data numbers --json
mv out answer
json "numbers are the model's own" answer 'r[0]["top1"] == 1'
run 1 "" "but 3 is beyond its 3" vit-evaluate --model abc.safetensors --data from-one
run 0 '"classes_matched_by": "order"' "have no names" \
    vit-evaluate --model nameless.safetensors --data abc --json
run 1 "" "have no names to find the 1 of only by" \
    vit-evaluate --model nameless.safetensors --data only
given vit-train --data composed --init abc.safetensors --steps 1 --lr 1e-9 --out cafe.safetensors
run 0 "*" "" vit-evaluate --model cafe.safetensors --data apart --json
mv out answer
json "an accent may be a character of its own" answer 'r[0]["images"] == 24
    and r[0]["unknown_images"] == 0'

# ---- --labels ----

printf 'c\na\nb\n' >turned.txt
printf 'x\ny\nz\n' >new.txt
run 1 "" "the list is in another order than the model's answers" \
    vit-evaluate --model abc.safetensors --data abc --labels turned.txt
run 0 "*" "" vit-evaluate --model nameless.safetensors --data abc --labels turned.txt --json
mv out answer
json "names make a model without names meet the data" answer \
    'r[0]["top1"] == 1 and r[0]["classes_matched_by"] == "name"'
run 1 "" "abc has a, b, c, the model x, y, z" \
    vit-evaluate --model abc.safetensors --data abc --labels new.txt

# ---- --init ----

still="--steps 1 --batch 8 --lr 1e-9"
run 0 "*" "the head keeps the rows of the 3 classes, by their names" \
    vit-train --data abc --init turned.safetensors $still --out again.safetensors
run 0 "*" "" vit-evaluate --model again.safetensors --data abc --split train --json
mv out answer
json "a training begins where the model is, in whatever order" answer 'r[0]["top1"] == 1'
run 0 "*" "the head has 1 new row, of classes that the weights do not know (d); 2 follow" \
    vit-train --data bcd --init abc.safetensors $still --out bcd.safetensors
run 0 "*" "*" vit-evaluate --model bcd.safetensors --data bcd --split train --json
mv out answer
json "the rows of b and c are the model's" answer \
    'sum(c["correct"] for c in r[0]["per_class"][:2]) >= 30'
run 0 "*" "and none is in both" \
    vit-train --data others --init abc.safetensors $still --out others.safetensors

# ---- --teacher ----

taught="--data abc --steps 4 --batch 8"
given vit-train $taught --teacher abc.safetensors --out by-abc.safetensors
given vit-train $taught --teacher turned.safetensors --out by-turned.safetensors
weights() { # the bytes of the tensors, without the names
    "$python" -c 'import struct, sys
d = open(sys.argv[1], "rb").read()
sys.stdout.buffer.write(d[8 + struct.unpack("<Q", d[:8])[0]:])' "$1"
}
weights by-abc.safetensors >1
weights by-turned.safetensors >2
check "a teacher's order changes nothing" cmp 1 2
run 1 "" "it does not know the class d of bcd" \
    vit-train --data bcd --steps 1 --teacher abc.safetensors --out no.safetensors
run 0 "*" "in the order of the model's classes" \
    vit-evaluate --model turned.safetensors --data abc --split train --logits l.npy

# ---- --resume ----

"$python" -c 'import numpy
x = numpy.repeat(numpy.array([0, 120, 250], "uint8"), 12)
numpy.savez("shades.npz", images=x[:, None, None, None] + numpy.zeros((1, 16, 16, 3), "uint8"),
            labels=numpy.repeat([0, 1, 2], 12))'
mkdir shades
"$python" -c 'import numpy
z = numpy.load("shades.npz")
for k in z: numpy.save("shades/" + k, z[k])'
printf 'a\nb\nc\n' >shades/classes.txt
given vit-train --data shades --steps 2/4 --batch 4 --out s.safetensors --checkpoint kept
printf 'c\nb\na\n' >shades/classes.txt
run 1 "" 'its classes are ["a", "b", "c"], this command'"'"'s are ["c", "b", "a"]' \
    vit-train --data shades --steps 4 --batch 4 --out s.safetensors --checkpoint kept --resume

# ---- joined data ----

run 0 "*" "*" vit-train --data abc+two --init abc.safetensors $still --out joined.safetensors
run 0 "*" "" vit-evaluate --model joined.safetensors --data two --json
mv out answer
json "the second set's classes are those of their names" answer 'r[0]["top1"] == 1'
run 1 "" 'the class "d" of bcd is none of the 3 of abc, a, b, c' \
    vit-train --data abc+bcd --steps 1 --out no.safetensors
run 1 "" "their answers must be classes" \
    vit-train --data numbers:en+numbers:en --steps 1 --out no.safetensors
echo "1..$count"
