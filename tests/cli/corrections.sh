#!/bin/sh
# Lists of pictures that are left out or have another class (--exclude, --relabel), and the table of
# copies (--near-duplicates), which --exclude takes.
. "$(dirname "$0")/../shell"

# Light and dark pictures of noise, eight each, and in test/ two each; one of either lies in the
# wrong folder. dark/copy.ppm is test/dark/0.ppm, train/dark/again.ppm is train/dark/3.ppm.
python3 - <<'END_OF_PYTHON' || exit 1
import os, random, shutil
random.seed(2)
for part, count in ("train", 8), ("test", 2):
    for kind, level in ("light", 190), ("dark", 60):
        os.makedirs(f"d/{part}/{kind}", exist_ok=True)
        for i in range(count):
            folder = {"light": "dark", "dark": "light"}[kind] if i == 7 else kind
            os.makedirs(f"d/{part}/{folder}", exist_ok=True)
            name = f"{kind[0]}{i}.ppm" if i != 6 else f"{kind[0]},6 \"x\"\udcff.ppm"
            small = [random.randint(level - 50, level + 50) for _ in range(16)]
            with open(f"d/{part}/{folder}/{name}", "wb") as f:
                f.write(b"P6 32 32 255\n" + bytes(small[y // 8 * 4 + x // 8] for y in range(32)
                                                  for x in range(32) for c in range(3)))
shutil.copy("d/test/dark/d0.ppm", "d/train/dark/copy.ppm")
shutil.copy("d/train/dark/d3.ppm", "d/train/dark/again.ppm")
END_OF_PYTHON
ln -s d link
backbone="--init $published/timm_backbone --head ridge --overwrite"

head_of() {
    into=$1
    shift
    # shellcheck disable=SC2086 # words
    vit-train $backbone --out "$into" "$@"
}

# ---- the lists ----

printf 'picture,label\nd/train/light/d7.ppm,dark\n./d/train/dark/l7.ppm,light\n' >fixed.csv
run 0 "*" "0 pictures left out, 2 given another class" \
    head_of relabelled --data d --relabel fixed.csv
mkdir moved && cp -r d moved/d
mv moved/d/train/light/d7.ppm moved/d/train/dark && mv moved/d/train/dark/l7.ppm moved/d/train/light
printf 'picture\nlink/train/light/d7.ppm\n%s/d/train/dark/l7.ppm\n' "$PWD" >out.csv
run 0 "16 pictures" "2 pictures left out, 0 given" head_of without --data d --exclude out.csv
rm moved/d/train/dark/d7.ppm moved/d/train/light/l7.ppm
run 0 "16 pictures" "*" head_of removed --data moved/d
check "the head is that of the folder without them" python3 - <<'END_OF_PYTHON'
import json, struct
def tensors(name):
    data = open(name, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    return data[8 + size:], json.loads(data[8:8 + size])["__metadata__"]["vit.recipe"]
(a, first), (b, second) = tensors("without"), tensors("removed")
assert a == b and "corrected_sha256" in first and "corrected_sha256" not in second
END_OF_PYTHON
printf '%s\n' file,label,likely_label train/light/d7.ppm,light,dark \
    train/dark/l7.ppm,dark,light >likely.csv
given head_of likely --data d/ --relabel likely.csv
check "likely labels, paths from the data's directory: the same model" cmp relabelled likely
printf 'picture;label\r\ntrain/light/d7.ppm;\r\n"train/dark/d,6 ""x""\377.ppm";\r\n\r\n' >empty.csv
run 0 "16 pictures" "2 pictures left out, 0 given" head_of m --data d --relabel empty.csv
run 0 "18 pictures" "0 pictures left out, 2 given another class" \
    vit-evaluate --model relabelled --data d --split train --relabel fixed.csv
run 0 "*" "0 pictures left out, 0 given another class" \
    vit-evaluate --model relabelled --data d --relabel fixed.csv

# refused STATUS TEXT LINES OPTION...: a list with these lines
refused() {
    want=$1 text=$2
    printf "picture,label\n$3" >list.csv
    shift 3
    run "$want" "" "$text" head_of m --data d "$@"
}
refused 1 "line 3: d/train/light/l70.ppm is no picture of d that can be read, as 1 more are" \
    "d/train/light/l1.ppm,dark\nd/train/light/l70.ppm,dark\nnix.ppm,\n" --relabel list.csv
refused 1 'line 2: "drak" is no class of the data: expected dark, light' \
    "train/light/l1.ppm,drak\n" --relabel list.csv
refused 1 "line 2 of list.csv and line 3 of list.csv disagree" \
    "train/light/l1.ppm,dark\nd/train/light/l1.ppm,light\n" --relabel list.csv
refused 1 "disagree: class dark and left out" \
    "train/light/d7.ppm,dark\n" --relabel list.csv --exclude out.csv
printf 'name of it,class of it\nx,y\n' >list.csv
run 1 "" "has no column of pictures" head_of m --data d --exclude list.csv
run 1 "" "No such file" head_of m --data d --exclude none.csv
run 2 "" "its pictures are in no files" vit-train --data digits --steps 1 --exclude out.csv --out m
run 2 "" "one FILE.csv with --data" head_of m --data d --relabel out.csv --relabel out.csv

train() {
    vit-train --data d --init "$published/timm_backbone" --val 0 --checkpoint c --out t "$@"
}
given train --steps 1/2 --relabel fixed.csv
run 1 "" "data (checksum)" train --steps 2 --resume --overwrite
run 0 "*" "*" train --steps 2 --resume --overwrite --relabel likely.csv

# ---- copies ----

run 0 "*" "2 pairs of copies: copies.csv" \
    vit-train --data d --steps 1 --val 0 --out n --near-duplicates copies.csv
run 0 "*" "*" head_of m --data d --near-duplicates within.csv
run 0 "*" "1 pair of copies: across.csv" \
    vit-evaluate --model relabelled --data d --near-duplicates across.csv
check "within the training part, and with the test" python3 - <<'END_OF_PYTHON'
import csv
def rows(name):
    return [tuple(r.values()) for r in csv.DictReader(open(name, newline=""))]
inner = ("d/train/dark/d3.ppm", "train", "dark", "d/train/dark/again.ppm", "train", "dark", "exact")
across = ("d/train/dark/copy.ppm", "train", "dark", "d/test/dark/d0.ppm", "test", "dark", "exact")
assert rows("copies.csv") == [inner, across], rows("copies.csv")
assert rows("within.csv") == [inner] and rows("across.csv") == [across]
END_OF_PYTHON
run 0 "*" "*" vit-evaluate --model relabelled --data d --report page.html
check "and on the page of an evaluation" python3 - <<'END_OF_PYTHON'
import json, re
d = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>',
                         open("page.html", encoding="utf-8").read(), re.S).group(1))
[pair] = d["answers"]["copies"]["pairs"]
assert d["answers"]["copies"]["count"] == 1 and pair["split"] == "train", pair
assert pair["file"] == "d/train/dark/copy.ppm" and pair["alike"] == "exact", pair
assert d["pictures"][pair["picture"]]["file"] == "d/test/dark/d0.ppm"
assert pair["png"] == d["pictures"][pair["picture"]]["png"], "both pictures of an exact pair"
END_OF_PYTHON
run 0 "*" "0 pairs of copies" vit-train --data d --steps 1 --val 0 --out n --overwrite \
    --exclude copies.csv --near-duplicates left.csv
echo mine >mine.csv
run 1 "" "is not replaced" vit-train --data d --steps 1 --out o --near-duplicates mine.csv
