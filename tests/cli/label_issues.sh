#!/bin/sh
# Labels that are likely wrong (vit-evaluate --label-issues), and the page of an evaluation
# (--report) with its tables.
. "$(dirname "$0")/../shell"

# Light and dark pictures, twelve of each; two of either lie in the wrong folder. A class has a name
# of HTML, a picture one that is no UTF-8, another a line feed.
python3 - <<'END_OF_PYTHON' || exit 1
import os, random, struct, zlib
random.seed(1)
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
for kind, level in (b"light <b>&amp;", 200), (b"dark", 60):
    for i in range(12):
        wrong = b"dark" if kind != b"dark" else b"light <b>&amp;"
        folder = b"kinds/" + (wrong if i < 2 else kind)
        os.makedirs(folder, exist_ok=True)
        rows = b"".join(b"\0" + bytes(random.randint(level - 40, level + 40) for _ in range(96))
                        for _ in range(32))
        name = (b"first \xff", b"second,\n\"x\"", b"p%d" % i)[min(i, 2)] + kind[:1] + b".png"
        with open(folder + b"/" + name, "wb") as f:
            f.write(b"\x89PNG\r\n\x1a\n" +
                    chunk(b"IHDR", struct.pack(">IIBBBBB", 32, 32, 8, 2, 0, 0, 0)) +
                    chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
END_OF_PYTHON
given vit-train --data kinds --init "$published/timm_backbone" --head ridge --out head.safetensors

run 0 "pictures" "computed without it (each picture by itself)" \
    vit-evaluate --model head.safetensors --data kinds --label-issues issues.csv
check "the four that lie in the wrong folder, by paths that open" python3 - <<'END_OF_PYTHON'
import csv, os
with open("issues.csv", encoding="utf-8", errors="surrogateescape", newline="") as f:
    rows = list(csv.DictReader(f))
files = [os.fsencode(row["file"].encode("utf-8", "surrogateescape")) for row in rows]
assert len(files) == 4 and all(b"first" in f or b"second" in f for f in files), rows
assert all(os.path.exists(f) for f in files)
assert all(row["label"] != row["likely_label"] for row in rows)
scores = [float(row["self_confidence"]) for row in rows]
assert scores == sorted(scores) and scores[-1] < .5
END_OF_PYTHON
run 0 "pictures" "4 of 24 labels are likely wrong: page-label-issues.csv; look through it" \
    vit-evaluate --model head.safetensors --data kinds --report page.html
check "the table of the page is that of --label-issues" cmp issues.csv page-label-issues.csv
check "and the page holds what the tables hold" python3 - <<'END_OF_PYTHON'
import csv, json, re
page = open("page.html", encoding="utf-8").read()
d = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page,
                         re.S).group(1))
rows = list(csv.DictReader(open("page.csv", encoding="utf-8", errors="surrogateescape",
                                newline="")))
right = sum(row["right"] == "1" for row in rows)
m, r = d["measured"], d["answers"]["risk"]
assert m["images"] == len(rows) == 24 and m["correct"] == d["answers"]["right"] == right
assert m["seen"] and m["interval"][0] < right / 24 < m["interval"][1] + 1e-9
assert sum(m["classes"]["images"]) == 24 and sum(m["classes"]["right"]) == right
assert sum(b["images"] for b in m["bins"]) == 24 and len(m["files"]) == 3
assert r["answered"][-1] == 24 and r["right"][-1] == right
p = [float(row["probability"]) for row in rows]
for answered, good, least in zip(r["answered"], r["right"], r["confidence"]):
    kept = [row["right"] == "1" for row, x in zip(rows, p) if x >= least - 1e-7]
    assert (len(kept), sum(kept)) == (answered, good)
issues = d["answers"]["issues"]
assert issues["count"] == 4 == len(issues["pictures"])
assert all("kinds/" in d["pictures"][i]["file"] for i in issues["pictures"])
END_OF_PYTHON
check "in Chromium: diagrams, classes, pictures; no error, no request" \
    python3 "$tree/tests/support/chromium.py" page.html \
    'is=document.querySelectorAll("#trust svg").length == 2' \
    'is=document.querySelectorAll("#classes tbody tr").length == 2' \
    'is=document.querySelectorAll("#issues figure").length == 4' \
    'is=document.querySelector("#classes tbody").textContent.includes("light <b>&amp;")' \
    'is=document.querySelector("#curves").hidden && document.querySelector("#filters").hidden' \
    size=390x844 dark 'is=document.documentElement.scrollWidth <= 390'

run 0 "pictures" "a fold at a time" \
    vit-evaluate --model head.safetensors --data kinds --label-issues folds.csv --folds 4
check "folds list the same four" python3 - <<'END_OF_PYTHON'
def files(name):
    return sorted(line.rsplit(b",", 5)[0] for line in open(name, "rb").read().split(b"\n"))
assert files("folds.csv") == files("issues.csv")
END_OF_PYTHON
run 2 "" "is for --label-issues" vit-evaluate --model head.safetensors --data kinds --folds 4
run 2 "" "not --split train" \
    vit-evaluate --model head.safetensors --data kinds --split train --label-issues other.csv
run 2 "" "FILE.html" vit-evaluate --model head.safetensors --data kinds --report page.txt
run 2 "" "name the same file" \
    vit-evaluate --model head.safetensors --data kinds --report page.html --confusion-csv page.csv
echo mine >mine.html
run 1 "" "is no report of this program" \
    vit-evaluate --model head.safetensors --data kinds --report mine.html
check "a page of somebody else's stays" grep -qx mine mine.html
