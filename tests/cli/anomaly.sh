#!/bin/sh
# vit-anomaly: a bank of good pictures, and pictures with and without a defect.
. "$(dirname "$0")/../shell"

mkdir good && python3 - <<'END' || exit 1
import random, struct, zlib
def png(path, seed, spot):
    r = random.Random(seed)
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    rows = b"".join(b"\0" + bytes(255 if spot and abs(x - 20) < 3 and abs(y - 12) < 3 else
                                  90 + 60 * (x // 4 % 2) + r.randrange(12) for x in range(32))
                    for y in range(32))
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" +
                chunk(b"IHDR", struct.pack(">IIBBBBB", 32, 32, 8, 0, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
for i in range(20):
    png(f"good/{i:02}.png", i, False)
png("fine.png", 100, False)
png("spot.png", 101, True)
END
echo no picture >bad.png

run 2 "" "-o BANK is missing" vit-anomaly build good
run 2 "" "after BANK a PICTURE" vit-anomaly a.bank
run 1 "" "a.bank: there is no such file" vit-anomaly a.bank fine.png
mkfifo pipe.bank
run 1 "" "pipe.bank is a pipe" vit-anomaly pipe.bank fine.png
run 1 "" "good is a directory" vit-anomaly good fine.png
run 0 "20 good pictures" "" vit-anomaly build good -o a.bank
run 0 "defect" "" vit-anomaly a.bank spot.png
run 0 "good" "" vit-anomaly a.bank fine.png
run 1 "spot.png" "1 of 3 pictures could not be read" vit-anomaly a.bank fine.png bad.png spot.png
run 2 "" "needs at least 99 good pictures, and the bank has 20" \
    vit-anomaly a.bank fine.png --alpha 0.01
run 0 "defect" "" vit-anomaly a.bank spot.png --threads 1 --json --out map.png
vit-anomaly a.bank spot.png --threads 1 --json >one.json
vit-anomaly a.bank spot.png --threads 3 --json >three.json
check "the same on any number of threads" cmp one.json three.json
check "the spot is found where it is" python3 - <<'END'
import json
a = json.load(open("one.json"))
rows, columns = a["grid"]
at = max(range(rows * columns), key=a["map"].__getitem__)
y, x = (at // columns + .5) * 32 / rows, (at % columns + .5) * 32 / columns
assert a["defect"] and a["p_value"] < .05 and abs(x - 20) < 8 and abs(y - 12) < 8, (x, y)
END
check "a heat map" grep -q PNG map.png
run 0 "file,score" "" vit-anomaly a.bank spot.png fine.png --csv --out page.html
check "a page" grep -q '<figure class="defect">' page.html
run 2 "" "is of one picture" vit-anomaly a.bank spot.png fine.png --out map.png
run 0 "heat map" "" vit-bench anomaly --model features --bank a.bank --threads 1
run 0 "128 patches" "" vit-anomaly build good -o small.bank --coreset 0.1
check "a coreset is smaller" \
    test "$(wc -c <small.bank)" -lt "$(($(wc -c <a.bank) / 5))"
run 1 "" "other features" vit-anomaly a.bank fine.png --model cifar10
printf 'x' >>small.bank
run 1 "" "is damaged" vit-anomaly small.bank fine.png
