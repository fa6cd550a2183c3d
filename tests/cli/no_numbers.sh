#!/bin/sh
# A model that answers with NaN is refused by every program, for the picture that it is of: no rank,
# no count, no "0 nan %".
tests=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/../shell"

if ! command -v python3 >/dev/null; then
    skips "answers that are NaN" "there is no python3"
    exit 0
fi
given_model
given_pictures
given python3 "$tests/no_numbers.py" digits.safetensors none.safetensors
python3 - <<'END'
import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
open("black.png", "wb").write(b"\x89PNG\r\n\x1a\n" +
    chunk(b"IHDR", struct.pack(">IIBBBBB", 28, 28, 8, 0, 0, 0, 0)) +
    chunk(b"IDAT", zlib.compress(bytes(28 * 29))) + chunk(b"IEND", b""))
END
none="a.png: the model's answer is not finite (logit 0 is NaN)"
model="--model ./none.safetensors"
run 1 "" "$none" vit-classify $model a.png
run 0 "black.png" "" vit-classify $model black.png
run 1 "$none" "1 of 2 pictures" vit-classify $model --json --logits black.png a.png
mv out answers
json "only that picture fails" answers '"error" in r[1] and len(r[0]["logits"]) == 10'
run 1 "*" "$none" vit-classify $model --embed --out rows.npy black.png a.png
run 1 "" "digits: picture 0: the model's answer is not finite" vit-evaluate $model --data digits
run 1 "" "the model's answer is not finite" \
    vit-evaluate $model --data digits --predictions rows.csv --json
check "nothing is predicted" test ! -s rows.csv
for file in map.png map.npy map.json page.html; do
    run 1 "" "$none" vit-explain $model --out $file a.png
    check "and no $file is left" test ! -e $file
done
