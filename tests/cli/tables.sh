#!/bin/sh
# Tables of pictures and classes, and lists of names, as people have them, through the programs:
# what is chosen is said, what is ambiguous is refused with what to do.
. "$(dirname "$0")/../shell"

picture=$(find "$fixtures" -name picture.png | head -n 1)
fast="--steps 1 --batch 4 --threads 2 --out x --overwrite"

# ---- the rule in docs/data.md and in datasets/tables/columns.c is one ----

# names ROLE: those of a role in the code
names() {
    awk -v role="[VIT_COLUMN_$1] =" 'index($0, role) { on = 1 } on; /},/ { on = 0 }' \
        "$tree/datasets/tables/columns.c" | grep -o '"[^"]*"' | tr -d '"'
}
# documented ROW: those in a row of the table in the documents
documented() {
    grep "^| $1 |" "$tree/docs/data.md" | sed 's/^[^|]*|[^|]*|//' | grep -o '`[^`]*`' | tr -d '`'
}
agree() {
    names "$1" >code
    documented "$2" >docs
    [ -s code ] && cmp code docs
}
check "docs: columns of pictures" agree FILE pictures
check "docs: columns of classes" agree CLASS classes
check "docs: what may be classes" agree MAYBE "classes, if no other column does"
check "docs: columns of parts" agree SPLIT parts

# ---- which column ----

mkdir -p pets/images pets/cat
for i in 0 1 2 3 4 5; do cp "$picture" pets/images/$i.png; done
rmdir pets/cat
printf 'image,label,site\n0,cat,a\n1,dog,b\n2,cat,a\n3,dog,a\n4,cat,b\n5,dog,b\n' >pets/train.csv
run 0 "*" "classes: column label of train.csv" vit-train --data pets $fast
run 0 '"classes_from": "column label of train.csv"' "*" vit-train --data pets $fast --json
run 0 "*" "classes: column site of train.csv" vit-train --data pets $fast --class-column Site
run 0 "*" "classes: column site of train.csv" \
    vit-evaluate --model x --data pets --class-column site --split train
run 1 "" "pets/train.csv: has no column author, but image, label, site" \
    vit-train --data pets $fast --class-column author
run 2 "" "digits: is no table of pictures, so that it has no column label" \
    vit-train --data digits $fast --class-column label
run 0 "*" "*" vit-pack pets -o packed --class-column site
run 0 "b" "" cat packed/classes.txt
iconv -f UTF-8 -t UTF-16 pets/train.csv >wide 2>/dev/null && {
    cp pets/train.csv kept && cp wide pets/train.csv
    run 1 "" "train.csv: is UTF-16, expected UTF-8" vit-train --data pets $fast
    cp kept pets/train.csv
}

# ---- parts, masks, columns in another language ----

mkdir -p other/images masks/cat/masks masks/dog
cp pets/images/* other/images
for i in 0 1; do cp "$picture" masks/cat/$i.png && cp "$picture" masks/dog/$i.png; done
cp "$picture" masks/cat/masks/0.png
printf 'Datei;Klasse\n0.png;cat\n1.png;dog\n2.png;cat\n3.png;dog\n' >other/tabelle.csv
run 1 "" "has the columns Datei, Klasse, expected one of files" vit-train --data other $fast
run 0 "*" "classes: column Klasse of tabelle.csv" \
    vit-train --data other $fast --class-column klasse
printf 'image,label,stage\n0,cat,train\n1,dog,train\n2,cat,test\n3,dog,test\n' >other/tabelle.csv
run 0 "*" "parts: column stage of tabelle.csv" vit-train --data other $fast
printf 'image,label,is_test\n0,cat,0\n1,dog,0\n2,cat,1\n3,dog,1\n' >other/tabelle.csv
run 1 "" "column is_test says a part by yes and no" vit-train --data other $fast
printf 'image,label\n0,cat\n1,dog\n2,cat\n3,dog\n0,cat\n' >other/tabelle.csv
run 0 "*" "1 line of the table names a picture again" vit-train --data other $fast
run 1 "" "class cat holds the folder masks" vit-train --data masks $fast
mv masks/cat/masks/0.png masks/cat/0_mask.png && rmdir masks/cat/masks
run 1 "" "cat/0_mask.png is called as a mask" vit-train --data masks $fast
run 0 "*" "2 classes: cat, dog" vit-train --data masks $fast --splits-are-classes

# ---- lists of names ----

names_of() {
    run "$1" "*" "$2" vit-evaluate --model x --data pets --labels-file list --split train
}
printf 'a\nb\n\n\n' >list
names_of 1 "*" # two names, of which the data have none
check "empty lines at the end are none" fails grep -q "list: line" err
printf '3 a\n7 b\n' >list
names_of 1 "list: numbers stand before its 2 names, and they are not 0 to 1 or 1 to 2"
printf 'cat,dog\n' >list
names_of 1 "list: has one line, \"cat,dog\": expected one name a line"
printf 'caf\351\nb\n' >list
names_of 1 "list: line 1 is Latin-1 or Windows-1252"
printf 'a\n\nb\n' >list
names_of 1 "list: line 2 is empty"
printf 'a\tx\nb\n' >list
names_of 1 "list: line 1 has a tab"
printf '\377\376a\0\n\0' >list
names_of 1 "list: is UTF-16"
run 1 "" "is UTF-16" vit-classify --model x --files-from list

# ---- a class without a picture ----

mkdir -p few/a few/b few/c
cp "$picture" few/a/0.png && cp "$picture" few/a/1.png
cp "$picture" few/b/0.png && cp "$picture" few/b/1.png
run 1 "" "class c has no picture" vit-train --data few --init x --head ridge --out y
run 0 "*" "*" vit-train --data few --init x --head ridge --empty-classes --out y --overwrite
