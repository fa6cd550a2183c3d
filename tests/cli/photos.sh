#!/bin/sh
# A photo library: sorting into folders and tags in sidecars, killed, undone, and out of space.
. "$(dirname "$0")/../shell"

python=$(command -v python3) || { skips "a photo library" "there is no Python"; exit 0; }
photos=$fixtures/photos
one="--threads 1 --abstain-below 0"

# library N: N drawn digits in three folders, of which some have the same name and some sidecars
library() {
    rm -rf photos
    mkdir -p photos/a photos/b photos/c
    i=0
    while [ $i -lt "$1" ]; do
        folder=$(echo abc | cut -c$((i % 3 + 1)))
        "$draw" photos/$folder/$((i / 3)).png $i >/dev/null || exit 1
        i=$((i + 1))
    done
    echo "<a/>" >photos/a/0.png.xmp
    echo "<b/>" >photos/b/1.xmp
    sums photos >before
}

# The checksums of all files in a directory, without their names.
sums() {
    find "$1" -type f ! -name .vit-journal -exec cksum {} \; | cut -d' ' -f1,2 | sort
}

sorts() {
    vit-classify $one --recursive --json --sort-into sorted --by "$@" photos
}

same_after_undo() {
    vit-classify --undo sorted && sums photos >after && cmp before after && [ ! -e sorted ]
}

library 12
run 2 "" "needs --by" vit-classify --sort-into sorted photos/a/0.png
run 2 "" "is for --sort-into" vit-classify --by move photos/a/0.png
check "a dry run makes nothing" sh -c "vit-classify $one --recursive --json --sort-into sorted \
    --by move --dry-run photos >planned 2>said && [ ! -e sorted ] &&
    grep -q '\"to\": \"sorted/' planned"
for by in link copy move; do
    check "sorted by $by" sorts $by
    cp said first
    find sorted ! -type d ! -name .vit-journal | sort >listed
    check "names do not collide" [ "$(grep -c 'png$' listed)" = 12 ]
    check "sidecars come along" [ "$(grep -c 'xmp$' listed)" = 2 ]
    check "as it was planned" sh -c 'sed -n "s/.*\"to\": \"\([^\"]*\)\".*/\1/p" planned |
        sort >plan; grep "png$" listed | cmp - plan'
    check "once more, nothing comes twice" sh -c "vit-classify $one --recursive --json --sort-into \
        sorted --by $by photos >again 2>said; find sorted ! -type d ! -name .vit-journal | sort |
        cmp - listed"
    check "undone by $by" same_after_undo
done

# A name that somebody has is not replaced; what was changed stays.
library 6
sorts move >moved 2>&1
moved=$(find sorted -name '0.png' | head -n 1)
echo changed >>"$moved"
check "what was changed stays" refuses 1 "was changed since" vit-classify --undo sorted
check "the rest went back" [ "$(find photos -name '*.png' | wc -l)" = 5 ]
check "a foreign journal is refused" sh -c 'rm -rf sorted; mkdir sorted
    echo mine >sorted/.vit-journal
    ! vit-classify --abstain-below 0 --sort-into sorted --by copy photos/b/0.png &&
    grep -q mine sorted/.vit-journal'

# One bit turned anywhere in a journal is refused, or the undo is the same.
turned() {
    "$python" - <<'PY'
import os, shutil, subprocess
journal = "sorted/.vit-journal"
text = open(journal, "rb").read()
before = sorted(os.listdir("photos/a"))
for at in range(0, len(text), 331):
    damaged = bytearray(text)
    damaged[at] ^= 1 << at % 8
    open(journal, "wb").write(damaged)
    done = subprocess.run(["vit-classify", "--undo", "sorted", "--dry-run"], capture_output=True)
    assert done.returncode == 1 and b"damaged" in done.stderr or b"no journal" in done.stderr or \
        b"another version" in done.stderr, (at, done)
for size in range(0, len(text), 499):
    open(journal, "wb").write(text[:size])
    done = subprocess.run(["vit-classify", "--undo", "sorted", "--dry-run"], capture_output=True)
    assert done.returncode in (0, 1), (size, done)
PY
}
library 3
rm -rf sorted
sorts copy >copied 2>&1
check "a journal with a bit turned, or cut" turned

