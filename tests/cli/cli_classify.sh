#!/bin/sh
# vit-classify: answers to pictures, and in which form.
. "$(dirname "$0")/../shell"

given_model
given_pictures
classify="vit-classify --model digits.safetensors"
run 0 "a.png" "" $classify a.png
check "three classes, without --top" test "$(grep -c ' %$' out)" -eq 3
run 0 "b.png" "" $classify --top 99 a.png b.png
check "all classes of two pictures, with --top 99" test "$(grep -c ' %$' out)" -eq 20
run 0 "  logits " "" $classify --logits a.png
run 1 "b.png" "bad.png: " $classify a.png bad.png b.png
run 1 "" "absent.png: No such file" $classify absent.png
run 1 "" "standard input: the file is empty" $classify -
run 1 '"error": ' "1 of 3 pictures could not be read" \
    $classify --json --logits --top 2 a.png bad.png b.png
mv out answers
json "vit-classify --json" answers '[a["file"] for a in r] == ["a.png", "bad.png", "b.png"]
    and set(r[1]) == {"file", "error"} and "bad.png" in r[1]["error"]
    and all(set(p) == {"index", "label", "probability"} for p in r[0]["predictions"])
    and len(r[2]["predictions"]) == 2 and len(r[2]["logits"]) == 10
    and r[0]["predictions"][0]["index"] == r[0]["logits"].index(max(r[0]["logits"]))
    and r[0]["predictions"][0]["probability"] >= r[0]["predictions"][1]["probability"]'
$classify - <a.png >out 2>err
check "a picture on standard input" grep -q ' %$' out
printf '\357\273\277a.png\nb.png\n' >marked.txt
run 0 "b.png" "" $classify --files-from marked.txt
mkdir -p bare/__MACOSX && cp a.png bare/a && cp b.png bare/b.jfif && cp a.png bare/__MACOSX/c.png
run 0 "bare/a" "" $classify --recursive bare
check "pictures without an ending and .jfif, not what systems leave" \
    sh -c '[ "$(grep -c bare/ out)" = 2 ] && grep -q b.jfif out'
printf 'a.png\r\n\nabsent.png\nb.png' | $classify --json --files-from - >answers 2>err
check "--files-from - with a bad picture exits with 1" test $? -eq 1
check "the failed ones are counted" grep -q '^vit-classify: 1 of 3 pictures could not be read$' err
json "--files-from - goes on after a bad picture" answers \
    '["error" in a for a in r] == [False, True, False] and r[0]["file"] == "a.png"'
printf 'a.png\nb.png\n' >list
run 0 "b.png" "" $classify --files-from list
run 1 "" "cannot open absent" $classify --files-from absent
printf '\n\r\n' >list
run 1 "" "list names no picture" $classify --files-from list
run 1 "" "standard input names no picture" $classify --json --files-from - </dev/null
printf 'a.png\n-\nb.png\n' | $classify --files-from - >out 2>err
check "a list does not read itself as a picture" grep -q '^vit-classify: -: standard input' err
mkdir 'two words' && cp a.png 'two words/zwölf é.png'
printf 'two words/zwölf é.png\r\na.png' >list
run 0 'two words/zwölf é.png' "" $classify --json --files-from list

# ---- directories, formats, embeddings ----

mkdir -p scans/b.d
cp a.png scans/2.png
cp b.png scans/b.d/1.PNG
cp bad.png scans/b.d/z.jpeg
echo "no picture" >scans/notes.txt
cp a.png scans/.hidden.png
mkdir elsewhere
cp a.png elsewhere/c.png
ln -s . scans/loop
ln -s .. scans/b.d/above
ln -s ../elsewhere scans/more
run 1 "a.png" "scans is a directory: with --recursive" $classify a.png scans
run 1 '"file": "scans/2.png"' "left out in directories: 3 that are not" \
    $classify --json --recursive scans/ a.png
mv out answers
json "--recursive goes through a directory in order" answers '
    [a["file"] for a in r] == ["scans/2.png", "scans/b.d/1.PNG", "scans/b.d/z.jpeg",
                               "scans/more/c.png", "a.png"]
    and ["error" in a for a in r] == [False, False, True, False, False]'
