#!/bin/sh
# Lessons that are kept (vit-train --lessons): what is forgotten, relabelled or added afterwards
# gives the bytes of a training on a folder that is so.
. "$(dirname "$0")/../shell"

# Light, dark and striped pictures, five of each; one of them twice, and one saved again in grey.
python3 - <<'EOP'
import os, random
random.seed(1)
def near(level):
    return max(0, min(255, level + random.randint(-40, 40)))
kinds = {"light": lambda x: near(200), "dark": lambda x: near(60),
         "striped": lambda x: near(200 if x // 4 % 2 else 60)}
for kind, pixel in kinds.items():
    os.makedirs(f"photos/{kind}")
    for i in range(5):
        with open(f"photos/{kind}/{i}.ppm", "wb") as f:
            f.write(b"P6 32 32 255\n" + bytes(pixel(x) for y in range(32) for x in range(32)
                                              for c in range(3)))
EOP
cp photos/striped/1.ppm photos/striped/again.ppm
cp photos/light/2.ppm photos/dark/wrong.ppm
cp photos/light/0.ppm new.ppm
model=$published/timm_backbone

# train NAME OPTION...: model and lessons of the folder NAME/photos, NAME.model and NAME.lessons.
train() {
    name=$1
    shift
    given sh -c 'cd "$1" && shift && vit-train --data photos "$@"' - "$name" --init "$model" \
        --out "../$name.model" --lessons "../$name.lessons" "$@"
}

# changed WHAT OPTION...: the lessons `kept`, changed so, are those of WHAT.
changed() {
    what=$1
    shift
    cp kept now.lessons
    given vit-train --lessons now.lessons --init "$model" --out now.model --overwrite "$@"
    check "$what: the bytes of the model" cmp now.model "$what.model"
    check "$what: the bytes of the lessons" cmp now.lessons "$what.lessons"
}

for head in ridge "logistic --balance"; do
    rm -rf all less other more ./*.model ./*.lessons
    for name in all less other more; do
        mkdir $name
        cp -r photos $name/photos
    done
    rm less/photos/striped/again.ppm less/photos/dark/3.ppm
    mkdir other/photos/bright
    mv other/photos/dark/wrong.ppm other/photos/bright/
    cp new.ppm more/photos/dark/
    for name in all less other more; do
        # shellcheck disable=SC2086
        train $name --head $head
    done
    mv all.lessons kept
    changed less --forget again.ppm --forget photos/dark/3.ppm --threads 1
    changed other --relabel wrong.ppm=bright --threads 3
    changed more --add dark=new.ppm
done
given vit-train --data photos --init "$model" --head logistic --balance --out plain.model
check "keeping lessons changes no byte of the model" cmp plain.model all.model
given vit-train --lessons now.lessons --init "$model" --backbone reference --out head
given vit-train --data more/photos --init "$model" --head logistic --balance --out head2 \
    --backbone reference
check "a head beside its backbone, too" cmp head head2
hash=$(sha256sum photos/dark/3.ppm | cut -c1-64)
cp kept all.lessons
run 0 "15 pictures of 2 classes" "grey is a new class" vit-train --lessons all.lessons \
    --init "$model" --out m --forget "$hash" --relabel dark/4.ppm=grey --forget dark/0.ppm \
    --add grey=new.ppm --relabel wrong.ppm=light --relabel dark/1.ppm=light \
    --relabel dark/2.ppm=light --forget striped/0.ppm --relabel striped/1.ppm=light \
    --relabel again.ppm=light --relabel striped/2.ppm=light --relabel striped/3.ppm=light \
    --relabel striped/4.ppm=light
check "a class of which all is forgotten goes" \
    sh -c "vit-classify --model m --top 9 --json new.ppm >answer &&
        grep -q grey answer && ! grep -E 'dark|striped' answer"

# ---- what is refused ----

again() { # STATUS MESSAGE OPTION...
    status=$1 message=$2
    shift 2
    run "$status" "" "$message" vit-train --init "$model" --out m --overwrite "$@"
}
cp kept was
again 1 "0.ppm: several pictures are called so" --lessons kept --forget 0.ppm
again 1 "none.ppm: no picture of the 17 is called so" --lessons kept --forget none.ppm
again 2 "the picture is of class dark" --lessons kept --relabel dark/0.ppm=dark
again 2 "--relabel dark/0.ppm: expected NAME=CLASS" --lessons kept --relabel dark/0.ppm
again 2 "is among the lessons of that class" --lessons kept --add dark=photos/dark/0.ppm
again 1 "cannot open none.ppm" --lessons kept --add dark=none.ppm
again 1 "new.ppm is no file of lessons" --lessons new.ppm --data photos --head ridge
run 1 "" "lessons of another network" vit-train --init cifar10 --out m --overwrite --lessons kept
again 2 "as the lessons were taught" --lessons kept --head ridge
again 2 "lessons are kept without --augmented-views" --lessons q --data photos --head ridge \
    --augmented-views 2
again 2 "change lessons that are kept: without --data" --lessons q --data photos --head ridge \
    --forget 0.ppm
again 2 "--lessons FILE, which --forget" --forget 0.ppm
again 2 "--lessons is for --head ridge" --lessons q --data photos
run 1 "" "kept exists: name another file" vit-train --init "$model" --data photos --head ridge \
    --out none --lessons kept
check "and leaves no model" test ! -e none
check "lessons stay as they were" cmp kept was