# Killed at any moment, then finished by the next run.
killed() {
    library 30
    rm -rf sorted
    for wait in 0.15 0.25; do
        vit-classify $one --recursive --json --sort-into sorted --by "$1" photos >/dev/null 2>&1 &
        sleep $wait
        kill -9 $! 2>/dev/null
        wait $! 2>/dev/null
    done
    sorts "$1" >/dev/null || [ -z "$(find photos -name '*.png')" ] || return 1
    sums sorted >after
    cmp before after && [ -z "$(find sorted -name '*.tmp')" ]
}
check "killed while it moves" killed move
# One that was killed before its journal began leaves an empty folder that may be anyone's.
check "moved back" sh -c 'vit-classify --undo sorted && [ -z "$(ls -A sorted 2>/dev/null)" ]'
rm -rf sorted
sums photos >after
check "as it was" cmp before after
check "killed while it copies" killed copy

# ---- tags ----

mkdir tags
cp "$photos"/*.jpg "$photos"/dk.png tags
(cd tags && cksum *) >before
check "tags are written" vit-classify $one --write-tags --under Animals/ --recursive tags
check "pictures stay as they are" sh -c 'cd tags && cksum $(ls | grep -v xmp) | cmp - ../before'
check "a new sidecar has what the picture had" \
    grep -q '<rdf:li>Animals|Cat</rdf:li>' tags/lr.jpg.xmp
check "and the answer" grep -q '<rdf:li>Animals|[0-9]</rdf:li>' tags/lr.jpg.xmp
check "IPTC, too" grep -q '<rdf:li>Fish</rdf:li>' tags/iptc.jpg.xmp
check "the same answer again writes nothing" writes "wrote 0 sidecars" \
    vit-classify $one --write-tags --under Animals/ --recursive tags
exiftool=$(command -v exiftool)
if [ -n "$exiftool" ]; then
    check "exiftool reads them" writes "^Animals|Cat, Animals|[0-9]$" \
        exiftool -s3 -XMP-lr:HierarchicalSubject tags/lr.jpg.xmp
else
    skips "exiftool reads them" "there is no exiftool"
fi
check "no labels" refuses 1 "none of its" \
    vit-train --data tags --labels-from tags --under Animals/1 --steps 1 --out x
echo >>tags/plain.jpg.xmp
check "a sidecar that was changed stays" refuses 1 "changed since" \
    vit-classify --undo vit-tags.journal
rm tags/plain.jpg.xmp
check "the rest was undone" sh -c 'cd tags && cksum * | cmp - ../before'

# Classes from tags: what Lightroom, digiKam and IPTC have, by folders of no meaning.
mkdir -p library/2024 library/2025
i=0
while [ $i -lt 24 ]; do
    kind=$([ $((i % 2)) = 0 ] && echo lr || echo dk)
    cp "$photos/$kind.jpg" library/$((2024 + i / 12))/$i.jpg
    i=$((i + 1))
done
train="--steps 2 --batch 4 --set dim=16 --set depth=1 --set heads=1 --set mlp=16 --out t
    --overwrite"
run 2 "" "is for --labels-from tags" vit-train --data library --under Animals/ $train
check "two classes of a picture" refuses 1 "under BRANCH" \
    vit-train --data library --labels-from tags $train
check "trained by tags under a branch" writes "tags of the pictures under Animals" \
    vit-train --data library --labels-from tags --under 'Animals|' $train
check "its classes" writes "Cat, Dog" vit-info t
check "a few-shot head of tags" vit-train --data library --labels-from tags --under Animals/ \
    --init t --head ridge --out head
check "its classes, too" writes "Cat, Dog" vit-info head
check "several classes" vit-train --data library --labels-from tags --multi-label $train
check "every level is a class" writes "Animals, Animals/Cat, Animals/Dog, Places" vit-info t