mkdir nothing
run 1 "" "nothing holds no file that is named as" $classify --recursive nothing
printf 'a.png\nscans\n' >list
run 1 "*" "1 of 5 pictures could not be read" $classify --json --recursive --files-from list
cp a.png 'a,"b".png'
run 1 "*" "1 of 3 pictures" $classify --format csv --top 2 'a,"b".png' absent.png b.png
mv out answers.csv
check "--format csv has a line for each picture" test "$(wc -l <answers.csv)" -eq 4
check "its head names the columns" \
    sh -c "head -1 answers.csv | grep -qx 'file,label,probability,label2,probability2,error'"
check "it quotes what needs it" grep -q '^"a,""b"".png",[0-9],' answers.csv
check "it has the errors" grep -q '^absent.png,,,,,.*No such file' answers.csv
run 0 "a.png" "" $classify --format text a.png
run 0 '"predictions"' "" $classify --format json a.png
run 2 "" "exclude each other" $classify --format csv --json a.png
run 2 "" "--logits are written as text or JSON" $classify --format csv --logits a.png
run 2 "" "--top has no meaning with --embed" $classify --embed --top 2 a.png
run 2 "" "--coverage has no meaning with --embed" $classify --embed --coverage 0.9 a.png
run 2 "" "--embed has no meaning with --list" vit-classify --list --embed --out x.npy
run 2 "" "--calibration FILE is for" $classify --calibration x a.png
run 2 "" "leave --format out" $classify --embed --format csv a.png
run 2 "" "--out is for the matrix of --embed" $classify --out e.npy a.png
run 2 "" "--list writes text or JSON" "$BUILD/bin/vit-classify" --list --format csv
run 1 "" "cannot write absent/e.npy" $classify --embed --out absent/e.npy a.png
run 1 '"embedding"' "1 of 3 pictures" $classify --embed a.png bad.png b.png
mv out embedded
run 1 '{"file": "bad.png", "error": ' "vit-classify: bad.png: " \
    $classify --embed --out e.npy a.png bad.png b.png
mv out rows
json "--embed writes features" embedded '[set(a) for a in r] ==
    [{"file", "embedding"}, {"file", "error"}, {"file", "embedding"}]
    and r[0]["embedding"] != r[2]["embedding"]'
json "--embed --out tells the rows" rows '[a["row"] for a in r] == [0, 1, 2]'
if command -v python3 >/dev/null; then
    check "the matrix holds the same, and NaN for a picture that failed" python3 -c '
import array, ast, json
data = open("e.npy", "rb").read()
assert data[:10] == b"\x93NUMPY\1\0\x76\0" and data[127:128] == b"\n"
head = ast.literal_eval(data[10:128].decode())
rows = [json.loads(line) for line in open("embedded")]
width = len(rows[0]["embedding"])
assert head == {"descr": "<f4", "fortran_order": False, "shape": (3, width)}
values = array.array("f", data[128:])
assert len(values) == 3 * width
assert all(v != v for v in values[width:2 * width])
for i in 0, 2:
    assert values[i * width:(i + 1) * width] == array.array("f", rows[i]["embedding"])'
fi

# Many pictures, small ones: the order and the bytes are those of one by one.
cp "$published/picture.png" even.png
cp "$fixtures/image_grey.jpg" odd.jpg
for i in $(seq 70); do
    case $((i % 9)):$((i % 2)) in
    0:*) echo bad.png ;;
    *:0) echo even.png ;;
    *) echo odd.jpg ;;
    esac
done >list
for name in $(cat list); do $classify --json --logits "$name" 2>/dev/null; done >single
for threads in 1 2 5; do
    $classify --json --logits --threads $threads --files-from list >many 2>err
    check "many at a time, one by one: the same bytes, with --threads $threads" cmp single many
done

# Whoever writes the names may wait for an answer before the next one.
mkfifo names
$classify --json --files-from names >answers 2>err &
process=$!
exec 9>names
printf 'a.png\n\nb.p' >&9
for _ in $(seq 100); do
    grep -q '"a.png"' answers && break
    sleep 0.1
done
check "a name is answered before the next one comes" grep -q '"a.png"' answers
printf 'ng\n' >&9
exec 9>&-
wait $process
check "and then the next" grep -q '"b.png"' answers

# A pipe that a list names is refused, not waited for; one that is named here is read.
mkfifo waits
printf 'a.png\nwaits\nb.png\n' >names2
timeout 60 $classify --json --files-from names2 >answers 2>err
check "a pipe in a list is not waited for" test $? -eq 1
check "the other pictures are answered" test "$(grep -c predictions answers)" -eq 2
check "and the pipe is named" grep -q '"waits".*special file' answers

# One grey pixel.
{
    printf '\211PNG\015\012\032\012\000\000\000\015IHDR\000\000\000\001\000\000\000\001\010\000'
    printf '\000\000\000\072\176\233U\000\000\000\012IDATx\332c8\001\000\000\312\000\3114'
    printf 'B\047\363\000\000\000\000IEND\256B\140\202'
} >blank.png
run 0 "blank.png" "vit-classify: blank.png: warning: no ink" $classify blank.png
run 0 '"warning": "no ink' "blank.png: warning: " $classify --json a.png blank.png
mv out answers
json "only the picture without ink has a warning" answers \
    '["warning" in a for a in r] == [False, True]'

# ---- names of models ----

mkdir shipped folder
cp digits.safetensors shipped/mnist.safetensors
cp digits.safetensors folder/model.safetensors
run 0 "a.png" "" env VIT_MODELS=shipped vit-classify a.png
run 0 "a.png" "" env VIT_MODELS=shipped vit-classify --model=mnist a.png
run 0 "a.png" "" vit-classify --model folder a.png
run 1 "" "nothing holds no weights: expected model" vit-classify --model nothing a.png
run 1 "" "no model \"none\"" vit-classify --model none a.png
fetch="scripts/fetch-weights vit_small_patch16_224\" downloads"
run 1 "" "$fetch" vit-classify --model vit_small_patch16_224 a.png
run 1 "" "$fetch" vit-classify --model vit_small_patch16_224/ a.png
run 1 "" "fetch-weights facebook/dinov2-small\" downloads" \
    vit-classify --model facebook/dinov2-small a.png
run 1 "" "cannot open scans/absent" vit-classify --model scans/absent a.png
run 1 "" "did you mean ./digits.safetensors?" vit-classify --model digits a.png
run 1 "" "labels (--labels): cannot open nofile" $classify --labels nofile a.png
run 1 "" "a.png is a picture, not weights" vit-classify --model a.png a.png
sized="--model $fixtures/sizes.safetensors"
run 0 "logits" "" vit-classify $sized --size 16x40 --logits a.png
run 1 "" "does not divide the picture, 25 x 25" vit-classify $sized --size 25 a.png
run 1 "" "takes no other size" vit-classify --model digits.safetensors --size 56 a.png

# ---- published weights ----

picture=$published/picture.png
cp "$published/timm_13_wide/model.safetensors" alone.safetensors
run 0 "thing " "" vit-classify --model "$published/timm_registers" "$picture"
run 1 "" "put a config.json beside the file" vit-classify --model alone.safetensors "$picture"
run 0 "thing " "" vit-classify --model alone.safetensors \
    --config "$published/timm_13_wide/config.json" "$picture"
run 0 "thing " "" vit-classify --model "$published/timm_gap" --size 32x48 "$picture"
# Hugging Face's models are asked as its pipeline() asks them: with pictures turned upright
cp "$fixtures/image_exif_6.png" turned.png && cp "$fixtures/image_exif_1.png" upright.png
answer() { "$@" --logits --json >out 2>err && grep -o 'logits.*' out; }
hf="vit-classify --model $published/hf_4" timm="vit-classify --model $published/timm_gap"
check "a picture of a camera, for Hugging Face's" \
    test "$(answer $hf turned.png)" = "$(answer $hf upright.png)"
check "and as it is stored" \
    test "$(answer $hf turned.png)" != "$(answer $hf --exif-orientation never turned.png)"
check "for timm's, as it is stored" \
    test "$(answer $timm turned.png)" != "$(answer $timm upright.png)"
check "and turned" \
    test "$(answer $timm --exif-orientation exif turned.png)" = "$(answer $timm upright.png)"
check "the same features" test "$($hf --embed turned.png | grep -o 'embedding.*')" = \
    "$($hf --embed upright.png | grep -o 'embedding.*')"
explain="vit-explain --model $published/hf_4 --json --method attention"
check "the same map" test "$($explain turned.png | grep -o 'map.*')" = \
    "$($explain upright.png | grep -o 'map.*')"
check "and of the stored one" \
    test "$($explain --exif-orientation never turned.png | grep -o 'map.*')" != \
    "$($explain upright.png | grep -o 'map.*')"
run 1 "" "timm_backbone is a backbone without a head" \
    vit-classify --model "$published/timm_backbone" "$picture"
run 0 '"embedding"' "" vit-classify --model "$published/timm_backbone" --embed "$picture"
